//! The history of a job: `GET /v1/jobs/{id}/executions`, one record per attempt, oldest first.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{ErrorView, Span, Timestamp};

crate::words::words! {
    /// How an attempt ended.
    pub enum ExecutionOutcome: "an outcome of an execution" {
        /// The worker succeeded.
        Succeeded = "SUCCEEDED",
        /// The worker said it failed.
        Failed = "FAILED",
        /// It took longer than the job's timeout.
        TimedOut = "TIMED_OUT",
        /// Its worker went silent.
        Crashed = "CRASHED",
        /// The worker asked for a later time.
        Snoozed = "SNOOZED",
        /// Whoever it calls said to come back later, and its key was closed.
        RateLimited = "RATE_LIMITED",
        /// The worker gave it back.
        Released = "RELEASED",
        /// It was told to stop.
        Cancelled = "CANCELLED",
    }
}

/// The record of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Execution {
    /// 1 for the first.
    pub attempt: u32,
    pub fence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<Uuid>,
    pub started_at: Timestamp,
    /// Absent while it runs, like `outcome` and `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ExecutionOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

/// The attempts at a job, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Executions {
    pub executions: Vec<Execution>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn a_history_says_the_same_again() {
        round_trip::<Executions>(concat!(
            r#"{"executions":[{"attempt":1,"fence":1,"worker_id":"WORKER","started_at":"2026-12-01T09:00:00.000Z","#,
            r#""ended_at":"2026-12-01T09:00:01.500Z","outcome":"TIMED_OUT","error":{"message":"too slow"},"duration":"1500ms"},"#,
            r#"{"attempt":2,"fence":2,"started_at":"2026-12-01T09:00:05.000Z"}]}"#,
        ));
    }
}
