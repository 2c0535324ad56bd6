//! A job: the record that is written once at submit, and its standing, which is all that happens to it after.
//! Decides nothing: see [`crate::verdict`].

use std::time::Duration;

use crate::id::{Fence, JobId, LeaseId, WorkerId, WorkflowId};
use crate::lifecycle::{State, Status};
use crate::limits;
use crate::name::{IdempotencyKey, LimitKey, QueueName, QueueRef, ScheduleName, StepName, Tag, TenantName, TypeName};
use crate::rank::Priority;
use crate::retry::RetryPolicy;
use crate::time::Time;

/// JSON text that somebody at the edge has checked. The core carries it and never looks inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Json(pub Box<str>);

impl Json {
    pub fn null() -> Json {
        Json("null".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One piece of work, as it was accepted. Not touched again before retention, except by a person who patches it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: JobId,
    pub tenant: TenantName,
    pub queue: QueueName,
    pub kind: TypeName,
    pub data: Json,
    pub priority: Priority,
    pub submitted_at: Time,
    /// When it is first due. Jitter is already in it.
    pub run_at: Time,
    /// When it should be finished: pulls its rank forward.
    pub deadline: Option<Time>,
    /// Not started by then, it is cancelled. A job that was tried once has started.
    pub expires_at: Option<Time>,
    pub retry: RetryPolicy,
    pub max_attempts: u32,
    pub max_crashes: u32,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    pub tags: Vec<Tag>,
    pub idempotency: Option<Idempotency>,
    /// What must end before it is due. Each parent is named once.
    pub depends_on: Vec<Dependency>,
    /// The workflow it is part of.
    pub workflow: Option<Box<Membership>>,
    /// The schedule that made it.
    pub origin: Option<Box<Origin>>,
    /// What it shares limits by.
    pub keys: Keys,
}

impl Job {
    pub const MAX_ATTEMPTS_DEFAULT: u32 = 3;
    pub const MAX_CRASHES_DEFAULT: u32 = 5;

    pub fn queue_ref(&self) -> QueueRef {
        QueueRef { tenant: self.tenant.clone(), queue: self.queue.clone() }
    }
}

/// A client's key, what it said under it, and how long we remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub key: IdempotencyKey,
    /// A digest of what the client sent, made at the edge.
    pub fingerprint: [u8; 16],
    pub until: Time,
}

impl Idempotency {
    pub const RETENTION_DEFAULT: Duration = Duration::from_secs(24 * 3600);
}

/// A job that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dependency {
    pub parent: JobId,
    pub on_failure: OnFailure,
}

/// What becomes of a child whose parent died or was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum OnFailure {
    /// It is cancelled too.
    #[default]
    Cancel,
    /// It runs all the same.
    Run,
    /// It stays Blocked until the parent is revived and succeeds, or a person runs or cancels it.
    Hold,
}

/// A job's place in a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    pub workflow: WorkflowId,
    pub step: StepName,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Role {
    #[default]
    Step,
    /// Blocked until every step has ended, however it ended.
    Callback,
}

/// Which occurrence of which schedule made a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub schedule: ScheduleName,
    pub occurrence: Time,
}

/// What a job shares limits by, and how much of them it takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keys {
    pub concurrency: Option<LimitKey>,
    pub rate: Option<LimitKey>,
    pub weight: u16,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { concurrency: None, rate: None, weight: 1 }
    }
}

impl Keys {
    /// The key that is closed when whoever the job calls says to come back later.
    pub fn closing(&self) -> Option<&LimitKey> {
        self.rate.as_ref().or(self.concurrency.as_ref())
    }
}

/// How often a job was tried. Crashes are counted apart from failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Tally {
    /// Attempts made, the running one included. A given-back attempt is taken off again.
    pub attempts: u32,
    pub failures: u32,
    pub crashes: u32,
}

impl Tally {
    pub fn retries(self) -> u32 {
        self.failures + self.crashes
    }
}

/// What went wrong, in the worker's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    /// The worker's name for this sort of error.
    pub kind: Option<String>,
    pub detail: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), kind: None, detail: None }
    }

    /// Cuts every text to [`limits::ERROR_BYTES_MAX`].
    pub fn cut(mut self) -> Failure {
        cut(&mut self.message);
        self.kind.as_mut().map(cut);
        self.detail.as_mut().map(cut);
        self
    }
}

fn cut(text: &mut String) {
    if text.len() > limits::ERROR_BYTES_MAX {
        let end = (0..=limits::ERROR_BYTES_MAX).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.expect("zero is a boundary"));
    }
}

/// A worker's hold on one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub fence: Fence,
    pub worker: WorkerId,
    pub claimed_at: Time,
    /// The worker said that it began. Only set by workers that say so.
    pub started_at: Option<Time>,
    /// The attempt's own end, whatever the heartbeats say.
    pub timeout_at: Option<Time>,
    /// Why somebody asked it to stop, if somebody did.
    pub cancel_asked: Option<String>,
}

/// How far a running job has come, by its own account.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Progress {
    pub percent: Option<f32>,
    pub note: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub at: Time,
    pub result: Option<Json>,
    /// Why it was cancelled.
    pub reason: Option<String>,
}

/// All that has happened to a job since it was submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub state: State,
    pub paused: bool,
    /// When it is, was or will be due.
    pub ready_at: Time,
    pub tally: Tally,
    /// Present while Running.
    pub lease: Option<Lease>,
    pub checkpoint: Option<Json>,
    pub progress: Option<Progress>,
    pub last_error: Option<Failure>,
    /// Present once Succeeded, Dead or Cancelled.
    pub ended: Option<Ended>,
}

/// A job and its standing: what a reader sees.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    pub job: Job,
    pub standing: Standing,
}

impl JobView {
    pub fn status(&self) -> Status {
        Status::of(self.standing.state, self.standing.paused, self.standing.tally)
    }
}

/// One attempt, once it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    pub attempt: u32,
    pub fence: Fence,
    pub worker: WorkerId,
    pub started_at: Time,
    pub ended_at: Time,
    pub outcome: ExecutionOutcome,
    pub error: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutionOutcome {
    Succeeded,
    Failed,
    TimedOut,
    Crashed,
    Snoozed,
    /// Whoever it calls said to come back later, and its key was closed.
    RateLimited,
    Released,
    Cancelled,
}

/// What a worker receives: the job, its hold on it, and what the attempt before left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    pub job: Job,
    pub lease: Lease,
    pub tally: Tally,
    pub checkpoint: Option<Json>,
    pub last_error: Option<Failure>,
}

impl Claimed {
    pub fn lease_id(&self) -> LeaseId {
        LeaseId { job: self.job.id, fence: self.lease.fence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_at_a_character() {
        let failure = Failure::new("ä".repeat(limits::ERROR_BYTES_MAX)).cut();
        assert_eq!(failure.message.len(), limits::ERROR_BYTES_MAX);
        let odd = Failure::new(format!("x{}", "ä".repeat(limits::ERROR_BYTES_MAX))).cut();
        assert_eq!(odd.message.len(), limits::ERROR_BYTES_MAX - 1);
    }
}
