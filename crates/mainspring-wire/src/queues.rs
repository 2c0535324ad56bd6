//! Queues: `GET /v1/queues`, `GET` and `PATCH /v1/queues/{name}`, `…/{pause,resume}`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::parse::present;

/// A queue, its settings and how many jobs it has in each state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueView {
    pub name: String,
    pub tenant: String,
    /// Nothing is claimed from it.
    pub paused: bool,
    /// Priority gained per second of waiting; 0 is strict order.
    pub age_factor: f64,
    /// Submits past this many unfinished jobs are answered 429.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u64>,
    pub blocked: u64,
    pub scheduled: u64,
    pub pending: u64,
    /// Jobs that a person has set aside.
    #[serde(default)]
    pub paused_jobs: u64,
    pub running: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Since when the longest waiting pending job is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_pending_at: Option<Timestamp>,
}

/// The queues of a tenant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Queues {
    pub queues: Vec<QueueView>,
}

/// A change to a queue. What is left out stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueuePatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_factor: Option<f64>,
    /// `null` removes the bound.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, required = false)]
    pub max_depth: Option<Option<u64>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_queue_says_the_same_again() {
        round_trip::<Queues>(concat!(
            r#"{"queues":[{"name":"post","tenant":"default","paused":false,"age_factor":0.1,"max_depth":5,"blocked":0,"scheduled":1,"#,
            r#""pending":2,"paused_jobs":0,"running":3,"completed":4,"failed":5,"cancelled":6,"oldest_pending_at":"2026-12-01T09:00:00.000Z"}]}"#,
        ));
    }

    #[test]
    fn a_patch_tells_removing_a_bound_from_leaving_it() {
        let check = |json: &str, max_depth| assert_eq!(round_trip::<QueuePatch>(json).max_depth, max_depth);
        check("{}", None);
        check(r#"{"max_depth":null}"#, Some(None));
        check(r#"{"max_depth":9}"#, Some(Some(9)));
        refused::<QueuePatch>(r#"{"max_depth":-1}"#, "expected u64");
        refused::<QueuePatch>(r#"{"paused":true}"#, "unknown field `paused`");
    }
}
