//! What the tables hold, as bytes. The stored form is apart from the core's types, so that the core stays free to
//! change; the format version in `meta` says which form this is.
//!
//! [`record`]: the job as submitted, with its [`bonds`]. [`standing`]: what it is doing now. [`waits`]: what it waits for.
//! [`ended`]: how it went. [`gate`]: limits, and which of them hold for a job. [`registry`]: queues and workers. [`seat`]: whose a seat was. [`schedule`], with its [`when`], and [`ledger`]: rules that make
//! jobs.

mod bonds;
mod ended;
mod gate;
mod ledger;
mod record;
mod registry;
mod schedule;
mod seat;
mod standing;
mod waits;
mod when;

use mainspring_core::store::{Error, Result};
use serde::{Deserialize, Serialize};

pub use ended::{EndedRow, ExecutionRow, FailureRow};
pub use gate::{GateRow, RuleRow, TENANT_GATE, Ways, read_gate, read_rule};
pub use ledger::LedgerEntry;
pub use record::{KeyRow, Record};
pub use registry::{QueueRow, WorkerRow, counts_row, read_counts};
pub use schedule::{ScheduleRow, StandingRow};
pub use seat::SeatRow;
pub use standing::{
    CauseRow, Change, LeaseRow, Marks, Slip, StateRow, TallyRow, Who, json, progress_row, read_progress,
};
pub use waits::{BlockedRow, EdgeRow, WorkflowRow};

/// An enum of the core in its stored form: the same names, in the order that their numbers have on disk.
macro_rules! stored {
    ($row:ident is $core:ident { $($name:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $row {
            $($name),+
        }

        impl From<$core> for $row {
            fn from(core: $core) -> $row {
                match core {
                    $($core::$name => $row::$name),+
                }
            }
        }

        impl From<$row> for $core {
            fn from(row: $row) -> $core {
                match row {
                    $($row::$name => $core::$name),+
                }
            }
        }
    };
}
use stored;

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
