//! An instant on the wire. Printed as RFC 3339 in UTC with milliseconds; read as RFC 3339 with any offset, or as unix
//! seconds. Never reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::ParseError;
use crate::parse::quoted;

/// An instant, printed as RFC 3339 in UTC with milliseconds. Read as RFC 3339 with any offset, or as a number of unix seconds.
// The number is unix milliseconds. Instants before 1970 are refused when read: nothing here can happen then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-12-01T09:00:00.000Z")]
pub struct Timestamp(pub u64);

const EXPECTED: &str = "an RFC 3339 time such as 2026-12-01T09:00:00Z, or unix seconds";

const PRINTED_BYTES: usize = "2026-12-01T09:00:00.000Z".len();

impl Timestamp {
    /// 9999-12-30T22:00:00.999Z, the last instant that can be written with every UTC offset and a four-digit year.
    /// What lies beyond it is printed as it.
    pub const MAX: Timestamp = Timestamp(253_402_207_200_999);

    pub const fn from_millis(ms: u64) -> Timestamp {
        Timestamp(ms)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    fn from_unix_seconds(seconds: f64) -> Result<Timestamp, ParseError> {
        let ms = (seconds * 1000.0).round();
        if seconds.is_nan() || seconds < 0.0 {
            return Err(before_1970(seconds));
        }
        if ms > Timestamp::MAX.0 as f64 {
            return Err(ParseError::new(format!(
                "{seconds} is past the year 9999: expected unix seconds (not milliseconds), or an RFC 3339 time such as 2026-12-01T09:00:00Z"
            )));
        }
        Ok(Timestamp(ms as u64))
    }

    /// Written by hand because every claimed job prints two or three: 58 ns into JSON where jiff took 105, and no allocation.
    fn print(self) -> [u8; PRINTED_BYTES] {
        let ms = self.0.min(Timestamp::MAX.0);
        let (days, ms_of_day) = (ms / 86_400_000, (ms % 86_400_000) as u32);
        let (year, month, day) = civil_from_days(days as u32);
        let seconds = ms_of_day / 1000;

        let mut text = *b"0000-00-00T00:00:00.000Z";
        two_digits(&mut text, 0, year / 100);
        two_digits(&mut text, 2, year % 100);
        two_digits(&mut text, 5, month);
        two_digits(&mut text, 8, day);
        two_digits(&mut text, 11, seconds / 3600);
        two_digits(&mut text, 14, seconds / 60 % 60);
        two_digits(&mut text, 17, seconds % 60);
        text[20] += (ms_of_day % 1000 / 100) as u8;
        two_digits(&mut text, 21, ms_of_day % 100);
        text
    }
}

/// Days since 1970-01-01 to (year, month, day), by Howard Hinnant's algorithm: years begin in March, so that the leap day is
/// the last of its year.
fn civil_from_days(days: u32) -> (u32, u32, u32) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u32::from(month <= 2);
    (year, month, day)
}

fn two_digits(text: &mut [u8; PRINTED_BYTES], at: usize, number: u32) {
    text[at] += (number / 10) as u8;
    text[at + 1] += (number % 10) as u8;
}

fn as_text(bytes: &[u8; PRINTED_BYTES]) -> &str {
    std::str::from_utf8(bytes).expect("a printed time is made of digits")
}

fn before_1970(what: impl fmt::Display) -> ParseError {
    ParseError::new(format!("{what} is before 1970: expected {EXPECTED}"))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(as_text(&self.print()))
    }
}

impl FromStr for Timestamp {
    type Err = ParseError;

