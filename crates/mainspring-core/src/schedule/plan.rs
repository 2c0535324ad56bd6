//! What a due schedule does now: which jobs it makes, and one ledger row for every occurrence. Submits nothing and reads
//! no clock; the caller submits the jobs, writes the rows, and puts the new standing in place of the old one if nobody else
//! did. Whoever repeats it makes the same jobs with the same ids.
//!
//! Everything nominal in `(standing.last, now]` is decided, oldest first, a bounded number a call; then `wake_at` stays in
//! the past and the caller comes again. An occurrence is on time or late ([`LATE_GRACE`]):
//!
//! ```text
//!    last        now − window              now − grace        now
//!     ├──── missed ────┼── late: as `catchup` says ──┼── on time ──┤
//! ```
//!
//! Cut into looks of any size, the same `now` gives every occurrence the same fate: what is decided early is only what
//! nothing later can change.

use std::collections::VecDeque;
use std::time::Duration;

use super::calendar::{Calendar, Skipped};
use super::identity::{jitter_of, occurrence_id};
use super::ledger::{LedgerRow, Reason, What};
use super::template::Made;
use super::{CatchupMode, Overlap, Pause, PausedBy, Schedule, ScheduleView, Standing};
use crate::id::JobId;
use crate::job::{Dependency, Job, OnFailure, Origin};
use crate::lifecycle::State;
use crate::placement::Placement;
use crate::time::Time;

/// Past this an occurrence is late and follows `catchup`. A restart or a change of the segment's owner takes less.
pub const LATE_GRACE: Duration = Duration::from_secs(60);

/// Counting an occurrence as missed is cheaper than firing it, by about this.
const COUNTED_PER_STEP: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub view: &'a ScheduleView,
    /// Of this very schedule.
    pub calendar: &'a Calendar,
    /// The state of `standing.last_job`; `None` if there is none, or it is forgotten.
    pub last_job: Option<State>,
    pub now: Time,
    /// Which segments its jobs may have.
    pub placement: Placement,
    /// How many occurrences may fire in one call; at least one does.
    pub step_max: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Oldest occurrence first. Submit these …
    pub jobs: Vec<Job>,
    /// … cancel these, which may be among them …
    pub cancel: Vec<JobId>,
    /// … write these …
    pub rows: Vec<LedgerRow>,
    /// … and put this in place of the standing that was looked at.
    pub then: Standing,
    /// There is more to do now.
    pub more: bool,
}

pub fn plan(look: Look<'_>) -> Plan {
    let mut turn = Turn::new(look);
    if turn.leaves_pause() && turn.catches_up() {
        turn.fires_on_time();
    }
    turn.end()
}

/// The job before the next one, as far as this turn has come.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Ended,
    Dead(JobId),
    Unfinished { id: JobId, blocked: bool },
}

struct Turn<'a> {
    look: Look<'a>,
    schedule: &'a Schedule,
    before: Before,
    fired: usize,
    plan: Plan,
}

