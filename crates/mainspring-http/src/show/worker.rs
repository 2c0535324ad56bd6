//! A worker as the server knows it.

use mainspring_core::store::WorkerView;
use mainspring_wire as wire;

use crate::convert::{order, stamp};

pub(crate) fn worker(view: &WorkerView) -> wire::WorkerView {
    wire::WorkerView {
        worker_id: view.id.0,
        name: view.info.name.clone(),
        host: view.info.host.clone(),
        pid: view.info.pid,
        queues: view.info.queues.iter().map(ToString::to_string).collect(),
        concurrency: Some(view.info.concurrency),
        version: view.info.version.clone(),
        registered_at: stamp(view.registered_at),
        last_seen_at: stamp(view.last_seen_at),
        expires_at: stamp(view.expires_at),
        held: u32::try_from(view.held).unwrap_or(u32::MAX),
        order: order(view.order),
    }
}
