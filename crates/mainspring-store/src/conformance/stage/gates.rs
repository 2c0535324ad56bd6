//! The short words to ask a store of limits with. Promises nothing itself.

use std::time::Duration;

use mainspring_core::gate::{BreakerRule, Entry, GateName, GateRef, Rate, Reach, Rule};
use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Job, Keys};
use mainspring_core::name::{LimitKey, QueueRef, TenantName, TypeName};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::{Stage, everything, id, job, queue, tenant, worker};

pub fn reach(text: &str) -> Reach {
    Reach::parse(text).expect("a reach")
}

pub fn gate(text: &str) -> GateRef {
    GateRef { tenant: TenantName::default_tenant(), gate: GateName::parse(text).expect("a gate") }
}

pub fn key(text: &str) -> Option<LimitKey> {
    Some(LimitKey::parse(text).expect("a key"))
}

/// So much at once.
pub fn slots(concurrency: u32) -> Rule {
    Rule { concurrency: Some(concurrency), ..Rule::default() }
}

/// One permit a second, and so many in one instant.
pub fn one_a_second(burst: u32) -> Rule {
    Rule { rate: Some(Rate { permits: 1, per: Duration::from_secs(1), burst }), ..Rule::default() }
}

/// Opens for ten seconds when half of at least two have failed, and closes after two probes, one at a time.
pub fn breaker() -> Rule {
    let breaker = BreakerRule {
        window: Duration::from_secs(60),
        min_attempts: 2,
        failures_per_mille: 500,
        cooldown: Duration::from_secs(10),
        probes: 1,
        closes_after: 2,
    };
    Rule { breaker: Some(breaker), ..Rule::default() }
}

/// This share of every queue, for a tenant.
pub fn share(weight: u32) -> Rule {
    Rule { weight: Some(weight), ..Rule::default() }
}

/// A job of `mail` that takes a slot of this key.
pub fn with_key(number: u32, name: &str) -> Job {
    Job { keys: Keys { concurrency: key(name), ..Keys::default() }, ..job(number) }
}

/// A job of `mail` that takes a permit of this key.
pub fn with_rate_key(number: u32, name: &str) -> Job {
    Job { keys: Keys { rate: key(name), ..Keys::default() }, ..job(number) }
}

pub fn heavy(weight: u16, job: Job) -> Job {
    Job { keys: Keys { weight, ..job.keys }, ..job }
}

pub fn of_type(name: &str, job: Job) -> Job {
    Job { kind: TypeName::parse(name).expect("a name"), ..job }
}

pub fn in_queue(name: &str, job: Job) -> Job {
    Job { queue: queue(name), ..job }
}

pub fn of_tenant(name: &str, job: Job) -> Job {
    Job { tenant: tenant(name), ..job }
}

pub fn ids_of(claimed: &[Claimed]) -> Vec<JobId> {
    claimed.iter().map(|claimed| claimed.job.id).collect()
}

/// What a settlement that was applied says of gates.
pub fn news(settled: Settled) -> GateNews {
    match settled {
        Settled::Applied { gates, .. } => gates.map(|news| *news).unwrap_or_default(),
        Settled::Stale => panic!("the lease must hold"),
    }
}

impl Stage {
    pub async fn command_gate(&self, now: Time, of: &str, what: GateCommand) -> Commanded {
        let command = Command::Gate { tenant: TenantName::default_tenant(), reach: reach(of), what };
        self.store.command(now, vec![command]).await.expect("command").remove(0)
    }

    pub async fn limit(&self, now: Time, of: &str, rule: Rule) {
        assert_eq!(self.command_gate(now, of, GateCommand::Set(rule)).await, Commanded::Done);
    }

    /// What worker 1 is given of `mail` and `other`.
    pub async fn take(&self, now: Time, max: usize) -> Vec<Claimed> {
        self.register(now, 1).await;
        match self.claim_from(now, 1, &["mail", "other"], max).await {
            ClaimAnswer::Jobs(jobs) => jobs,
            other => panic!("worker 1 was answered {other:?}"),
        }
    }

    /// The same, by id.
    pub async fn took(&self, now: Time, max: usize) -> Vec<JobId> {
        ids_of(&self.take(now, max).await)
    }

    /// What worker 1 is given of these queues of all tenants.
    pub async fn share_out(&self, now: Time, queues: &[&str], max: usize) -> Vec<Claimed> {
        self.register(now, 1).await;
        let claim = Claim {
            worker: worker(1),
            tenant: TenantName::default_tenant(),
            whose: Whose::All,
            queues: queues.iter().map(|name| queue(name)).collect(),
            max,
        };
        match self.store.claim(now, vec![claim]).await.expect("claim").remove(0) {
            ClaimAnswer::Jobs(jobs) => jobs,
            other => panic!("worker 1 was answered {other:?}"),
        }
    }

    pub async fn gates(&self, now: Time) -> Vec<GateView> {
        let views = self.store.gates(&TenantName::default_tenant(), now).await.expect("gates");
        assert!(views.is_sorted_by(|one, next| one.reach < next.reach), "{views:?}");
        views
    }

    /// The view of this reach, if it is listed.
    pub async fn gate(&self, now: Time, of: &str) -> Option<GateView> {
        self.gates(now).await.into_iter().find(|view| view.reach == reach(of))
    }

    pub async fn hurdles(&self, now: Time, number: u32) -> Option<Vec<Hurdle>> {
        self.store.hurdles(&TenantName::default_tenant(), id(number), now).await.expect("hurdles")
    }

    /// Every reason why a job that is on offer cannot go, gate after gate.
    pub async fn reasons(&self, now: Time, number: u32) -> Vec<(String, Vec<Entry>)> {
        let hurdles = self.hurdles(now, number).await.expect("the job must be on offer");
        hurdles.into_iter().map(|hurdle| (hurdle.gate.gate.text(), hurdle.reasons)).collect()
    }

    /// What promote says of gates: the queues that time has opened, and when it opens the next.
    pub async fn gate_hints(&self, now: Time) -> (Vec<QueueRef>, Option<Time>) {
        let promoted = self.store.promote(now, everything(1000)).await.expect("promote");
        (promoted.opened, promoted.gates_at)
    }
}
