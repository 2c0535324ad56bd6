//! What the verbs that carry a job are asked, and what they answer.

use std::time::Duration;

use crate::gate::{BreakerChange, GateRef};
use crate::id::{JobId, LeaseId, WorkerId};
use crate::job::{Claimed, Json, Progress};
use crate::lifecycle::State;
use crate::name::{QueueName, QueueRef, TenantName};
use crate::schedule::ScheduleView;
use crate::seats::{Warrant, Warrants};
use crate::segment::Segments;
use crate::time::Time;
use crate::verdict::{Cause, Verdict};

#[derive(Clone, Debug, PartialEq)]
pub enum Submitted {
    Accepted {
        state: State,
        ready_at: Time,
    },
    /// Its idempotency key made `id` before, from the same words.
    Duplicate {
        id: JobId,
    },
    /// Its idempotency key made `id` before, from other words.
    Mismatch {
        id: JobId,
    },
    /// The queue holds `max_depth` unfinished jobs.
    QueueFull {
        max_depth: u64,
    },
    /// It waits for a job that this tenant does not have: never had, or has no more.
    UnknownParent {
        parent: JobId,
    },
    /// It waits for a job that has died or was cancelled, and is not to outlive that.
    FailedParent {
        parent: JobId,
        state: State,
    },
}

#[derive(Clone, Debug)]
pub struct Promote {
    pub segments: Segments,
    /// Segments whose seat has another epoch by now are left alone, and named in the answer.
    pub warrants: Warrants,
    /// At most this many jobs a call.
    pub limit: usize,
    /// Also list what comes next, up to this instant, or [`crate::limits::LOOK_AHEAD_MAX`] if that is nearer …
    pub look_ahead_until: Time,
    /// … and at most this many instants.
    pub look_ahead_limit: usize,
    /// List at most this many schedules.
    pub due_limit: usize,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Promoted {
    /// How many jobs became ready, by queue, in the order of queues.
    pub ready: Vec<(QueueRef, u64)>,
    /// The `ready_at` of the most overdue job that was promoted: how late we are.
    pub oldest: Option<Time>,
    /// Children that were cancelled because a parent died or was cancelled, in the order of being found.
    pub cancelled: Vec<(JobId, QueueRef)>,
    /// Schedules whose `wake_at` is not after `now`, in order of (wake_at, [`crate::schedule::place_of`], tenant, name).
    pub due: Vec<ScheduleView>,
    /// The next distinct instants after `now` at which a job or a schedule falls due. Empty while there is `more`.
    pub upcoming: Vec<Time>,
    /// Queues with jobs behind gates that time has opened. A hint: it may name too many.
    pub opened: Vec<QueueRef>,
    /// When time opens the next gate that a job stands before. A hint: it may be too early.
    pub gates_at: Option<Time>,
    /// Segments that were asked for in the name of a seat that is another's by now: nothing of them was touched or told.
    pub refused: Segments,
    /// There was more to do than `limit`, or there are more schedules than `due_limit`.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub worker: WorkerId,
    pub tenant: TenantName,
    pub whose: Whose,
    pub queues: Vec<QueueName>,
    pub max: usize,
}

/// Whose jobs a claim is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Whose {
    /// Those of the worker's tenant.
    #[default]
    Own,
    /// Those of every tenant that has a queue of such a name, shared fairly: see [`crate::gate::Share`].
    All,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClaimAnswer {
    /// Best rank first. Empty if nothing is ready.
    Jobs(Vec<Claimed>),
    /// Never registered, has left, or was silent for so long that it was written off: register again.
    UnknownWorker,
    /// The worker was told to go quiet or to terminate.
    Quiet,
}

/// What a worker says of itself when it registers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WorkerInfo {
    pub name: Option<String>,
    pub host: Option<String>,
    pub pid: Option<u32>,
    pub version: Option<String>,
    pub queues: Vec<QueueName>,
    pub concurrency: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    pub worker: WorkerId,
    pub tenant: TenantName,
    pub kind: BeatKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BeatKind {
    /// The first beat. It lives for `lease` from `now`, and from each later beat.
    Register {
        info: WorkerInfo,
        lease: Duration,
    },
    Alive,
    /// Alive, and this is all it holds. Leases claimed before `claimed_before` that are not in the list never
    /// arrived: they are given back, not counted; those that were asked to stop are cancelled.
    Holding {
        leases: Vec<LeaseId>,
        claimed_before: Time,
    },
    /// Leaves for good ([`WorkerView::LEFT`]) and gives back all it holds, not counted.
    Leave,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Pulse {
    Alive {
        order: Order,
        /// How many leases it holds, as the store sees it, after this beat.
        held: u64,
        /// Leases that somebody asked to stop, by job.
        cancel: Vec<LeaseId>,
        /// Of the leases it listed, those it does not hold, as listed.
        lost: Vec<LeaseId>,
        /// Queues that were given something back.
        released: Vec<QueueRef>,
        /// What giving back did to the gates.
        gates: Option<Box<GateNews>>,
    },
    Unknown,
}

/// What leases that ended did to the gates they were held through.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct GateNews {
    /// Queues in which a job may be able to start now. A hint: it may name too many.
    pub opened: Vec<QueueRef>,
    /// Breakers that changed, in the order of it.
    pub breakers: Vec<(GateRef, BreakerChange)>,
    /// The gate that was closed because a worker was told to come back later, and until when.
    pub closed: Option<(GateRef, Time)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Order {
    #[default]
    Work,
    /// Claim no more, finish what you hold.
    Quiet,
    /// Finish or give back what you hold, and exit.
    Terminate,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub lease: LeaseId,
    pub kind: ReportKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReportKind {
    Started,
    /// Each that is given replaces the one before.
    Checkpoint {
        data: Option<Json>,
        progress: Option<Progress>,
    },
}

/// Whether a lease still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Held { cancel_asked: bool },
    Stale,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    pub lease: LeaseId,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    Applied {
        state: State,
        /// For Waiting and Ready: when it is due.
        ready_at: Time,
        queue: QueueRef,
        /// It ended, and others wait for it: the next promote goes on with them.
        awaited: bool,
        /// What its end did to the gates it was held through, if anything.
        gates: Option<Box<GateNews>>,
    },
    /// The fence is not the one that holds the job: it was settled or taken over before.
    Stale,
}

#[derive(Clone, Copy, Debug)]
pub struct Reclaim {
    /// At most this many leases and this many expired jobs a call.
    pub limit: usize,
    pub hold_until: Time,
    /// Leave silent workers alone, apart from those that left: after a pause of ours they could not have been heard.
    pub spare_silent: bool,
    /// In whose name; `None` for a node that is alone.
    pub warrant: Option<Warrant>,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Reclaimed {
    pub leases: Vec<TakenBack>,
    /// Cancelled because they did not start in time.
    pub expired: Vec<(JobId, QueueRef)>,
    /// Workers that were written off.
    pub silent: Vec<WorkerId>,
    /// The seat is another's by now: nothing happened.
    pub deposed: bool,
    pub more: bool,
}

/// A lease that ran out, now held by the caller under a new fence.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBack {
    pub claimed: Claimed,
    /// [`Cause::Crash`] if its worker is silent, [`Cause::Timeout`] if its own time passed.
    pub cause: Cause,
}
