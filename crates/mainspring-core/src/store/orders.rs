//! What people ask of jobs, queues and workers, what becomes of schedules, and what is forgotten.

use crate::gate::{Reach, Rule};
use crate::id::{JobId, WorkerId};
use crate::job::{Job, Json};
use crate::lifecycle::State;
use crate::name::{QueueRef, TenantName};
use crate::rank::{Aging, Priority};
use crate::schedule::{LedgerRow, Schedule, ScheduleRef, Standing};
use crate::seats::Warrant;
use crate::time::Time;

use super::{Order, Submitted};

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Job { tenant: TenantName, id: JobId, what: JobCommand },
    Queue { queue: QueueRef, what: QueueCommand },
    Worker { id: WorkerId, order: Order },
    Gate { tenant: TenantName, reach: Reach, what: GateCommand },
}

#[derive(Clone, Debug, PartialEq)]
pub enum JobCommand {
    /// Waiting or Blocked to Ready at once, whatever it waited for; a Ready one is left as it is.
    RunNow,
    /// Not started: keeps its state and is passed over.
    Pause,
    Resume,
    /// Not started: Cancelled. Running: its worker is told through the heartbeat.
    Cancel {
        reason: String,
    },
    /// Dead to Ready, with a clean tally and, if given, other data.
    Revive {
        data: Option<Json>,
    },
    /// A final job is forgotten.
    Delete,
    /// Changes a job that is not running and not final.
    Update {
        data: Option<Json>,
        priority: Option<Priority>,
        run_at: Option<Time>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum QueueCommand {
    Pause,
    Resume,
    SetAging(Aging),
    /// How many unfinished jobs it takes.
    SetMaxDepth(Option<u64>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateCommand {
    /// Holds from now on, also for what runs and waits already; in place of the rule before.
    Set(Rule),
    /// Nothing is limited by it any more. Missing if there is none.
    Clear,
    /// Forgets what workers were told and closes the breaker, at every gate in reach. Missing if there is neither a rule
    /// nor such a gate.
    Reopen,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Commanded {
    Done,
    /// It is running: its worker has been asked to stop.
    Asked,
    Missing,
    /// Not in this state.
    Refused {
        state: State,
        paused: bool,
    },
}

/// One step of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub schedule: ScheduleRef,
    /// The version that was read; `None` if there was none.
    pub expect: Option<u64>,
    pub to: To,
    /// Taken in as by [`super::Store::submit`].
    pub jobs: Vec<Job>,
    pub rows: Vec<LedgerRow>,
    /// In whose name; `None` if a person turns it.
    pub warrant: Option<Warrant>,
}

/// What a schedule becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum To {
    /// This, new or in place of what it was.
    Put { schedule: Box<Schedule>, standing: Standing },
    /// The same rule, further on. It must exist.
    Move(Standing),
    /// Nothing. Its jobs and its ledger stay.
    Gone,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Turned {
    /// The version is new, and was never used before by any schedule.
    Done { version: u64, jobs: Vec<Submitted> },
    /// It is not as it was read: this is its version now.
    Lost { version: Option<u64> },
    /// The seat in whose name it was turned is another's by now: nothing happened.
    Deposed,
    /// This one of its jobs was refused.
    Refused { at: usize, answer: Submitted },
}

#[derive(Clone, Copy, Debug)]
pub struct Prune {
    /// Succeeded and Cancelled jobs that ended before this are forgotten …
    pub ended_before: Time,
    /// … and Dead ones that ended before this …
    pub dead_before: Time,
    /// … and ledger rows written before this.
    pub ledger_before: Time,
    pub limit: usize,
    /// In whose name; `None` for a node that is alone.
    pub warrant: Option<Warrant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pruned {
    pub jobs: u64,
    pub keys: u64,
    pub rows: u64,
    /// The seat is another's by now: nothing happened.
    pub deposed: bool,
    pub more: bool,
}
