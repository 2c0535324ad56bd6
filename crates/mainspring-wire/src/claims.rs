//! Claiming: `POST /v1/claims`. A worker asks for jobs and waits a while if there are none; each comes with the fence it is
//! settled by. What it has finished it can settle with the same words.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{ErrorView, Problem, Settled, Settlement, Span, Timestamp};

/// A worker asks for jobs, and may settle what it has finished with the same request.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// From the answer to its registration.
    pub worker_id: Uuid,
    /// At least one.
    pub queues: Vec<String>,
    /// At most this many jobs; 1 if left out.
    #[serde(default = "one")]
    #[schema(default = 1)]
    pub max: u32,
    /// Whose jobs; those of the worker's own tenant if left out.
    #[serde(default, skip_serializing_if = "Tenants::is_own")]
    #[schema(default = "own")]
    pub tenants: Tenants,
    /// How long to wait for the first job if there is none; not at all if left out. A request with settlements does not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// What is finished, as in `POST /v1/settlements`: settled first, and then the jobs are claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settlements: Vec<Settlement>,
}

crate::words::words! {
    /// Whose jobs are claimed.
    #[derive(Default)]
    pub enum Tenants: "a word for tenants" {
        /// Those of the worker's own tenant.
        #[default]
        Own = "own",
        /// Those of every tenant that has a queue of such a name, shared fairly by weight.
        All = "all",
    }
}

impl Tenants {
    fn is_own(&self) -> bool {
        *self == Tenants::Own
    }
}

fn one() -> u32 {
    1
}

/// The jobs the worker holds from now on; none if the wait ran out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ClaimAnswer {
    pub jobs: Vec<ClaimedJob>,
    /// What the settlements came to, in their order; left out if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<Settled>,
    /// The settlements stand, but the claim was refused, and this is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// One attempt at a job, held by the worker that claimed it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ClaimedJob {
    pub job_id: Uuid,
    /// Names this hold; every later word about it carries the fence.
    pub fence: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub queue: String,
    /// Whose job it is. Whoever claims for all tenants says it again when it settles.
    #[serde(default = "default_tenant")]
    pub tenant: String,
    #[schema(value_type = Value)]
    pub data: Box<RawValue>,
    /// 1 for the first.
    pub attempt: u32,
    pub max_attempts: u32,
    pub priority: i32,
    pub run_at: Timestamp,
    pub claimed_at: Timestamp,
    /// The attempt is taken away then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// What the attempt before this one saved last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub checkpoint: Option<Box<RawValue>>,
    /// Why the attempt before this one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ErrorView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The workflow it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<Uuid>,
    /// Its name in the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// A server that names no tenant knows only this one.
fn default_tenant() -> String {
    "default".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_claim_says_the_same_again() {
        round_trip::<ClaimRequest>(r#"{"worker_id":"WORKER","queues":["a","b"],"max":100,"wait":"30s"}"#);
        let json = format!(r#"{{"worker_id":"{}","queues":["a"]}}"#, crate::check::WORKER);
        let claim: ClaimRequest = serde_json::from_str(&json).expect("max has a default");
        assert_eq!((claim.max, claim.wait), (1, None));
    }

    #[test]
    fn a_claim_is_for_its_own_tenant_unless_it_says_otherwise() {
        let tenants = |json: &str| round_trip::<ClaimRequest>(json).tenants;
        assert_eq!(tenants(r#"{"worker_id":"WORKER","queues":["a"],"max":1}"#), Tenants::Own);
        assert_eq!(tenants(r#"{"worker_id":"WORKER","queues":["a"],"max":1,"tenants":"all"}"#), Tenants::All);
        refused::<ClaimRequest>(r#"{"worker_id":"WORKER","queues":["a"],"tenants":"some"}"#, "unknown variant `some`");
    }

    #[test]
    fn a_claim_refuses_what_it_does_not_know() {
        refused::<ClaimRequest>(r#"{"worker_id":"WORKER","queue":"a"}"#, "unknown field `queue`");
        refused::<ClaimRequest>(r#"{"worker_id":"me","queues":["a"]}"#, "UUID parsing failed");
        refused::<ClaimRequest>(r#"{"worker_id":"WORKER"}"#, "missing field `queues`");
    }

    #[test]
    fn a_claim_without_settlements_is_read_as_one_with_none() {
        for rest in [r#""queues":["a"],"max":1"#, r#""queues":["a","b"],"max":7,"wait":"30s""#] {
            let json = format!(r#"{{"worker_id":"WORKER",{rest}}}"#);
            assert!(round_trip::<ClaimRequest>(&json).settlements.is_empty());
        }
    }

    #[test]
    fn settling_with_a_claim_says_the_same_again() {
        let claim: ClaimRequest = round_trip(concat!(
            r#"{"worker_id":"WORKER","queues":["a"],"max":1,"settlements":["#,
            r#"{"job_id":"JOB","fence":1,"outcome":"success"},{"job_id":"JOB","fence":2,"outcome":"release"}]}"#,
        ));
        assert_eq!(claim.settlements[1].fence, 2);
        round_trip::<ClaimAnswer>(concat!(
            r#"{"jobs":[],"settled":[{"job_id":"JOB","state":"completed"},{"job_id":"JOB","state":"stale"}],"#,
            r#""problem":{"type":"/problems/unknown-worker","title":"t","status":404,"detail":"d"}}"#,
        ));
    }

    #[test]
    fn a_claimed_job_says_the_same_again() {
        round_trip::<ClaimAnswer>(r#"{"jobs":[]}"#);
        round_trip::<ClaimAnswer>(concat!(
            r#"{"jobs":[{"job_id":"JOB","fence":7,"type":"mail","queue":"post","tenant":"default","data":null,"attempt":1,"max_attempts":3,"priority":5,"#,
            r#""run_at":"2026-12-01T09:00:00.000Z","claimed_at":"2026-12-01T09:00:00.003Z"},"#,
            r#"{"job_id":"JOB","fence":8,"type":"mail","queue":"post","tenant":"acme","data":{ "a": 1 },"attempt":2,"max_attempts":3,"priority":5,"#,
            r#""run_at":"2026-12-01T09:00:00.000Z","claimed_at":"2026-12-01T09:00:00.003Z","timeout_at":"2026-12-01T09:01:00.003Z","#,
            r#""deadline":"2026-12-01T10:00:00.000Z","checkpoint":[3],"last_error":{"message":"boom"},"tags":["t"],"workflow_id":"JOB","step":"s"}]}"#,
        ));
    }

    #[test]
    fn an_older_reader_skips_what_a_newer_server_adds() {
        let answer: ClaimAnswer = serde_json::from_str(r#"{"jobs":[],"hint":1}"#).expect("answers may grow");
        assert!(answer.jobs.is_empty());
    }
}
