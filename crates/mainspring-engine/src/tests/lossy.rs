//! A store that does what it is told and counts it, and loses the reply or lets somebody else be faster.

use std::sync::atomic::AtomicUsize;

use mainspring_core::id::WorkflowId;
use mainspring_core::job::{Execution, Job};
use mainspring_core::store::*;

use super::*;

#[derive(Debug, Default)]
pub(super) struct Lossy {
    pub(super) inner: Arc<Memory>,
    /// The replies to so many turns are lost.
    pub(super) lose: AtomicUsize,
    /// Before so many turns, somebody else turns the same schedule.
    pub(super) meddle: AtomicUsize,
    /// So many submits are overtaken by a claim that came after them.
    pub(super) overtaken: AtomicUsize,
    /// How often it was asked to promote or to claim.
    pub(super) calls: AtomicUsize,
}

fn takes_one(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

#[async_trait]
impl Store for Lossy {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        let before = self.calls.load(Ordering::Relaxed);
        let is_overtaken = takes_one(&self.overtaken);
        while is_overtaken && self.calls.load(Ordering::Relaxed) == before {
            tokio::task::yield_now().await;
        }
        self.inner.submit(now, jobs).await
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.promote(now, ask).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.claim(now, claims).await
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        self.inner.heartbeat(now, beats).await
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        self.inner.report(now, reports).await
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        self.inner.settle(now, settlements).await
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        self.inner.reclaim(now, ask).await
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.inner.command(now, commands).await
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        if takes_one(&self.meddle)
            && let Some(view) = self.inner.schedule(&turns[0].schedule).await?
        {
            let (schedule, to) = (turns[0].schedule.clone(), To::Move(view.standing));
            let other = Turn { schedule, expect: Some(view.version), to, jobs: vec![], rows: vec![], warrant: None };
            self.inner.turn(now, vec![other]).await?;
        }
        let turned = self.inner.turn(now, turns).await?;
        match takes_one(&self.lose) {
            true => Err(Error::Unavailable("the reply is lost".into())),
            false => Ok(turned),
        }
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        self.inner.prune(now, ask).await
    }
}

#[async_trait]
impl Views for Lossy {
    fn describe(&self) -> String {
        "lossy".into()
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        self.inner.get(tenant, ids).await
    }

    async fn find(&self, query: Query) -> Result<Page> {
        self.inner.find(query).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        self.inner.executions(tenant, id).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        self.inner.ahead(tenant, id, limit).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        self.inner.queues(tenant).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.inner.workers().await
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        self.inner.schedule(schedule).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        self.inner.schedules(query).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        self.inner.ledger(query).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        self.inner.workflow(tenant, id).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        self.inner.gates(tenant, now).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        self.inner.hurdles(tenant, id, now).await
    }

    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>> {
        self.inner.ailments(now).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        self.inner.agenda(ask).await
    }
}
