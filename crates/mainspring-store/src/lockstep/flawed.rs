//! Stores that break one promise each, to show that lockstep can fail. For tests alone.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::JobId;
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use crate::home::Home;
use crate::memory::Memory;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flaw {
    /// Settles whoever holds the job, whatever fence the caller shows.
    IgnoresFences,
    /// Hands out an attempt and tells the worker a smaller number.
    ForgetsAttempts,
    /// Hands out the worst job first.
    ReversesOrder,
    ForgetsKeys,
    LosesCheckpoints,
    /// Loses the priority that a person set.
    LosesUpdates,
    /// Makes jobs ready a millisecond early.
    PromotesEarly,
    ShowsOtherTenants,
    /// Is empty after a restart.
    LosesAllOnReopen,
    /// Takes back the leases of workers that it should spare.
    SparesNobody,
    /// Says that there is more to prune when there is not.
    NeverDone,
}

/// A memory store with a flaw.
#[derive(Debug)]
pub struct Flawed {
    store: Memory,
    flaw: Flaw,
}

/// Where a flawed store lives.
#[derive(Debug)]
pub struct FlawedHome(pub Flaw);

#[async_trait]
impl Home for FlawedHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        Arc::new(Flawed { store: Memory::new(), flaw: self.0 })
    }

    async fn reopen(&mut self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if self.0 == Flaw::LosesAllOnReopen { self.open().await } else { store }
    }
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    async fn owner(&self, id: JobId) -> Option<TenantName> {
        let queues = self.store.queues(None).await.ok()?;
        for view in queues {
            let tenant = view.queue.tenant;
            if self.store.get(&tenant, vec![id]).await.ok()?[0].is_some() {
                return Some(tenant);
            }
        }
        None
    }
}

#[async_trait]
impl Store for Flawed {
    fn describe(&self) -> String {
        format!("memory that {:?}", self.flaw)
    }

    async fn submit(&self, now: Time, mut jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        if self.has(Flaw::ForgetsKeys) {
            jobs.iter_mut().for_each(|job| job.idempotency = None);
        }
        self.store.submit(now, jobs).await
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        let early = if self.has(Flaw::PromotesEarly) { 1 } else { 0 };
        self.store.promote(Time::from_millis(now.as_millis() + early), ask).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let mut answers = self.store.claim(now, claims).await?;
        for answer in &mut answers {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            if self.has(Flaw::ReversesOrder) {
                jobs.reverse();
            }
            if self.has(Flaw::ForgetsAttempts) {
                jobs.iter_mut().for_each(|claimed| claimed.tally.attempts -= 1);
            }
        }
        Ok(answers)
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        self.store.heartbeat(now, beats).await
    }

    async fn report(&self, now: Time, mut reports: Vec<Report>) -> Result<Vec<Hold>> {
        for report in &mut reports {
            if let (true, ReportKind::Checkpoint { data, .. }) = (self.has(Flaw::LosesCheckpoints), &mut report.kind) {
                *data = None;
            }
        }
        self.store.report(now, reports).await
    }

    async fn settle(&self, now: Time, mut settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        for settlement in settlements.iter_mut().filter(|_| self.has(Flaw::IgnoresFences)) {
            let id = settlement.lease.job;
            let Some(tenant) = self.owner(id).await else { continue };
            let view = self.store.get(&tenant, vec![id]).await?.remove(0);
            if let Some(lease) = view.and_then(|view| view.standing.lease) {
                settlement.lease.fence = lease.fence;
            }
        }
        self.store.settle(now, settlements).await
    }

    async fn reclaim(&self, now: Time, mut ask: Reclaim) -> Result<Reclaimed> {
        ask.spare_silent &= !self.has(Flaw::SparesNobody);
        self.store.reclaim(now, ask).await
    }

    async fn command(&self, now: Time, mut commands: Vec<Command>) -> Result<Vec<Commanded>> {
        for command in commands.iter_mut().filter(|_| self.has(Flaw::LosesUpdates)) {
            if let Command::Job { what: JobCommand::Update { priority, .. }, .. } = command {
                *priority = None;
            }
        }
        self.store.command(now, commands).await
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        let pruned = self.store.prune(now, ask).await?;
        Ok(Pruned { more: pruned.more || self.has(Flaw::NeverDone), ..pruned })
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        if !self.has(Flaw::ShowsOtherTenants) {
            return self.store.get(tenant, ids).await;
        }
        let mut views = Vec::new();
        for id in ids {
            let tenant = self.owner(id).await.unwrap_or_else(|| tenant.clone());
            views.extend(self.store.get(&tenant, vec![id]).await?);
        }
        Ok(views)
    }

    async fn find(&self, query: Query) -> Result<Page> {
        self.store.find(query).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        self.store.executions(tenant, id).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        self.store.ahead(tenant, id, limit).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        self.store.queues(tenant).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.store.workers().await
    }
}
