//! The promises of the bucket, each against an account that is kept apart from it.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::limits;

/// What was taken, and when by the clock of that moment.
pub(crate) type Taken = (Time, u16);

/// The bound over every span of the history, in whole numbers: `(taken − burst) · per ≤ permits · span`.
pub(crate) fn exceeds(rate: &Rate, history: &[Taken]) -> Option<String> {
    let heaviest = history.iter().map(|&(_, weight)| u32::from(weight)).max().unwrap_or(0);
    let burst = i128::from(rate.burst.max(heaviest));
    for &(from, _) in history {
        for &(to, _) in history {
            let within = history.iter().filter(|&&(at, _)| (from..=to).contains(&at));
            let taken: i128 = within.map(|&(_, weight)| i128::from(weight)).sum();
            let earned = i128::from(rate.permits) * to.since(from).as_nanos() as i128;
            if (taken - burst) * rate.per.as_nanos() as i128 > earned {
                return Some(format!("{taken} were taken from {from:?} to {to:?} under {rate:?}"));
            }
        }
    }
    None
}

pub(crate) fn rates() -> impl Strategy<Value = Rate> {
    let per = prop_oneof![Just(1u64), Just(60), Just(3600), Just(86_400), 1u64..100_000];
    (prop_oneof![1u32..20, 1u32..=limits::RATE_PERMITS_MAX], per, 1u32..40).prop_map(|(permits, per_s, burst)| Rate {
        permits,
        per: Duration::from_secs(per_s),
        burst,
    })
}

/// Steps of a clock, in thousandths of the rate's interval, so that each rate meets its own edges.
fn steps() -> impl Strategy<Value = Vec<(i64, u16)>> {
    prop::collection::vec((prop_oneof![0i64..3000, -5000i64..20_000], prop_oneof![1u16..4, 1u16..60]), 1..50)
}

fn moved(now: Time, rate: &Rate, thousandths: i64) -> Time {
    let interval_ms = (rate.per.as_millis() as i64 / i64::from(rate.permits)).max(1);
    let step = interval_ms * thousandths / 1000;
    Time::from_millis(now.as_millis().saturating_add_signed(step))
}

proptest! {
    #[test]
    fn a_rate_is_not_exceeded_over_any_span_whatever_the_clock_does(rate in rates(), steps in steps()) {
        let (mut bucket, mut now, mut history) = (Bucket::default(), Time::from_millis(1 << 40), Vec::new());
        for (step, weight) in steps {
            now = moved(now, &rate, step);
            if bucket.next_at(&rate, now, weight) == now {
                bucket.take(&rate, now, weight);
                history.push((now, weight));
            }
        }
        prop_assert_eq!(exceeds(&rate, &history), None);
    }

    #[test]
    fn next_at_is_the_first_millisecond_at_which_it_fits(rate in rates(), steps in steps(), weight in 1u16..60) {
        let (mut bucket, mut now) = (Bucket::default(), Time::from_millis(1 << 40));
        for (step, weight) in steps {
            now = moved(now, &rate, step);
            bucket.take(&rate, now, weight);
        }
        let needed = u64::from(rate.burst.min(u32::from(weight)));
        let at = bucket.next_at(&rate, now, weight);
        prop_assert!(bucket.free(&rate, at) >= needed);
        if at > now {
            prop_assert!(bucket.free(&rate, at.before(Duration::from_millis(1))) < needed);
        }
    }

    #[test]
    fn a_clock_that_steps_back_mints_nothing_and_locks_for_no_longer_than_the_step(
        rate in rates(), steps in steps(), weight in 1u16..60, back_ms in 0u64..1 << 38,
    ) {
        let (mut bucket, mut now) = (Bucket::default(), Time::from_millis(1 << 40));
        for (step, weight) in steps {
            now = moved(now, &rate, step);
            bucket.take(&rate, now, weight);
        }
        let step = Duration::from_millis(back_ms);
        let stepped = now.before(step);
        prop_assert!(bucket.free(&rate, stepped) <= bucket.free(&rate, now));
        let wait = bucket.next_at(&rate, now, weight).since(now);
        let wait_stepped = bucket.next_at(&rate, stepped, weight).since(stepped);
        prop_assert!(wait_stepped >= wait && wait_stepped <= wait + step);
    }

    #[test]
    fn more_is_never_sooner_and_later_is_never_less(
        rate in rates(), used in 0u16..100, weight in 1u16..60, later in 0u64..1 << 30,
    ) {
        let (mut bucket, now) = (Bucket::default(), Time::from_millis(1 << 40));
        bucket.take(&rate, now, used);
        prop_assert!(bucket.next_at(&rate, now, weight) <= bucket.next_at(&rate, now, weight + 1));
        prop_assert!(bucket.free(&rate, now) <= bucket.free(&rate, now.after(Duration::from_millis(later))));
    }

    #[test]
    fn a_changed_rate_starts_with_no_more_than_it_would_have_left(from in rates(), to in rates(), used in 0u16..80) {
        let (mut bucket, now) = (Bucket::default(), Time::from_millis(1 << 40));
        bucket.take(&from, now, used);
        let in_use = u64::from(used).min(u64::from(to.burst));
        bucket.retune(now, &from, &to);
        prop_assert_eq!(bucket.free(&to, now), u64::from(to.burst) - in_use);
    }
}

