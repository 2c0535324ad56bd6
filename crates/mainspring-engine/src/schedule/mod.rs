//! What people ask of schedules: put, remove, pause, resume, trigger, back-fill. The core decides what each means, the store
//! applies it if the schedule is still as it was read, and here it is tried again if it is not. Fires nothing: the
//! trigger does.

mod calendars;
mod change;
mod make;
mod tell;

use mainspring_core::id::JobId;
use mainspring_core::schedule::ScheduleView;
use mainspring_core::time::Time;

pub(crate) use calendars::Calendars;
pub(crate) use tell::{Told, word_of};

/// How a schedule must stand for a change to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// There must be none.
    Absent,
    /// A person must not have changed it since.
    Revision(u64),
    Anything,
}

/// What became of a schedule that was put.
#[derive(Clone, Debug, PartialEq)]
pub enum SchedulePut {
    Created(ScheduleView),
    Replaced(ScheduleView),
    /// It says what it said before: nothing was written.
    Unchanged(ScheduleView),
    /// It does not stand as expected: this is its revision, `None` if there is none.
    Conflict {
        revision: Option<u64>,
    },
}

/// What became of a change to a schedule that exists.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one answer to one request; nobody keeps many")]
pub enum ScheduleMove {
    /// As it stands now; once removed, as it stood.
    Done(ScheduleView),
    Missing,
    Conflict {
        revision: u64,
    },
}

/// Which occurrences to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackfillAsk {
    pub from: Time,
    /// Included.
    pub to: Time,
    /// At most so many, and never more than [`mainspring_core::limits::BACKFILL_MAX`].
    pub max: usize,
    /// Says what it would do and writes nothing.
    pub dry_run: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backfill {
    /// Oldest first.
    pub occurrences: Vec<BackfillOccurrence>,
    /// There are more in the range: ask again from after the last.
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackfillOccurrence {
    pub at: Time,
    pub job: JobId,
    pub was: BackfillWas,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillWas {
    /// Its job is made, or by a dry run: would be.
    Filled,
    /// Its job was there before, and may be forgotten by now.
    Exists,
}
