//! How many permits are left: a token bucket as one number (GCRA). Reads no clock, and asks nobody before it takes.
//!
//! The number is the instant at which all permits are back. Each permit moves it one interval ahead, and what may be
//! taken now follows from how far ahead it is:
//!
//! ```text
//!            now                      full_at          now + burst · interval
//!  ───────────┼──────────────────────────┼──────────────────────┼─────▶ time
//!             │◀─── permits in use ─────▶│◀──── permits free ──▶│
//! ```
//!
//! What it promises, whatever the clock reads, forward or back:
//! - In any span [a, b] at most `burst + permits · (b − a) / per` are taken. Proof: before the first of them the number
//!   was pulled up to `a` or later, each permit adds an interval, and the last one leaves it at most `burst` intervals
//!   ahead of `b`. The number never falls, so a clock that steps back mints nothing.
//! - A clock that steps back by S makes nobody wait more than S longer, because `next_at` is an instant that does
//!   not depend on now.
//! - A job that is heavier than the burst is let in when the bucket is full, rather than never, and pays in full: the
//!   bound then holds with its weight in place of the burst. Whoever keeps the line must not let lighter jobs
//!   overtake it, or the bucket is never full.

use super::rule::Rate;
use crate::time::Time;

/// One number, in 1/65536 of a millisecond since the unix epoch: [`Time`] has 48 bits, and 16 are left. The interval
/// of 1,000 per second is exact in it, that of 7 per day to 12 digits, that of 1,000,000 per second to 0.7%; it is
/// rounded up, so that a rate is never exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Bucket {
    pub full_at: u64,
}

const TICKS_PER_MS: u64 = 1 << 16;
const NANOS_PER_MS: u128 = 1_000_000;

impl Bucket {
    /// With nothing left. For a store that has forgotten: what was taken before cannot be exceeded then.
    pub fn empty(rate: &Rate, now: Time) -> Bucket {
        let mut bucket = Bucket { full_at: ticks(now) };
        bucket.add(u128::from(rate.burst) * interval(rate));
        bucket
    }

    /// How many permits are left.
    pub fn free(&self, rate: &Rate, now: Time) -> u64 {
        u64::from(rate.burst).saturating_sub(self.used(rate, now))
    }

    /// Takes permits, whether there are any or not: ask [`Bucket::next_at`] before.
    pub fn take(&mut self, rate: &Rate, now: Time, weight: u16) {
        self.full_at = self.full_at.max(ticks(now));
        self.add(u128::from(weight) * interval(rate));
    }

    /// When this many permits can be taken: now, or the first millisecond at which they are back.
    pub fn next_at(&self, rate: &Rate, now: Time, weight: u16) -> Time {
        let spare = u128::from(rate.burst.saturating_sub(u32::from(weight))) * interval(rate);
        let spare = u64::try_from(spare).unwrap_or(u64::MAX);
        let at = self.full_at.saturating_sub(spare).div_ceil(TICKS_PER_MS);
        now.max(Time::from_millis(at))
    }

    /// The rate has changed: permits in use stay in use, up to the new burst, and come back at the new rate.
    pub fn retune(&mut self, now: Time, from: &Rate, to: &Rate) {
        let used = self.used(from, now).min(u64::from(to.burst));
        self.full_at = ticks(now);
        self.add(u128::from(used) * interval(to));
    }

    /// The same bucket, without what no longer matters if time never goes back.
    pub fn as_of(self, now: Time) -> Bucket {
        if self.full_at <= ticks(now) { Bucket::default() } else { self }
    }

    fn used(&self, rate: &Rate, now: Time) -> u64 {
        let ahead = u128::from(self.full_at.saturating_sub(ticks(now)));
        u64::try_from(ahead.div_ceil(interval(rate))).unwrap_or(u64::MAX)
    }

    fn add(&mut self, span: u128) {
        self.full_at = u64::try_from(span).map_or(u64::MAX, |span| self.full_at.saturating_add(span));
    }
}

fn ticks(at: Time) -> u64 {
    at.as_millis() * TICKS_PER_MS
}

/// How long one permit takes to come back.
fn interval(rate: &Rate) -> u128 {
    let per = rate.per.as_nanos() * u128::from(TICKS_PER_MS);
    per.div_ceil(NANOS_PER_MS * u128::from(rate.permits.max(1))).max(1)
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
pub(super) mod tests;
