//! The best jobs of several queues, in order of rank. Takes none by itself.

use std::collections::{HashMap, VecDeque};

use mainspring_core::rank::{Aging, Rank};
use tokio_postgres::Row;

use super::slip::Slip;

/// Jobs on offer, by queue, the best first.
#[derive(Debug, Default)]
pub(super) struct Offers {
    queues: HashMap<i32, VecDeque<(Rank, Slip)>>,
}

impl Offers {
    /// From rows with a slip and the `point_ms` of its queue.
    pub fn read(rows: &[Row]) -> Offers {
        let mut offers = Offers::default();
        for row in rows {
            let slip = Slip::read(row);
            let aging = Aging::from_point_ms(u64::try_from(row.get::<_, i64>(9)).unwrap_or_default());
            let rank = Rank::new(slip.priority(), slip.ready_at, aging, slip.id);
            offers.queues.entry(slip.queue).or_default().push_back((rank, slip));
        }
        for queue in offers.queues.values_mut() {
            queue.make_contiguous().sort_unstable_by_key(|(rank, _)| *rank);
        }
        offers
    }

    /// The best job of these queues, which is not on offer any more.
    pub fn best(&mut self, queues: &[i32]) -> Option<Slip> {
        let head = |queue: &i32| Some((self.queues.get(queue)?.front()?.0, *queue));
        let (_, queue) = queues.iter().filter_map(head).min_by_key(|(rank, _)| *rank)?;
        self.queues.get_mut(&queue)?.pop_front().map(|(_, slip)| slip)
    }
}
