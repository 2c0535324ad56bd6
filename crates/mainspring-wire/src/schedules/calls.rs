//! What is asked of a schedule: `…/pause`, `…/backfill`, `…/preview`. Resuming and triggering need no words.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::parse::is_false;
use crate::{NewSchedule, Span, Timestamp};

/// Why a schedule is paused, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePause {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// It resumes by itself then. Either this or `for`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// It resumes by itself after this long. Either this or `until`.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// Makes the jobs of occurrences that have passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Backfill {
    /// The first instant of the range.
    pub from: Timestamp,
    /// The last instant of the range.
    pub to: Timestamp,
    /// At most this many occurrences in one call; as many as are allowed if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Only says what it would do.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
}

crate::words::words! {
    /// What a back-fill did about an occurrence.
    pub enum BackfillResult: "a result of a back-fill" {
        /// Its job was made.
        Filled = "FILLED",
        /// Its job was made before.
        Exists = "EXISTS",
        /// A dry run: its job would be made.
        WouldFill = "WOULD_FILL",
    }
}

/// One occurrence of a back-fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackfillOccurrence {
    pub occurrence: Timestamp,
    pub job_id: Uuid,
    pub result: BackfillResult,
}

/// What a back-fill came to, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct BackfillAnswer {
    pub occurrences: Vec<BackfillOccurrence>,
    /// There are more in the range: call again with `from` right after the last of these.
    #[serde(default)]
    pub more: bool,
}

/// How much of the future to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PreviewQuery {
    /// How many occurrences; 10 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Occurrences after this instant; from now on if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Timestamp>,
}

crate::words::words! {
    /// What a change of the clocks did to an occurrence.
    pub enum Dst: "what a change of the clocks does" {
        /// Its time of day does not exist that day: it fires as much later as the clocks jump.
        Shifted = "shifted",
        /// Its time of day comes twice that day: this is the first.
        First = "first",
        /// Its time of day comes twice that day: this is the last.
        Last = "last",
    }
}

/// When a schedule will fire.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    pub timezone: String,
    pub occurrences: Vec<PreviewOccurrence>,
    /// There are no occurrences after these.
    #[serde(default)]
    pub ends: bool,
    /// Of a document that is not saved: how it would be kept, with everything that it leaves to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<NewSchedule>,
}

/// One occurrence to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewOccurrence {
    pub at: Timestamp,
    /// What a clock on the wall of its time zone shows, such as `2026-12-01T10:00:00`.
    pub local: String,
    /// Such as `+01:00`.
    pub utc_offset: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<Dst>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn what_is_asked_of_a_schedule_says_the_same_again() {
        round_trip::<SchedulePause>(r#"{"note":"holiday","until":"2026-12-01T09:00:00.000Z"}"#);
        round_trip::<SchedulePause>(r#"{"for":"1h"}"#);
        refused::<SchedulePause>(r#"{"span":"1h"}"#, "unknown field `span`");
        round_trip::<Backfill>(
            r#"{"from":"2026-12-01T09:00:00.000Z","to":"2026-12-02T09:00:00.000Z","max":5,"dry_run":true}"#,
        );
        refused::<Backfill>(r#"{"from":0}"#, "missing field `to`");
        round_trip::<BackfillAnswer>(
            r#"{"occurrences":[{"occurrence":"2026-12-01T09:00:00.000Z","job_id":"JOB","result":"WOULD_FILL"}],"more":true}"#,
        );
        round_trip::<PreviewQuery>(r#"{"count":5,"after":"2026-12-01T09:00:00.000Z"}"#);
        round_trip::<Preview>(concat!(
            r#"{"timezone":"Europe/Berlin","occurrences":[{"at":"2027-03-28T01:30:00.000Z","local":"2027-03-28T03:30:00","#,
            r#""utc_offset":"+02:00","dst":"shifted","note":"n"},{"at":"2027-03-29T00:30:00.000Z","local":"2027-03-29T02:30:00","#,
            r#""utc_offset":"+02:00"}],"ends":false}"#,
        ));
        round_trip::<Preview>(
            r#"{"timezone":"UTC","occurrences":[],"ends":true,"schedule":{"every":"90s","job":{"type":"a","data":[ 1 ]}}}"#,
        );
    }
}