#[test]
fn a_rate_is_reached_to_the_last_permit_but_rounding() {
    let check = |permits: u32, per_s: u64, burst: u32, least: u64| {
        let rate = Rate { permits, per: Duration::from_secs(per_s), burst };
        let (start, mut bucket, mut taken) = (Time::from_millis(1 << 40), Bucket::default(), 0u64);
        let mut now = start;
        while now < start.after(rate.per) {
            let free = bucket.free(&rate, now);
            bucket.take(&rate, now, u16::try_from(free).expect("a small burst"));
            taken += free;
            now = bucket.next_at(&rate, now.after(Duration::from_millis(1)), 1);
        }
        let most = u64::from(permits) + u64::from(burst);
        assert!((least..=most).contains(&taken), "{rate:?} let {taken} pass");
    };
    check(1000, 1, 1, 1000);
    check(1000, 1, 50, 1049);
    check(7, 86_400, 1, 7);
    check(7, 86_400, 7, 13);
    check(3, 1, 1, 3);
    // Above a thousand per second the burst must last a tick; the interval is 0.7% too long, never too short.
    check(1_000_000, 1, 2000, 992_000);
}

#[test]
fn what_was_taken_under_a_higher_rate_does_not_lock_a_lower_one() {
    let fast = Rate { permits: 1000, per: Duration::from_secs(1), burst: 5000 };
    let slow = Rate { permits: 1, per: Duration::from_secs(3600), burst: 2 };
    let (mut bucket, now) = (Bucket::default(), Time::from_millis(5000));
    bucket.take(&fast, now, 5000);
    bucket.retune(now, &fast, &slow);
    assert_eq!(bucket, Bucket::empty(&slow, now));
    assert_eq!(bucket.next_at(&slow, now, 1), now.after(slow.per));
}

#[test]
fn a_full_bucket_gives_its_burst_in_one_instant_and_then_one_by_one() {
    let rate = Rate { permits: 10, per: Duration::from_secs(1), burst: 3 };
    let (mut bucket, now) = (Bucket::default(), Time::from_millis(5000));
    assert_eq!(bucket.free(&rate, now), 3);
    bucket.take(&rate, now, 3);
    assert_eq!(bucket.free(&rate, now), 0);
    assert_eq!(bucket.next_at(&rate, now, 1), Time::from_millis(5100));
    assert_eq!(bucket.next_at(&rate, now, 2), Time::from_millis(5200));
    assert_eq!(bucket.free(&rate, Time::from_millis(5099)), 0);
    assert_eq!(bucket.free(&rate, Time::from_millis(5100)), 1);
    assert_eq!(bucket.free(&rate, Time::from_millis(9000)), 3);
}

#[test]
fn a_job_heavier_than_the_burst_is_let_in_when_the_bucket_is_full_and_pays() {
    let rate = Rate { permits: 10, per: Duration::from_secs(1), burst: 3 };
    let (mut bucket, now) = (Bucket::default(), Time::from_millis(5000));
    assert_eq!(bucket.next_at(&rate, now, 20), now);
    bucket.take(&rate, now, 1);
    assert_eq!(bucket.next_at(&rate, now, 20), Time::from_millis(5100));
    bucket.take(&rate, Time::from_millis(5100), 20);
    assert_eq!(bucket.next_at(&rate, now, 1), Time::from_millis(5100 + 1800));
}

#[test]
fn a_bucket_that_forgot_starts_with_nothing() {
    let rate = Rate { permits: 1, per: Duration::from_secs(60), burst: 5 };
    let now = Time::from_millis(5000);
    let bucket = Bucket::empty(&rate, now);
    assert_eq!(bucket.free(&rate, now), 0);
    assert_eq!(bucket.next_at(&rate, now, 1), Time::from_millis(65_000));
}

#[test]
fn no_number_is_too_large_for_the_bucket() {
    let slow = Rate { permits: 1, per: limits::RATE_PER_MAX, burst: 1 };
    let mut bucket = Bucket::default();
    for _ in 0..3 {
        bucket.take(&slow, Time::from_millis(1 << 40), u16::MAX);
    }
    assert_eq!(bucket.next_at(&slow, Time::from_millis(1 << 40), 1), Time::MAX);
    let nonsense = Rate { permits: 0, per: Duration::MAX, burst: u32::MAX };
    bucket.retune(Time::MAX, &nonsense, &nonsense);
    bucket.take(&nonsense, Time::MAX, u16::MAX);
    assert_eq!(bucket.next_at(&Rate { burst: 0, ..nonsense }, Time::ZERO, 1), Time::MAX);
}
