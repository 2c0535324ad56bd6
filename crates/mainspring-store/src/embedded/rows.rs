//! What the tables hold, as bytes. The stored form is apart from the core's types, so that the core stays free to
//! change; the format version in `meta` says which form this is.

use std::time::Duration;

use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Ended, Execution, ExecutionOutcome, Failure, Idempotency, Job, Json, Progress, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueRef, Tag, TypeName};
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_core::store::{Counts, Error, Order, Result, WorkerInfo};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

/// Appends the row to `buffer`, which is emptied first.
pub fn encode<'b, T: Serialize>(row: &T, buffer: &'b mut Vec<u8>) -> &'b [u8] {
    buffer.clear();
    let taken = std::mem::take(buffer);
    *buffer = postcard::to_extend(row, taken).expect("rows hold nothing that postcard refuses");
    buffer
}

pub fn decode<'a, T: Deserialize<'a>>(table: &str, bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes)
        .map_err(|error| Error::Damaged(format!("a row of table {table} cannot be read: {error}")))
}

/// What a claim must know of a job without reading its record. Travels with it from table to table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slip {
    pub queue: u32,
    pub lane: i16,
    pub tally: TallyRow,
    /// Zero for none.
    pub timeout_ms: u64,
    /// Zero for none.
    pub expires_ms: u64,
    /// There is a row in `changes`.
    pub changed: bool,
}

impl Slip {
    pub fn of(job: &Job, queue: u32, ready_at: Time, tally: Tally, changed: bool) -> Slip {
        Slip {
            queue,
            lane: mainspring_core::rank::lane(job.priority, ready_at, job.deadline).value(),
            tally: tally.into(),
            timeout_ms: job.timeout.map_or(0, |timeout| timeout.as_millis() as u64),
            expires_ms: job.expires_at.map_or(0, Time::as_millis),
            changed,
        }
    }

    pub fn lane(&self) -> Priority {
        Priority::new(i64::from(self.lane)).expect("only lanes in range are written")
    }

