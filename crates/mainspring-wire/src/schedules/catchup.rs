//! What becomes of occurrences that passed while the server was down.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::Span;
use crate::short::{self, Short};

crate::words::words! {
    /// Which of the missed occurrences still fire.
    pub enum CatchupMode: "a way to catch up" {
        None = "none",
        /// The latest one.
        Latest = "latest",
        All = "all",
    }
}

/// A mode, or an object that also says how far back and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catchup {
    pub mode: CatchupMode,
    /// Occurrences older than this are missed for good.
    pub window: Option<Span>,
    /// At most this many fire, the newest ones.
    pub max: Option<u32>,
}

/// The long form.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CatchupLong {
    mode: CatchupMode,
    /// Occurrences older than this are missed for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Span>,
    /// At most this many fire, the newest ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
}

impl From<CatchupMode> for Catchup {
    fn from(mode: CatchupMode) -> Catchup {
        Catchup { mode, window: None, max: None }
    }
}

impl Short for Catchup {
    type Long = CatchupLong;
    const EXPECTED: &'static str = "none, latest or all, or an object with mode, window and max";

    fn from_text(text: &str) -> Result<Catchup, String> {
        text.parse::<CatchupMode>().map(Catchup::from).map_err(|error| error.to_string())
    }

    fn from_long(long: CatchupLong) -> Result<Catchup, String> {
        Ok(Catchup { mode: long.mode, window: long.window, max: long.max })
    }
}

impl<'de> Deserialize<'de> for Catchup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Catchup, D::Error> {
        short::read(deserializer)
    }
}

impl Serialize for Catchup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.window, self.max) {
            (None, None) => self.mode.serialize(serializer),
            (window, max) => CatchupLong { mode: self.mode, window, max }.serialize(serializer),
        }
    }
}

impl PartialSchema for Catchup {
    fn schema() -> RefOr<Schema> {
        let description = "`none`, `latest` or `all`, or an object that also says how far back and how many.";
        short::schema::<CatchupLong>("latest", description)
    }
}

impl ToSchema for Catchup {
    fn name() -> Cow<'static, str> {
        "Catchup".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        CatchupLong::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn catching_up_is_said_short_or_long() {
        assert_eq!(round_trip::<Catchup>(r#""latest""#), Catchup::from(CatchupMode::Latest));
        round_trip::<Catchup>(r#"{"mode":"all","window":"1d","max":100}"#);
        round_trip::<Catchup>(r#"{"mode":"all","max":100}"#);
        refused::<Catchup>(r#""some""#, r#""some" is not a way to catch up: expected one of none, latest, all"#);
        refused::<Catchup>(r#"{"window":"1d"}"#, "missing field `mode`");
        refused::<Catchup>(r#"{"mode":"all","limit":1}"#, "unknown field `limit`");
        refused::<Catchup>("true", "expected none, latest or all, or an object with mode, window and max");
    }
}
