//! A length of time on the wire. Printed short (`1h30m`, `90s`, `250ms`); read from that form, from ISO 8601 (`PT90S`), or from a
//! number of seconds. Never negative, never past a hundred years.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::time::Duration;

use jiff::SpanRelativeTo;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::ParseError;
use crate::parse::quoted;

/// A length of time such as `90s`, `1h30m`, `500ms` or `2d` (a day is 24 hours). Also read as ISO 8601 (`PT90S`) or as a number of seconds.
// The number is milliseconds; it is private because it is at most `Span::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, ToSchema)]
#[schema(value_type = String, example = "90s")]
pub struct Span(u64);

const EXPECTED: &str = "a duration such as 90s, 1h30m, 500ms, 2d or PT90S, or a number of seconds";

impl Span {
    pub const ZERO: Span = Span(0);

    /// A hundred years of 365 days. The constructors stop here; reading refuses what is longer.
    pub const MAX: Span = Span(100 * 365 * 86_400_000);

    pub const fn from_millis(ms: u64) -> Span {
        if ms > Span::MAX.0 { Span::MAX } else { Span(ms) }
    }

    pub const fn from_secs(seconds: u64) -> Span {
        Span::from_millis(seconds.saturating_mul(1000))
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    pub(crate) fn from_seconds(seconds: f64) -> Result<Span, ParseError> {
        let ms = (seconds * 1000.0).round();
        if seconds.is_nan() || seconds < 0.0 {
            return Err(negative(seconds));
        }
        if ms > Span::MAX.0 as f64 {
            return Err(too_long(seconds));
        }
        Ok(Span(ms as u64))
    }
}

fn negative(what: impl fmt::Display) -> ParseError {
    ParseError::new(format!("{what} is negative: expected {EXPECTED}"))
}

fn too_long(what: impl fmt::Display) -> ParseError {
    ParseError::new(format!("{what} is longer than 100 years: expected {EXPECTED}"))
}

/// Finer than milliseconds is cut off; longer than [`Span::MAX`] becomes it.
impl From<Duration> for Span {
    fn from(duration: Duration) -> Span {
        Span::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        span.duration()
    }
}

/// One unit below two minutes (`90s`, `1500ms`), then the units that are not zero (`1h30m`).
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE_MS: u64 = 60_000;
        const UNITS: [(u64, &str); 5] = [(86_400_000, "d"), (3_600_000, "h"), (MINUTE_MS, "m"), (1000, "s"), (1, "ms")];

        let mut text = String::new();
        let mut left_ms = self.0;
        if left_ms < 2 * MINUTE_MS && (left_ms == 0 || !left_ms.is_multiple_of(MINUTE_MS)) {
            if left_ms.is_multiple_of(1000) {
                write!(text, "{}s", left_ms / 1000)?;
            } else {
                write!(text, "{left_ms}ms")?;
            }
            return f.pad(&text);
        }
        for (unit_ms, name) in UNITS {
            if left_ms >= unit_ms {
                write!(text, "{}{name}", left_ms / unit_ms)?;
                left_ms %= unit_ms;
            }
        }
        f.pad(&text)
    }
}

impl FromStr for Span {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Span, ParseError> {
        // Months and years have no fixed length, so jiff refuses them here.
        let duration = text
            .parse::<jiff::Span>()
            .and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()))
            .map_err(|_| ParseError::new(format!("{} is not a duration: expected {EXPECTED}", quoted(text))))?;
        let ms = (duration.as_nanos() + 500_000).div_euclid(1_000_000);
        if duration.is_negative() {
            return Err(negative(quoted(text)));
        }
        match u64::try_from(ms) {
            Ok(ms) if ms <= Span::MAX.0 => Ok(Span(ms)),
            _ => Err(too_long(quoted(text))),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

struct SpanVisitor;

impl Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
        Span::from_seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Span, E> {
        Span::from_seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
        Span::from_seconds(seconds).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::refused;

    fn read(json: &str, ms: u64, printed: &str) {
        let span: Span = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!((span.as_millis(), span.to_string().as_str()), (ms, printed), "{json}");
        assert_eq!(serde_json::to_string(&span).expect("a span prints"), format!("{printed:?}"));
    }

    #[test]
    fn good_spans_are_read() {
        read(r#""90s""#, 90_000, "90s");
        read(r#""1h30m""#, 5_400_000, "1h30m");
        read(r#""90m""#, 5_400_000, "1h30m");
        read(r#""500ms""#, 500, "500ms");
        read(r#""1.5s""#, 1_500, "1500ms");
        read(r#""2d""#, 172_800_000, "2d");
        read(r#""1w""#, 604_800_000, "7d");
        read(r#""PT90S""#, 90_000, "90s");
        read(r#""P1DT2H""#, 93_600_000, "1d2h");
        read(r#""1 hour 5 minutes""#, 3_900_000, "1h5m");
        read(r#""60s""#, 60_000, "1m");
        read(r#""0s""#, 0, "0s");
        read("0", 0, "0s");
        read("90", 90_000, "90s");
        read("0.25", 250, "250ms");
        read("1.001", 1_001, "1001ms");
        read("3600", 3_600_000, "1h");
        read("86461.005", 86_461_005, "1d1m1s5ms");
        read(r#""36500d""#, Span::MAX.as_millis(), "36500d");
    }

    #[test]
    fn bad_spans_are_refused_with_what_was_expected() {
        for json in
            [r#""""#, r#""soon""#, r#""90""#, r#""90x""#, r#""1 month""#, r#""P1Y""#, "true", "[]", "{}", "null"]
        {
            refused::<Span>(json, "expected a duration such as 90s, 1h30m, 500ms, 2d or PT90S, or a number of seconds");
        }
        refused::<Span>(r#""soon""#, r#""soon" is not a duration"#);
        for json in [r#""-5s""#, r#""5s ago""#, r#""-PT5S""#, r#""-100us""#, "-1", "-0.5", "-0.0001"] {
            refused::<Span>(json, "is negative");
        }
        for json in [r#""36501d""#, r#""36500d1ms""#, "3153600001", "1e300", "18446744073709551615"] {
            refused::<Span>(json, "is longer than 100 years");
        }
    }

    #[test]
    fn every_printed_span_is_read_back() {
        let mut seed = 1_u64;
        for round in 0..200_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let span = Span::from_millis((seed >> 8) % (10_u64.pow(1 + (round % 12) as u32)));
            assert_eq!(span.to_string().parse(), Ok(span));
        }
    }

    #[test]
    fn a_duration_is_cut_to_milliseconds_and_to_the_longest() {
        assert_eq!(Span::from(Duration::from_micros(1_999)), Span::from_millis(1));
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
        assert_eq!(Duration::from(Span::from_secs(2)), Duration::from_secs(2));
    }
}
