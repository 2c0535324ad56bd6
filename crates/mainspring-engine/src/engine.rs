//! The handle of a running node: what the door and the binary hold. Does nothing itself; each verb has its own file.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::gate::{Reach, Rule};
use mainspring_core::id::{JobId, LeaseId, NodeId, WorkerId, WorkflowId};
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{Schedule, ScheduleRef};
use mainspring_core::seats::{Role, Seats};
use mainspring_core::store::{
    ClaimAnswer, Command, Commanded, Filter, GateView, Hold, JobCommand, Pulse, Report, Settled, Store, WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeups;

use crate::advance::{Advanced, ClockView};
use crate::clock::Clock;
use crate::cluster::ClusterView;
use crate::command::Bulk;
use crate::dispatch::ClaimAsk;
use crate::doctor::Diagnosis;
use crate::error::Result;
use crate::events::Events;
use crate::explain::Explanation;
use crate::forecast::{Forecast, ForecastAsk};
use crate::health::Health;
use crate::limit::LimitSet;
use crate::node::Running;
use crate::schedule::{Backfill, BackfillAsk, Expect, ScheduleMove, SchedulePut};
use crate::settings::Settings;
use crate::settle::AttemptEnd;
use crate::submit::{Draft, Submission};
use crate::worker::Registration;
use crate::workflow::{WorkflowDraft, WorkflowStatus, WorkflowSubmitted};

/// What a node is made of: everything that differs between one machine and a cluster.
#[derive(Clone, Debug)]
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub seats: Arc<dyn Seats>,
    pub wakeups: Arc<dyn Wakeups>,
    pub clock: Arc<dyn Clock>,
}

/// A cheap handle. The node stops when the last one is dropped, or in order at [`Engine::shutdown`].
#[derive(Clone, Debug)]
pub struct Engine {
    running: Arc<Running>,
}

impl Engine {
    /// Spawns the node's actors on the current tokio runtime. Returns when its seats are asked for and what is overdue
    /// is ready. Metrics go to the recorder that is installed by then.
    pub async fn start(parts: Parts, settings: Settings) -> Result<Engine> {
        let running = Arc::new(Running::start(parts, settings).await?);
        Ok(Engine { running })
    }

