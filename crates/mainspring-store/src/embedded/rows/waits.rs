//! Who waits for whom, and workflows as a whole.

use mainspring_core::id::JobId;
use mainspring_core::job::OnFailure;
use mainspring_core::store::Counts;
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::bonds::OnFailureRow;
use super::{counts_row, read_counts};

/// An open edge from a parent to a child.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EdgeRow {
    on_failure: OnFailureRow,
}

impl EdgeRow {
    pub fn new(on_failure: OnFailure) -> EdgeRow {
        EdgeRow { on_failure: on_failure.into() }
    }

    pub fn on_failure(self) -> OnFailure {
        self.on_failure.into()
    }
}

/// A Blocked job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BlockedRow {
    /// How many of its edges are open. None for a callback, which waits for all steps instead.
    pub edges: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkflowRow {
    submitted_ms: u64,
    callback: Option<[u8; 16]>,
    /// Jobs of it that are not forgotten, the callback included.
    pub members: u64,
    steps: [u64; 8],
}

impl WorkflowRow {
    pub fn new(submitted_at: Time) -> WorkflowRow {
        let steps = counts_row(&Counts::default());
        WorkflowRow { submitted_ms: submitted_at.as_millis(), callback: None, members: 0, steps }
    }

    pub fn submitted_at(&self) -> Time {
        Time::from_millis(self.submitted_ms)
    }

    pub fn callback(&self) -> Option<JobId> {
        self.callback.map(JobId::from_bytes)
    }

    pub fn set_callback(&mut self, id: JobId) {
        self.callback = Some(*id.as_bytes());
    }

    /// Its steps, by where they are.
    pub fn counts(&self) -> Counts {
        read_counts(self.steps)
    }

    pub fn set_counts(&mut self, counts: &Counts) {
        self.steps = counts_row(counts);
    }

    pub fn has_unfinished_steps(&self) -> bool {
        let counts = self.counts();
        counts.depth() + counts.running > 0
    }
}
