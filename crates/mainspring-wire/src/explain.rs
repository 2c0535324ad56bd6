//! Why a job is not running: `GET /v1/jobs/{id}/explain`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::parse::is_false;
use crate::{Status, Timestamp};

/// Why a job is where it is. Every reason must go before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    pub job_id: Uuid,
    pub status: Status,
    pub reasons: Vec<Reason>,
    /// When it can start at the earliest, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta: Option<Timestamp>,
}

/// One reason: a code for programs, a sentence for people, and the facts in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// Stable. One of the constants of `Reason`, such as `waits_until` or `behind`; more may come.
    pub code: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many jobs come before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Counting stopped at `ahead`; there may be more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ahead_at_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<Uuid>,
    /// The jobs it waits for, some of them if there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<ReasonParent>,
    /// How many jobs it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The gate that does not let it in, as `/v1/limits` has it: `key:customer:42`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// With `limit_full`: the weight that runs there …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<u64>,
    /// … of so much …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// … and the jobs that hold it, some of them if there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    /// Which occurrence of the schedule it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<Timestamp>,
}

/// A job that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReasonParent {
    pub job_id: Uuid,
    /// Absent if its retention is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// The codes.
impl Reason {
    pub const WAITS_UNTIL: &'static str = "waits_until";
    pub const BEHIND: &'static str = "behind";
    pub const QUEUE_PAUSED: &'static str = "queue_paused";
    pub const JOB_PAUSED: &'static str = "job_paused";
    pub const HELD_BY: &'static str = "held_by";
    pub const ATTEMPTS_USED_UP: &'static str = "attempts_used_up";
    pub const CRASHES_USED_UP: &'static str = "crashes_used_up";
    pub const FAILED_FOR_GOOD: &'static str = "failed_for_good";
    pub const CANCEL_REQUESTED: &'static str = "cancel_requested";
    pub const NEXT_UP: &'static str = "next_up";
    pub const NO_WORKER: &'static str = "no_worker";
    pub const FINISHED: &'static str = "finished";
    pub const CANCELLED: &'static str = "cancelled";
    pub const WAITS_FOR: &'static str = "waits_for";
    pub const HELD_FOR: &'static str = "held_for";
    pub const WAITS_FOR_STEPS: &'static str = "waits_for_steps";
    pub const MADE_BY: &'static str = "made_by";
    pub const LIMIT_FULL: &'static str = "limit_full";
    pub const NO_TOKEN: &'static str = "no_token";
    pub const LIMIT_CLOSED: &'static str = "limit_closed";
    pub const BREAKER_OPEN: &'static str = "breaker_open";
    pub const BREAKER_PROBING: &'static str = "breaker_probing";

    /// A reason with no facts beside its sentence.
    pub fn new(code: &str, text: impl Into<String>) -> Reason {
        Reason { code: code.to_owned(), text: text.into(), ..Reason::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn an_explanation_says_the_same_again() {
        let explanation: Explanation = round_trip(concat!(
            r#"{"job_id":"JOB","status":"PENDING","reasons":[{"code":"behind","text":"10000 jobs or more are ahead of it","ahead":10000,"ahead_at_least":true},"#,
            r#"{"code":"held_by","text":"a worker holds it","until":"2026-12-01T09:00:00.000Z","worker_id":"WORKER"},"#,
            r#"{"code":"queue_paused","text":"the queue is paused"}],"eta":"2026-12-01T09:00:00.000Z"}"#,
        ));
        assert_eq!(explanation.reasons[2], Reason::new(Reason::QUEUE_PAUSED, "the queue is paused"));
        round_trip::<Explanation>(concat!(
            r#"{"job_id":"JOB","status":"BLOCKED","reasons":[{"code":"waits_for","text":"t","parents":[{"job_id":"JOB","status":"RUNNING"},"#,
            r#"{"job_id":"JOB"}],"count":30},{"code":"waits_for_steps","text":"t","count":2,"workflow_id":"JOB"},"#,
            r#"{"code":"made_by","text":"t","schedule_id":"s","occurrence":"2026-12-01T09:00:00.000Z"}]}"#,
        ));
        round_trip::<Explanation>(concat!(
            r#"{"job_id":"JOB","status":"PENDING","reasons":[{"code":"limit_full","text":"t","limit":"key:a","running":2,"max":2,"#,
            r#""holders":["JOB","JOB"]},{"code":"no_token","text":"t","until":"2026-12-01T09:00:00.000Z","limit":"queue:q"}]}"#,
        ));
    }
}
