//! How far this node's clock is from the store's. Sets no clock: a node whose clock is too far off takes no seats, and says
//! so.

use std::time::Duration;

use mainspring_core::seats::Seats;
use mainspring_core::store;
use mainspring_core::time::Time;

use super::MARGIN_PART;
use crate::clock::Clock;

/// How far ahead of the store's clock ours is, give or take half of the time that asking took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skew {
    pub(super) ahead_ms: i64,
    pub(super) doubt: Duration,
}

impl Skew {
    /// `None` if the store has no clock, or people move ours.
    pub(super) async fn measure(clock: &dyn Clock, seats: &dyn Seats) -> store::Result<Option<Skew>> {
        if clock.hands().is_some() {
            return Ok(None);
        }
        let asked_at = clock.now();
        let stores = seats.clock().await?;
        Ok(stores.map(|stores| Skew::between(asked_at, stores, clock.now())))
    }

    fn between(asked_at: Time, stores: Time, answered_at: Time) -> Skew {
        let took = answered_at.since(asked_at);
        let halfway = asked_at.after(took / 2);
        Skew { ahead_ms: halfway.as_millis() as i64 - stores.as_millis() as i64, doubt: took / 2 }
    }

    /// Whether it is surely more than that.
    pub(super) fn exceeds(self, max: Duration) -> bool {
        Duration::from_millis(self.ahead_ms.unsigned_abs()).saturating_sub(self.doubt) > max
    }
}

/// The most that a clock may be off: with half of the margin each, no two nodes that are within it believe at one instant that
/// the same term is theirs.
pub(crate) fn skew_max(term: Duration) -> Duration {
    term / MARGIN_PART / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn skew_is_measured_against_the_middle_of_the_asking() {
        assert_eq!(
            Skew::between(at(1_000), at(1_010), at(1_020)),
            Skew { ahead_ms: 0, doubt: Duration::from_millis(10) }
        );
        assert_eq!(Skew::between(at(5_000), at(1_000), at(5_000)).ahead_ms, 4_000);
        assert_eq!(Skew::between(at(1_000), at(5_000), at(1_000)).ahead_ms, -4_000);
    }

    #[test]
    fn a_slow_answer_is_no_skew() {
        let max = skew_max(Duration::from_secs(10));
        assert_eq!(max, Duration::from_millis(500));
        assert!(Skew::between(at(2_000), at(1_000), at(2_000)).exceeds(max));
        assert!(!Skew::between(at(1_000), at(1_500), at(1_000)).exceeds(max), "exactly the limit is within it");
        // The store answered at once, and the answer was on its way for four seconds.
        assert!(!Skew::between(at(1_000), at(1_000), at(5_000)).exceeds(max));
    }
}
