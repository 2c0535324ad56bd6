//! Stores that break one promise each, to show that lockstep can fail. For tests alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mainspring_core::gate::GateRef;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Dependency, Execution, Job, JobView, Keys, OnFailure};
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::seats::{Seats, Warrants};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::flawed_seats::FlawedSeats;
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
    /// Waits for the first parent of a job only.
    ForgetsParents,
    /// Runs children whose parent failed and that should be cancelled.
    IgnoresFailures,
    /// Runs children that should be held.
    RunsWhatIsHeld,
    /// Lists cancelled children, last first.
    CancelsBackwards,
    /// Does not say that others wait for a job that ended.
    ForgetsToSayAwaited,
    /// Runs the callback of a workflow as soon as one of its steps has ended.
    RunsCallbacksEarly,
    /// Takes in each job of a workflow alone.
    TearsWorkflowsApart,
    /// Turns a schedule whatever version the caller shows.
    IgnoresVersions,
    /// Keeps the jobs that came before the one that was refused.
    KeepsHalfATurn,
    /// Loses the last row of a turn.
    LosesLedgerRows,
    /// Leaves out the schedule that is due first.
    SkipsADueSchedule,
    /// A job that is given back keeps its slots.
    KeepsSlots,
    /// What is taken back frees its slots before it is settled.
    FreesSlotsEarly,
    /// Counts who runs from the moment on that a limit is set.
    CountsFromTheLimitOn,
    /// Every job takes one slot and one permit.
    IgnoresWeights,
    /// Who names a key for one part takes the other part of it too.
    IgnoresParts,
    /// A rule with a pattern is one limit for all keys under it.
    SharesPatterns,
    /// Lets a lighter job go before a heavier one that its gate has no room for.
    LetsOvertake,
    /// All permits are back after a restart.
    ForgetsPermitsOnReopen,
    /// Every breaker is closed after a restart.
    ForgetsBreakersOnReopen,
    /// Every key is open after a restart.
    ForgetsClosuresOnReopen,
    /// Forgets all gates when it prunes, whoever runs there.
    ForgetsGatesInUse,
    /// Fits no bucket and no breaker to a new rule.
    NeverRetunes,
    /// A crash is nothing to a breaker.
    IgnoresCrashes,
    /// Says that a key is closed, and leaves it open.
    ClosesNothing,
    /// Closes a key for the queue of the job that was told to wait, and for no other.
    ClosesOneQueue,
    /// Charges no turns: the first tenant is always the next.
    ChargesNoTurns,
    /// Gives a worker the jobs of all tenants, whatever it asked for.
    GivesAwayOthers,
    /// Makes jobs ready in whosever name.
    PromotesForAnybody,
    /// Takes leases back in whosever name.
    ReclaimsForAnybody,
    /// Prunes in whosever name.
    PrunesForAnybody,
    /// Turns schedules in whosever name.
    TurnsForAnybody,
    /// Assigns segments in whosever name.
    AssignsForAnybody,
    /// A seat that was given up stays with its holder.
    KeepsWhatIsGivenUp,
}

/// A memory store with a flaw.
#[derive(Debug)]
pub struct Flawed {
    pub store: Memory,
    flaw: Flaw,
    /// What jobs said they wait for and share limits by, where the flaw changes it: readers are shown what was said.
    said: Mutex<BTreeMap<JobId, (Vec<Dependency>, Keys)>>,
    /// Which queue a key was closed by.
    pub closers: Mutex<BTreeMap<GateRef, QueueRef>>,
}

/// Where a flawed store lives.
#[derive(Debug)]
pub struct FlawedHome(Arc<Flawed>);

impl FlawedHome {
    pub fn new(flaw: Flaw) -> FlawedHome {
        let (said, closers) = (Mutex::default(), Mutex::default());
        FlawedHome(Arc::new(Flawed { store: Memory::new(), flaw, said, closers }))
    }
}

#[async_trait]
impl Home for FlawedHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        self.0.clone()
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        Some(Arc::new(FlawedSeats(self.0.clone())))
    }

    async fn reopen(&mut self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if self.0.has(Flaw::LosesAllOnReopen) {
            *self = FlawedHome::new(Flaw::LosesAllOnReopen);
            return self.open().await;
        }
        self.0.reopen_gates();
        store
    }
}

impl Flawed {
    pub fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    /// Waits for something else than the job said, or shares limits by something else.
    fn bend(&self, job: &mut Job) {
        let said = (job.depends_on.clone(), job.keys.clone());
        let run = |dependency: &mut Dependency, instead_of| {
            if dependency.on_failure == instead_of {
                dependency.on_failure = OnFailure::Run;
            }
        };
        match self.flaw {
            Flaw::ForgetsParents => job.depends_on.truncate(1),
            Flaw::IgnoresFailures => job.depends_on.iter_mut().for_each(|it| run(it, OnFailure::Cancel)),
            Flaw::RunsWhatIsHeld => job.depends_on.iter_mut().for_each(|it| run(it, OnFailure::Hold)),
            _ if self.bend_keys(&mut job.keys) => {}
            _ => return,
        }
        self.said.lock().expect("nobody panics with it").entry(job.id).or_insert(said);
    }

    fn mend(&self, job: &mut Job) {
        if let Some((depends_on, keys)) = self.said.lock().expect("nobody panics with it").get(&job.id) {
            job.depends_on.clone_from(depends_on);
            job.keys.clone_from(keys);
        }
    }