    /// RFC 3339 only: a bare number in quotes could be a year as well as seconds.
    fn from_str(text: &str) -> Result<Timestamp, ParseError> {
        let not_a_time = || ParseError::new(format!("{} is not a time: expected {EXPECTED}", quoted(text)));
        // jiff would skip over a zone in brackets without checking it against the offset.
        if text.contains('[') {
            return Err(not_a_time());
        }
        let instant: jiff::Timestamp = text.parse().map_err(|_| not_a_time())?;
        let ms = (instant.as_nanosecond() + 500_000).div_euclid(1_000_000);
        let ms = u64::try_from(ms).map_err(|_| before_1970(quoted(text)))?;
        Ok(Timestamp(ms.min(Timestamp::MAX.0)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(as_text(&self.print()))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        deserializer.deserialize_any(TimestampVisitor)
    }
}

struct TimestampVisitor;

impl Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timestamp, E> {
        Timestamp::from_unix_seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timestamp, E> {
        Timestamp::from_unix_seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timestamp, E> {
        Timestamp::from_unix_seconds(seconds).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;
    use crate::check::refused;

    fn read(json: &str, printed: &str) {
        let time: Timestamp = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(time.to_string(), printed, "{json}");
        assert_eq!(serde_json::to_string(&time).expect("a time prints"), format!("{printed:?}"));
    }

    #[test]
    fn good_times_are_read() {
        read(r#""2026-12-01T09:00:00Z""#, "2026-12-01T09:00:00.000Z");
        read(r#""2026-12-01T09:00:00.123Z""#, "2026-12-01T09:00:00.123Z");
        read(r#""2026-12-01t09:00:00.123456z""#, "2026-12-01T09:00:00.123Z");
        read(r#""2026-12-01T09:00:00.9996Z""#, "2026-12-01T09:00:01.000Z");
        read(r#""2026-12-01T09:00:00+05:30""#, "2026-12-01T03:30:00.000Z");
        read(r#""2026-12-31T23:30:00-01:00""#, "2027-01-01T00:30:00.000Z");
        read(r#""2024-02-29 12:00:00Z""#, "2024-02-29T12:00:00.000Z");
        read(r#""1970-01-01T00:00:00Z""#, "1970-01-01T00:00:00.000Z");
        read(r#""9999-12-30T22:00:00.999999999Z""#, "9999-12-30T22:00:00.999Z");
        read("0", "1970-01-01T00:00:00.000Z");
        read("1796115600", "2026-12-01T09:00:00.000Z");
        read("1796115600.25", "2026-12-01T09:00:00.250Z");
        read("1796115600.001", "2026-12-01T09:00:00.001Z");
        read("1.7961156e9", "2026-12-01T09:00:00.000Z");
    }

    #[test]
    fn bad_times_are_refused_with_what_was_expected() {
        let expected = "expected an RFC 3339 time such as 2026-12-01T09:00:00Z, or unix seconds";
        for json in [
            r#""""#,
            r#""tomorrow""#,
            r#""2026-12-01""#,
            r#""2026-12-01T09:00:00""#,
            r#""2026-13-01T09:00:00Z""#,
            r#""2026-02-30T09:00:00Z""#,
            r#""2026-12-01T25:00:00Z""#,
            r#""2026-12-01T09:00:00Z[Europe/Paris]""#,
            r#""1796115600""#,
            r#""1969-12-31T23:59:59Z""#,
            "-1",
            "-0.5",
            "-0.0001",
            "true",
            "[1]",
            "{}",
            "null",
        ] {
            refused::<Timestamp>(json, expected);
        }
        refused::<Timestamp>(r#""tomorrow""#, r#""tomorrow" is not a time"#);
        refused::<Timestamp>("-1", "before 1970");
        refused::<Timestamp>("1796115600000", "past the year 9999: expected unix seconds (not milliseconds)");
        refused::<Timestamp>("18446744073709551615", "past the year 9999");
    }

    #[test]
    fn printing_agrees_with_jiff_on_every_day_and_at_scattered_instants() {
        let agrees = |ms: u64| {
            let jiff = jiff::Timestamp::from_nanosecond(i128::from(ms) * 1_000_000).expect("inside jiff's range");
            assert_eq!(Timestamp(ms).to_string(), format!("{jiff:.3}"), "{ms}");
            assert_eq!(Timestamp(ms).to_string().parse(), Ok(Timestamp(ms)));
        };
        for day in 0..Timestamp::MAX.0 / 86_400_000 {
            agrees(day * 86_400_000 + day * 7_919 % 86_400_000);
        }
        let mut seed = 1_u64;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            agrees((seed >> 8) % (Timestamp::MAX.0 + 1));
        }
        agrees(Timestamp::MAX.0);
    }

    #[test]
    fn what_lies_past_the_last_instant_prints_as_it() {
        assert_eq!(Timestamp(u64::MAX).to_string(), "9999-12-30T22:00:00.999Z");
    }
}