    #[cfg(test)]
    pub(crate) fn of(running: Running) -> Engine {
        Engine { running: Arc::new(running) }
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> Arc<crate::node::Node> {
        self.running.node.clone()
    }

    pub fn now(&self) -> Time {
        self.running.node.clock.now()
    }

    pub fn settings(&self) -> &Settings {
        &self.running.node.settings
    }

    pub fn node(&self) -> NodeId {
        self.running.node.id
    }

    /// For reads. A write past the engine wakes nobody.
    pub fn store(&self) -> &dyn Store {
        &*self.running.node.store
    }

    pub fn health(&self) -> Health {
        self.running.node.health()
    }

    /// Takes jobs in; one answer each, in order.
    pub async fn submit(&self, drafts: Vec<Draft>) -> Result<Vec<Submission>> {
        self.running.node.submit(drafts).await
    }

    /// Waits up to `ask.wait` for something to do. An empty list means that there was nothing.
    pub async fn claim(&self, ask: ClaimAsk) -> Result<ClaimAnswer> {
        self.running.node.needs(Role::Dispatcher)?;
        self.running.node.claim(ask).await
    }

    /// Ends attempts; one answer each, in order.
    pub async fn settle(&self, ends: Vec<AttemptEnd>) -> Result<Vec<Settled>> {
        self.running.node.settle(ends).await
    }

    /// Ends attempts and claims what comes next, in this order and in one commit where the store can. One answer for each
    /// end; they stand even if the claim is refused. The answer waits for the claim, up to `ask.wait`.
    pub async fn settle_and_claim(
        &self,
        ends: Vec<AttemptEnd>,
        ask: ClaimAsk,
    ) -> Result<(Vec<Settled>, Result<ClaimAnswer>)> {
        if let Err(error) = self.running.node.needs(Role::Dispatcher) {
            return Ok((self.settle(ends).await?, Err(error)));
        }
        self.running.node.settle_and_claim(ends, ask).await
    }

    pub async fn report(&self, reports: Vec<Report>) -> Result<Vec<Hold>> {
        self.running.node.report(reports).await
    }

    pub async fn register(
        &self,
        tenant: TenantName,
        info: WorkerInfo,
        lease: Option<Duration>,
    ) -> Result<Registration> {
        self.running.node.register(tenant, info, lease).await
    }

    /// `holding`, if given, is all that the worker holds: what it never received is given back.
    pub async fn heartbeat(
        &self,
        tenant: TenantName,
        worker: WorkerId,
        holding: Option<Vec<LeaseId>>,
    ) -> Result<Pulse> {
        self.running.node.heartbeat(tenant, worker, holding).await
    }

    /// The worker goes for good; what it still holds is taken back.
    pub async fn leave(&self, tenant: TenantName, worker: WorkerId) -> Result<Pulse> {
        self.running.node.leave(tenant, worker).await
    }

    pub async fn command(&self, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.running.node.command(commands).await
    }

    /// The same command for every job that the filter finds, until `max` were moved.
    pub async fn command_found(&self, tenant: TenantName, filter: Filter, what: JobCommand, max: u64) -> Result<Bulk> {
        self.running.node.command_found(tenant, filter, what, max).await
    }

    /// Why a job is where it is; `None` if there is no such job.
    pub async fn explain(&self, tenant: &TenantName, id: JobId) -> Result<Option<Explanation>> {
        self.running.node.explain(tenant, id).await
    }

    /// Every limit of a tenant and every gate of it that is not at rest, by reach.
    pub async fn limits(&self, tenant: &TenantName) -> Result<Vec<GateView>> {
        self.running.node.limits(tenant).await
    }

    /// One of [`Engine::limits`]; `None` if nothing is limited so.
    pub async fn limit(&self, tenant: &TenantName, reach: &Reach) -> Result<Option<GateView>> {
        self.running.node.limit(tenant, reach).await
    }

    /// Holds from now on, also for what runs and waits already. A rule past a bound, or one that sets nothing, is refused.
    pub async fn set_limit(&self, tenant: TenantName, reach: Reach, rule: Rule) -> Result<LimitSet> {
        self.running.node.set_limit(tenant, reach, rule).await
    }

    /// False if there was no such limit.
    pub async fn clear_limit(&self, tenant: TenantName, reach: Reach) -> Result<bool> {
        self.running.node.clear_limit(tenant, reach).await
    }

    /// Closes the breakers in reach and forgets what workers were told. False if there is neither a limit nor a gate.
    pub async fn reopen_limit(&self, tenant: TenantName, reach: Reach) -> Result<bool> {
        self.running.node.reopen_limit(tenant, reach).await
    }

    /// Creates a schedule, or replaces what it says. What has fired stays fired.
    pub async fn put_schedule(&self, schedule: Schedule, expect: Expect) -> Result<SchedulePut> {
        let node = self.running.node.clone();
        whole(async move { node.put_schedule(schedule, expect).await }).await
    }

    /// Its jobs and its ledger stay.
    pub async fn remove_schedule(&self, at: &ScheduleRef, expect: Expect) -> Result<ScheduleMove> {
        let (node, at) = (self.running.node.clone(), at.clone());
        whole(async move { node.remove_schedule(&at, expect).await }).await
    }

    /// Nothing fires until it is resumed, by a person or at `until`.
    pub async fn pause_schedule(&self, at: &ScheduleRef, note: String, until: Option<Time>) -> Result<ScheduleMove> {
        let (node, at) = (self.running.node.clone(), at.clone());
        whole(async move { node.pause_schedule(&at, note, until).await }).await
    }

    pub async fn resume_schedule(&self, at: &ScheduleRef) -> Result<ScheduleMove> {
        let (node, at) = (self.running.node.clone(), at.clone());
        whole(async move { node.resume_schedule(&at).await }).await
    }

    /// One job now, beside its occurrences; `None` if there is no such schedule.
    pub async fn trigger_schedule(&self, at: &ScheduleRef) -> Result<Option<Submission>> {
        let (node, at) = (self.running.node.clone(), at.clone());
        whole(async move { node.trigger_schedule(&at).await }).await
    }

    /// Makes the jobs of past occurrences that have none; `None` if there is no such schedule.
    pub async fn backfill(&self, at: &ScheduleRef, ask: BackfillAsk) -> Result<Option<Backfill>> {
        let (node, at) = (self.running.node.clone(), at.clone());
        whole(async move { node.backfill(&at, ask).await }).await
    }

    /// What will fire when.
    pub async fn forecast(&self, ask: ForecastAsk) -> Result<Forecast> {
        self.running.node.forecast(ask).await
    }

    /// Takes a graph of jobs in: all of it, or nothing.
    pub async fn submit_workflow(&self, draft: WorkflowDraft) -> Result<WorkflowSubmitted> {
        self.running.node.submit_workflow(draft).await
    }

    /// Where a workflow is, and a page of its jobs; `None` if there is none.
    pub async fn workflow(
        &self,
        tenant: &TenantName,
        id: WorkflowId,
        below: Option<JobId>,
        limit: usize,
    ) -> Result<Option<WorkflowStatus>> {
        self.running.node.workflow(tenant, id, below, limit).await
    }

    /// Cancels every step that has not ended; its callback then runs. `None` if there is no such workflow.
    pub async fn cancel_workflow(&self, tenant: &TenantName, id: WorkflowId, reason: String) -> Result<Option<Bulk>> {
        self.running.node.cancel_workflow(tenant, id, reason).await
    }

    /// Who is there, who leads, and who has which segment.
    pub async fn cluster(&self) -> Result<ClusterView> {
        self.running.node.cluster().await
    }

    /// What is wrong with this node, its cluster and its store, and what to do.
    pub async fn doctor(&self) -> Result<Diagnosis> {
        self.running.node.doctor().await
    }

    pub fn clock(&self) -> ClockView {
        self.running.node.clock_view()
    }

    /// Moves a virtual clock on. All that falls due on the way happens at its own time, in order.
    pub async fn advance(&self, to: Time) -> Result<Advanced> {
        self.running.node.advance(to).await
    }

    /// What happens from now on.
    pub fn events(&self) -> Events {
        self.running.node.subscribe()
    }

    /// Hands the seats over, answers waiting claims with empty lists, finishes what was accepted, stops the actors.
    /// Calling it again waits for the same end.
    pub async fn shutdown(&self) {
        self.running.shutdown().await;
    }
}

/// Runs on a task of its own: a caller that hangs up must not keep others from hearing what was done.
async fn whole<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    tokio::spawn(work).await.expect("changes to schedules do not panic")
}