    async fn run_callback_of(&self, now: Time, step: JobId) -> Result<()> {
        let Some(tenant) = self.owner(step).await else { return Ok(()) };
        let view = self.store.get(&tenant, vec![step]).await?.remove(0);
        let Some(place) = view.and_then(|view| view.job.workflow) else { return Ok(()) };
        let workflow = self.store.workflow(&tenant, place.workflow).await?;
        let Some(id) = workflow.and_then(|workflow| workflow.callback) else { return Ok(()) };
        self.store.command(now, vec![Command::Job { tenant, id, what: JobCommand::RunNow }]).await?;
        Ok(())
    }

    pub async fn owner(&self, id: JobId) -> Option<TenantName> {
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
    async fn submit(&self, now: Time, mut jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        if self.has(Flaw::ForgetsKeys) {
            jobs.iter_mut().for_each(|job| job.idempotency = None);
        }
        jobs.iter_mut().for_each(|job| self.bend(job));
        if self.has(Flaw::TearsWorkflowsApart) {
            let mut answers = Vec::new();
            for job in jobs {
                answers.extend(self.store.submit(now, vec![job]).await?);
            }
            return Ok(answers);
        }
        self.store.submit(now, jobs).await
    }

    async fn promote(&self, now: Time, mut ask: Promote) -> Result<Promoted> {
        if self.has(Flaw::PromotesForAnybody) {
            ask.warrants = Warrants::NONE;
        }
        let early = if self.has(Flaw::PromotesEarly) { 1 } else { 0 };
        let mut promoted = self.store.promote(Time::from_millis(now.as_millis() + early), ask).await?;
        if self.has(Flaw::CancelsBackwards) {
            promoted.cancelled.reverse();
        }
        if self.has(Flaw::SkipsADueSchedule) && !promoted.due.is_empty() {
            promoted.due.remove(0);
        }
        Ok(promoted)
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let mut answers = self.claim_through_gates(now, claims).await?;
        for answer in &mut answers {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            jobs.iter_mut().for_each(|claimed| self.mend(&mut claimed.job));
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
        let ids: Vec<JobId> = settlements.iter().map(|settlement| settlement.lease.job).collect();
        let mut settled = self.settle_through_gates(now, settlements).await?;
        for (id, settled) in ids.into_iter().zip(&settled).filter(|_| self.has(Flaw::RunsCallbacksEarly)) {
            if matches!(settled, Settled::Applied { state, .. } if state.is_final()) {
                self.run_callback_of(now, id).await?;
            }
        }
        for settled in settled.iter_mut().filter(|_| self.has(Flaw::ForgetsToSayAwaited)) {
            if let Settled::Applied { awaited, .. } = settled {
                *awaited = false;
            }
        }
        Ok(settled)
    }

    async fn reclaim(&self, now: Time, mut ask: Reclaim) -> Result<Reclaimed> {
        ask.spare_silent &= !self.has(Flaw::SparesNobody);
        ask.warrant = ask.warrant.filter(|_| !self.has(Flaw::ReclaimsForAnybody));
        let mut reclaimed = self.store.reclaim(now, ask).await?;
        self.free_early(&reclaimed);
        reclaimed.leases.iter_mut().for_each(|taken| self.mend(&mut taken.claimed.job));
        Ok(reclaimed)
    }

    async fn command(&self, now: Time, mut commands: Vec<Command>) -> Result<Vec<Commanded>> {
        for command in commands.iter_mut().filter(|_| self.has(Flaw::LosesUpdates)) {
            if let Command::Job { what: JobCommand::Update { priority, .. }, .. } = command {
                *priority = None;
            }
        }
        self.command_gates(now, commands).await
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        let mut answers = Vec::new();
        for mut turn in turns {
            turn.jobs.iter_mut().for_each(|job| self.bend(job));
            if self.has(Flaw::IgnoresVersions) {
                turn.expect = self.store.schedule(&turn.schedule).await?.map(|view| view.version);
            }
            turn.warrant = turn.warrant.filter(|_| !self.has(Flaw::TurnsForAnybody));
            if self.has(Flaw::LosesLedgerRows) {
                turn.rows.pop();
            }
            let answer = self.store.turn(now, vec![turn.clone()]).await?.remove(0);
            if let (true, Turned::Refused { at, .. }) = (self.has(Flaw::KeepsHalfATurn), &answer) {
                turn.jobs.truncate(*at);
                self.store.submit(now, turn.jobs).await?;
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    async fn prune(&self, now: Time, mut ask: Prune) -> Result<Pruned> {
        ask.warrant = ask.warrant.filter(|_| !self.has(Flaw::PrunesForAnybody));
        let pruned = self.store.prune(now, ask).await?;
        if self.has(Flaw::ForgetsGatesInUse) {
            self.store.tamper(|states| states.clear());
        }
        Ok(Pruned { more: pruned.more || self.has(Flaw::NeverDone), ..pruned })
    }
}

#[async_trait]
impl Views for Flawed {
    fn describe(&self) -> String {
        format!("memory that {:?}", self.flaw)
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        let mut views = Vec::new();
        for id in ids {
            let owner = if self.has(Flaw::ShowsOtherTenants) { self.owner(id).await } else { None };
            views.extend(self.store.get(owner.as_ref().unwrap_or(tenant), vec![id]).await?);
        }
        views.iter_mut().flatten().for_each(|view| self.mend(&mut view.job));
        Ok(views)
    }

    async fn find(&self, query: Query) -> Result<Page> {
        let mut page = self.store.find(query).await?;
        page.jobs.iter_mut().for_each(|view| self.mend(&mut view.job));
        Ok(page)
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

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        self.store.schedule(schedule).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        self.store.schedules(query).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        self.store.ledger(query).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        self.store.workflow(tenant, id).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        self.store.gates(tenant, now).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        self.store.hurdles(tenant, id, now).await
    }

    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>> {
        self.store.ailments(now).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        self.store.agenda(ask).await
    }
}
