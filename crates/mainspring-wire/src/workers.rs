//! Workers: `POST /v1/workers`, `…/{id}/heartbeat`, `…/{id}/order`, `GET /v1/workers`. A heartbeat is per worker; it names its
//! jobs only when the two sides disagree on how many it holds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Span;
use crate::Timestamp;

/// A worker process introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Register {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The queues it means to claim from, for people to see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<String>,
    /// How many jobs it runs at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How long it may be silent before its jobs are given to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The worker's id for as long as it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Registered {
    pub worker_id: Uuid,
    /// Silent for longer than this, it loses its jobs.
    pub lease: Span,
    pub heartbeat_every: Span,
}

/// The worker is alive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// How many jobs it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<u32>,
    /// Which jobs it holds: all of them, or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holding: Option<Vec<Holding>>,
}

/// A hold on one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    pub job_id: Uuid,
    pub fence: u64,
}

/// What the worker should do now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatAnswer {
    pub order: Order,
    /// Stop these and settle them.
    #[serde(default)]
    pub cancel: Vec<Holding>,
    /// Of those in `holding`: no longer this worker's. Stop them; settling would be answered `stale`.
    #[serde(default)]
    pub lost: Vec<Holding>,
    /// The two sides disagree on how many it holds: send `holding` next time.
    #[serde(default)]
    pub recount: bool,
}

crate::words::words! {
    /// What a worker is told.
    #[derive(Default)]
    pub enum Order: "an order" {
        /// Claim and run.
        #[default]
        Work = "work",
        /// Claim no more; finish what runs.
        Quiet = "quiet",
        /// Give back what runs, and end.
        Terminate = "terminate",
    }
}

/// Tells a worker what to do; it hears it with its next heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    pub order: Order,
}

/// A worker as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    pub worker_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub queues: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub registered_at: Timestamp,
    pub last_seen_at: Timestamp,
    /// Its jobs are given to others then, unless it is heard from.
    pub expires_at: Timestamp,
    /// How many jobs it holds.
    pub held: u32,
    pub order: Order,
}

/// The registered workers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Workers {
    pub workers: Vec<WorkerView>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn what_workers_say_and_hear_is_the_same_again() {
        round_trip::<Register>("{}");
        round_trip::<Register>(
            r#"{"name":"w","queues":["a"],"concurrency":10,"host":"h","pid":7,"lease":"30s","version":"0.1.0"}"#,
        );
        round_trip::<Registered>(r#"{"worker_id":"WORKER","lease":"30s","heartbeat_every":"10s"}"#);
        round_trip::<HeartbeatAnswer>(
            r#"{"order":"quiet","cancel":[{"job_id":"JOB","fence":1}],"lost":[{"job_id":"JOB","fence":2}],"recount":true}"#,
        );
        round_trip::<OrderRequest>(r#"{"order":"terminate"}"#);
        round_trip::<Workers>(concat!(
            r#"{"workers":[{"worker_id":"WORKER","name":"w","host":"h","pid":7,"queues":["a"],"concurrency":10,"version":"1","#,
            r#""registered_at":"2026-12-01T09:00:00.000Z","last_seen_at":"2026-12-01T09:00:00.000Z","expires_at":"2026-12-01T09:00:30.000Z","#,
            r#""held":3,"order":"work"}]}"#,
        ));
    }

    #[test]
    fn a_heartbeat_tells_holding_nothing_from_not_saying() {
        let heartbeat: Heartbeat = round_trip(r#"{"held":0,"holding":[]}"#);
        assert_eq!(heartbeat.holding, Some(vec![]));
        let heartbeat: Heartbeat = round_trip(r#"{"held":3}"#);
        assert_eq!(heartbeat.holding, None);
    }

    #[test]
    fn workers_are_refused_what_is_not_known() {
        refused::<Register>(r#"{"hostname":"h"}"#, "unknown field `hostname`");
        refused::<Heartbeat>(r#"{"jobs":[]}"#, "unknown field `jobs`");
        refused::<Heartbeat>(r#"{"holding":[{"job_id":"JOB"}]}"#, "missing field `fence`");
        refused::<OrderRequest>(r#"{"order":"halt"}"#, "unknown variant `halt`");
    }
}
