//! What became of an occurrence.

use mainspring_core::id::JobId;
use mainspring_core::schedule::{LedgerRow, Reason, What};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::stored;

/// A row of the ledger. Its occurrence is in the key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LedgerEntry {
    through_ms: u64,
    count: u64,
    at_ms: u64,
    what: WhatRow,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum WhatRow {
    Fired([u8; 16], u64),
    Skipped(ReasonRow),
    Missed,
    Backfilled([u8; 16]),
    Triggered([u8; 16]),
}

stored!(ReasonRow is Reason { Overlap, Paused, Dst, QueueFull });

impl LedgerEntry {
    pub fn of(row: &LedgerRow) -> LedgerEntry {
        let what = match row.what {
            What::Fired { job, late_ms } => WhatRow::Fired(*job.as_bytes(), late_ms),
            What::Skipped(reason) => WhatRow::Skipped(reason.into()),
            What::Missed => WhatRow::Missed,
            What::Backfilled { job } => WhatRow::Backfilled(*job.as_bytes()),
            What::Triggered { job } => WhatRow::Triggered(*job.as_bytes()),
        };
        LedgerEntry { through_ms: row.through.as_millis(), count: row.count, at_ms: row.at.as_millis(), what }
    }

    pub fn row(self, occurrence: Time) -> LedgerRow {
        let what = match self.what {
            WhatRow::Fired(job, late_ms) => What::Fired { job: JobId::from_bytes(job), late_ms },
            WhatRow::Skipped(reason) => What::Skipped(reason.into()),
            WhatRow::Missed => What::Missed,
            WhatRow::Backfilled(job) => What::Backfilled { job: JobId::from_bytes(job) },
            WhatRow::Triggered(job) => What::Triggered { job: JobId::from_bytes(job) },
        };
        LedgerRow {
            occurrence,
            through: Time::from_millis(self.through_ms),
            count: self.count,
            at: Time::from_millis(self.at_ms),
            what,
        }
    }
}
