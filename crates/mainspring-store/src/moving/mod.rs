//! Moving house: everything that a data directory remembers, in a form that is no store's own, from the embedded store into a
//! PostgreSQL database. Decides nothing about jobs, and changes nothing where it reads.
//!
//! [`crate::embedded::Dump`] reads pages of [`Items`], [`crate::postgres::Loader`] writes each in one transaction together with how
//! far the move has come, and reads all of it back at the end. [`tally`] counts and sums what was seen on both sides; [`canon`] says
//! what of an item is summed. [`Move`] is the walk from the first page to the last word.
//!
//! Seats and nodes are not moved: they are of the processes that were there, not of the jobs.

mod canon;
mod tally;
#[cfg(test)]
mod tests;
mod walk;

use mainspring_core::gate::{GateRef, GateState, Reach, Rule};
use mainspring_core::id::{Fence, JobId, WorkflowId};
use mainspring_core::job::{Execution, JobView, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueRef, TenantName};
use mainspring_core::rank::Aging;
use mainspring_core::schedule::{LedgerRow, ScheduleRef, ScheduleView};
use mainspring_core::store::{Counts, LedgerPlace, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

pub use tally::{Kind, Sum, Tally};
pub use walk::{Move, MoveError, Moved, Step};

/// Items in one page, which is one transaction. A job weighs as much as its payload, so pages of jobs also end at
/// [`PAGE_BYTES_MAX`].
pub const PAGE_ITEMS_MAX: usize = 5_000;
/// Payload in one page of jobs.
pub const PAGE_BYTES_MAX: usize = 16 << 20;

/// What is moved together, in this order: limits come before the jobs, which are placed by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Queues,
    Rules,
    Gates,
    Workers,
    Jobs,
    Keys,
    Edges,
    Releases,
    Workflows,
    Schedules,
    Ledger,
    Numbers,
}

impl Stage {
    pub const ALL: [Stage; 12] = [
        Stage::Queues,
        Stage::Rules,
        Stage::Gates,
        Stage::Workers,
        Stage::Jobs,
        Stage::Keys,
        Stage::Edges,
        Stage::Releases,
        Stage::Workflows,
        Stage::Schedules,
        Stage::Ledger,
        Stage::Numbers,
    ];

    /// As it is written down; [`Stage::ALL`] is in this order.
    pub fn number(self) -> i16 {
        self as i16
    }

    /// The stage of a number; `None` past the last one: everything is copied.
    pub fn of(number: i16) -> Option<Stage> {
        Stage::ALL.get(usize::try_from(number).ok()?).copied()
    }

    pub fn next(self) -> Option<Stage> {
        Stage::of(self.number() + 1)
    }
}

/// A page of one stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    Queues(Vec<QueueItem>),
    Rules(Vec<RuleItem>),
    Gates(Vec<GateItem>),
    Workers(Vec<WorkerView>),
    Jobs(Vec<JobItem>),
    Keys(Vec<KeyItem>),
    Edges(Vec<EdgeItem>),
    Releases(Vec<ReleaseItem>),
    Workflows(Vec<WorkflowItem>),
    Schedules(Vec<ScheduleView>),
    Ledger(Vec<LedgerItem>),
    Numbers(Numbers),
}

impl Items {
    pub fn len(&self) -> u64 {
        let len = match self {
            Items::Queues(items) => items.len(),
            Items::Rules(items) => items.len(),
            Items::Gates(items) => items.len(),
            Items::Workers(items) => items.len(),
            Items::Jobs(items) => items.len(),
            Items::Keys(items) => items.len(),
            Items::Edges(items) => items.len(),
            Items::Releases(items) => items.len(),
            Items::Workflows(items) => items.len(),
            Items::Schedules(items) => items.len(),
            Items::Ledger(items) => items.len(),
            Items::Numbers(_) => 1,
        };
        len as u64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A page, and the key after which the next one begins; `None` if this was the last of its stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub items: Items,
    pub after: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueueItem {
    pub queue: QueueRef,
    pub paused: bool,
    pub aging: Aging,
    pub max_depth: Option<u64>,
    pub counts: Counts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RuleItem {
    pub tenant: TenantName,
    pub reach: Reach,
    pub rule: Rule,
}

/// A gate that has to be remembered: one with a rule that is not at rest, or one that is closed. Without a rule its `running` is zero:
/// that is counted from the leases when somebody asks.
#[derive(Clone, Debug, PartialEq)]
pub struct GateItem {
    pub gate: GateRef,
    pub state: GateState,
}

/// A job with all that is known of it, and its attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct JobItem {
    pub view: JobView,
    /// Attempts that are over and did not end it, oldest first.
    pub attempts: Vec<Execution>,
    /// The attempt that ended it.
    pub last: Option<Execution>,
    /// If it runs: whether its lease was taken back from its worker.
    pub taken: Option<Taken>,
}

/// A lease that the reclaimer holds: why, and by which fence its worker knew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub cause: Cause,
    pub fence: Fence,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KeyItem {
    pub tenant: TenantName,
    pub key: IdempotencyKey,
    pub job: JobId,
    pub fingerprint: [u8; 16],
    pub until: Time,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeItem {
    pub parent: JobId,
    pub child: JobId,
    pub on_failure: OnFailure,
}

/// A parent that ended while others waited for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReleaseItem {
    pub parent: JobId,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowItem {
    pub tenant: TenantName,
    pub id: WorkflowId,
    pub submitted_at: Time,
    pub callback: Option<JobId>,
    /// The callback is Blocked, paused or not.
    pub callback_waits: bool,
    pub members: u64,
    /// Of its steps.
    pub counts: Counts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerItem {
    pub schedule: ScheduleRef,
    pub place: LedgerPlace,
    pub row: LedgerRow,
}

/// What was given out last, and must never be given out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Numbers {
    pub fence: u64,
    pub version: u64,
}
