//! How jobs and attempts went.

use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Ended, Execution, ExecutionOutcome, Failure};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::{Marks, StateRow, TallyRow, Who, json, stored};

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
    pub marks: Marks,
}

impl EndedRow {
    pub fn who(&self, id: JobId) -> Who {
        Who { id, queue: self.queue, marks: self.marks }
    }

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

stored!(OutcomeRow is ExecutionOutcome { Succeeded, Failed, TimedOut, Crashed, Snoozed, Released, Cancelled, RateLimited });

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
