//! Whether the server takes work: `GET /readyz`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

crate::words::words! {
    /// Whether the server takes work.
    pub enum Readiness: "a readiness" {
        /// It does.
        Ready = "ready",
        /// Not yet: it reads its store.
        Starting = "starting",
        /// No longer: it shuts down.
        Stopping = "stopping",
        /// Its store does not answer.
        Unavailable = "unavailable",
    }
}

/// Whether the server takes work, and what it runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    pub status: Readiness,
    /// The engine that keeps the jobs, such as `embedded`.
    pub store: String,
    /// The version of the server.
    pub version: String,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn readiness_says_the_same_again() {
        round_trip::<Ready>(r#"{"status":"ready","store":"embedded","version":"0.1.0"}"#);
        round_trip::<Ready>(
            r#"{"status":"unavailable","store":"embedded","version":"0.1.0","detail":"the disk is full"}"#,
        );
    }
}
