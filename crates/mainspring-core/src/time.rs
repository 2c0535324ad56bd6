//! Instants as unix milliseconds. Reads no clock: every `now` comes in from outside.

use std::fmt;
use std::time::Duration;

/// An instant, in milliseconds since the unix epoch. Fits 48 bits, as in a UUIDv7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// The last instant we can write down: the year 10889.
    pub const MAX: Time = Time((1 << 48) - 1);

    /// Instants past [`Time::MAX`] become [`Time::MAX`].
    pub const fn from_millis(ms: u64) -> Time {
        if ms > Time::MAX.0 { Time::MAX } else { Time(ms) }
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This instant moved forward, ending at [`Time::MAX`] instead of wrapping.
    pub fn after(self, wait: Duration) -> Time {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Time::from_millis(self.0.saturating_add(ms))
    }

    /// This instant moved back, ending at the epoch.
    pub fn before(self, span: Duration) -> Time {
        let ms = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Time(self.0.saturating_sub(ms))
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_never_wraps() {
        assert_eq!(Time::MAX.after(Duration::MAX), Time::MAX);
        assert_eq!(Time::ZERO.before(Duration::from_secs(1)), Time::ZERO);
        assert_eq!(Time::from_millis(5).since(Time::from_millis(9)), Duration::ZERO);
        assert_eq!(Time::from_millis(u64::MAX), Time::MAX);
    }
}
