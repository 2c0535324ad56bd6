//! An attempt that is over, and the one that runs.

use mainspring_core::job::{Execution, JobView};
use mainspring_wire::{self as wire, Span};

use crate::convert::{outcome, stamp};
use crate::show::failure;

pub(crate) fn execution(execution: &Execution) -> wire::Execution {
    wire::Execution {
        attempt: execution.attempt,
        fence: execution.fence.0,
        worker_id: Some(execution.worker.0),
        started_at: stamp(execution.started_at),
        ended_at: Some(stamp(execution.ended_at)),
        outcome: Some(outcome(execution.outcome)),
        error: execution.error.as_ref().map(failure),
        duration: Some(Span::from(execution.ended_at.since(execution.started_at))),
    }
}

/// The attempt that a worker holds now.
pub(crate) fn running(view: &JobView) -> Option<wire::Execution> {
    let lease = view.standing.lease.as_ref()?;
    Some(wire::Execution {
        attempt: view.standing.tally.attempts,
        fence: lease.fence.0,
        worker_id: Some(lease.worker.0),
        started_at: stamp(lease.started_at.unwrap_or(lease.claimed_at)),
        ended_at: None,
        outcome: None,
        error: None,
        duration: None,
    })
}
