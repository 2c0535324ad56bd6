//! Promise 3: every occurrence of a schedule makes exactly one job, or one ledger row that says why not. Jobs that a person asks for beside
//! them (a trigger, a back-fill) are their own: a back-fill makes the job that its occurrence would have had.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::schedule::{LedgerRow, ScheduleRef, ScheduleView, Spec, What};
use mainspring_core::store::{Submitted, Turn, Turned};
use mainspring_core::time::Time;

use super::{Checker, Deed, Findings, Last, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "every occurrence makes exactly one job";

#[derive(Debug)]
pub struct Occurrences {
    rows: BTreeMap<ScheduleRef, Vec<LedgerRow>>,
    /// The job of an occurrence, whoever made it.
    made: BTreeMap<(ScheduleRef, Time), JobId>,
    triggered: BTreeSet<JobId>,
    /// Rows from before this are past their retention.
    ledger_before: Time,
}

impl Default for Occurrences {
    fn default() -> Occurrences {
        let (rows, made, triggered) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Occurrences { rows, made, triggered, ledger_before: Time::ZERO }
    }
}

impl Occurrences {
    fn turned(&mut self, at: Time, turn: &Turn, jobs: &[Submitted], past: &Past, findings: &mut Findings) {
        let triggered = turn.rows.iter().filter_map(|row| match row.what {
            What::Triggered { job } => Some(job),
            _ => None,
        });
        self.triggered.extend(triggered);
        for (job, answer) in turn.jobs.iter().zip(jobs) {
            let taken_in = matches!(answer, Submitted::Accepted { .. }) && !self.triggered.contains(&job.id);
            let Some(origin) = job.origin.as_ref().filter(|_| taken_in) else { continue };
            let place = (turn.schedule.clone(), origin.occurrence);
            let before = *self.made.entry(place).or_insert(job.id);
            if before != job.id {
                let (name, occurrence, id) = (&turn.schedule.name, origin.occurrence, job.id);
                findings.broken(at, PROMISE, || format!("{name} made {before} and {id} of {occurrence:?}"));
            }
            if past.get(job.id).is_some_and(|known| known.gone) && self.tells_of(&turn.schedule, job.id) {
                let (name, occurrence, id) = (&turn.schedule.name, origin.occurrence, job.id);
                findings
                    .broken(at, PROMISE, || format!("{name} made {id} of {occurrence:?} again, despite its ledger"));
            }
        }
        self.rows.entry(turn.schedule.clone()).or_default().extend(turn.rows.iter().cloned());
    }

    /// Whether the ledger, as far as it reaches back, has a row of this job.
    fn tells_of(&self, schedule: &ScheduleRef, id: JobId) -> bool {
        let mut rows = self.rows.get(schedule).into_iter().flatten().filter(|row| row.at >= self.ledger_before);
        rows.any(|row| matches!(row.what, What::Fired { job, .. } | What::Backfilled { job } if job == id))
    }

    /// Every nominal time up to where the schedule has come is in one row, and a row that says "fired" has its job.
    fn covers(&self, view: &ScheduleView, last: &Last, past: &Past, findings: &mut Findings) {
        let schedule = view.schedule.reference();
        let name = &schedule.name;
        let Some(&Spec::Every { every, anchor: Some(anchor) }) = view.schedule.when.specs.first() else { return };
        let beside = |row: &&LedgerRow| matches!(row.what, What::Triggered { .. } | What::Backfilled { .. });
        let rows = self.rows.get(&schedule).map(Vec::as_slice).unwrap_or_default();
        let own: Vec<&LedgerRow> = rows.iter().filter(|row| !beside(row)).collect();
        for occurrence in nominal(anchor, every, view.standing.created_at, view.standing.last) {
            let of = |row: &&&LedgerRow| row.occurrence <= occurrence && occurrence <= row.through;
            let found: Vec<&&LedgerRow> = own.iter().filter(of).collect();
            let [row] = found[..] else {
                findings.broken(last.at, PROMISE, || format!("{occurrence:?} of {name} is in {} rows", found.len()));
                continue;
            };
            if let What::Fired { job, .. } = row.what
                && (self.made.get(&(schedule.clone(), occurrence)) != Some(&job) || past.get(job).is_none())
            {
                findings.broken(last.at, PROMISE, || format!("{occurrence:?} of {name} fired, and {job} was not made"));
            }
        }
        for ((_, occurrence), job) in self.made.iter().filter(|((of, _), _)| *of == schedule) {
            let says = |row: &LedgerRow| match row.what {
                What::Fired { job: made, .. } | What::Backfilled { job: made } => made == *job,
                _ => false,
            };
            if !rows.iter().any(says) {
                findings.broken(last.at, PROMISE, || format!("{job} of {name} at {occurrence:?} is in no row"));
            }
        }
        let goes_on = view.standing.next.is_some() && !view.schedule.pause_on_failure;
        if goes_on && view.standing.last.after(every) < last.schedules_end_at {
            let (came, end) = (view.standing.last, last.schedules_end_at);
            findings.broken(last.at, PROMISE, || format!("{name} came to {came:?}, and should have come to {end:?}"));
        }
    }
}

impl Checker for Occurrences {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Turn(turns), Reply::Turn(answers)) => {
                for (turn, answer) in turns.iter().zip(answers) {
                    if let Turned::Done { jobs, .. } = answer {
                        self.turned(deed.at, turn, jobs, past, findings);
                    }
                }
            }
            (Ask::Prune(ask), Reply::Prune(pruned)) if !pruned.deposed => {
                self.ledger_before = self.ledger_before.max(ask.ledger_before);
            }
            _ => {}
        }
    }

    fn end(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        for (id, view) in &last.jobs {
            let Some(origin) = view.job.origin.as_ref().filter(|_| !self.triggered.contains(id)) else { continue };
            let schedule = ScheduleRef { tenant: view.job.tenant.clone(), name: origin.schedule.clone() };
            if self.made.get(&(schedule, origin.occurrence)) != Some(id) {
                let (name, at) = (&origin.schedule, origin.occurrence);
                findings.broken(last.at, PROMISE, || format!("{id} is there for {at:?} of {name}, and nobody made it"));
            }
        }
        for (view, ledger) in &last.schedules {
            self.covers(view, last, past, findings);
            let rows = self.rows.get(&view.schedule.reference()).into_iter().flatten();
            for row in rows.filter(|row| row.at >= self.ledger_before && !ledger.contains(row)) {
                let name = &view.schedule.name;
                findings.broken(last.at, PROMISE, || format!("{row:?} of {name} is not in the ledger"));
            }
        }
    }
}

/// The nominal times after one instant and up to another.
fn nominal(anchor: Time, every: Duration, after: Time, through: Time) -> impl Iterator<Item = Time> {
    let first = after.since(anchor).as_millis() / every.as_millis() + 1;
    (first..)
        .map(move |count| anchor.after(every * u32::try_from(count).unwrap_or(u32::MAX)))
        .take_while(move |at| *at <= through)
}
