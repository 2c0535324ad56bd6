//! Makes the jobs of due schedules and moves the schedules on. Decides nothing: the core plans what a schedule does now, and the
//! store takes the jobs, the ledger rows and the new standing in one durable write, if the schedule is still as it was read.
//! Killed anywhere, a schedule is still due or its turn is done; fired by two nodes, one of them loses.
//!
//! A round is turned in batches, and the next batch is planned while the store writes the one before.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{
    self, LedgerRow, Look, Overlap, Pause, PausedBy, Plan, ScheduleView, Standing, segment_of, without_room,
};
use mainspring_core::seats::Warrant;
use mainspring_core::segment::Segment;
use mainspring_core::store::{self, Command, JobCommand, Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use crate::actor::Actor;
use crate::announce::News;
use crate::error::Result;
use crate::lanes::apart as apart_by;
use crate::measure::Call;
use crate::node::Node;
use crate::schedule::Told;

/// Schedules in one call of the store, and about so many jobs.
const BATCH_MAX: usize = 1_000;
/// Occurrences of one schedule that fire in one turn; the rest follow in the next round.
pub(crate) const OCCURRENCES_MAX: usize = 100;

#[derive(Debug)]
pub(crate) struct Turner {
    node: Arc<Node>,
}

/// A schedule with what it will do, but for the jobs, which are on their way to the store.
struct Planned {
    view: ScheduleView,
    last_job: Option<State>,
    then: Standing,
    rows: Vec<LedgerRow>,
    cancel: Vec<JobId>,
    warrant: Option<Warrant>,
}

type Answer = (Time, Vec<Planned>, store::Result<Vec<Turned>>);

impl Turner {
    pub(crate) fn new(node: Arc<Node>) -> Turner {
        Turner { node }
    }

    async fn round(&self, due: Vec<ScheduleView>) -> Result<()> {
        let last_jobs = self.node.last_jobs(&due).await?;
        let mut due = due.into_iter();
        let mut under_way = None;
        loop {
            let now = self.node.clock.now();
            let (planned, turns) = self.batch(now, &mut due, &last_jobs);
            let next = (!turns.is_empty()).then(|| tokio::spawn(self.node.clone().write(now, planned, turns)));
            let is_last = next.is_none();
            if let Some(call) = std::mem::replace(&mut under_way, next) {
                let (now, planned, answers) = call.await.expect("turning does not panic");
                self.node.finish(now, planned, answers?).await?;
            }
            if is_last || self.node.closing.is_raised() {
                break;
            }
        }
        match under_way {
            Some(call) => {
                let (now, planned, answers): Answer = call.await.expect("turning does not panic");
                self.node.finish(now, planned, answers?).await
            }
            None => Ok(()),
        }
    }

    fn batch(
        &self,
        now: Time,
        due: &mut impl Iterator<Item = ScheduleView>,
        last_jobs: &HashMap<JobId, State>,
    ) -> (Vec<Planned>, Vec<Turn>) {
        let (mut planned, mut turns, mut jobs) = (Vec::new(), Vec::new(), 0);
        while turns.len() < BATCH_MAX && jobs < BATCH_MAX {
            let Some(view) = due.next() else { break };
            let last_job = view.standing.last_job.and_then(|id| last_jobs.get(&id).copied());
            let plan = self.node.plan_turn(&view, last_job, now);
            jobs += plan.jobs.len();
            let warrant = self.node.holdings.warrant(self.node.segment_of(&view));
            let (one, turn) = apart(view, last_job, plan, Some(warrant));
            planned.push(one);
            turns.push(turn);
        }
        (planned, turns)
    }
}

/// What goes to the store, and what is still wanted when it has answered.
fn apart(view: ScheduleView, last_job: Option<State>, plan: Plan, warrant: Option<Warrant>) -> (Planned, Turn) {
    let turn = Turn {
        schedule: view.schedule.reference(),
        expect: Some(view.version),
        to: To::Move(plan.then.clone()),
        jobs: plan.jobs,
        rows: plan.rows.clone(),
        warrant,
    };
    (Planned { view, last_job, then: plan.then, rows: plan.rows, cancel: plan.cancel, warrant }, turn)
}

impl Node {
    /// Turns one schedule whose time has come, for a person who wants to change it. Answers whether there was anything to do.
    pub(crate) async fn turn_due(self: &Arc<Node>, view: ScheduleView) -> Result<bool> {
        let now = self.clock.now();
        if view.standing.wake_at.is_none_or(|wake_at| wake_at > now) {
            return Ok(false);
        }
        let last_jobs = self.last_jobs(std::slice::from_ref(&view)).await?;
        let last_job = view.standing.last_job.and_then(|id| last_jobs.get(&id).copied());
        let plan = self.plan_turn(&view, last_job, now);
        let (planned, turn) = apart(view, last_job, plan, None);
        let (now, planned, answers) = self.clone().write(now, vec![planned], vec![turn]).await;
        self.finish(now, planned, answers?).await?;
        Ok(true)
    }

    /// The states of the last jobs, of those schedules that care.
    pub(crate) async fn last_jobs(&self, views: &[ScheduleView]) -> Result<HashMap<JobId, State>> {
        let mut wanted: BTreeMap<&TenantName, Vec<JobId>> = BTreeMap::new();
        for ScheduleView { schedule, standing, .. } in views {
            if schedule.overlap != Overlap::Allow || schedule.pause_on_failure {
                wanted.entry(&schedule.tenant).or_default().extend(standing.last_job);
            }
        }
        let mut states = HashMap::new();
        for (tenant, ids) in wanted.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            let found = self.store.get(tenant, ids).await?;
            states.extend(found.into_iter().flatten().map(|view| (view.job.id, view.standing.state)));
        }
        Ok(states)
    }

    fn segment_of(&self, view: &ScheduleView) -> Segment {
        segment_of(&view.schedule.reference(), self.settings.placement)
    }

    fn plan_turn(&self, view: &ScheduleView, last_job: Option<State>, now: Time) -> Plan {
        match self.calendars.of(&view.schedule) {
            Ok(calendar) => schedule::plan(Look {
                view,
                calendar: &calendar,
                last_job,
                now,
                placement: self.settings.placement,
                step_max: OCCURRENCES_MAX,
            }),
            Err(bad) => {
                let then = unreadable(&view.standing, &bad.to_string(), now);
                only_pauses(view, then)
            }
        }
    }

    async fn write(self: Arc<Node>, now: Time, planned: Vec<Planned>, turns: Vec<Turn>) -> Answer {
        match self.write_turns(now, turns).await {
            // One of them is at fault and nothing happened: tried alone, the others go through.
            Err(store::Error::Invalid(_)) => self.write_one_by_one(now, planned).await,
            answers => (now, planned, answers),
        }
    }

    async fn write_turns(&self, now: Time, turns: Vec<Turn>) -> store::Result<Vec<Turned>> {
        self.meters.time(Call::Turn, self.store.turn(now, turns)).await
    }

    /// Plans each again, which makes the same jobs, and pauses those that the store refuses for good.
    async fn write_one_by_one(&self, now: Time, refused: Vec<Planned>) -> Answer {
        let (mut planned, mut answers) = (Vec::new(), Vec::new());
        for Planned { view, last_job, warrant, .. } in refused {
            let plan = self.plan_turn(&view, last_job, now);
            let (mut one, turn) = apart(view, last_job, plan, warrant);
            let mut answer = self.write_turns(now, vec![turn]).await;
            if let Err(store::Error::Invalid(why)) = &answer {
                let plan = only_pauses(&one.view, refused_by_store(&one.view.standing, why, now));
                let turn;
                (one, turn) = apart(one.view, last_job, plan, warrant);
                answer = self.write_turns(now, vec![turn]).await;
            }
            match answer {
                Ok(answer) => answers.extend(answer),
                Err(error) => return (now, planned, Err(error)),
            }
            planned.push(one);
        }
        (now, planned, Ok(answers))
    }

    /// Tells of what is done, and turns those once more whose jobs found no room.
    async fn finish(self: &Arc<Node>, now: Time, planned: Vec<Planned>, answers: Vec<Turned>) -> Result<()> {
        let full = self.tell_all(now, planned, answers).await;
        if full.is_empty() {
            return Ok(());
        }
        let again = full.into_iter().filter_map(|(one, kept)| {
            let calendar = self.calendars.of(&one.view.schedule).ok()?;
            let look = Look {
                view: &one.view,
                calendar: &calendar,
                last_job: one.last_job,
                now,
                placement: self.settings.placement,
                step_max: OCCURRENCES_MAX,
            };
            let plan = without_room(look, schedule::plan(look), kept);
            Some(apart(one.view, one.last_job, plan, one.warrant))
        });
        let (planned, turns) = again.unzip();
        let (now, planned, answers) = self.clone().write(now, planned, turns).await;
        // Whoever finds no room again is still due, and found by the next round.
        self.tell_all(now, planned, answers?).await;
        Ok(())
    }

    /// Answers those whose queue is full, each with the number of jobs that found room.
    async fn tell_all(
        self: &Arc<Node>,
        now: Time,
        planned: Vec<Planned>,
        answers: Vec<Turned>,
    ) -> Vec<(Planned, usize)> {
        let mut news = News::default();
        let (mut full, mut cancels) = (Vec::new(), Vec::new());
        for (one, answer) in planned.into_iter().zip(answers) {
            match answer {
                Turned::Done { jobs, .. } => {
                    let (schedule, before) = (&one.view.schedule, Some(&one.view.standing));
                    let told = Told { schedule, before, then: Some(&one.then), rows: &one.rows, jobs: &jobs };
                    self.tell_turned(now, told, &mut news);
                    cancels.extend(one.cancel.iter().map(|&id| cancel(schedule, id)));
                }
                // Somebody else moved it: the next promote shows how it is.
                Turned::Lost { .. } => {}
                Turned::Deposed => self.deposed([self.segment_of(&one.view)].into_iter().collect()),
                Turned::Refused { at, answer: Submitted::QueueFull { .. } } => full.push((one, at)),
                // A parent that went while this was planned: it is still due, and planned without it.
                Turned::Refused { answer, .. } => {
                    tracing::debug!(schedule = %one.view.schedule.name, ?answer, "is planned again");
                }
            }
        }
        self.announce(now, news);
        if !cancels.is_empty()
            && let Err(error) = self.command(cancels).await
        {
            tracing::warn!(%error, "could not cancel the jobs that were to make way");
        }
        full
    }
}

