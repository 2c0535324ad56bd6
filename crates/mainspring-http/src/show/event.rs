//! Something that happened, as the stream says it.

use mainspring_core::gate::Reach;
use mainspring_engine::{Event, EventKind};
use mainspring_wire as wire;

use crate::convert::{event_kind, stamp};

pub(crate) fn event(event: &Event) -> wire::Event {
    let lagged = event.kind == EventKind::Lagged;
    wire::Event {
        at: stamp(event.at),
        kind: event_kind(event.kind),
        job_id: event.job.map(|job| job.uuid()),
        queue: event.queue.as_ref().map(|queue| queue.queue.to_string()),
        job_type: event.job_type.as_ref().map(ToString::to_string),
        schedule_id: event.schedule.as_ref().map(ToString::to_string),
        limit: event.limit.as_ref().map(Reach::text),
        until: event.until.map(stamp),
        attempt: event.attempt,
        worker_id: event.worker.map(|worker| worker.0),
        error: event.error.clone(),
        reason: event.reason.clone(),
        count: event.count.filter(|_| !lagged),
        missed: event.count.filter(|_| lagged),
    }
}
