//! The cluster: `GET /v1/cluster`. Who is there, who leads, who has which segment.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Span, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cluster {
    /// The node that answers.
    pub node_id: Uuid,
    pub now: Timestamp,
    /// The node that shares the segments out; absent while nobody leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<Uuid>,
    /// Rises when another node leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_epoch: Option<u64>,
    /// Segments that nobody acts for: more than 0 for longer than a term is trouble.
    pub vacant: u32,
    /// A node whose clock is further off takes no seats.
    pub skew_max: Span,
    /// Over how many databases tenants are spread; absent where there is one. A segment is in database
    /// `segment % databases`, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub databases: Option<u32>,
    pub nodes: Vec<ClusterNode>,
    pub segments: Vec<ClusterSegment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterNode {
    pub node_id: Uuid,
    /// Where it listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Of `api`, `scheduler`, `dispatcher`.
    pub roles: Vec<String>,
    pub version: String,
    pub started_at: Timestamp,
    pub last_seen_at: Timestamp,
    /// Whether it was heard from within its term.
    pub live: bool,
    pub leader: bool,
    /// Whether it takes seats: it is a scheduler, and its clock is right.
    pub willing: bool,
    /// How far its clock is ahead of the store's, in milliseconds; absent where the store has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_ms: Option<i64>,
    /// The segments it acts for.
    pub segments: Vec<u8>,
    /// The segments it is to act for.
    pub assigned: Vec<u8>,
    /// Why it cannot work with the node that answers; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

/// One partition of jobs and schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterSegment {
    pub segment: u8,
    /// Who acts for it; absent while nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Rises when the holder changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Who is to act for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assigned: Option<Uuid>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn the_cluster_says_the_same_again() {
        round_trip::<Cluster>(
            r#"{"node_id":"01980000-0000-7000-8000-000000000001","now":"2026-12-01T09:00:00.000Z","vacant":100,"skew_max":"500ms","nodes":[],"segments":[]}"#,
        );
        round_trip::<Cluster>(
            r#"{"node_id":"01980000-0000-7000-8000-000000000001","now":"2026-12-01T09:00:00.000Z","vacant":100,"skew_max":"500ms","databases":2,"nodes":[],"segments":[]}"#,
        );
        round_trip::<ClusterNode>(
            r#"{"node_id":"01980000-0000-7000-8000-000000000001","address":"10.0.0.1:7710","roles":["api"],"version":"0.1.0","started_at":"2026-12-01T09:00:00.000Z","last_seen_at":"2026-12-01T09:00:00.000Z","live":true,"leader":true,"willing":false,"skew_ms":-3,"segments":[1,2],"assigned":[],"unfit":"its protocol is 2"}"#,
        );
        round_trip::<ClusterSegment>(r#"{"segment":7}"#);
    }
}
