//! A number of bytes as people write it: `64GiB`, `500MB`, `4096`. Used by flags and configuration alike.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

const EXPECTED: &str = "a size such as 64GiB, 500MB or a number of bytes";

/// The longer names first, so that `MiB` is not read as `B` with an odd number before it.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let not_a_size = || format!("{text:?} is not a size: expected {EXPECTED}");
        let unit = UNITS.iter().find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)));
        let (number, unit) = unit.unwrap_or((text, 1));
        let number: u64 = number.trim().parse().map_err(|_| not_a_size())?;
        number.checked_mul(unit).map(Size).ok_or_else(not_a_size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().take(4).find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes));
        match whole {
            Some((name, bytes)) => write!(f, "{}{name}", self.0 / bytes),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl serde::Serialize for Size {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Size, E> {
        Ok(Size(bytes))
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Size, E> {
        u64::try_from(bytes).map(Size).map_err(|_| E::custom(format!("{bytes} is negative: expected {EXPECTED}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_with_and_without_a_unit() {
        let check = |text: &str, bytes: u64| assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        check("0", 0);
        check("4096", 4096);
        check("64GiB", 64 << 30);
        check("1 TiB", 1 << 40);
        check("500MB", 500_000_000);
        check("7kB", 7000);
        check("3B", 3);
    }

    #[test]
    fn a_bad_size_says_what_was_expected() {
        for text in ["", "GiB", "-1", "1.5GiB", "64gib", "1XB", "99999999999TiB"] {
            let error = text.parse::<Size>().expect_err("is no size");
            assert_eq!(
                error,
                format!("{text:?} is not a size: {}", "expected a size such as 64GiB, 500MB or a number of bytes")
            );
        }
    }

    #[test]
    fn a_size_prints_as_it_is_read() {
        for text in ["64GiB", "1536MiB", "1B", "1000B"] {
            assert_eq!(text.parse::<Size>().expect("is a size").to_string(), text);
        }
    }
}
