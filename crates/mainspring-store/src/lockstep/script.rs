//! A script: a list of calls, printed so that a person can read it. Plays nothing: see [`super::play`].

use std::fmt;

use mainspring_core::gate::Rule;
use mainspring_core::job::OnFailure;
use mainspring_core::lifecycle::Status;
use mainspring_core::store::{Order, Whose};

use super::limits::{Place, Shared};
use super::seats::{N, Paper, Sitting};
use super::words::{Expect, F, J, K, Key, Parent, Q, S, Span, T, W, Which, Who};

#[derive(Clone)]
pub struct Script(pub Vec<Call>);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, call) in self.0.iter().enumerate() {
            write!(f, "\n{:4}. {call:?}", at + 1)?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub enum Call {
    /// Time moves: forwards, and now and then back.
    Clock(Span),
    /// The store under test is closed and opened again.
    Reopen,
    Submit(Vec<Lot>),
    Promote {
        odd_segments: bool,
        even_segments: bool,
        limit: usize,
        look_ahead: Span,
        look_ahead_limit: usize,
        due_limit: usize,
        paper: Paper,
    },
    Claim(Vec<Ask>),
    Heartbeat(Vec<Said>),
    Report(Vec<(Which, Words)>),
    Settle(Vec<(Which, End)>),
    SettleAndClaim(Vec<(Which, End)>, Vec<Ask>),
    Reclaim {
        limit: usize,
        hold: Span,
        spare_silent: bool,
        paper: Paper,
    },
    Command(Vec<Wish>),
    Turn(Vec<NewTurn>),
    Prune {
        ended: Span,
        dead: Span,
        ledger: Span,
        limit: usize,
        paper: Paper,
    },
    Seat(N, Sitting),
    Assign {
        paper: Paper,
        to: Vec<(u8, N)>,
        forget: Span,
    },
    Roll,
    Get(T, Vec<Who>),
    Find {
        tenant: T,
        statuses: Vec<Status>,
        queue: Option<Q>,
        kind: Option<K>,
        tag: Option<K>,
        schedule: Option<S>,
        workflow: Option<F>,
        limit: usize,
    },
    Executions(T, Who),
    Ahead(T, Who, u64),
    Queues(Option<T>),
    Workers,
    Schedule(T, S),
    Schedules {
        tenant: T,
        limit: usize,
    },
    Ledger {
        tenant: T,
        schedule: S,
        limit: usize,
    },
    Workflow(T, F),
    Gates(T),
    Hurdles(T, Who),
    Agenda {
        tenant: Option<T>,
        from: Span,
        until: Span,
        step: Span,
        jobs_max: u64,
    },
}

/// What is submitted together.
#[derive(Clone, Debug)]
pub enum Lot {
    Job(NewJob),
    /// A new workflow of these steps, all of the first one's tenant.
    Workflow {
        steps: Vec<NewJob>,
        callback: Option<NewJob>,
    },
    /// A workflow from before once more, as if its answer had been lost.
    Again(F),
}

/// A job to submit. Times are relative to the clock.
#[derive(Clone)]
pub struct NewJob {
    pub id: J,
    pub tenant: T,
    pub queue: Q,
    pub kind: K,
    pub priority: i64,
    pub run: Span,
    pub deadline: Option<Span>,
    pub expires: Option<Span>,
    pub timeout: Option<Span>,
    pub tag: Option<K>,
    pub key: Option<Key>,
    pub after: Vec<(Parent, OnFailure)>,
    pub shared: Shared,
}

impl fmt::Debug for NewJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NewJob { id, tenant, queue, kind, priority, run, .. } = self;
        write!(f, "{id:?} {tenant:?}/{queue:?} {kind:?} priority {priority} run {run:?}")?;
        let spans = [("deadline", &self.deadline), ("expires", &self.expires), ("timeout", &self.timeout)];
        for (name, span) in spans {
            span.iter().try_for_each(|span| write!(f, " {name} {span:?}"))?;
        }
        self.tag.iter().try_for_each(|tag| write!(f, " tag {tag:?}"))?;
        self.key.iter().try_for_each(|key| write!(f, " {key:?}"))?;
        write!(f, "{:?}", self.shared)?;
        self.after.iter().try_for_each(|(parent, on_failure)| write!(f, " after {parent:?} or {on_failure:?}"))
    }
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub worker: W,
    pub tenant: T,
    pub whose: Whose,
    pub queues: Vec<Q>,
    pub max: usize,
}

#[derive(Clone, Debug)]
pub struct Said {
    pub worker: W,
    pub tenant: T,
    pub what: Beating,
}

#[derive(Clone, Debug)]
pub enum Beating {
    Register { name: u8, lease: Span },
    Alive,
    Holding { leases: Vec<Which>, claimed_before: Span },
    Leave,
}

#[derive(Clone, Debug)]
pub enum Words {
    Started,
    Checkpoint { data: Option<u8>, percent: Option<u8> },
}

#[derive(Clone, Debug)]
pub enum End {
    Succeed(Option<u8>),
    Retry { at: Span, cause: u8, error: u8 },
    Snooze { at: Span },
    Release,
    Close { wait: Span },
    Bury { cause: u8, error: u8 },
    Cancel,
}

#[derive(Clone, Debug)]
pub enum Wish {
    RunNow(T, Who),
    Pause(T, Who),
    Resume(T, Who),
    Cancel(T, Who),
    Revive(T, Who, Option<u8>),
    Delete(T, Who),
    Update { tenant: T, id: Who, data: Option<u8>, priority: Option<i64>, run: Option<Span> },
    PauseQueue(T, Q),
    ResumeQueue(T, Q),
    SetAging(T, Q, u64),
    SetMaxDepth(T, Q, Option<u64>),
    Order(W, Order),
    SetLimit(T, Place, Rule),
    ClearLimit(T, Place),
    ReopenGates(T, Place),
}

/// One step of a schedule.
#[derive(Clone, Debug)]
pub struct NewTurn {
    pub tenant: T,
    pub schedule: S,
    pub expect: Expect,
    pub paper: Paper,
    pub to: Becoming,
    pub jobs: Vec<NewJob>,
    pub rows: Vec<NewRow>,
}

#[derive(Clone, Debug)]
pub enum Becoming {
    Put { runs: u8, wake: Option<Span> },
    Move { runs: u8, wake: Option<Span> },
    Gone,
}

#[derive(Clone, Debug)]
pub struct NewRow {
    pub occurrence: Span,
    pub at: Span,
    pub fate: u8,
}
