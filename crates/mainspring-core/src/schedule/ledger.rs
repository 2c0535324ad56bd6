//! The fire ledger: what became of every occurrence. Keeps nothing: a store does.

use crate::id::JobId;
use crate::time::Time;

/// One occurrence, or a range of them with one fate. The rows of a schedule never overlap: an occurrence is in exactly one.
/// (A back-fill and a trigger add rows of their own.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    /// The nominal time; of a range, the first.
    pub occurrence: Time,
    /// The last nominal time of the range.
    pub through: Time,
    pub count: u64,
    /// When this was decided.
    pub at: Time,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Fired {
        job: JobId,
        late_ms: u64,
    },
    Skipped(Reason),
    /// It came due while nobody looked, and `catchup` does not bring it back.
    Missed,
    Backfilled {
        job: JobId,
    },
    /// By a person. The occurrence is the moment it was asked for.
    Triggered {
        job: JobId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The job before it had not ended.
    Overlap,
    Paused,
    /// The clocks jumped over it.
    Dst,
    /// Its queue holds all it may.
    QueueFull,
}

impl LedgerRow {
    pub fn one(occurrence: Time, at: Time, what: What) -> LedgerRow {
        LedgerRow { occurrence, through: occurrence, count: 1, at, what }
    }
}
