//! A job as it is looked at and changed: `GET`, `PATCH` and `DELETE /v1/jobs/{id}`. Submitting has its own file.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::parse::{is_false, present};
use crate::{DependsOn, RetryPolicy, Span, Status, Timestamp};

/// Everything an API user sees of a job.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    pub job_id: Uuid,
    pub tenant: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub queue: String,
    pub status: Status,
    /// Set aside by a person.
    #[serde(default, skip_serializing_if = "is_false")]
    pub paused: bool,
    #[schema(value_type = Value)]
    pub data: Box<RawValue>,
    pub priority: i32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub submitted_at: Timestamp,
    /// When it was first to run.
    pub run_at: Timestamp,
    /// When it becomes ready, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_fire_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    pub retry: RetryPolicy,
    /// Dead after this many failed attempts.
    pub max_attempts: u32,
    /// Dead when more than this many workers were lost over it.
    pub max_crashes: u32,
    /// Executions so far, the running one included; those that were given back or snoozed are taken off again.
    pub attempts: u32,
    /// Attempts that failed or crashed so far: `failures` and `crashes` together.
    pub retry_count: u32,
    /// Attempts that failed or took too long.
    pub failures: u32,
    /// Attempts whose worker was lost.
    pub crashes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// What had to end before it was due, as it was submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<DependsOn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_key: Option<String>,
    /// How much of a limit it takes; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The schedule that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    /// Which occurrence of the schedule it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<Timestamp>,
    /// The workflow it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<Uuid>,
    /// Its name in the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseView>,
    /// What its last attempt saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub checkpoint: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub result: Option<Box<RawValue>>,
    /// Why its last failed attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
}

/// A worker's hold on one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseView {
    pub worker_id: Uuid,
    pub fence: u64,
    pub attempt: u32,
    pub claimed_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<Timestamp>,
    /// The worker is told with its next heartbeat.
    pub cancel_requested: bool,
}

/// How far an attempt is, in the worker's words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// From 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorView {
    pub message: String,
    /// What sort of error, such as the name of the exception.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A stack trace, or the tail of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A change to a job that has not started. What is left out stays.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobPatch {
    /// `null` is data too.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub data: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Either this or `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Timestamp>,
    /// From now. Either this or `run_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
}

/// Tries a job again: a dead letter from the start, a retrying one at once.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRequest {
    /// Instead of the data it failed with; `null` is data too.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub data: Option<Box<RawValue>>,
}

/// Why a job is cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_view_says_the_same_again() {
        round_trip::<JobView>(concat!(
            r#"{"job_id":"JOB","tenant":"default","type":"mail","queue":"post","status":"PENDING","data":null,"priority":5,"#,
            r#""submitted_at":"2026-12-01T09:00:00.000Z","run_at":"2026-12-01T09:00:00.000Z","retry":{"strategy":"exponential"},"#,
            r#""max_attempts":3,"max_crashes":3,"attempts":0,"retry_count":0,"failures":0,"crashes":0}"#,
        ));
        round_trip::<JobView>(concat!(
            r#"{"job_id":"JOB","tenant":"default","type":"mail","queue":"post","status":"PAUSED","paused":true,"data":[ 1 ],"priority":5,"#,
            r#""tags":["t"],"submitted_at":"2026-12-01T09:00:00.000Z","run_at":"2026-12-01T09:00:00.000Z","#,
            r#""next_fire_time":"2026-12-01T09:00:00.000Z","deadline":"2026-12-01T09:00:00.000Z","expires_at":"2026-12-01T09:00:00.000Z","#,
            r#""timeout":"1m","retry":{"strategy":"fixed","base":"1s"},"max_attempts":3,"max_crashes":3,"attempts":2,"retry_count":1,"#,
            r#""failures":1,"crashes":0,"idempotency_key":"k","depends_on":["JOB"],"concurrency_key":"c","rate_key":"r","weight":2,"#,
            r#""schedule_id":"s","occurrence":"2026-12-01T09:00:00.000Z","workflow_id":"JOB","step":"a","lease":{"worker_id":"WORKER","fence":2,"attempt":2,"#,
            r#""claimed_at":"2026-12-01T09:00:00.000Z","started_at":"2026-12-01T09:00:00.000Z","timeout_at":"2026-12-01T09:01:00.000Z","cancel_requested":true},"#,
            r#""checkpoint":{"row":9},"progress":{"percent":50.0},"result":{"n":1},"error":{"message":"boom","type":"IO","detail":"d"},"#,
            r#""ended_at":"2026-12-01T09:00:00.000Z","cancel_reason":"asked"}"#,
        ));
    }

    #[test]
    fn a_patch_tells_null_data_from_none() {
        let patch: JobPatch = round_trip(r#"{"data":null,"priority":1}"#);
        assert_eq!(patch.data.map(|data| data.get().to_owned()), Some("null".to_owned()));
        let patch: JobPatch = round_trip(r#"{"delay":"5m"}"#);
        assert!(patch.data.is_none());
        let retry: RetryRequest = round_trip(r#"{"data":null}"#);
        assert!(retry.data.is_some());
    }

    #[test]
    fn changes_refuse_what_they_do_not_know() {
        refused::<JobPatch>(r#"{"queue":"other"}"#, "unknown field `queue`");
        refused::<CancelRequest>(r#"{"why":"x"}"#, "unknown field `why`");
        refused::<RetryRequest>(r#"{"when":"now"}"#, "unknown field `when`");
    }
}
