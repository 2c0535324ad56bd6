//! What becomes of a plan whose jobs did not all get into their queue: the occurrences of those that did not are skipped, and
//! everything else stays as it was planned. Counts no jobs: the store does.

use super::ledger::{Reason, What};
use super::plan::{Look, Plan, set};
use super::{PausedBy, Standing};

/// The same plan with only the first `kept` of its jobs.
pub fn without_room(look: Look<'_>, mut plan: Plan, kept: usize) -> Plan {
    let before = &look.view.standing;
    let refused = plan.jobs.split_off(kept.min(plan.jobs.len()));
    for row in &mut plan.rows {
        if let What::Fired { job, .. } = row.what
            && refused.iter().any(|refused| refused.id == job)
        {
            row.what = What::Skipped(Reason::QueueFull);
        }
    }
    // Each job but the first has the one before it cancelled; the first has at most one.
    let cancelled = if kept == 0 { 0 } else { plan.cancel.len().saturating_sub(refused.len()) };
    plan.cancel.truncate(cancelled);

    let left_failure = plan.then.pause.is_none()
        && before.pause.as_ref().is_some_and(|pause| matches!(pause.by, PausedBy::Failure(_)));
    let (last_job, last_fired) = match plan.jobs.last() {
        Some(job) => (Some(job.id), job.origin.as_ref().map(|origin| origin.occurrence)),
        None => (before.last_job.filter(|_| !left_failure), before.last_fired),
    };
    let runs = plan.then.runs - refused.len() as u64;
    plan.then = set(&look.view.schedule, look.calendar, Standing { runs, last_job, last_fired, ..plan.then });
    plan.more = plan.then.wake_at.is_some_and(|wake_at| wake_at <= look.now);
    plan
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::*;
    use super::*;
    use crate::name::TypeName;
    use crate::placement::Placement;

    const START: Time = Time::from_millis(1_800_000_000_000);

    fn view(overlap: Overlap) -> ScheduleView {
        let every = Spec::Every { every: Duration::from_secs(10), anchor: Some(START) };
        let schedule = Schedule {
            tenant: TenantName::default_tenant(),
            name: ScheduleName::parse("often").unwrap(),
            when: When::new(vec![every]),
            job: Template::new(TypeName::parse("mail").unwrap()),
            catchup: Catchup::default(),
            overlap,
            jitter: Duration::ZERO,
            max_runs: Some(4),
            pause_on_failure: false,
            note: None,
        };
        let standing = create(&schedule, START).unwrap();
        ScheduleView { schedule, standing, version: 1 }
    }

    #[test]
    fn jobs_that_found_no_room_are_skipped_and_the_rest_goes_on() {
        for kept in 0..4 {
            let view = view(Overlap::CancelPrevious);
            let calendar = view.schedule.compile().unwrap();
            let now = START.after(Duration::from_secs(40));
            let look = Look {
                view: &view,
                calendar: &calendar,
                last_job: None,
                now,
                placement: Placement::ONE,
                step_max: 100,
            };
            let whole = plan(look);
            assert_eq!((whole.jobs.len(), whole.cancel.len(), whole.then.next), (4, 3, None));

            let cut = without_room(look, whole.clone(), kept);
            assert_eq!(cut.jobs, whole.jobs[..kept]);
            assert_eq!(cut.cancel, whole.cancel[..kept.saturating_sub(1)]);
            assert_eq!(cut.then.runs, kept as u64);
            assert_eq!(cut.then.last_job, cut.jobs.last().map(|job| job.id));
            assert_eq!(cut.then.last, whole.then.last);
            assert_eq!(cut.then.next, Some(START.after(Duration::from_secs(50))), "it may still run");
            let skipped = cut.rows.iter().filter(|row| row.what == What::Skipped(Reason::QueueFull)).count();
            assert_eq!((cut.rows.len(), skipped), (4, 4 - kept), "one row for each occurrence");
        }
    }
}
