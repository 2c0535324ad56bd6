//! Submitting many jobs in one write: `POST /v1/jobs/batch`. One answer per job, in the order of the jobs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::parse::is_false;
use crate::{NewJob, Problem, Status, Submitted, Timestamp};

/// Jobs to be submitted together.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    pub jobs: Vec<NewJob>,
}

/// What became of each job of a batch, in its order.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct BatchAnswer {
    /// How many are durable.
    pub accepted: u64,
    pub results: Vec<BatchItem>,
}

/// Either what a submit answers, or `problem` alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct BatchItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_fire_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub duplicate: bool,
    // Boxed: most batches have none, and an item is 56 bytes instead of 224.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Box<Problem>>,
}

impl From<Submitted> for BatchItem {
    fn from(submitted: Submitted) -> BatchItem {
        BatchItem {
            job_id: Some(submitted.job_id),
            status: Some(submitted.status),
            next_fire_time: submitted.next_fire_time,
            retry_count: Some(submitted.retry_count),
            duplicate: submitted.duplicate,
            problem: None,
        }
    }
}

impl From<Problem> for BatchItem {
    fn from(problem: Problem) -> BatchItem {
        BatchItem { problem: Some(Box::new(problem)), ..BatchItem::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_batch_says_the_same_again() {
        let batch: Batch = round_trip(r#"{"jobs":[{"type":"a"},{"type":"b","data":[null]}]}"#);
        assert_eq!(batch.jobs.len(), 2);
        let answer: BatchAnswer = round_trip(concat!(
            r#"{"accepted":1,"results":[{"job_id":"JOB","status":"PENDING","retry_count":0},"#,
            r#"{"problem":{"type":"/problems/queue-full","title":"The queue is full","status":429,"detail":"d","retry_after":2}}]}"#,
        ));
        assert!(answer.results[0].problem.is_none());
        assert!(answer.results[1].job_id.is_none());
    }

    #[test]
    fn a_batch_refuses_what_it_does_not_know() {
        refused::<Batch>(r#"{"jobs":[],"atomic":true}"#, "unknown field `atomic`");
        refused::<Batch>(r#"{"jobs":[{"type":"a","x":1}]}"#, "unknown field `x`");
        refused::<Batch>(r#"{}"#, "missing field `jobs`");
    }

    #[test]
    fn an_item_carries_what_a_single_submit_would_answer() {
        let json = format!(
            r#"{{"job_id":"{}","status":"SCHEDULED","next_fire_time":"2026-12-01T09:00:00.000Z","retry_count":0,"duplicate":true}}"#,
            crate::check::JOB
        );
        let submitted: Submitted = serde_json::from_str(&json).expect("an answer is read");
        let item = BatchItem::from(submitted);
        assert_eq!(serde_json::to_string(&item).expect("an item prints"), json);
    }
}