fn cancel(schedule: &schedule::Schedule, id: JobId) -> Command {
    let reason = format!("schedule {} fired again", schedule.name);
    Command::Job { tenant: schedule.tenant.clone(), id, what: JobCommand::Cancel { reason } }
}

/// It makes nothing and waits for a person.
fn only_pauses(view: &ScheduleView, then: Standing) -> Plan {
    let note = then.pause.as_ref().map_or("", |pause| &pause.note);
    tracing::warn!(schedule = %view.schedule.name, tenant = %view.schedule.tenant, note, "is paused");
    Plan { jobs: vec![], cancel: vec![], rows: vec![], then, more: false }
}

pub(crate) fn unreadable(standing: &Standing, why: &str, now: Time) -> Standing {
    paused(standing, format!("it cannot be read any more: {why}"), now)
}

fn refused_by_store(standing: &Standing, why: &str, now: Time) -> Standing {
    paused(standing, format!("its job was refused: {why}"), now)
}

/// Until a person looks at it.
fn paused(standing: &Standing, note: String, now: Time) -> Standing {
    let pause = Pause { note, since: now, until: None, by: PausedBy::Person };
    Standing { pause: Some(pause), wake_at: None, updated_at: now, ..standing.clone() }
}

impl Actor for Turner {
    const NAME: &'static str = "turn";

    async fn tick(&mut self, _: Time) -> Result<Time> {
        let due = self.node.rounds.take();
        let placement = self.node.settings.placement;
        let mut came = Ok(());
        // Database by database: one that fails does not keep the others' schedules waiting.
        for due in apart_by(placement, due, |view| placement.home(&view.schedule.tenant)) {
            came = came.and(self.round(due).await);
        }
        came?;
        // Also after a round that failed: what it left is still due.
        if self.node.rounds.under_way() {
            self.node.rounds.over();
            self.node.plan.round_over();
        }
        Ok(Time::MAX)
    }
}
