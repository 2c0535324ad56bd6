//! Who remembers the jobs: `embedded`, `memory`, or the addresses of one or more PostgreSQL databases. Used by the flag and the
//! configuration alike. Connects to nothing.

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
    /// In databases that several nodes may share, at these addresses; nearly always one. Their order matters.
    Postgres(Vec<String>),
}

const EXPECTED: &str = "embedded, memory, or an address such as postgres://user@host/database";

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(text: &str) -> Result<StoreKind, String> {
        match text {
            "embedded" => Ok(StoreKind::Embedded),
            "memory" => Ok(StoreKind::Memory),
            address if Options::is_address(address) => Ok(StoreKind::Postgres(vec![address.to_owned()])),
            other => Err(format!("{:?} is no store: expected {EXPECTED}", shown(other))),
        }
    }
}

impl StoreKind {
    /// One store that was named in parts: only databases can be. `None` if nothing was named.
    pub fn together(parts: Vec<StoreKind>) -> Result<Option<StoreKind>, String> {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return Ok(None) };
        parts.try_fold(first, |known, next| match (known, next) {
            (StoreKind::Postgres(mut known), StoreKind::Postgres(next)) => {
                known.extend(next);
                Ok(StoreKind::Postgres(known))
            }
            (known, next) => Err(format!(
                "the stores {known} and {next} cannot be used together: name one, or several addresses of PostgreSQL databases"
            )),
        })
        .map(Some)
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
            StoreKind::Postgres(addresses) => {
                let shown: Vec<String> = addresses.iter().map(|address| without_password(address)).collect();
                f.write_str(&shown.join(", "))
            }
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
        match self {
            StoreKind::Postgres(addresses) if addresses.len() > 1 => {
                serializer.collect_seq(addresses.iter().map(|address| without_password(address)))
            }
            one => serializer.collect_str(one),
        }
    }
}

impl<'de> Deserialize<'de> for StoreKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoreKind, D::Error> {
        struct Word;

        impl<'de> Visitor<'de> for Word {
            type Value = StoreKind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{EXPECTED}, or a list of such addresses")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<StoreKind, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<StoreKind, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = list.next_element::<String>()? {
                    parts.push(part.parse().map_err(de::Error::custom)?);
                }
                let whole = StoreKind::together(parts).map_err(de::Error::custom)?;
                whole.ok_or_else(|| de::Error::custom(format!("the list of stores is empty: expected {EXPECTED}")))
            }
        }

        deserializer.deserialize_any(Word)
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
        check("postgres://u:p@h/d", StoreKind::Postgres(vec!["postgres://u:p@h/d".into()]));
        check("postgresql://h/d", StoreKind::Postgres(vec!["postgresql://h/d".into()]));
        let refused = |text: &str| text.parse::<StoreKind>().expect_err("is none");
        assert!(refused("postgres").contains("postgres://user@host/database"));
        assert!(refused("disk").contains("embedded, memory"));
    }

    #[test]
    fn several_databases_are_one_store_in_their_order_and_nothing_else_can_be_several() {
        let of = |names: &[&str]| StoreKind::together(names.iter().map(|name| name.parse().expect("is one")).collect());
        let both = of(&["postgres://h/b", "postgres://h/a"]).expect("they go together").expect("there are some");
        assert_eq!(both, StoreKind::Postgres(vec!["postgres://h/b".into(), "postgres://h/a".into()]));
        assert_eq!(both.to_string(), "postgres://h/b, postgres://h/a");
        assert_eq!(of(&["memory"]), Ok(Some(StoreKind::Memory)));
        assert_eq!(of(&[]), Ok(None));
        for mixed in [["embedded", "postgres://h/b"], ["memory", "memory"]] {
            let why = of(&mixed).expect_err("do not go together");
            assert!(why.contains("cannot be used together") && why.contains("several addresses"), "{why}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let kind: StoreKind = "postgres://u:secret@h/d".parse().expect("is one");
        assert_eq!(kind.to_string(), "postgres://u:…@h/d");
        assert!(!format!("{kind:?}").contains("secret"));
        assert!(!"mysql://u:secret@h/d".parse::<StoreKind>().expect_err("is none").contains("secret"));
    }
}
