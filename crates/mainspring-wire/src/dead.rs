//! Dead letters: `GET /v1/dead`, `POST /v1/dead/replay`, `POST /v1/dead/purge`. Picked by id or by filter, in bounded steps.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// Which dead letters to find. The answer is a page of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeadQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Jobs on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Which dead letters to run again: by `ids`, or by filter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// What was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Replayed {
    pub replayed: u64,
    /// Of `ids`: those that are no dead letters.
    #[serde(default)]
    pub missing: Vec<Uuid>,
    /// The step was full: call again for the rest.
    #[serde(default)]
    pub more: bool,
}

/// Which dead letters to delete for good: by `ids`, or by filter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Purge {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// What was purged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Purged {
    pub purged: u64,
    /// Of `ids`: those that are no dead letters.
    #[serde(default)]
    pub missing: Vec<Uuid>,
    /// The step was full: call again for the rest.
    #[serde(default)]
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn dead_letters_are_picked_and_answered_in_the_same_words() {
        round_trip::<DeadQuery>(r#"{"queue":"q","type":"mail","tag":"t","limit":5,"cursor":"c"}"#);
        round_trip::<Replay>(r#"{"ids":["JOB"]}"#);
        round_trip::<Replay>(r#"{"queue":"q","type":"mail","tag":"t","max":5}"#);
        round_trip::<Replayed>(r#"{"replayed":2,"missing":["JOB"],"more":true}"#);
        round_trip::<Purge>(r#"{"ids":[]}"#);
        round_trip::<Purge>(r#"{"queue":"q","type":"mail","tag":"t","max":5}"#);
        round_trip::<Purged>(r#"{"purged":2,"missing":[],"more":false}"#);
    }

    #[test]
    fn an_unknown_filter_is_refused_rather_than_matching_everything() {
        refused::<DeadQuery>(r#"{"status":"FAILED"}"#, "unknown field `status`");
        refused::<Replay>(r#"{"queues":"q"}"#, "unknown field `queues`");
        refused::<Purge>(r#"{"queues":"q"}"#, "unknown field `queues`");
        refused::<Purge>(r#"{"ids":["x"]}"#, "UUID parsing failed");
    }
}
