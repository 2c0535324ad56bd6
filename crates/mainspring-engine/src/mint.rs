//! Ids and seeds: the one place that draws random numbers. Decides nothing by them.

use std::sync::{Mutex, MutexGuard};

use mainspring_core::id::{JobId, NodeId, WorkerId};
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::time::Time;
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use uuid::Uuid;

/// A node's mint. Lock it once for a batch.
#[derive(Debug)]
pub(crate) struct Mint(Mutex<Press>);

impl Mint {
    #[allow(clippy::disallowed_methods, reason = "this is the place that owns randomness")]
    /// Draws from the machine, or from a seed.
    pub(crate) fn new(seed: Option<u64>, placement: Placement) -> Mint {
        let random = seed.map_or_else(rand::make_rng, rand::SeedableRng::seed_from_u64);
        Mint(Mutex::new(Press { random, placement, last: (Time::ZERO, 0) }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Press> {
        self.0.lock().expect("nobody panics while minting")
    }
}

#[derive(Debug)]
pub(crate) struct Press {
    random: StdRng,
    placement: Placement,
    /// The time and order in the last job's id.
    last: (Time, u32),
}

impl Press {
    /// Rises with every call, even when the clock steps back. Lies where the tenant lives.
    pub(crate) fn job(&mut self, now: Time, tenant: &TenantName) -> JobId {
        let (at, order) = self.last;
        self.last = if now > at {
            (now, 0)
        } else if order < JobId::ORDER_MAX {
            (at, order + 1)
        } else {
            (Time::from_millis(at.as_millis() + 1), 0)
        };
        let (at, order) = self.last;
        let draw = self.random.random_range(0..self.placement.spread(tenant));
        let segment = self.placement.segment_for(tenant, u64::from(draw));
        JobId::mint(at, order, segment, self.random.next_u64())
    }

    pub(crate) fn worker(&mut self) -> WorkerId {
        WorkerId(self.uuid())
    }

    pub(crate) fn node(&mut self) -> NodeId {
        NodeId(self.uuid())
    }

    /// For jitter.
    pub(crate) fn seed(&mut self) -> u64 {
        self.random.next_u64()
    }

    fn uuid(&mut self) -> Uuid {
        uuid::Builder::from_random_bytes(self.random.random()).into_uuid()
    }

    #[cfg(test)]
    fn seeded(seed: u64) -> Press {
        Press::placed(seed, Placement::ONE)
    }

    #[cfg(test)]
    fn placed(seed: u64, placement: Placement) -> Press {
        Press { random: rand::SeedableRng::seed_from_u64(seed), placement, last: (Time::ZERO, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::segment::Segments;
    use proptest::prelude::*;

    fn tenant() -> TenantName {
        TenantName::default_tenant()
    }

    proptest! {
        #[test]
        fn ids_rise_whatever_the_clock_does(seed: u64, instants in prop::collection::vec(0u64..1_000, 1..200)) {
            let mut press = Press::seeded(seed);
            let ids: Vec<JobId> = instants.into_iter().map(|ms| press.job(Time::from_millis(ms), &tenant())).collect();
            prop_assert!(ids.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_millisecond_that_is_used_up_borrows_from_the_next() {
        let mut press = Press::seeded(1);
        press.last = (Time::from_millis(7), JobId::ORDER_MAX - 1);
        let ids: Vec<JobId> = (0..3).map(|_| press.job(Time::from_millis(7), &tenant())).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert_eq!(press.last, (Time::from_millis(8), 1));
    }

    #[test]
    fn jobs_are_spread_over_all_segments() {
        let mut press = Press::seeded(2);
        let segments: Segments = (0..10_000).map(|_| press.job(Time::ZERO, &tenant()).segment()).collect();
        assert_eq!(segments, Segments::ALL);
    }

    #[test]
    fn of_several_databases_jobs_are_spread_over_the_segments_of_their_tenants() {
        let placement = Placement::new(3).expect("in range");
        let mut press = Press::placed(3, placement);
        let segments: Segments = (0..10_000).map(|_| press.job(Time::ZERO, &tenant()).segment()).collect();
        assert_eq!(segments, placement.segments_of(placement.home(&tenant())));
    }
}
