//! The wakeups seam: hints between nodes that something is ready. They may be lost, repeated or late; polling stands
//! behind them.

use async_trait::async_trait;

use crate::name::QueueRef;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wakeup {
    /// So many jobs of a queue became ready; zero if nobody knows how many.
    Ready { queue: QueueRef, count: u64 },
    /// Something will fall due then.
    Due { at: Time },
    /// Seats changed hands, or are to: look at them.
    Seats,
}

#[async_trait]
pub trait Wakeups: Send + Sync + std::fmt::Debug {
    /// Tells every other node. Never fails: a hint that cannot be sent is lost.
    async fn wake(&self, hints: Vec<Wakeup>);

    /// The next hints from other nodes; waits until there are some.
    async fn wakes(&self) -> Vec<Wakeup>;
}
