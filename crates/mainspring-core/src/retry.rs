//! How long to wait before the next try. Draws no random numbers: the seed comes in from outside.

use std::time::Duration;

use crate::limits::SPAN_MAX;

/// How the wait grows with the retries made.
#[derive(Clone, Debug, PartialEq)]
pub enum Backoff {
    Fixed {
        delay: Duration,
    },
    /// `step`, 2 × `step`, 3 × `step` …
    Linear {
        step: Duration,
    },
    /// `base`, `base` × `factor`, `base` × `factor`² …
    Exponential {
        base: Duration,
        factor: f64,
    },
    /// These, in order; then the last one again.
    List {
        delays: Vec<Duration>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    pub backoff: Backoff,
    /// No wait is longer than this, jitter included.
    pub cap: Duration,
    /// Spreads each wait by up to this fraction, both ways. 0 to 1.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            backoff: Backoff::Exponential { base: Duration::from_secs(5), factor: 2.0 },
            cap: Duration::from_secs(3600),
            jitter: 0.1,
        }
    }
}

impl RetryPolicy {
    pub const FACTOR_MIN: f64 = 1.0;
    pub const FACTOR_MAX: f64 = 100.0;

    /// The wait after the `retry`th failed try, counted from one.
    pub fn delay(&self, retry: u32, seed: u64) -> Duration {
        let n = retry.max(1);
        let wait = match &self.backoff {
            Backoff::Fixed { delay } => *delay,
            Backoff::Linear { step } => step.saturating_mul(n),
            Backoff::Exponential { base, factor } => scale(*base, factor.powf(f64::from(n - 1))),
            Backoff::List { delays } => {
                let at = (n as usize - 1).min(delays.len().saturating_sub(1));
                delays.get(at).copied().unwrap_or_default()
            }
        };
        let spread = 1.0 + self.jitter.clamp(0.0, 1.0) * (2.0 * unit(seed) - 1.0);
        scale(wait.min(self.cap), spread).min(self.cap)
    }
}

/// A wait spread over `[0, jitter]`, for `run_at`.
pub fn spread(jitter: Duration, seed: u64) -> Duration {
    scale(jitter, unit(seed))
}

fn scale(wait: Duration, by: f64) -> Duration {
    let seconds = wait.as_secs_f64() * by;
    if seconds.is_finite() && seconds < SPAN_MAX.as_secs_f64() {
        Duration::from_secs_f64(seconds.max(0.0))
    } else {
        SPAN_MAX
    }
}

/// A seed as a number in `[0, 1)`.
fn unit(seed: u64) -> f64 {
    (seed >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIDDLE: u64 = 1 << 63;

    fn policy(backoff: Backoff) -> RetryPolicy {
        RetryPolicy { backoff, ..RetryPolicy::default() }
    }

    #[test]
    fn waits_grow_as_the_policy_says() {
        let check = |backoff: Backoff, expected: [u64; 4]| {
            let policy = policy(backoff);
            let waits = [1, 2, 3, 20].map(|n| policy.delay(n, MIDDLE).as_secs());
            assert_eq!(waits, expected, "{policy:?}");
        };
        let seconds = Duration::from_secs;
        check(Backoff::Fixed { delay: seconds(7) }, [7, 7, 7, 7]);
        check(Backoff::Linear { step: seconds(7) }, [7, 14, 21, 140]);
        check(Backoff::Exponential { base: seconds(5), factor: 2.0 }, [5, 10, 20, 3600]);
        check(Backoff::List { delays: vec![seconds(1), seconds(60)] }, [1, 60, 60, 60]);
        check(Backoff::List { delays: vec![] }, [0, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_cap(
            base in 0u64..1 << 40, factor in 1.0f64..100.0, jitter in 0.0f64..=1.0, n in 0u32.., seed: u64, cap in 0u64..1 << 40,
        ) {
            let cap = Duration::from_millis(cap);
            let backoff = Backoff::Exponential { base: Duration::from_millis(base), factor };
            let wait = RetryPolicy { backoff, cap, jitter }.delay(n, seed);
            prop_assert!(wait <= cap);
        }

        #[test]
        fn jitter_stays_within_its_fraction(seed: u64, jitter in 0.0f64..=1.0) {
            let backoff = Backoff::Fixed { delay: Duration::from_secs(100) };
            let wait = RetryPolicy { backoff, cap: Duration::from_secs(1000), jitter }.delay(1, seed).as_secs_f64();
            prop_assert!((wait - 100.0).abs() <= 100.0 * jitter + 1e-6);
        }
    }
}
