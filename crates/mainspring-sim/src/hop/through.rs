//! A hop as an engine sees it: a store with seats. Does nothing but turn calls into values and answers back.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::{JobId, NodeId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::{Ask, Hop, Reply};

#[derive(Clone, Debug)]
pub struct Through(pub Arc<dyn Hop>);

/// Asks, and opens the answer that belongs to it.
macro_rules! pass {
    ($self:ident, $now:expr, $ask:expr, $kind:ident) => {
        match $self.0.pass($now, $ask).await? {
            Reply::$kind(answer) => Ok(answer),
            other => unreachable!("a hop answered with another call's reply: {other:?}"),
        }
    };
}

/// Asks what has nothing to answer.
macro_rules! tell {
    ($self:ident, $now:expr, $ask:expr) => {
        $self.0.pass($now, $ask).await.map(drop)
    };
}

/// Looks once the line has let us.
macro_rules! look {
    ($self:ident, $($read:tt)+) => {{
        $self.0.look().await?;
        $self.0.ground().$($read)+.await
    }};
}

#[async_trait]
impl Store for Through {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        pass!(self, now, Ask::Submit(jobs), Submit)
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        pass!(self, now, Ask::Promote(ask), Promote)
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        pass!(self, now, Ask::Claim(claims), Claim)
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        pass!(self, now, Ask::Heartbeat(beats), Heartbeat)
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        pass!(self, now, Ask::Report(reports), Report)
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        pass!(self, now, Ask::Settle(settlements), Settle)
    }

    /// Two calls on the line, which may fare differently.
    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        tokio::join!(biased; self.settle(now, settlements), self.claim(now, claims))
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        pass!(self, now, Ask::Reclaim(ask), Reclaim)
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        pass!(self, now, Ask::Command(commands), Command)
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        pass!(self, now, Ask::Turn(turns), Turn)
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        pass!(self, now, Ask::Prune(ask), Prune)
    }
}

#[async_trait]
impl Seats for Through {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        pass!(self, now, Ask::Renew(Box::new(node), until), Renew)
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        pass!(self, now, Ask::Take(node, seats, until), Take)
    }

    async fn give_up(&self, now: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        tell!(self, now, Ask::GiveUp(node, seats))
    }

    async fn assign(&self, now: Time, assign: Assign) -> Result<Assigned> {
        pass!(self, now, Ask::Assign(assign), Assign)
    }

    async fn leave(&self, now: Time, node: NodeId) -> Result<()> {
        tell!(self, now, Ask::Leave(node))
    }

    async fn roll(&self) -> Result<Roll> {
        look!(self, roll())
    }

    async fn clock(&self) -> Result<Option<Time>> {
        self.0.look().await?;
        Ok(self.0.clock())
    }
}

#[async_trait]
impl Views for Through {
    fn describe(&self) -> String {
        "memory, behind a line that is not to be trusted".into()
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        look!(self, get(tenant, ids))
    }

    async fn find(&self, query: Query) -> Result<Page> {
        look!(self, find(query))
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        look!(self, executions(tenant, id))
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        look!(self, ahead(tenant, id, limit))
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        look!(self, queues(tenant))
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        look!(self, workers())
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        look!(self, schedule(schedule))
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        look!(self, schedules(query))
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        look!(self, ledger(query))
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        look!(self, workflow(tenant, id))
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        look!(self, gates(tenant, now))
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        look!(self, hurdles(tenant, id, now))
    }

    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>> {
        look!(self, ailments(now))
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        look!(self, agenda(ask))
    }
}