impl<'a> Turn<'a> {
    fn new(look: Look<'a>) -> Turn<'a> {
        let then = look.view.standing.clone();
        let before = match then.last_job.zip(look.last_job) {
            Some((id, State::Dead)) => Before::Dead(id),
            Some((id, state)) if !state.is_final() => Before::Unfinished { id, blocked: state == State::Blocked },
            _ => Before::Ended,
        };
        let plan = Plan { jobs: Vec::new(), cancel: Vec::new(), rows: Vec::new(), then, more: false };
        Turn { look, schedule: &look.view.schedule, before, fired: 0, plan }
    }

    /// Whether it may go on: not paused, or the pause is over and all that lay in it is counted.
    fn leaves_pause(&mut self) -> bool {
        let Some(pause) = &self.plan.then.pause else { return true };
        let Some(until) = pause.until.filter(|&until| until <= self.look.now) else { return false };
        let by_failure = matches!(pause.by, PausedBy::Failure(_));
        if !self.counts_through(just_before(until), What::Skipped(Reason::Paused)) {
            return false;
        }
        self.plan.then.pause = None;
        if by_failure {
            // It was looked at: the same dead job does not pause it again.
            self.plan.then.last_job = None;
            self.before = Before::Ended;
        }
        true
    }

    /// Whether every late occurrence is decided.
    fn catches_up(&mut self) -> bool {
        let catchup = self.schedule.catchup;
        let Some(late) = self.late_through() else { return true };
        let too_old = just_before(self.look.now.before(catchup.window));
        let missed = match catchup.mode {
            CatchupMode::None => late,
            CatchupMode::Latest | CatchupMode::All => late.min(too_old),
        };
        self.counts_through(missed, What::Missed)
            && match catchup.mode {
                CatchupMode::None => true,
                CatchupMode::Latest => self.fires_latest(late),
                CatchupMode::All => self.fires_newest(late, catchup.max as usize),
            }
    }

    /// The last instant that is late.
    fn late_through(&self) -> Option<Time> {
        let grace = LATE_GRACE.as_millis() as u64;
        self.look.now.as_millis().checked_sub(grace + 1).map(Time::from_millis)
    }

    fn fires_latest(&mut self, late: Time) -> bool {
        if self.is_over() {
            return true;
        }
        let found = self.look.calendar.skip(self.plan.then.last, late, self.counted_max());
        if found.more {
            // The latest is further ahead, so none of these is it.
            self.row(found, What::Missed);
            return false;
        }
        let Some(latest) = found.last else { return true };
        self.row(Skipped { count: found.count - 1, last: found.before_last, ..found }, What::Missed);
        self.fire(latest)
    }

    fn fires_newest(&mut self, late: Time, max: usize) -> bool {
        if self.is_over() {
            return true;
        }
        let scan_max = self.counted_max().max(2 * max + 1);
        let mut kept: VecDeque<Time> = VecDeque::new();
        let mut missed = Skipped::default();
        let mut from = self.plan.then.last;
        let mut more = false;
        for scanned in 0.. {
            let Some(next) = self.look.calendar.next(from).filter(|next| next.at <= late) else { break };
            if scanned == scan_max {
                more = true;
                break;
            }
            from = next.at;
            kept.push_back(from);
            if kept.len() > max {
                kept.pop_front().into_iter().for_each(|at| missed.push(at));
            }
        }
        self.row(missed, What::Missed);
        !more && kept.into_iter().all(|at| self.has_room() && self.fire(at))
    }

    fn fires_on_time(&mut self) {
        while self.has_room() {
            let next = self.look.calendar.next(self.plan.then.last);
            let Some(next) = next.filter(|next| next.at <= self.look.now) else { return };
            if !self.fire(next.at) {
                return;
            }
        }
    }

    fn has_room(&self) -> bool {
        self.fired < self.look.step_max.max(1)
    }

    fn counted_max(&self) -> usize {
        self.look.step_max.max(1).saturating_mul(COUNTED_PER_STEP)
    }

    fn is_over(&self) -> bool {
        is_over(self.schedule, &self.plan.then)
    }

    /// One row for everything in `(last, through]`. Whether that was all.
    fn counts_through(&mut self, through: Time, what: What) -> bool {
        if self.is_over() {
            return true;
        }
        let found = self.look.calendar.skip(self.plan.then.last, through, self.counted_max());
        self.row(found, what);
        !found.more
    }

    fn row(&mut self, found: Skipped, what: What) {
        let Some((first, last)) = found.first.zip(found.last).filter(|_| found.count > 0) else { return };
        let at = self.look.now;
        self.plan.rows.push(LedgerRow { occurrence: first, through: last, count: found.count, at, what });
        self.plan.then.last = last;
    }

    /// Decides one occurrence. Whether the next one may be decided too.
    fn fire(&mut self, at: Time) -> bool {
        if self.is_over() {
            return false;
        }
        self.fired += 1;
        self.plan.then.last = at;
        if let (Before::Dead(job), true) = (self.before, self.schedule.pause_on_failure) {
            let note = format!("job {job} is dead");
            self.plan.then.pause = Some(Pause { note, since: self.look.now, until: None, by: PausedBy::Failure(job) });
            self.skip(at, Reason::Paused);
            return false;
        }
        let (blocked_by, cancelled) = match (self.before, self.schedule.overlap) {
            (Before::Unfinished { .. }, Overlap::Skip)
            | (Before::Unfinished { blocked: true, .. }, Overlap::QueueOne) => {
                self.skip(at, Reason::Overlap);
                return true;
            }
            (Before::Unfinished { id, .. }, Overlap::QueueOne) => (Some(id), None),
            (Before::Unfinished { id, .. }, Overlap::CancelPrevious) => (None, Some(id)),
            _ => (None, None),
        };
        let mut job = self.job(at);
        job.depends_on.extend(blocked_by.map(|parent| Dependency { parent, on_failure: OnFailure::Run }));
        self.plan.cancel.extend(cancelled);
        let late_ms = self.look.now.since(at).as_millis() as u64;
        self.plan.rows.push(LedgerRow::one(at, self.look.now, What::Fired { job: job.id, late_ms }));
        self.before = Before::Unfinished { id: job.id, blocked: blocked_by.is_some() };
        self.plan.then.runs += 1;
        self.plan.then.last_job = Some(job.id);
        self.plan.then.last_fired = Some(at);
        self.plan.jobs.push(job);
        !self.is_over()
    }

    fn skip(&mut self, at: Time, reason: Reason) {
        self.plan.rows.push(LedgerRow::one(at, self.look.now, What::Skipped(reason)));
    }

    fn job(&self, at: Time) -> Job {
        let reference = self.schedule.reference();
        let run_at = at.after(jitter_of(&reference, at, self.schedule.jitter));
        // A late one is due now: waiting since its nominal time would put it before all that waited honestly.
        let is_late = self.late_through().is_some_and(|late| at <= late);
        let made = Made {
            id: occurrence_id(&reference, self.look.placement, self.look.view.standing.created_at, at),
            tenant: reference.tenant,
            submitted_at: self.look.now,
            run_at: if is_late { run_at.max(self.look.now) } else { run_at },
            origin: Origin { schedule: reference.name, occurrence: at },
        };
        self.schedule.job.job(made)
    }

    fn end(mut self) -> Plan {
        let (from, last) = (self.look.view.standing.last, self.plan.then.last);
        let now = self.look.now;
        for group in self.look.calendar.dropped(from, last) {
            let row = group.first.zip(group.last).map(|(occurrence, through)| LedgerRow {
                occurrence,
                through,
                count: group.count,
                at: now,
                what: What::Skipped(Reason::Dst),
            });
            self.plan.rows.extend(row);
        }
        self.plan.rows.sort_by_key(|row| row.occurrence);
        self.plan.then = set(self.schedule, self.look.calendar, self.plan.then);
        self.plan.more = self.plan.then.wake_at.is_some_and(|wake_at| wake_at <= now);
        self.plan
    }
}

/// The instant before this one.
fn just_before(at: Time) -> Time {
    at.before(Duration::from_millis(1))
}

fn is_over(schedule: &Schedule, standing: &Standing) -> bool {
    schedule.max_runs.is_some_and(|max| standing.runs >= max)
}

/// A standing with `next` and `wake_at` as they follow from the rest.
pub(super) fn set(schedule: &Schedule, calendar: &Calendar, standing: Standing) -> Standing {
    let next = match is_over(schedule, &standing) {
        true => None,
        false => calendar.next(standing.last).map(|next| next.at),
    };
    let wake_at = match (&standing.pause, next) {
        (_, None) => None,
        (Some(pause), _) => pause.until,
        (None, next) => next,
    };
    Standing { next, wake_at, ..standing }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
