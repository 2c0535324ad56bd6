//! The single-job calls for a worker without an SDK: `POST /v1/jobs/{id}/{start,checkpoint,complete,fail}`. All take the
//! fence; `complete` and `fail` answer [`crate::Settled`], and a fence that no longer holds is a 409 problem.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::parse::is_false;
use crate::{ErrorView, Progress, Span};

/// The worker begins.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    pub fence: u64,
}

/// The worker saves how far it is. What is left out stays as it was.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub fence: u64,
    /// Handed to the next attempt if this one ends early.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub data: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

/// The worker is done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    pub fence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub result: Option<Box<RawValue>>,
}

/// The worker failed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fail {
    pub fence: u64,
    pub error: ErrorView,
    /// The wait before the next attempt, instead of the policy's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Span>,
    /// Bury it at once.
    #[serde(default, skip_serializing_if = "is_false")]
    pub never_retry: bool,
}

/// The worker still holds the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Held {
    /// Always true: a lost hold is a 409 problem.
    pub held: bool,
    /// Stop as soon as you can, and settle.
    pub cancel_requested: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn the_calls_say_the_same_again() {
        round_trip::<Start>(r#"{"fence":1}"#);
        round_trip::<Checkpoint>(r#"{"fence":1}"#);
        round_trip::<Checkpoint>(r#"{"fence":1,"data":{"row": 9},"progress":{"percent":12.5,"note":"reading"}}"#);
        round_trip::<Complete>(r#"{"fence":1,"result":"ok"}"#);
        round_trip::<Fail>(r#"{"fence":1,"error":{"message":"boom"},"retry_after":"2s","never_retry":true}"#);
        round_trip::<Held>(r#"{"held":true,"cancel_requested":false}"#);
    }

    #[test]
    fn the_calls_refuse_what_they_do_not_know() {
        refused::<Start>(r#"{"fense":1}"#, "unknown field `fense`");
        refused::<Checkpoint>(r#"{"fence":1,"progress":{"pct":1}}"#, "unknown field `pct`");
        refused::<Complete>(r#"{"result":1}"#, "missing field `fence`");
        refused::<Complete>(r#"{"fence":-1}"#, "expected u64");
        refused::<Fail>(r#"{"fence":1}"#, "missing field `error`");
        refused::<Fail>(r#"{"fence":1,"error":{"message":"m"},"retry":1}"#, "unknown field `retry`");
    }
}
