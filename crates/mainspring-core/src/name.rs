//! Names that people give: tenants, queues, types, tags, keys. A name that exists is a valid one.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::limits;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("a {noun} must not be empty")]
    Empty { noun: &'static str },
    #[error("a {noun} has at most {max} bytes, this one has {len}")]
    TooLong { noun: &'static str, max: usize, len: usize },
    #[error("a {noun} must not contain {found:?} (position {at}); {allowed}")]
    BadCharacter { noun: &'static str, found: char, at: usize, allowed: &'static str },
}

const WORD: &str = "letters, digits and . _ - : / are allowed";
const TEXT: &str = "any printable text is allowed";

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '/')
}

fn is_text(c: char) -> bool {
    !c.is_control()
}

fn check(
    noun: &'static str,
    text: &str,
    max: usize,
    fits: fn(char) -> bool,
    allowed: &'static str,
) -> Result<(), BadName> {
    if text.is_empty() {
        return Err(BadName::Empty { noun });
    }
    if text.len() > max {
        return Err(BadName::TooLong { noun, max, len: text.len() });
    }
    match text.char_indices().find(|&(_, c)| !fits(c)) {
        Some((at, found)) => Err(BadName::BadCharacter { noun, found, at, allowed }),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $max:expr, $fits:expr, $allowed:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn parse(text: &str) -> Result<$name, BadName> {
                check($noun, text, $max, $fits, $allowed)?;
                Ok($name(text.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

name!(
    /// Who owns a job. Every read and write is inside one tenant.
    TenantName, "tenant", limits::NAME_BYTES_MAX, is_word, WORD
);
name!(
    /// Where a job waits for a worker.
    QueueName, "queue", limits::NAME_BYTES_MAX, is_word, WORD
);
name!(
    /// What the worker runs.
    TypeName, "type", limits::NAME_BYTES_MAX, is_word, WORD
);
name!(
    /// A word to find jobs by.
    Tag, "tag", limits::TAG_BYTES_MAX, is_text, TEXT
);
name!(
    /// The client's own name for a submission: seen again, it answers the job it made.
    IdempotencyKey, "idempotency key", limits::IDEMPOTENCY_KEY_BYTES_MAX, is_text, TEXT
);
name!(
    /// What jobs of a tenant share and must not use too much of at once: a customer, an account, a remote host.
    LimitKey, "limit key", limits::LIMIT_KEY_BYTES_MAX, is_text, TEXT
);
name!(
    /// A rule that makes jobs, by the name its owner gave it.
    ScheduleName, "schedule", limits::NAME_BYTES_MAX, is_word, WORD
);
name!(
    /// A step of a workflow, by the name it has inside it.
    StepName, "step", limits::NAME_BYTES_MAX, is_word, WORD
);

impl TenantName {
    /// Whose jobs are if nobody says.
    pub fn default_tenant() -> TenantName {
        TenantName("default".into())
    }
}

impl QueueName {
    pub fn default_queue() -> QueueName {
        QueueName("default".into())
    }
}

/// A queue of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueRef {
    pub tenant: TenantName,
    pub queue: QueueName,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_name_says_what_is_wrong_and_where() {
        let check = |text: &str, expected: &str| {
            assert_eq!(QueueName::parse(text).expect_err("is bad").to_string(), expected);
        };
        check("", "a queue must not be empty");
        check("a b", "a queue must not contain ' ' (position 1); letters, digits and . _ - : / are allowed");
        check(&"x".repeat(129), "a queue has at most 128 bytes, this one has 129");
        assert!(QueueName::parse(&"x".repeat(128)).is_ok());
        assert!(Tag::parse("käse & brot").is_ok());
        assert!(Tag::parse("a\nb").is_err());
    }
}