    pub fn is_expired(&self, now: Time) -> bool {
        self.tally.0 == 0 && self.expires_ms != 0 && self.expires_ms <= now.as_millis()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TallyRow(pub u32, pub u32, pub u32);

impl From<Tally> for TallyRow {
    fn from(tally: Tally) -> TallyRow {
        TallyRow(tally.attempts, tally.failures, tally.crashes)
    }
}

impl From<TallyRow> for Tally {
    fn from(TallyRow(attempts, failures, crashes): TallyRow) -> Tally {
        Tally { attempts, failures, crashes }
    }
}

/// The job as submitted. The defaults that most jobs share are not written out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record<'a> {
    pub queue: u32,
    kind: &'a str,
    data: &'a str,
    priority: i16,
    submitted_ms: u64,
    run_ms: u64,
    deadline_ms: Option<u64>,
    expires_ms: Option<u64>,
    retry: Option<RetryRow>,
    max_attempts: u32,
    max_crashes: u32,
    timeout_ms: Option<u64>,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    #[serde(borrow)]
    idempotency: Option<(&'a str, [u8; 16], u64)>,
}

impl<'a> Record<'a> {
    pub fn run_at(&self) -> Time {
        Time::from_millis(self.run_ms)
    }

    pub fn priority(&self) -> Priority {
        Priority::new(self.priority.into()).unwrap_or_default()
    }

    pub fn deadline(&self) -> Option<Time> {
        self.deadline_ms.map(Time::from_millis)
    }

    pub fn of(job: &'a Job, queue: u32) -> Record<'a> {
        Record {
            queue,
            kind: job.kind.as_str(),
            data: job.data.as_str(),
            priority: job.priority.value(),
            submitted_ms: job.submitted_at.as_millis(),
            run_ms: job.run_at.as_millis(),
            deadline_ms: job.deadline.map(Time::as_millis),
            expires_ms: job.expires_at.map(Time::as_millis),
            retry: (job.retry != RetryPolicy::default()).then(|| RetryRow::of(&job.retry)),
            max_attempts: job.max_attempts,
            max_crashes: job.max_crashes,
            timeout_ms: job.timeout.map(|timeout| timeout.as_millis() as u64),
            tags: job.tags.iter().map(Tag::as_str).collect(),
            idempotency: job.idempotency.as_ref().map(|it| (it.key.as_str(), it.fingerprint, it.until.as_millis())),
        }
    }

    pub fn job(self, id: JobId, queue: &QueueRef) -> Result<Job> {
        let name = |error| Error::Damaged(format!("job {id} carries a bad name: {error}"));
        Ok(Job {
            id,
            tenant: queue.tenant.clone(),
            queue: queue.queue.clone(),
            kind: TypeName::parse(self.kind).map_err(name)?,
            data: Json(self.data.into()),
            priority: Priority::new(self.priority.into()).unwrap_or_default(),
            submitted_at: Time::from_millis(self.submitted_ms),
            run_at: Time::from_millis(self.run_ms),
            deadline: self.deadline_ms.map(Time::from_millis),
            expires_at: self.expires_ms.map(Time::from_millis),
            retry: self.retry.map(RetryRow::policy).unwrap_or_default(),
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout_ms.map(Duration::from_millis),
            tags: self.tags.into_iter().map(Tag::parse).collect::<std::result::Result<_, _>>().map_err(name)?,
            idempotency: match self.idempotency {
                None => None,
                Some((key, fingerprint, until)) => Some(Idempotency {
                    key: IdempotencyKey::parse(key).map_err(name)?,
                    fingerprint,
                    until: Time::from_millis(until),
                }),
            },
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct RetryRow {
    backoff: BackoffRow,
    cap_ms: u64,
    jitter: f64,
}

#[derive(Debug, Serialize, Deserialize)]
enum BackoffRow {
    Fixed(u64),
    Linear(u64),
    Exponential(u64, f64),
    List(Vec<u64>),
}

impl RetryRow {
    fn of(policy: &RetryPolicy) -> RetryRow {
        let ms = |wait: &Duration| wait.as_millis() as u64;
        let backoff = match &policy.backoff {
            Backoff::Fixed { delay } => BackoffRow::Fixed(ms(delay)),
            Backoff::Linear { step } => BackoffRow::Linear(ms(step)),
            Backoff::Exponential { base, factor } => BackoffRow::Exponential(ms(base), *factor),
            Backoff::List { delays } => BackoffRow::List(delays.iter().map(ms).collect()),
        };
        RetryRow { backoff, cap_ms: ms(&policy.cap), jitter: policy.jitter }
    }

    fn policy(self) -> RetryPolicy {
        let wait = Duration::from_millis;
        let backoff = match self.backoff {
            BackoffRow::Fixed(ms) => Backoff::Fixed { delay: wait(ms) },
            BackoffRow::Linear(ms) => Backoff::Linear { step: wait(ms) },
            BackoffRow::Exponential(ms, factor) => Backoff::Exponential { base: wait(ms), factor },
            BackoffRow::List(delays) => Backoff::List { delays: delays.into_iter().map(wait).collect() },
        };
        RetryPolicy { backoff, cap: wait(self.cap_ms), jitter: self.jitter }
    }
}

/// What a job has become, if it did not just go straight from submit to its end. While it exists, it is right and
/// the record's `run_at` is not; while the job runs, the lease's tally is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Change {
    pub paused: Option<StateRow>,
    pub ready_ms: u64,
    pub tally: TallyRow,
    pub checkpoint: Option<String>,
    pub progress: Option<(Option<f32>, Option<String>)>,
    pub last_error: Option<FailureRow>,
}

impl Change {
    pub fn ready_at(&self) -> Time {
        Time::from_millis(self.ready_ms)
    }
}

pub fn progress_row(progress: Progress) -> (Option<f32>, Option<String>) {
    (progress.percent, progress.note)
}

pub fn read_progress((percent, note): (Option<f32>, Option<String>)) -> Progress {
    Progress { percent, note }
}

pub fn json(text: String) -> Json {
    Json(text.into_boxed_str())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateRow {
    Blocked,
    Waiting,
    Ready,
    Running,
    Succeeded,
    Dead,
    Cancelled,
}

impl From<State> for StateRow {
    fn from(state: State) -> StateRow {
        match state {
            State::Blocked => StateRow::Blocked,
            State::Waiting => StateRow::Waiting,
            State::Ready => StateRow::Ready,
            State::Running => StateRow::Running,
            State::Succeeded => StateRow::Succeeded,
            State::Dead => StateRow::Dead,
            State::Cancelled => StateRow::Cancelled,
        }
    }
}

impl From<StateRow> for State {
    fn from(row: StateRow) -> State {
        match row {
            StateRow::Blocked => State::Blocked,
            StateRow::Waiting => State::Waiting,
            StateRow::Ready => State::Ready,
            StateRow::Running => State::Running,
            StateRow::Succeeded => State::Succeeded,
            StateRow::Dead => State::Dead,
            StateRow::Cancelled => State::Cancelled,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailureRow(String, Option<String>, Option<String>);

impl From<Failure> for FailureRow {
    fn from(failure: Failure) -> FailureRow {
        FailureRow(failure.message, failure.kind, failure.detail)
    }
}

impl From<FailureRow> for Failure {
    fn from(FailureRow(message, kind, detail): FailureRow) -> Failure {
        Failure { message, kind, detail }
    }
}

/// A running job. Also kept in the writer's memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaseRow {
    pub fence: u64,
    pub worker: [u8; 16],
    pub claimed_ms: u64,
    pub started_ms: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub cancel_asked: Option<String>,
    /// The reclaimer holds it, for this reason; its worker, who knew it by this fence, does not any more.
    pub taken: Option<(CauseRow, u64)>,
    pub ready_ms: u64,
    /// Its tally counts the running attempt.
    pub slip: Slip,
}

impl LeaseRow {
    pub fn worker(&self) -> WorkerId {
        WorkerId(uuid::Uuid::from_bytes(self.worker))
    }

    pub fn lease(&self) -> mainspring_core::job::Lease {
        mainspring_core::job::Lease {
            fence: Fence(self.fence),
            worker: self.worker(),
            claimed_at: Time::from_millis(self.claimed_ms),
            started_at: self.started_ms.map(Time::from_millis),
            timeout_at: self.timeout_ms.map(Time::from_millis),
            cancel_asked: self.cancel_asked.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CauseRow {
    Timeout,
    Crash,
}

/// A job that is over, and its last attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedRow {
    pub queue: u32,
    pub state: StateRow,
    pub ended_ms: u64,
    pub ready_ms: u64,
    pub tally: TallyRow,
    pub result: Option<String>,
    pub reason: Option<String>,
    pub last_error: Option<FailureRow>,
    pub checkpoint: Option<String>,
    pub execution: Option<ExecutionRow>,
    /// There may be rows in `executions`.
    pub tried_before: bool,
}

impl EndedRow {
    pub fn ended(&self) -> Ended {
        Ended {
            at: Time::from_millis(self.ended_ms),
            result: self.result.clone().map(json),
            reason: self.reason.clone(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExecutionRow {
    pub attempt: u32,
    pub fence: u64,
    pub worker: [u8; 16],
    pub started_ms: u64,
    pub ended_ms: u64,
    pub outcome: OutcomeRow,
    pub error: Option<FailureRow>,
}

impl ExecutionRow {
    pub fn execution(self) -> Execution {
        Execution {
            attempt: self.attempt,
            fence: Fence(self.fence),
            worker: WorkerId(uuid::Uuid::from_bytes(self.worker)),
            started_at: Time::from_millis(self.started_ms),
            ended_at: Time::from_millis(self.ended_ms),
            outcome: self.outcome.into(),
            error: self.error.map(Failure::from),
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum OutcomeRow {
    Succeeded,
    Failed,
    TimedOut,
    Crashed,
    Snoozed,
    Released,
    Cancelled,
}

impl From<ExecutionOutcome> for OutcomeRow {
    fn from(outcome: ExecutionOutcome) -> OutcomeRow {
        match outcome {
            ExecutionOutcome::Succeeded => OutcomeRow::Succeeded,
            ExecutionOutcome::Failed => OutcomeRow::Failed,
            ExecutionOutcome::TimedOut => OutcomeRow::TimedOut,
            ExecutionOutcome::Crashed => OutcomeRow::Crashed,
            ExecutionOutcome::Snoozed => OutcomeRow::Snoozed,
            ExecutionOutcome::Released => OutcomeRow::Released,
            ExecutionOutcome::Cancelled => OutcomeRow::Cancelled,
        }
    }
}

impl From<OutcomeRow> for ExecutionOutcome {
    fn from(row: OutcomeRow) -> ExecutionOutcome {
        match row {
            OutcomeRow::Succeeded => ExecutionOutcome::Succeeded,
            OutcomeRow::Failed => ExecutionOutcome::Failed,
            OutcomeRow::TimedOut => ExecutionOutcome::TimedOut,
            OutcomeRow::Crashed => ExecutionOutcome::Crashed,
            OutcomeRow::Snoozed => ExecutionOutcome::Snoozed,
            OutcomeRow::Released => ExecutionOutcome::Released,
            OutcomeRow::Cancelled => ExecutionOutcome::Cancelled,
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct KeyRow {
    pub id: [u8; 16],
    pub fingerprint: [u8; 16],
    pub until_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueueRow {
    pub tenant: String,
    pub queue: String,
    pub paused: bool,
    pub aging_point_ms: u64,
    pub max_depth: Option<u64>,
    pub counts: [u64; 8],
}

impl QueueRow {
    pub fn aging(&self) -> Aging {
        Aging::from_point_ms(self.aging_point_ms)
    }
}

pub fn counts_row(counts: &Counts) -> [u64; 8] {
    let Counts { blocked, waiting, ready, paused, running, succeeded, dead, cancelled } = *counts;
    [blocked, waiting, ready, paused, running, succeeded, dead, cancelled]
}

pub fn read_counts([blocked, waiting, ready, paused, running, succeeded, dead, cancelled]: [u64; 8]) -> Counts {
    Counts { blocked, waiting, ready, paused, running, succeeded, dead, cancelled }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerRow {
    pub tenant: String,
    pub name: Option<String>,
    pub host: Option<String>,
    pub pid: Option<u32>,
    pub version: Option<String>,
    pub queues: Vec<String>,
    pub concurrency: u32,
    pub lease_ms: u64,
    pub registered_ms: u64,
    pub last_seen_ms: u64,
    pub expires_ms: u64,
    pub order: u8,
}

impl WorkerRow {
    pub fn order(&self) -> Order {
        match self.order {
            0 => Order::Work,
            1 => Order::Quiet,
            _ => Order::Terminate,
        }
    }

    pub fn set_order(&mut self, order: Order) {
        self.order = match order {
            Order::Work => 0,
            Order::Quiet => 1,
            Order::Terminate => 2,
        };
    }

    pub fn info(&self) -> Result<WorkerInfo> {
        let queues = self.queues.iter().map(|name| mainspring_core::name::QueueName::parse(name));
        Ok(WorkerInfo {
            name: self.name.clone(),
            host: self.host.clone(),
            pid: self.pid,
            version: self.version.clone(),
            queues: queues.collect::<std::result::Result<_, _>>().map_err(|error| Error::Damaged(error.to_string()))?,
            concurrency: self.concurrency,
        })
    }
}
