//! A queue, its settings and its counts.

use mainspring_core::store::QueueView;
use mainspring_wire as wire;

use crate::convert::stamp;

pub(crate) fn queue(view: &QueueView) -> wire::QueueView {
    let counts = view.counts;
    wire::QueueView {
        name: view.queue.queue.to_string(),
        tenant: view.queue.tenant.to_string(),
        paused: view.paused,
        age_factor: view.aging.factor(),
        max_depth: view.max_depth,
        blocked: counts.blocked,
        scheduled: counts.waiting,
        pending: counts.ready,
        paused_jobs: counts.paused,
        running: counts.running,
        completed: counts.succeeded,
        failed: counts.dead,
        cancelled: counts.cancelled,
        oldest_pending_at: view.oldest_ready_at.map(stamp),
    }
}
