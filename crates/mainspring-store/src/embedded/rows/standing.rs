//! What a job is doing now: the slip that travels with it, what it has become, the lease on it.

use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Job, Json, Lease, Progress, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::rank::{Priority, lane};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::{FailureRow, Ways, stored};

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
    pub marks: Marks,
    pub ways: Ways,
}

/// What is known of a job without reading its record, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks(u8);

impl Marks {
    /// There is a row in `changes`; of a job that has ended: there was, and may be some in `executions`.
    pub const CHANGED: Marks = Marks(1);
    /// It belongs to a workflow, which counts it.
    pub const MEMBER: Marks = Marks(2);

    pub fn of(job: &Job, changed: bool) -> Marks {
        let member = if job.workflow.is_some() { Marks::MEMBER } else { Marks::default() };
        if changed { member.and(Marks::CHANGED) } else { member }
    }

    pub fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    pub fn and(self, mark: Marks) -> Marks {
        Marks(self.0 | mark.0)
    }
}

/// Whom a count is about.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    pub id: JobId,
    pub queue: u32,
    pub marks: Marks,
}

impl Slip {
    pub fn of(job: &Job, queue: u32, ready_at: Time, tally: Tally, changed: bool) -> Slip {
        Slip {
            queue,
            lane: lane(job.priority, ready_at, job.deadline).value(),
            tally: tally.into(),
            timeout_ms: job.timeout.map_or(0, |timeout| timeout.as_millis() as u64),
            expires_ms: job.expires_at.map_or(0, Time::as_millis),
            marks: Marks::of(job, changed),
            ways: Ways::of(&job.kind, &job.keys),
        }
    }

    pub fn who(&self, id: JobId) -> Who {
        Who { id, queue: self.queue, marks: self.marks }
    }

    pub fn lane(&self) -> Priority {
        Priority::new(i64::from(self.lane)).expect("only lanes in range are written")
    }

    /// When it is too late for it to start, if ever.
    pub fn expires_at(&self) -> Option<Time> {
        (self.tally.0 == 0 && self.expires_ms != 0).then(|| Time::from_millis(self.expires_ms))
    }

    pub fn is_expired(&self, now: Time) -> bool {
        self.expires_at().is_some_and(|at| at <= now)
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

stored!(StateRow is State { Blocked, Waiting, Ready, Running, Succeeded, Dead, Cancelled });

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

    pub fn lease(&self) -> Lease {
        Lease {
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
