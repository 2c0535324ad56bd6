//! A workflow as a whole, and a parent as its child may read it.

use mainspring_core::job::{Dependency, JobView};
use mainspring_core::store::{Counts, WorkflowView};
use mainspring_engine::WorkflowStatus;
use mainspring_wire::{self as wire, ParentView, WorkflowCounts};

use super::{failure, job};
use crate::convert::{on_failure, raw, stamp, status};

pub(crate) fn workflow(found: &WorkflowStatus) -> wire::WorkflowView {
    let view = &found.view;
    wire::WorkflowView {
        workflow_id: view.id.0,
        status: standing(view),
        counts: counts(view.counts),
        callback_id: view.callback.map(|id| id.uuid()),
        submitted_at: stamp(view.submitted_at),
        jobs: found.jobs.iter().map(job).collect(),
        next_cursor: found.next.map(|id| id.to_string()),
    }
}

/// By its steps alone: what the callback does with them is its own matter. A failure outweighs a cancellation, because the
/// children of what failed are mostly cancelled for it.
fn standing(view: &WorkflowView) -> wire::WorkflowStatus {
    match view.counts {
        _ if view.unfinished() > 0 => wire::WorkflowStatus::Running,
        counts if counts.dead > 0 => wire::WorkflowStatus::Failed,
        counts if counts.cancelled > 0 => wire::WorkflowStatus::Cancelled,
        _ => wire::WorkflowStatus::Completed,
    }
}

fn counts(counts: Counts) -> WorkflowCounts {
    WorkflowCounts {
        blocked: counts.blocked,
        scheduled: counts.waiting,
        pending: counts.ready,
        paused: counts.paused,
        running: counts.running,
        completed: counts.succeeded,
        failed: counts.dead,
        cancelled: counts.cancelled,
    }
}

/// A parent that is forgotten has nothing left but its id.
pub(crate) fn parent(bond: &Dependency, view: Option<&JobView>) -> ParentView {
    ParentView {
        job_id: bond.parent.uuid(),
        step: view.and_then(|view| view.job.workflow.as_ref()).map(|place| place.step.to_string()),
        status: view.map(|view| status(view.status())),
        on_failure: on_failure(bond.on_failure),
        result: view.and_then(|view| view.standing.ended.as_ref()?.result.as_ref()).map(raw),
        error: view.and_then(|view| view.standing.last_error.as_ref()).map(failure),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_core::id::WorkflowId;
    use mainspring_core::time::Time;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_workflow_is_what_its_steps_are() {
        let check = |counts: Counts, expected: wire::WorkflowStatus| {
            let (id, submitted_at) = (WorkflowId(Uuid::nil()), Time::ZERO);
            assert_eq!(standing(&WorkflowView { id, submitted_at, counts, callback: None }), expected, "{counts:?}");
        };
        let done = Counts { succeeded: 3, ..Counts::default() };
        check(done, wire::WorkflowStatus::Completed);
        check(Counts { cancelled: 1, ..done }, wire::WorkflowStatus::Cancelled);
        check(Counts { cancelled: 1, dead: 1, ..done }, wire::WorkflowStatus::Failed);
        for open in [
            Counts { blocked: 1, ..Counts::default() },
            Counts { waiting: 1, ..Counts::default() },
            Counts { ready: 1, ..Counts::default() },
            Counts { paused: 1, ..Counts::default() },
            Counts { running: 1, dead: 2, ..Counts::default() },
        ] {
            check(open, wire::WorkflowStatus::Running);
        }
    }
}
