//! Submitting one job: `POST /v1/jobs`. Defaults and limits are the server's.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::parse::is_false;
use crate::{DependsOn, RetryPolicy, Span, Status, Timestamp};

/// A job to be done. Only `type` must be given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJob {
    /// What the worker runs.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it waits; `default` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Handed to the worker as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub data: Option<Box<RawValue>>,
    /// From -1000 to 1000, higher first; 5 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Not before this instant. Either this or `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Timestamp>,
    /// Not before this long from now. Either this or `run_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// A random wait of up to this long is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
    /// Should be done by then: pulls the job forward in its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Cancelled if it has not started by then. Either this or `expires_in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Cancelled if it has not started this long after its run time. Either this or `expires_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<Span>,
    /// When a failed attempt is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Dead after this many failed attempts; 3 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Dead when more than this many workers were lost over it; 5 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_crashes: Option<u32>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// The same key and body again answers the job it made first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// How long the key is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_retention: Option<Span>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Jobs that must end before it is due, each by its id, or with what its failure means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<DependsOn>,
    /// Jobs with the same key share a limit on how many run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Jobs with the same key share a limit on how many start in a span of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_key: Option<String>,
    /// How much of a limit it takes; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

impl NewJob {
    /// A job of this type with every default.
    pub fn new(kind: impl Into<String>) -> NewJob {
        NewJob { kind: kind.into(), ..NewJob::default() }
    }
}

/// The answer to a submit: the job is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    pub job_id: Uuid,
    pub status: Status,
    /// When it becomes ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_fire_time: Option<Timestamp>,
    /// Attempts that failed or crashed so far.
    pub retry_count: u32,
    /// The idempotency key was seen before: this is the job it made then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub duplicate: bool,
}

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema;

    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_job_says_the_same_again() {
        let job: NewJob = round_trip(r#"{"type":"mail"}"#);
        assert_eq!(job.kind, NewJob::new("mail").kind);
        let job: NewJob = round_trip(concat!(
            r#"{"type":"mail","queue":"post","data":{"to" : [1, 2.50],"n":18446744073709551616},"priority":-7,"#,
            r#""run_at":"2026-12-01T09:00:00.000Z","delay":"90s","jitter":"5s","deadline":"2026-12-01T10:00:00.000Z","#,
            r#""expires_at":"2026-12-02T09:00:00.000Z","expires_in":"1d","retry":{"strategy":"fixed","base":"1s"},"#,
            r#""max_attempts":4,"max_crashes":2,"timeout":"1h30m","idempotency_key":"k","idempotency_retention":"7d","#,
            r#""tags":["a","b"],"depends_on":["JOB",{"job_id":"JOB","on_failure":"run"}],"concurrency_key":"c","rate_key":"r","weight":2}"#,
        ));
        let data = job.data.expect("data was given");
        assert_eq!(data.get(), r#"{"to" : [1, 2.50],"n":18446744073709551616}"#, "kept as it was written");
    }

    #[test]
    fn a_job_refuses_what_it_does_not_know() {
        refused::<NewJob>(r#"{}"#, "missing field `type`");
        refused::<NewJob>(r#"{"type":"mail","prority":1}"#, "unknown field `prority`");
        refused::<NewJob>(r#"{"type":"mail","type":"mail"}"#, "duplicate field `type`");
        refused::<NewJob>(r#"{"type":7}"#, "expected a string");
        refused::<NewJob>(r#"{"type":"mail","priority":3000000000}"#, "expected i32");
        refused::<NewJob>(r#"{"type":"mail","max_attempts":-1}"#, "expected u32");
        refused::<NewJob>(r#"{"type":"mail","run_at":"tomorrow"}"#, "is not a time");
        refused::<NewJob>(r#"{"type":"mail","delay":"-5s"}"#, "is negative");
        refused::<NewJob>(r#"{"type":"mail","retry":{"bse":"5s"}}"#, "unknown field `bse`");
    }

    #[test]
    fn an_answer_leaves_out_what_is_absent() {
        round_trip::<Submitted>(r#"{"job_id":"JOB","status":"PENDING","retry_count":0}"#);
        round_trip::<Submitted>(
            r#"{"job_id":"JOB","status":"SCHEDULED","next_fire_time":"2026-12-01T09:00:00.000Z","retry_count":0,"duplicate":true}"#,
        );
    }

    #[test]
    fn the_schema_has_the_names_and_shapes_of_the_wire() {
        let schema = serde_json::to_value(NewJob::schema()).expect("a schema prints");
        assert_eq!(schema["required"], serde_json::json!(["type"]));
        assert_eq!(schema["additionalProperties"], serde_json::json!(false));
        let data = schema["properties"]["data"].as_object().expect("data is described");
        assert!(!data.contains_key("type"), "data is any JSON: {data:?}");
        let answer = serde_json::to_value(Submitted::schema()).expect("a schema prints");
        assert_eq!(answer["properties"]["job_id"]["format"], "uuid");
        let time = serde_json::to_value(Timestamp::schema()).expect("a schema prints");
        assert_eq!((&time["type"], &time["format"]), (&"string".into(), &"date-time".into()));
        let span = serde_json::to_value(Span::schema()).expect("a schema prints");
        assert_eq!(span["type"], "string");
    }
}
