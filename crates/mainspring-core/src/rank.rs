//! Who goes first. Aging in closed form: nothing is ever rescored.
//!
//! Effective priority = priority + age_factor × seconds waited. All waiting jobs age at one rate, so their order
//! never changes while they wait: `rank = ready_at − priority / age_factor`, lowest first. Within one priority
//! that is the order of `ready_at`, so a store keeps one *lane* per priority and a claim merges the heads of the
//! lanes; the factor can change at any time and no entry moves.

use std::cmp::Ordering;
use std::time::Duration;

use crate::id::JobId;
use crate::limits;
use crate::time::Time;

/// Higher goes first. [`limits::PRIORITY_MIN`] to [`limits::PRIORITY_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i16);

impl Priority {
    pub const DEFAULT: Priority = Priority(5);

    pub fn new(value: i64) -> Option<Priority> {
        let range = i64::from(limits::PRIORITY_MIN)..=i64::from(limits::PRIORITY_MAX);
        range.contains(&value).then_some(Priority(value as i16))
    }

    pub fn value(self) -> i16 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Priority {
        Priority::DEFAULT
    }
}

/// How much waiting is worth one point of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aging {
    point_ms: u64,
}

impl Aging {
    /// In strict order no wait is ever worth a point: more than the whole span of [`Time`].
    const STRICT_MS: u64 = 1 << 49;
    /// The smallest factor apart from zero.
    pub const FACTOR_MIN: f64 = 1e-9;
    pub const FACTOR_MAX: f64 = 1000.0;

    pub const STRICT: Aging = Aging { point_ms: Self::STRICT_MS };
    /// 0.1 per second: ten seconds are worth a point.
    pub const DEFAULT: Aging = Aging { point_ms: 10_000 };

    /// Points gained per second waited, kept as whole milliseconds per point. Zero is strict order.
    pub fn from_factor(factor: f64) -> Option<Aging> {
        if factor == 0.0 {
            return Some(Aging::STRICT);
        }
        let fits = (Self::FACTOR_MIN..=Self::FACTOR_MAX).contains(&factor);
        fits.then(|| Aging { point_ms: (1000.0 / factor).round() as u64 })
    }

    pub fn factor(self) -> f64 {
        if self == Aging::STRICT { 0.0 } else { 1000.0 / self.point_ms as f64 }
    }

    pub fn from_point_ms(point_ms: u64) -> Aging {
        Aging { point_ms: point_ms.clamp(1, Self::STRICT_MS) }
    }

    pub fn point_ms(self) -> u64 {
        self.point_ms
    }
}

impl Default for Aging {
    fn default() -> Aging {
        Aging::DEFAULT
    }
}

/// The place of a job among the ready ones: lowest first, ties to the older id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rank {
    score: i128,
    id: JobId,
}

impl Rank {
    pub fn new(lane: Priority, ready_at: Time, aging: Aging, id: JobId) -> Rank {
        let head_start = i128::from(lane.value()) * i128::from(aging.point_ms);
        Rank { score: i128::from(ready_at.as_millis()) - head_start, id }
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        (self.score, self.id).cmp(&(other.score, other.id))
    }
}

/// A deadline this far off or farther changes nothing.
pub const DEADLINE_LEAD: Duration = Duration::from_secs(3600);
/// Each of these that a deadline is nearer than the lead is worth a point.
const DEADLINE_POINT: Duration = Duration::from_secs(10);

/// The lane a job waits in: its priority, or more if its deadline is near when it becomes due. Among jobs with
/// deadlines within the lead, the earliest goes first.
pub fn lane(priority: Priority, ready_at: Time, deadline: Option<Time>) -> Priority {
    let Some(deadline) = deadline else { return priority };
    let short = DEADLINE_LEAD.saturating_sub(deadline.since(ready_at));
    let points = short.as_millis() / DEADLINE_POINT.as_millis();
    let urgent = i16::try_from(points).unwrap_or(limits::PRIORITY_MAX).min(limits::PRIORITY_MAX);
    if urgent == 0 { priority } else { priority.max(Priority(urgent)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Segment;
    use proptest::prelude::*;

    fn id(order: u32) -> JobId {
        JobId::mint(Time::from_millis(1), order, Segment::wrap(0), 0)
    }

    /// (priority + factor × waited) × point_ms, in whole numbers: what the user was promised.
    fn effective(priority: i64, ready_ms: u64, now_ms: u64, aging: Aging) -> i128 {
        i128::from(priority) * i128::from(aging.point_ms) + i128::from(now_ms - ready_ms)
    }

    proptest! {
        #[test]
        fn order_is_fair_rank_equals_priority_plus_factor_times_waited_at_every_instant(
            a in (-1000i64..=1000, 0u64..10_000_000), b in (-1000i64..=1000, 0u64..10_000_000),
            later in 0u64..100_000_000, factor in prop_oneof![Just(0.1), Just(1.0), 0.001f64..100.0],
        ) {
            let aging = Aging::from_factor(factor).expect("in range");
            let now = 10_000_000 + later;
            let rank = |(priority, ready): (i64, u64), order| Rank::new(
                Priority::new(priority).expect("in range"), Time::from_millis(ready), aging, id(order));
            let expected = effective(b.0, b.1, now, aging).cmp(&effective(a.0, a.1, now, aging));
            prop_assert_eq!(rank(a, 1).cmp(&rank(b, 2)), expected.then(Ordering::Less));
        }

        #[test]
        fn order_is_fair_a_low_priority_is_overtaken_for_a_bounded_time_only(
            low in -1000i64..=1000, high in -1000i64..=1000, ready in 0u64..1 << 40,
        ) {
            let aging = Aging::DEFAULT;
            let bound = (high - low).unsigned_abs() * aging.point_ms;
            let waiting = Rank::new(Priority::new(low).expect("in range"), Time::from_millis(ready), aging, id(1));
            let newer = Rank::new(Priority::new(high).expect("in range"), Time::from_millis(ready + bound), aging, id(2));
            prop_assert!(waiting < newer);
        }
    }

    #[test]
    fn strict_order_never_lets_a_wait_win() {
        let rank = |priority, ready| Rank::new(Priority(priority), ready, Aging::STRICT, id(1));
        assert!(rank(1, Time::MAX) < rank(0, Time::ZERO));
        assert!(rank(0, Time::ZERO) < rank(0, Time::MAX));
    }

    #[test]
    fn a_near_deadline_pulls_a_job_forward() {
        let lane = |priority, seconds: u64| {
            let ready_at = Time::from_millis(1_000_000);
            lane(Priority(priority), ready_at, Some(ready_at.after(Duration::from_secs(seconds)))).value()
        };
        assert_eq!(lane(5, 7200), 5);
        assert_eq!(lane(5, 3600), 5);
        assert_eq!(lane(5, 600), 300);
        assert_eq!(lane(5, 0), 360);
        assert_eq!(lane(900, 0), 900);
        assert_eq!(lane(-7, 3600), -7);
    }

    #[test]
    fn a_factor_reads_back() {
        assert_eq!(Aging::from_factor(0.1), Some(Aging::DEFAULT));
        assert_eq!(Aging::from_factor(0.0), Some(Aging::STRICT));
        assert_eq!(Aging::STRICT.factor(), 0.0);
        assert_eq!(Aging::from_factor(-1.0), None);
        assert_eq!(Aging::from_factor(f64::NAN), None);
        assert_eq!(Aging::from_factor(Aging::FACTOR_MAX * 2.0), None);
    }
}
