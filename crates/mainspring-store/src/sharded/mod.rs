//! Several stores that share the tenants out, seen as one. Every tenant lives in one of them wholly, so nothing here ever needs a
//! transaction over two; which one is core's [`Placement`]. Decides nothing and keeps no jobs.
//!
//! - `database`: one of them, and whether it answers. `all`: asking every one that does, at the same time.
//! - `route`: asking the one that an item belongs to. One file for each verb that asks more than one.
//! - `seats`, `lead`, `wakeups`: what nodes need of each other.
//!
//! **A database that is down stops only its tenants.** What is asked of all is answered by those that live; an error means that
//! none does. What is asked of one fails with it. A batch of items for several databases is applied by each on its own: if one
//! fails the call fails, and repeating it is safe as ever. The engine gathers by database, so that this is rare.

mod all;
mod claim;
mod command;
mod database;
mod heartbeat;
mod lead;
mod promote;
mod reclaim;
mod route;
mod seats;
mod submit;
mod views;
mod wakeups;
mod workers;

#[cfg(test)]
mod cut;
#[cfg(test)]
mod down_tests;
#[cfg(test)]
mod home;
#[cfg(test)]
mod share_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::placement::{Placement, Shard};
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::seats::Seats;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use database::Database;
pub use database::{PATIENCE_MAX, SWEEP_PATIENCE_MAX};
use lead::Leads;
pub use wakeups::ShardedWakeups;

/// In place of a limit: this database has had its share.
const NOT_ASKED: usize = usize::MAX;

/// One of several stores, with the seats it keeps beside its jobs.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which one it is, for people.
    pub name: String,
    pub store: Arc<dyn Store>,
    pub seats: Arc<dyn Seats>,
}

/// Several stores as one, with the seats of their segments.
#[derive(Clone, Debug)]
pub struct Sharded {
    placement: Placement,
    databases: Arc<[Arc<Database>]>,
    leads: Arc<Leads>,
    turns: Arc<AtomicUsize>,
}

impl Sharded {
    /// In the order of their charters. `None` unless there are 1 to [`mainspring_core::limits::SHARDS_MAX`].
    pub fn new(parts: Vec<Part>) -> Option<Sharded> {
        let placement = Placement::new(parts.len())?;
        let databases = placement.shards().zip(parts).map(|(shard, part)| Arc::new(Database::new(shard, part)));
        Some(Sharded { placement, databases: databases.collect(), leads: Arc::default(), turns: Arc::default() })
    }

    pub fn placement(&self) -> Placement {
        self.placement
    }

    fn database(&self, shard: Shard) -> &Arc<Database> {
        &self.databases[shard.index()]
    }

    fn home(&self, tenant: &TenantName) -> &dyn Store {
        &*self.database(self.placement.home(tenant)).store
    }

    /// Whose turn it is to be first, or to have what cannot be divided: another every time.
    fn turn(&self) -> usize {
        self.turns.fetch_add(1, Ordering::Relaxed) % self.databases.len()
    }

    /// A bound of a whole answer, dealt out: no part is more than one larger than another.
    fn shares(&self, limit: usize) -> Vec<usize> {
        let (count, turn) = (self.databases.len(), self.turn());
        let share = |at: usize| limit / count + usize::from((at + turn) % count < limit % count);
        (0..count).map(share).collect()
    }

    /// What is left of a limit goes to one database that could have used more than its share; `None` if it is used up, nobody
    /// could, or it was given already.
    fn left_over(&self, left: usize, limits: &[usize], behind: &[bool]) -> Option<Vec<usize>> {
        let is_second = limits.contains(&NOT_ASKED);
        let next = behind.iter().position(|&behind| behind).filter(|_| left > 0 && !is_second)?;
        let mut limits = vec![NOT_ASKED; limits.len()];
        limits[next] = left;
        Some(limits)
    }
}

#[async_trait]
impl Store for Sharded {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        self.submit_routed(now, jobs).await
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        self.promote_all(now, ask).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        self.claim_routed(now, claims).await
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        self.heartbeat_all(now, beats).await
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        let shard = |report: &Report| self.placement.shard_of(report.lease.job.segment());
        self.route(reports, shard, |database, reports| async move { database.store.report(now, reports).await }).await
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        let shard = |settlement: &Settlement| self.placement.shard_of(settlement.lease.job.segment());
        self.route(settlements, shard, |database, ends| async move { database.store.settle(now, ends).await }).await
    }

    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        self.settle_and_claim_routed(now, settlements, claims).await
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        self.reclaim_all(now, ask).await
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.command_routed(now, commands).await
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        self.turn_routed(now, turns).await
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        self.prune_all(now, ask).await
    }
}

#[async_trait]
impl Views for Sharded {
    fn describe(&self) -> String {
        let each: Vec<String> = self.databases.iter().map(|database| database.store.describe()).collect();
        format!("{} databases: {}", each.len(), each.join("; "))
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        self.home(tenant).get(tenant, ids).await
    }

    async fn find(&self, query: Query) -> Result<Page> {
        self.home(&query.tenant).find(query.clone()).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        self.home(tenant).executions(tenant, id).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        self.home(tenant).ahead(tenant, id, limit).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        match tenant {
            Some(tenant) => self.home(tenant).queues(Some(tenant)).await,
            None => self.queues_of_all().await,
        }
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.workers_of_all().await
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        self.home(&schedule.tenant).schedule(schedule).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        self.home(&query.tenant).schedules(query.clone()).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        self.home(&query.schedule.tenant).ledger(query.clone()).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        self.home(tenant).workflow(tenant, id).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        self.home(tenant).gates(tenant, now).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        self.home(tenant).hurdles(tenant, id, now).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        match &ask.tenant {
            Some(tenant) => self.home(tenant).agenda(ask.clone()).await,
            None => self.agenda_of_all(ask).await,
        }
    }

    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>> {
        self.ailments_of_all(now).await
    }
}
