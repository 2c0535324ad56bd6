//! How long to wait after each failure in a row. Pure: the dice come in from outside.

use std::time::Duration;

/// Doubles from `base` to `cap`; half of each wait is random, so that workers that lost one server do not come back as one.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    base: Duration,
    cap: Duration,
    failures: u32,
}

impl Backoff {
    pub fn new(base: Duration, cap: Duration) -> Backoff {
        Backoff { base, cap, failures: 0 }
    }

    /// For what talks to the server in a loop.
    pub fn of_a_loop() -> Backoff {
        Backoff::new(Duration::from_millis(100), Duration::from_secs(10))
    }

    /// The wait after one more failure; `dice` is from 0 to 1.
    pub fn next(&mut self, dice: f64) -> Duration {
        let doubled = self.base.saturating_mul(1u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        let longest = doubled.min(self.cap);
        longest / 2 + (longest / 2).mul_f64(dice.clamp(0.0, 1.0))
    }

    /// Something worked: the next failure is the first again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(100);
    const CAP: Duration = Duration::from_secs(2);

    fn waits(dice: f64, count: usize) -> Vec<u128> {
        let mut backoff = Backoff::new(BASE, CAP);
        (0..count).map(|_| backoff.next(dice).as_millis()).collect()
    }

    #[test]
    fn the_wait_doubles_up_to_the_cap() {
        assert_eq!(waits(1.0, 7), [100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(waits(0.0, 7), [50, 100, 200, 400, 800, 1000, 1000]);
    }

    #[test]
    fn a_long_outage_does_not_overflow() {
        let mut backoff = Backoff::new(BASE, CAP);
        backoff.failures = u32::MAX - 1;
        assert_eq!((0..4).map(|_| backoff.next(1.0)).max(), Some(CAP));
    }

    #[test]
    fn a_success_begins_anew() {
        let mut backoff = Backoff::new(BASE, CAP);
        assert_eq!((0..5).map(|_| backoff.next(1.0)).max(), Some(BASE * 16));
        assert_eq!(backoff.failures(), 5);
        backoff.reset();
        assert_eq!(backoff.next(1.0), BASE);
    }
}
