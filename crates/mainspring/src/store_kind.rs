//! Who remembers the jobs: `embedded`, `memory`, or the address of a PostgreSQL database. Used by the flag and the configuration
//! alike. Connects to nothing.

use std::fmt;
use std::str::FromStr;

use mainspring_store::postgres::{Options, without_password};
use serde::de::{self, Deserialize, Deserializer, Visitor};

#[derive(Clone, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// Durable, in the data directory.
    #[default]
    Embedded,
    /// In memory: nothing survives the process.
    Memory,
    /// In a database that several nodes may share, at this address.
    Postgres(String),
}

const EXPECTED: &str = "embedded, memory, or an address such as postgres://user@host/database";

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(text: &str) -> Result<StoreKind, String> {
        match text {
            "embedded" => Ok(StoreKind::Embedded),
            "memory" => Ok(StoreKind::Memory),
            address if Options::is_address(address) => Ok(StoreKind::Postgres(address.to_owned())),
            other => Err(format!("{:?} is no store: expected {EXPECTED}", shown(other))),
        }
    }
}

/// What is no store may still hold a password.
fn shown(text: &str) -> String {
    if text.contains("://") { without_password(text) } else { text.to_owned() }
}

/// For people: without the password.
impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreKind::Embedded => f.write_str("embedded"),
            StoreKind::Memory => f.write_str("memory"),
            StoreKind::Postgres(address) => f.write_str(&without_password(address)),
        }
    }
}

impl fmt::Debug for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreKind({self})")
    }
}

impl serde::Serialize for StoreKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoreKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoreKind, D::Error> {
        struct Word;

        impl Visitor<'_> for Word {
            type Value = StoreKind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<StoreKind, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_one_of_ours_or_the_address_of_a_database() {
        let check = |text: &str, expected: StoreKind| assert_eq!(text.parse(), Ok(expected));
        check("embedded", StoreKind::Embedded);
        check("memory", StoreKind::Memory);
        check("postgres://u:p@h/d", StoreKind::Postgres("postgres://u:p@h/d".into()));
        check("postgresql://h/d", StoreKind::Postgres("postgresql://h/d".into()));
        let refused = |text: &str| text.parse::<StoreKind>().expect_err("is none");
        assert!(refused("postgres").contains("postgres://user@host/database"));
        assert!(refused("disk").contains("embedded, memory"));
    }

    #[test]
    fn a_password_is_never_shown() {
        let kind: StoreKind = "postgres://u:secret@h/d".parse().expect("is one");
        assert_eq!(kind.to_string(), "postgres://u:…@h/d");
        assert!(!format!("{kind:?}").contains("secret"));
        assert!(!"mysql://u:secret@h/d".parse::<StoreKind>().expect_err("is none").contains("secret"));
    }
}
