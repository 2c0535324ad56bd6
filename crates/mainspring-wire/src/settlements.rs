//! Settling: `POST /v1/settlements`. A worker says how its attempts ended; one answer each, in order, and a late word is
//! answered `stale`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::parse::is_false;
use crate::{ErrorView, Span, Timestamp};

/// How some attempts ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleRequest {
    pub settlements: Vec<Settlement>,
}

crate::words::words! {
    /// How an attempt ended, in the worker's words.
    pub enum Outcome: "an outcome" {
        /// Done.
        Success = "success",
        /// Not done: `error` says why.
        Failure = "failure",
        /// Not now: again after `snooze_for`, without using up an attempt.
        Snooze = "snooze",
        /// Whoever it calls said to come back after `retry_after`: its key is closed for so long, no attempt is used up.
        RateLimited = "rate_limited",
        /// Given back untouched, because the worker shuts down.
        Release = "release",
    }
}

/// How one attempt ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Settlement {
    pub job_id: Uuid,
    pub fence: u64,
    /// Whose job it is, as the claim said; the tenant of the request if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    pub outcome: Outcome,
    /// With `success`: kept with the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub result: Option<Box<RawValue>>,
    /// With `failure`: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// With `failure`: the wait before the next attempt, instead of the policy's. With `rate_limited`: for how long; at most
    /// seven days count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Span>,
    /// With `failure`: bury it at once.
    #[serde(default, skip_serializing_if = "is_false")]
    pub never_retry: bool,
    /// With `snooze`: for how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snooze_for: Option<Span>,
}

impl Settlement {
    /// A settlement with nothing but its outcome.
    pub fn new(job_id: Uuid, fence: u64, outcome: Outcome) -> Settlement {
        Settlement {
            job_id,
            fence,
            tenant: None,
            outcome,
            result: None,
            error: None,
            retry_after: None,
            never_retry: false,
            snooze_for: None,
        }
    }
}

/// What the settlements came to, in their order.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct SettleAnswer {
    pub results: Vec<Settled>,
}

crate::words::words! {
    /// What a settlement came to.
    pub enum SettledAs: "a settled state" {
        /// Succeeded.
        Completed = "completed",
        /// Failed, and is tried again at `next_fire_time`.
        Retrying = "retrying",
        /// Failed for good: a dead letter.
        Failed = "failed",
        /// Was asked to stop, and has.
        Cancelled = "cancelled",
        /// Comes again at `next_fire_time`.
        Snoozed = "snoozed",
        /// Its key is closed, and it can start again at `next_fire_time`; without a key it waits alone until then.
        RateLimited = "rate_limited",
        /// Given back.
        Released = "released",
        /// The worker no longer held it; nothing was changed.
        Stale = "stale",
    }
}

/// What one settlement came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Settled {
    pub job_id: Uuid,
    pub state: SettledAs,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_fire_time: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_settlement_says_the_same_again() {
        let request: SettleRequest = round_trip(concat!(
            r#"{"settlements":[{"job_id":"JOB","fence":1,"outcome":"success","result":{"n": 1}},"#,
            r#"{"job_id":"JOB","fence":2,"outcome":"failure","error":{"message":"boom","type":"Timeout","detail":"at line 3"},"retry_after":"10s","never_retry":true},"#,
            r#"{"job_id":"JOB","fence":3,"outcome":"snooze","snooze_for":"5m"},"#,
            r#"{"job_id":"JOB","fence":4,"tenant":"acme","outcome":"rate_limited","retry_after":"30s"},"#,
            r#"{"job_id":"JOB","fence":18446744073709551615,"outcome":"release"}]}"#,
        ));
        let last = &request.settlements[4];
        let made = Settlement::new(last.job_id, u64::MAX, Outcome::Release);
        assert_eq!(serde_json::to_string(last).expect("prints"), serde_json::to_string(&made).expect("prints"),);
    }

    #[test]
    fn a_settlement_refuses_what_it_does_not_know() {
        let check = |rest: &str, words: &str| {
            refused::<Settlement>(&format!(r#"{{"job_id":"JOB","fence":1,{rest}}}"#), words);
        };
        check(r#""outcome":"done""#, "unknown variant `done`");
        check(r#""outcome":"success","output":1"#, "unknown field `output`");
        check(r#""outcome":"failure","error":{"msg":"boom"}"#, "unknown field `msg`");
        check(r#""outcome":"failure","error":{}"#, "missing field `message`");
        refused::<Settlement>(r#"{"job_id":"JOB","outcome":"success"}"#, "missing field `fence`");
    }

    #[test]
    fn an_answer_says_the_same_again() {
        round_trip::<SettleAnswer>(
            r#"{"results":[{"job_id":"JOB","state":"retrying","next_fire_time":"2026-12-01T09:00:00.000Z"},{"job_id":"JOB","state":"stale"}]}"#,
        );
    }
}
