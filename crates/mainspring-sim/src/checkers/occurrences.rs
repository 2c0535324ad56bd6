//! Promise 3: every occurrence of a schedule makes exactly one job, or one ledger row that says why not.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::{LedgerRow, ScheduleView, Spec, What};
use mainspring_core::store::Turned;
use mainspring_core::time::Time;

use super::{Checker, Deed, Findings, Last};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "every occurrence makes exactly one job";

#[derive(Debug, Default)]
pub struct Occurrences {
    fired: BTreeMap<(TenantName, ScheduleName, Time), JobId>,
}

impl Checker for Occurrences {
    fn see(&mut self, deed: &Deed<'_>, findings: &mut Findings) {
        let (Ask::Turn(turns), Reply::Turn(answers)) = (deed.ask, deed.reply) else { return };
        for (turn, answer) in turns.iter().zip(answers) {
            if !matches!(answer, Turned::Done { .. }) {
                continue;
            }
            for row in &turn.rows {
                let What::Fired { job, .. } = row.what else { continue };
                let place = (turn.schedule.tenant.clone(), turn.schedule.name.clone(), row.occurrence);
                if let Some(before) = self.fired.insert(place, job) {
                    let (name, at) = (&turn.schedule.name, row.occurrence);
                    findings.broken(deed.at, PROMISE, || format!("{name} fired {at:?} as {before} and as {job}"));
                }
            }
        }
    }

    fn end(&mut self, last: &Last, findings: &mut Findings) {
        let mut made: BTreeMap<(ScheduleName, Time), Vec<JobId>> = BTreeMap::new();
        for (id, view) in &last.jobs {
            if let Some(origin) = &view.job.origin {
                made.entry((origin.schedule.clone(), origin.occurrence)).or_default().push(*id);
            }
        }
        for ((name, occurrence), jobs) in &made {
            if jobs.len() > 1 {
                findings.broken(last.at, PROMISE, || format!("{name} made {jobs:?} for {occurrence:?}"));
            }
        }
        for (view, rows) in &last.schedules {
            covers(view, rows, &made, last, findings);
        }
    }
}

/// Every nominal time up to where the schedule has come is in one row, and a row that says "fired" has its job.
fn covers(
    view: &ScheduleView,
    rows: &[LedgerRow],
    made: &BTreeMap<(ScheduleName, Time), Vec<JobId>>,
    last: &Last,
    findings: &mut Findings,
) {
    let name = &view.schedule.name;
    let Some(&Spec::Every { every, anchor: Some(anchor) }) = view.schedule.when.specs.first() else { return };
    let rows: Vec<&LedgerRow> = rows.iter().filter(|row| !matches!(row.what, What::Triggered { .. })).collect();
    let mut fired = BTreeSet::new();
    for occurrence in nominal(anchor, every, view.standing.created_at, view.standing.last) {
        let of = |row: &&&LedgerRow| row.occurrence <= occurrence && occurrence <= row.through;
        let found: Vec<&&LedgerRow> = rows.iter().filter(of).collect();
        let [row] = found[..] else {
            findings.broken(last.at, PROMISE, || format!("{occurrence:?} of {name} is in {} rows", found.len()));
            continue;
        };
        if let What::Fired { job, .. } = row.what {
            fired.insert(occurrence);
            let has_job = made.get(&(name.clone(), occurrence)).is_some_and(|jobs| jobs.contains(&job));
            if !has_job {
                findings.broken(last.at, PROMISE, || format!("{occurrence:?} of {name} fired, and {job} is not there"));
            }
        }
    }
    for ((of, occurrence), jobs) in made {
        if of == name && !fired.contains(occurrence) {
            findings.broken(last.at, PROMISE, || format!("{jobs:?} of {name} at {occurrence:?} is in no row"));
        }
    }
    if view.standing.last.after(every) < last.schedules_end_at {
        let (came, end) = (view.standing.last, last.schedules_end_at);
        findings.broken(last.at, PROMISE, || format!("{name} came to {came:?}, and should have come to {end:?}"));
    }
}

/// The nominal times after one instant and up to another.
fn nominal(anchor: Time, every: Duration, after: Time, through: Time) -> impl Iterator<Item = Time> {
    let first = after.since(anchor).as_millis() / every.as_millis() + 1;
    (first..)
        .map(move |count| anchor.after(every * u32::try_from(count).unwrap_or(u32::MAX)))
        .take_while(move |at| *at <= through)
}
