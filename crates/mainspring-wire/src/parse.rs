//! What the scalar types share when they are read: the error, and how a value is quoted in it; and what the structs share
//! when they are read and written: presence and absence.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// A text that is not the scalar it should be. The message says what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(String);

impl ParseError {
    pub(crate) fn new(message: String) -> ParseError {
        ParseError(message)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

/// Quotes a user's text in an error. A body may hold a megabyte of nonsense; its error must not.
pub(crate) fn quoted(text: &str) -> String {
    const QUOTED_CHARS_MAX: usize = 40;
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
    }
}

/// For patches: tells `null` (present) from a missing field (absent), which `Option` alone reads alike.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        let long = "é".repeat(1000);
        assert_eq!(quoted(&long), format!("\"{}\"…", "é".repeat(40)));
    }
}
