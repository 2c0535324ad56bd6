//! The fire ledger: `GET /v1/schedules/{id}/ledger`. What became of each occurrence, latest first.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::Timestamp;

crate::words::words! {
    /// What became of an occurrence.
    pub enum LedgerWhat: "what becomes of an occurrence" {
        /// It made a job.
        Fired = "FIRED",
        /// It made none, and `reason` says why.
        Skipped = "SKIPPED",
        /// It passed while the server was down, and `catchup` did not want it.
        Missed = "MISSED",
        /// Its job was made by a back-fill.
        Backfilled = "BACKFILLED",
        /// No occurrence: a person asked for a job.
        Triggered = "TRIGGERED",
    }
}

crate::words::words! {
    /// Why an occurrence made no job.
    pub enum SkipReason: "a reason to skip" {
        /// The job before had not ended.
        Overlap = "overlap",
        /// The schedule was paused.
        Paused = "paused",
        /// Its time of day did not exist that day.
        Dst = "dst",
        /// The queue was full.
        QueueFull = "queue_full",
    }
}

/// What became of one occurrence, or of several in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LedgerRow {
    /// The nominal time; of the first, if there are several.
    pub occurrence: Timestamp,
    /// The nominal time of the last.
    pub through: Timestamp,
    /// How many.
    pub count: u64,
    pub what: LedgerWhat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SkipReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<Uuid>,
    /// How long after its nominal time it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ms: Option<u64>,
    /// When it was written down.
    pub at: Timestamp,
}

/// One page of the ledger, latest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct LedgerPage {
    pub rows: Vec<LedgerRow>,
    /// Ask again with this for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which part of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LedgerQuery {
    /// Rows on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn the_ledger_says_the_same_again() {
        round_trip::<LedgerQuery>(r#"{"limit":5,"cursor":"c"}"#);
        round_trip::<LedgerPage>(concat!(
            r#"{"rows":[{"occurrence":"2026-12-01T09:00:00.000Z","through":"2026-12-01T09:00:00.000Z","count":1,"what":"FIRED","#,
            r#""job_id":"JOB","late_ms":3,"at":"2026-12-01T09:00:00.003Z"},"#,
            r#"{"occurrence":"2026-12-01T06:00:00.000Z","through":"2026-12-01T08:00:00.000Z","count":3,"what":"SKIPPED","#,
            r#""reason":"paused","at":"2026-12-01T08:30:00.000Z"}],"next_cursor":"c"}"#,
        ));
    }
}
