//! The server's clock: `GET /v1/clock`, and `POST /v1/clock/advance` on a server whose clock is virtual.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Span, Timestamp};

/// What time it is on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClockView {
    pub now: Timestamp,
    /// It stands still until somebody advances it.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
}

/// Moves a virtual clock on: `by` a length of time, or `to` an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Either this or `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// Either this or `by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn the_clock_says_the_same_again() {
        round_trip::<ClockView>(r#"{"now":"2026-12-01T09:00:00.000Z","virtual":true}"#);
        round_trip::<Advance>(r#"{"by":"1h"}"#);
        round_trip::<Advance>(r#"{"to":"2026-12-01T09:00:00.000Z"}"#);
        refused::<Advance>(r#"{"for":"1h"}"#, "unknown field `for`");
        refused::<Advance>(r#"{"by":"-1h"}"#, "is negative");
    }
}
