//! Whether the server goes by a clock that people move, and where it starts: `off`, `now`, or an instant. Used by the flag and the
//! configuration alike.

use std::fmt;
use std::str::FromStr;

use mainspring_wire::Timestamp;
use serde::de::{self, Deserialize, Deserializer, Visitor};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VirtualClock {
    /// The machine's clock.
    #[default]
    Off,
    /// It stands still at the instant of the start.
    Now,
    At(Timestamp),
}

const EXPECTED: &str = "off, now, or an RFC 3339 time such as 2026-12-01T09:00:00Z";

impl FromStr for VirtualClock {
    type Err = String;

    fn from_str(text: &str) -> Result<VirtualClock, String> {
        match text {
            "off" => Ok(VirtualClock::Off),
            "now" => Ok(VirtualClock::Now),
            time => {
                time.parse().map(VirtualClock::At).map_err(|_| format!("{time:?} is not a time: expected {EXPECTED}"))
            }
        }
    }
}

impl fmt::Display for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VirtualClock::Off => f.write_str("off"),
            VirtualClock::Now => f.write_str("now"),
            VirtualClock::At(at) => at.fmt(f),
        }
    }
}

impl serde::Serialize for VirtualClock {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for VirtualClock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VirtualClock, D::Error> {
        struct Word;

        impl Visitor<'_> for Word {
            type Value = VirtualClock;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<VirtualClock, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_off_or_starts_somewhere() {
        let check = |text: &str, expected: VirtualClock| {
            let clock: VirtualClock = text.parse().expect("it is read");
            assert_eq!(clock, expected);
            assert_eq!(clock.to_string().parse::<VirtualClock>(), Ok(expected));
        };
        check("off", VirtualClock::Off);
        check("now", VirtualClock::Now);
        check("1970-01-01T00:00:07Z", VirtualClock::At(Timestamp(7000)));
        assert!("soon".parse::<VirtualClock>().expect_err("is none").contains("is not a time"));
    }
}
