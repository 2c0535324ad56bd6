//! What people do to a schedule: make, replace, pause, resume, trigger, back-fill, preview. Answers what follows and does
//! nothing: a dry run is the same answer, shown.

use std::time::Duration;

use super::calendar::{Calendar, Occurrence};
use super::identity::occurrence_id;
use super::ledger::{LedgerRow, Reason, What};
use super::plan::{Look, Plan, plan, set};
use super::template::Made;
use super::{BadSchedule, Pause, PausedBy, Schedule, ScheduleView, Standing, check_note};
use crate::id::JobId;
use crate::job::{Job, Origin};
use crate::limits;
use crate::placement::Placement;
use crate::time::Time;

/// The standing of a new schedule. One that would never fire is refused.
pub fn create(schedule: &Schedule, now: Time) -> Result<Standing, BadSchedule> {
    let calendar = schedule.compile()?;
    let standing = Standing {
        revision: 1,
        created_at: now,
        updated_at: now,
        pause: None,
        last: now,
        next: None,
        wake_at: None,
        runs: 0,
        last_job: None,
        last_fired: None,
    };
    let standing = set(schedule, &calendar, standing);
    check_goes_on(&standing)?;
    Ok(standing)
}

fn check_goes_on(standing: &Standing) -> Result<(), BadSchedule> {
    match standing.next {
        Some(_) => Ok(()),
        None => {
            let advice = "look at the days that the specs name, the exclusions, end_at and max_runs";
            Err(BadSchedule::new("no occurrence lies ahead", advice).within("when"))
        }
    }
}

/// Puts other words in place of a schedule's. What it has done stays, and what has passed is not done again under the new
/// words. Let [`plan`] decide what is due first: what the old words left undecided is written down as missed, or as paused.
pub fn replace(view: &ScheduleView, schedule: &Schedule, now: Time) -> Result<Plan, BadSchedule> {
    let calendar = schedule.compile()?;
    let standing = &view.standing;
    let mut then =
        Standing { revision: standing.revision + 1, updated_at: now, last: standing.last.max(now), ..standing.clone() };
    then = set(schedule, &calendar, then);
    check_goes_on(&then)?;
    let is_over = view.schedule.max_runs.is_some_and(|max| standing.runs >= max);
    let old = Calendar::compile(&view.schedule.when, &view.schedule.reference()).ok().filter(|_| !is_over);
    let left = old.map(|old| old.skip(standing.last, now, limits::SEARCH_STEPS_MAX)).filter(|left| left.count > 0);
    let what = if standing.pause.is_some() { What::Skipped(Reason::Paused) } else { What::Missed };
    let rows = left.and_then(|left| {
        let (occurrence, last) = left.first.zip(left.last)?;
        // More than can be counted at once: the row covers them, and its count is a floor.
        let through = if left.more { now } else { last };
        Some(LedgerRow { occurrence, through, count: left.count, at: now, what })
    });
    Ok(Plan { rows: rows.into_iter().collect(), ..unchanged(then) })
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PauseAsk {
    pub note: String,
    pub until: Option<Time>,
}

/// Nothing fires until it is resumed. What falls into the pause is skipped, and so is what was due and undecided before
/// it. A paused one takes the new note and end, and stays paused since when it was, by whom it was.
pub fn pause(view: &ScheduleView, calendar: &Calendar, ask: PauseAsk, now: Time) -> Result<Plan, BadSchedule> {
    check_note("note", &ask.note)?;
    if ask.until.is_some_and(|until| until <= now) {
        return Err(BadSchedule::new("the pause would be over already", "write a time that lies ahead").within("until"));
    }
    let before = view.standing.pause.as_ref();
    let pause = Pause {
        note: ask.note,
        since: before.map_or(now, |pause| pause.since),
        until: ask.until,
        by: before.map_or(PausedBy::Person, |pause| pause.by),
    };
    let then = Standing { pause: Some(pause), updated_at: now, ..view.standing.clone() };
    Ok(unchanged(set(&view.schedule, calendar, then)))
}

/// Ends the pause now. What fell into it is skipped; if that is too much to count in one call, the rest is left to
/// [`plan`], which the standing then asks for.
pub fn resume(look: Look<'_>) -> Plan {
    let mut view = look.view.clone();
    let Some(pause) = &mut view.standing.pause else { return unchanged(view.standing) };
    pause.until = Some(look.now);
    view.standing.updated_at = look.now;
    plan(Look { view: &view, ..look })
}

/// One job now, beside the occurrences: it is not counted, and no later one looks at it.
pub fn trigger(view: &ScheduleView, id: JobId, now: Time) -> Plan {
    let job = made(view, id, now, now);
    let rows = vec![LedgerRow::one(now, now, What::Triggered { job: id })];
    Plan { jobs: vec![job], rows, ..unchanged(view.standing.clone()) }
}

/// Which occurrences to make jobs of: those in `[from, to]` that are decided already, at most `max` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backfill {
    pub from: Time,
    pub to: Time,
    pub max: usize,
    /// Which segments its jobs may have.
    pub placement: Placement,
}

/// One job now for each occurrence of a past range. The ids are those of the occurrences, so the caller can leave out those that it
/// knows of, from the jobs that are remembered or from the ledger. If there is `more`, go on after the last row.
pub fn backfill(view: &ScheduleView, calendar: &Calendar, ask: Backfill, now: Time) -> Plan {
    let to = ask.to.min(view.standing.last);
    let max = ask.max.min(limits::BACKFILL_MAX);
    let reference = view.schedule.reference();
    let mut plan = unchanged(view.standing.clone());
    let mut from = ask.from.before(Duration::from_millis(1));
    while let Some(next) = calendar.next(from).filter(|next| next.at <= to) {
        if plan.jobs.len() >= max {
            plan.more = true;
            break;
        }
        let id = occurrence_id(&reference, ask.placement, view.standing.created_at, next.at);
        plan.jobs.push(made(view, id, next.at, now));
        plan.rows.push(LedgerRow::one(next.at, now, What::Backfilled { job: id }));
        from = next.at;
    }
    plan
}

/// The next `count` occurrences, at most [`limits::PREVIEW_MAX`].
pub fn preview(calendar: &Calendar, after: Time, count: usize) -> Vec<Occurrence> {
    let next = |before: &Occurrence| calendar.next(before.at);
    std::iter::successors(calendar.next(after), next).take(count.min(limits::PREVIEW_MAX)).collect()
}

fn made(view: &ScheduleView, id: JobId, occurrence: Time, now: Time) -> Job {
    let origin = Origin { schedule: view.schedule.name.clone(), occurrence };
    let tenant = view.schedule.tenant.clone();
    view.schedule.job.job(Made { id, tenant, submitted_at: now, run_at: now, origin })
}

fn unchanged(then: Standing) -> Plan {
    Plan { jobs: Vec::new(), cancel: Vec::new(), rows: Vec::new(), then, more: false }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
