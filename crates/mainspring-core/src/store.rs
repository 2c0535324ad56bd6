//! The store seam: who remembers jobs. Batch in, one answer per item out, in order.
//!
//! What every store owes:
//! - **Durable first.** An answer means that what it says survives a `kill -9` and a power cut.
//! - **A lost race is an answer**, not an error. An error means that nothing of the call happened, or that it may be
//!   repeated: repeating a call whose reply was lost is safe.
//! - **`now` is a parameter.** Stores read no clock. A `now` that steps back loses nothing: what is Ready stays
//!   Ready, what is Waiting waits for its own time.
//! - **No policy.** Verdicts are decided by [`crate::verdict`]; a store applies them if the fence still matches.
//!
//! `memory` is the reference; the conformance suite and lockstep hold every other store to its answers.

use std::time::Duration;

use async_trait::async_trait;

use crate::id::{JobId, LeaseId, WorkerId};
use crate::job::{Claimed, Execution, Job, JobView, Json, Progress};
use crate::lifecycle::{State, Status};
use crate::name::{QueueName, QueueRef, Tag, TenantName, TypeName};
use crate::rank::{Aging, Priority};
use crate::segment::Segments;
use crate::time::Time;
use crate::verdict::{Cause, Verdict};

pub type Result<T> = std::result::Result<T, Error>;

/// Sorted by what the caller can do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Try later.
    #[error("the store cannot answer now: {0}")]
    Unavailable(String),
    /// Try later, or give it room: reads go on, nothing accepted is lost.
    #[error("the store has no room: {0}")]
    Full(String),
    /// Fix the input.
    #[error("the store refuses this: {0}")]
    Invalid(String),
    /// Call a person.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

/// Where jobs are remembered.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Which engine this is and what its answers survive, for people: `embedded (LMDB), fsync before each answer`.
    fn describe(&self) -> String;

    /// Takes jobs in. Ready if `run_at` is not after `now`, else Waiting. All or nothing durable at once.
    /// An id seen before is answered as `Accepted` again and changes nothing.
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>>;

    /// Moves due jobs to Ready, in order of (ready_at, id). Call again while the answer says `more`.
    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted>;

    /// Hands out the best ready jobs of the asked queues under new fences, in order of rank over all of them.
    /// Earlier requests of the batch are served first. A paused queue gives nothing; a job past its expiry is not
    /// given (it stays for [`Store::reclaim`]). A worker that was silent and is not written off yet shows by its
    /// claim that it lives.
    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>>;

    /// Registers workers, keeps them alive, and tells them what to stop. Silence alone ends no worker: until a reclaim
    /// has written it off, its next beat is as good as the one it missed.
    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>>;

    /// What running attempts say of themselves: started, checkpoint, progress.
    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>>;

    /// Applies verdicts to leases that still hold.
    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>>;

    /// Takes back what ran out: leases whose worker is silent or whose timeout passed get a new fence that the caller
    /// settles before `hold_until` (else they run out again), and jobs past their expiry are cancelled.
    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed>;

    /// What people ask of jobs, queues and workers.
    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>>;

    /// Forgets what is past its retention, at most `limit` items a call.
    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned>;

    /// Jobs of one tenant by id, in the order asked; `None` where there is none.
    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>>;

    /// A page of jobs of one tenant, newest id first.
    async fn find(&self, query: Query) -> Result<Page>;

    /// The attempts of a job that are over, oldest first. Empty if there is no such job.
    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>>;

    /// How many ready jobs go before this one, counted up to `limit`; `None` unless it is Ready and not paused.
    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>>;

    /// Every queue that has settings or ever had a job, by name; of one tenant, or of all.
    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>>;

    /// Every worker that is registered, by id.
    async fn workers(&self) -> Result<Vec<WorkerView>>;
}

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
}

#[derive(Clone, Copy, Debug)]
pub struct Promote {
    pub segments: Segments,
    /// At most this many jobs a call.
    pub limit: usize,
    /// Also list what comes next, up to this instant, or [`crate::limits::LOOK_AHEAD_MAX`] if that is nearer …
    pub look_ahead_until: Time,
    /// … and at most this many instants.
    pub look_ahead_limit: usize,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Promoted {
    /// How many jobs became ready, by queue, in the order of queues.
    pub ready: Vec<(QueueRef, u64)>,
    /// The `ready_at` of the most overdue job that was promoted: how late we are.
    pub oldest: Option<Time>,
    /// The next distinct instants after `now` at which something falls due. Empty while there is `more`.
    pub upcoming: Vec<Time>,
    /// There was more to do than `limit`.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub worker: WorkerId,
    pub tenant: TenantName,
    pub queues: Vec<QueueName>,
    pub max: usize,
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
    },
    Unknown,
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
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Reclaimed {
    pub leases: Vec<TakenBack>,
    /// Cancelled because they did not start in time.
    pub expired: Vec<(JobId, QueueRef)>,
    /// Workers that were written off.
    pub silent: Vec<WorkerId>,
    pub more: bool,
}

/// A lease that ran out, now held by the caller under a new fence.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBack {
    pub claimed: Claimed,
    /// [`Cause::Crash`] if its worker is silent, [`Cause::Timeout`] if its own time passed.
    pub cause: Cause,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Job { tenant: TenantName, id: JobId, what: JobCommand },
    Queue { queue: QueueRef, what: QueueCommand },
    Worker { id: WorkerId, order: Order },
}

#[derive(Clone, Debug, PartialEq)]
pub enum JobCommand {
    /// Waiting to Ready at once; a Ready one is left as it is.
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

#[derive(Clone, Copy, Debug)]
pub struct Prune {
    /// Succeeded and Cancelled jobs that ended before this are forgotten …
    pub ended_before: Time,
    /// … and Dead ones that ended before this.
    pub dead_before: Time,
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pruned {
    pub jobs: u64,
    pub keys: u64,
    pub more: bool,
}

/// Which jobs. Every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    pub queue: Option<QueueName>,
    pub kind: Option<TypeName>,
    pub tag: Option<Tag>,
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
