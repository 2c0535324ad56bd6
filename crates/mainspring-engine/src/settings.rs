//! What an operator can turn, with the defaults. Reads no file: the binary does that.

use std::time::Duration;

use mainspring_core::placement::Placement;
use mainspring_core::seats::Roles;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a worker may be silent, unless it asks for something else.
    pub lease_default: Duration,
    /// How far ahead the wheel knows what falls due.
    pub look_ahead: Duration,
    /// How often leases, expiries and retention are looked at.
    pub sweep_every: Duration,
    /// How long Succeeded and Cancelled jobs are kept.
    pub retention: Duration,
    /// How long Dead jobs are kept.
    pub dead_retention: Duration,
    /// How long the ledger remembers what became of a schedule's occurrences.
    pub ledger_retention: Duration,
    /// The longest wait of a claim.
    pub claim_wait_max: Duration,
    /// Jobs in one gathered store call. A larger request goes alone.
    pub gather_jobs_max: usize,
    /// The store joins calls that come together into one commit: claims that wait then go along with the submit that brings their jobs.
    /// To a store that does not, they would come before the jobs.
    pub joins_calls: bool,
    /// Gathered calls of each sort under way at a time that start at once. A store that joins waiting calls into one commit by itself
    /// wants many: with two, a request often waited out a commit more, and batches of 100 over 4 connections went at 75,000 jobs/s
    /// in place of 100,000. A store that does not wants few: they are the larger.
    pub gather_eager_max: usize,
    /// The same with those that start only because others take long, so that one which is stuck stops nobody.
    pub gather_calls_max: usize,
    /// Requests that may wait in a gather before callers get [`crate::Error::Busy`].
    pub inflight_max: usize,
    /// How long a seat is held without being renewed.
    pub term: Duration,
    /// What this node does.
    pub roles: Roles,
    /// Where it listens, for people who look at the cluster.
    pub address: Option<String>,
    /// Of the program, for the same.
    pub version: String,
    /// How tenants and segments are spread over databases.
    pub placement: Placement,
    /// A digest of which store has which segments; nodes that differ refuse to work together.
    pub shards: u64,
    /// Where ids and jitter are drawn from; `None` for the machine's own randomness. For a run that can be replayed.
    pub seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lease_default: Duration::from_secs(30),
            look_ahead: Duration::from_secs(5),
            sweep_every: Duration::from_secs(1),
            retention: DAY,
            dead_retention: 30 * DAY,
            ledger_retention: 90 * DAY,
            claim_wait_max: Duration::from_secs(60),
            gather_jobs_max: 2_000,
            joins_calls: true,
            gather_eager_max: 16,
            gather_calls_max: 16,
            inflight_max: 10_000,
            term: Duration::from_secs(10),
            roles: Roles::ALL,
            address: None,
            version: env!("CARGO_PKG_VERSION").into(),
            placement: Placement::ONE,
            shards: 0,
            seed: None,
        }
    }
}
