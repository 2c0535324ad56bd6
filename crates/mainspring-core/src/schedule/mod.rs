//! Schedules: rules that make jobs. Pure: what is due, and what follows from it; someone else reads the clock, submits the
//! jobs and keeps the standing.
//!
//! Reading order:
//! - Here: what a person says ([`Schedule`]), and what has happened to it since ([`Standing`]).
//! - [`when`], [`words`]: when it fires, as text. [`template`]: what it makes. [`bad`]: why one is refused.
//! - [`calendar`]: the compiled form: what comes next. It is made of sources (`cron`, `rrule`, `times`, intervals), of what is
//!   left out (`exclude`), and of the one place where a time on the wall becomes an instant (`dst`).
//! - [`plan`]: what a due schedule does now. [`full`]: when there was no room. [`change`]: what people do to one. [`ledger`]:
//!   what became of an occurrence.
//! - [`identity`]: the ids of its jobs, its segment and its jitter, which follow from its name.

pub mod bad;
pub mod when;
pub mod words;
pub mod template;
mod zone;
mod wall;
mod times;
mod cron;
mod cron_field;
mod rrule;
mod rrule_text;
mod dst;
mod exclude;
mod source;
pub mod calendar;
pub mod identity;
pub mod ledger;
pub mod plan;
pub mod full;
pub mod change;

use std::time::Duration;

pub use bad::BadSchedule;
pub use calendar::{Calendar, Occurrence, Skipped};
pub use change::{Backfill, PauseAsk, backfill, create, pause, preview, replace, resume, trigger};
pub use dst::Dst;
pub use full::without_room;
pub use identity::{jitter_of, occurrence_id, place_of, segment_of};
pub use ledger::{LedgerRow, Reason, What};
pub use plan::{LATE_GRACE, Look, Plan, plan};
pub use template::{Made, Template};
pub use when::{DstGap, DstOverlap, Exclusion, Spec, When};
pub use words::{ClockTimes, MonthDays, Weekdays, parse_clock, parse_date};
pub use zone::zones;

use crate::id::JobId;
use crate::limits;
use crate::name::{ScheduleName, TenantName};
use crate::time::Time;

/// A schedule of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScheduleRef {
    pub tenant: TenantName,
    pub name: ScheduleName,
}

/// What a person says. Replaced as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub tenant: TenantName,
    pub name: ScheduleName,
    pub when: When,
    pub job: Template,
    pub catchup: Catchup,
    pub overlap: Overlap,
    /// Each occurrence runs up to this much later than its nominal time, always the same for the same one.
    pub jitter: Duration,
    /// How many jobs it makes, ever. Triggered and back-filled ones are not counted.
    pub max_runs: Option<u64>,
    /// Pause when the last job is dead, instead of making the next.
    pub pause_on_failure: bool,
    pub note: Option<String>,
}

impl Schedule {
    pub fn reference(&self) -> ScheduleRef {
        ScheduleRef { tenant: self.tenant.clone(), name: self.name.clone() }
    }

    /// Everything that can be wrong with it, and its compiled form.
    pub fn compile(&self) -> Result<Calendar, BadSchedule> {
        let calendar = Calendar::compile(&self.when, &self.reference())?;
        calendar.check_happens()?;
        self.job.check().map_err(|bad| bad.within("job"))?;
        check_span("catchup.window", self.catchup.window, limits::CATCHUP_WINDOW_MAX)?;
        check_span("jitter", self.jitter, limits::JITTER_MAX)?;
        if !(1..=limits::CATCHUP_RUNS_MAX).contains(&self.catchup.max) {
            let advice = format!("1–{} are allowed; for none at all use the mode none", limits::CATCHUP_RUNS_MAX);
            return Err(
                BadSchedule::new(format!("{} is not a maximum", self.catchup.max), advice).within("catchup.max")
            );
        }
        if self.max_runs == Some(0) {
            return Err(BadSchedule::new("0 runs are none", "write 1 or more, or leave it out").within("max_runs"));
        }
        check_note("note", self.note.as_deref().unwrap_or_default())?;
        Ok(calendar)
    }
}

fn check_span(field: &str, span: Duration, max: Duration) -> Result<(), BadSchedule> {
    match span > max {
        true => Err(BadSchedule::new(format!("{span:?} is too long"), format!("{max:?} are allowed")).within(field)),
        false => Ok(()),
    }
}

fn check_note(field: &str, note: &str) -> Result<(), BadSchedule> {
    match note.len() > limits::NOTE_BYTES_MAX {
        true => {
            let problem = format!("the note has {} bytes", note.len());
            Err(BadSchedule::new(problem, format!("{} are allowed", limits::NOTE_BYTES_MAX)).within(field))
        }
        false => Ok(()),
    }
}

/// What becomes of occurrences that came due while nobody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Catchup {
    pub mode: CatchupMode,
    /// Nothing older than this is brought back.
    pub window: Duration,
    /// With [`CatchupMode::All`], the newest so many are.
    pub max: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CatchupMode {
    None,
    Latest,
    All,
}

/// After a night down, the nightly report is wanted once, and a job of every minute is not wanted six hundred times.
impl Default for Catchup {
    fn default() -> Catchup {
        Catchup { mode: CatchupMode::Latest, window: Duration::from_secs(24 * 3600), max: 100 }
    }
}

/// What an occurrence does while the job of the one before has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Overlap {
    #[default]
    Allow,
    Skip,
    /// One waits behind the running one; more are skipped.
    QueueOne,
    CancelPrevious,
}

/// What has happened to a schedule since it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Rises when a person changes the [`Schedule`].
    pub revision: u64,
    pub created_at: Time,
    pub updated_at: Time,
    pub pause: Option<Pause>,
    /// The nominal time up to which everything is decided; at first, when it was made.
    pub last: Time,
    /// The nominal time that comes next. `None`: it is over.
    pub next: Option<Time>,
    /// When somebody must look at it: at `next`; while it is paused, when the pause ends. `None`: never.
    pub wake_at: Option<Time>,
    pub runs: u64,
    /// The job whose end `overlap` and `pause_on_failure` look at.
    pub last_job: Option<JobId>,
    pub last_fired: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub note: String,
    pub since: Time,
    /// When it resumes by itself.
    pub until: Option<Time>,
    pub by: PausedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PausedBy {
    Person,
    /// This job is dead.
    Failure(JobId),
}

/// A schedule and its standing: what a reader sees.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleView {
    pub schedule: Schedule,
    pub standing: Standing,
    /// The store's compare-and-set number.
    pub version: u64,
}
