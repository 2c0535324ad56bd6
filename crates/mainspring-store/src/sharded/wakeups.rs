//! Hints between nodes over several databases: heard from all of them, because SQL that submits a job speaks in its own. Promises
//! nothing, as every wakeup.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::{join_all, select_all};
use mainspring_core::placement::Placement;
use mainspring_core::wakeups::{Wakeup, Wakeups};

/// The wakeups of one node.
#[derive(Debug)]
pub struct ShardedWakeups {
    placement: Placement,
    each: Vec<Arc<dyn Wakeups>>,
}

impl ShardedWakeups {
    /// In the order of the databases. `None` if there are too many, or none.
    pub fn new(each: Vec<Arc<dyn Wakeups>>) -> Option<ShardedWakeups> {
        Some(ShardedWakeups { placement: Placement::new(each.len())?, each })
    }
}

#[async_trait]
impl Wakeups for ShardedWakeups {
    /// What is ready is told where its tenant lives; the rest everywhere, because any database may be down.
    async fn wake(&self, hints: Vec<Wakeup>) {
        let is_told = |hint: &Wakeup, shard| match hint {
            Wakeup::Ready { queue, .. } => self.placement.home(&queue.tenant) == shard,
            Wakeup::Due { .. } | Wakeup::Seats => true,
        };
        let told =
            self.placement.shards().zip(&self.each).map(|(shard, wakeups)| {
                wakeups.wake(hints.iter().filter(|hint| is_told(hint, shard)).cloned().collect())
            });
        join_all(told).await;
    }

    async fn wakes(&self) -> Vec<Wakeup> {
        select_all(self.each.iter().map(|wakeups| wakeups.wakes())).await.0
    }
}
