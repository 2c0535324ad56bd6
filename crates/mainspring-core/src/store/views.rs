//! What a reader asks, and what it sees.

use std::time::Duration;

use crate::gate::{Entry, GateRef, GateState, Reach, Rule};
use crate::id::{JobId, WorkerId, WorkflowId};
use crate::job::{Job, JobView};
use crate::lifecycle::{State, Status};
use crate::name::{QueueName, QueueRef, ScheduleName, Tag, TenantName, TypeName};
use crate::rank::Aging;
use crate::schedule::{LedgerRow, ScheduleRef, ScheduleView};
use crate::time::Time;

use super::{Order, WorkerInfo};

/// Which jobs. Every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    pub queue: Option<QueueName>,
    pub kind: Option<TypeName>,
    pub tag: Option<Tag>,
    /// Made by this schedule.
    pub schedule: Option<ScheduleName>,
    /// Part of this workflow.
    pub workflow: Option<WorkflowId>,
}

impl Filter {
    pub fn matches(&self, view: &JobView) -> bool {
        self.matches_job(&view.job) && self.matches_status(view.status())
    }

    /// The part that needs only the record.
    pub fn matches_job(&self, job: &Job) -> bool {
        self.queue.as_ref().is_none_or(|queue| *queue == job.queue)
            && self.kind.as_ref().is_none_or(|kind| *kind == job.kind)
            && self.tag.as_ref().is_none_or(|tag| job.tags.contains(tag))
            && self.schedule.as_ref().is_none_or(|asked| job.origin.as_ref().is_some_and(|it| it.schedule == *asked))
            && self.workflow.is_none_or(|asked| job.workflow.as_ref().is_some_and(|it| it.workflow == asked))
    }

    pub fn matches_status(&self, status: Status) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub tenant: TenantName,
    pub filter: Filter,
    /// Only ids below this one: where the page before ended.
    pub below: Option<JobId>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Page {
    pub jobs: Vec<JobView>,
    /// Ask again from here. A store may end a page early, even an empty one, rather than search for long.
    pub next: Option<JobId>,
}

/// How many jobs are where. A paused job counts as paused only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    pub blocked: u64,
    pub waiting: u64,
    pub ready: u64,
    pub paused: u64,
    pub running: u64,
    pub succeeded: u64,
    pub dead: u64,
    pub cancelled: u64,
}

impl Counts {
    /// Not started and not running: what `max_depth` bounds.
    pub fn depth(&self) -> u64 {
        self.blocked + self.waiting + self.ready + self.paused
    }

    pub fn of(&mut self, state: State, paused: bool) -> &mut u64 {
        match state {
            State::Running => &mut self.running,
            State::Succeeded => &mut self.succeeded,
            State::Dead => &mut self.dead,
            State::Cancelled => &mut self.cancelled,
            _ if paused => &mut self.paused,
            State::Blocked => &mut self.blocked,
            State::Waiting => &mut self.waiting,
            State::Ready => &mut self.ready,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueueView {
    pub queue: QueueRef,
    pub paused: bool,
    pub aging: Aging,
    pub max_depth: Option<u64>,
    pub counts: Counts,
    /// Since when the oldest ready job has been due.
    pub oldest_ready_at: Option<Time>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkerView {
    pub id: WorkerId,
    pub tenant: TenantName,
    pub info: WorkerInfo,
    pub lease: Duration,
    pub registered_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
    pub order: Order,
    pub held: u64,
}

impl WorkerView {
    /// When a worker that has left for good expires: it is silent, and no beat brings it back.
    pub const LEFT: Time = Time::ZERO;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleQuery {
    pub tenant: TenantName,
    /// Only names above this one: where the page before ended.
    pub above: Option<ScheduleName>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct SchedulePage {
    pub schedules: Vec<ScheduleView>,
    /// Ask again from here.
    pub next: Option<ScheduleName>,
}

/// The place of a ledger row: the occurrence, the version its turn gave the schedule, and its place in that turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerPlace {
    pub occurrence: Time,
    pub version: u64,
    pub index: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerQuery {
    pub schedule: ScheduleRef,
    /// Only rows below this one: where the page before ended.
    pub below: Option<LedgerPlace>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct LedgerPage {
    pub rows: Vec<LedgerRow>,
    /// Ask again from here.
    pub next: Option<LedgerPlace>,
}

/// A workflow as a whole. Forgotten with the last of its jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowView {
    pub id: WorkflowId,
    pub submitted_at: Time,
    /// Its steps, by where they are; the callback is not among them.
    pub counts: Counts,
    pub callback: Option<JobId>,
}

impl WorkflowView {
    /// Steps that have not ended.
    pub fn unfinished(&self) -> u64 {
        self.counts.depth() + self.counts.running
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AgendaAsk {
    pub tenant: Option<TenantName>,
    /// From here …
    pub from: Time,
    /// … up to but not including here …
    pub until: Time,
    /// … in steps of this length, counted from the epoch.
    pub step: Duration,
    /// Look at no more jobs than this.
    pub jobs_max: u64,
}

impl AgendaAsk {
    /// The start of the step that this instant lies in. No step is shorter than a millisecond.
    pub fn step_of(&self, at: Time) -> Time {
        let step_ms = u64::try_from(self.step.as_millis()).unwrap_or(u64::MAX).max(1);
        Time::from_millis(at.as_millis() - at.as_millis() % step_ms)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Agenda {
    /// The start of each step in which something falls due, and how much.
    pub due: Vec<(Time, u64)>,
    /// There were more jobs than `jobs_max`: the rest is not in here.
    pub partial: bool,
}

/// A rule, or a gate that a rule with a pattern holds at, or one that was closed without a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct GateView {
    pub reach: Reach,
    /// What holds there, and what it was set for.
    pub rule: Option<(Reach, Rule)>,
    /// At rest for a pattern: each gate under it has a view of its own, while it is not at rest.
    pub state: GateState,
    /// How many jobs are known to stand before it. A hint.
    pub waiting: u64,
}

/// A gate that does not let a job in.
#[derive(Clone, Debug, PartialEq)]
pub struct Hurdle {
    pub gate: GateRef,
    /// Every reason, at least one.
    pub reasons: Vec<Entry>,
    /// If it is full: who holds it, lowest ids first, at most [`crate::limits::HOLDERS_SHOWN_MAX`].
    pub holders: Vec<JobId>,
}
