//! Carries hints to other nodes and back. Answers for nothing: a hint may be lost.

use std::sync::Arc;

use mainspring_core::wakeups::Wakeup;
use tokio::sync::mpsc;

use crate::announce::UNCOUNTED;
use crate::node::Node;

/// Hints that may wait to be told to others.
pub(crate) const HINTS_MAX: usize = 1_024;

/// Tells others what this node says, until it closes.
pub(crate) async fn tell(node: Arc<Node>, mut hints: mpsc::Receiver<Vec<Wakeup>>) {
    let mut closing = node.closing.listen();
    loop {
        tokio::select! {
            biased;
            () = closing.raised() => return,
            Some(hints) = hints.recv() => node.wakeups.wake(hints).await,
        }
    }
}

/// Hears what others say, until this node closes.
pub(crate) async fn hear(node: Arc<Node>) {
    let mut closing = node.closing.listen();
    loop {
        let hints = tokio::select! {
            biased;
            () = closing.raised() => return,
            hints = node.wakeups.wakes() => hints,
        };
        for hint in hints {
            match hint {
                Wakeup::Ready { queue, count: UNCOUNTED } => node.poll.probe_opened(&node, [queue]),
                Wakeup::Ready { queue, count } => node.poll.wake(&node, &[(queue, count)]),
                Wakeup::Due { at } => node.plan.expect(&[at]),
                Wakeup::Seats => node.ownership.notify_one(),
            }
        }
    }
}
