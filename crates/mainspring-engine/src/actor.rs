//! The loop around every actor: tick, sleep until the next one, listen for nudges, mind the store's troubles.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::time::Time;
use tokio::task::JoinHandle;

use crate::calm::Place;
use crate::error::{Error, Result};
use crate::node::Node;
use crate::nudge::Nudge;

/// The waits after a failed tick double up to here.
const BACKOFF_MAX: Duration = Duration::from_secs(1);
const BACKOFF_MIN: Duration = Duration::from_millis(50);

pub(crate) trait Actor: Send + 'static {
    const NAME: &'static str;

    /// Does what is to be done at `now` and answers when to come again. A nudge may bring it sooner.
    fn tick(&mut self, now: Time) -> impl Future<Output = Result<Time>> + Send;
}

/// Ticks on a task of its own until the node closes. A node whose actor has failed is not ready any more: somebody must
/// look at it.
pub(crate) fn spawn<A: Actor>(actor: A, node: &Arc<Node>, nudge: Arc<Nudge>, first_at: Time) -> JoinHandle<()> {
    let node = node.clone();
    let place = node.calm.enter(nudge.clone(), first_at);
    tokio::spawn(async move {
        let ticking = tokio::spawn(run(actor, node.clone(), (nudge, place), first_at));
        if let Err(error) = ticking.await {
            tracing::error!(actor = A::NAME, %error, "has stopped for good");
            node.calm.failing(place, Error::Closed);
            node.chart.trouble(A::NAME, format!("{} has stopped: {error}", A::NAME));
        }
    })
}

async fn run<A: Actor>(mut actor: A, node: Arc<Node>, (nudge, place): (Arc<Nudge>, Place), first_at: Time) {
    let mut closing = node.closing.listen();
    let mut next_at = first_at;
    let mut failures = 0;
    loop {
        tokio::select! {
            // In this order, so that a run can be replayed.
            biased;
            () = closing.raised() => return,
            () = nudge.notified(), if failures == 0 => {}
            () = node.clock.sleep_until(next_at), if failures == 0 => {}
            // In the machine's time: a clock that stands still must not keep it from trying again.
            () = node.clock.patience(backoff(failures)), if failures > 0 => {}
        }
        node.calm.working(place);
        let (now, asked) = (node.clock.now(), nudge.asked());
        match actor.tick(now).await {
            Ok(next) => {
                (next_at, failures) = (next, 0);
                node.calm.resting(place, next, asked);
                if node.chart.fine(A::NAME) {
                    tracing::info!(actor = A::NAME, "works again");
                }
            }
            Err(error) => {
                failures += 1;
                node.calm.failing(place, error.clone());
                if node.chart.trouble(A::NAME, error.to_string()) {
                    tracing::warn!(actor = A::NAME, %error, "cannot do its work; trying on");
                }
            }
        }
    }
}

fn backoff(failures: u32) -> Duration {
    BACKOFF_MIN.saturating_mul(1 << failures.min(10)).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_after_failures_grow_and_end_at_the_bound() {
        let waits = [1, 2, 3, 4, 5, 100].map(|failures| backoff(failures).as_millis());
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
    }
}
