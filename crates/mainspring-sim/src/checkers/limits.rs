//! Promise 8: limits are named, and hold. A queue with a depth never holds more, whoever submits to it at once.

use std::collections::BTreeSet;

use mainspring_core::name::QueueRef;
use mainspring_core::store::{Submitted, Views};

use super::{Checker, Deed, Findings};
use crate::hop::{Ask, Reply, at_once};

const PROMISE: &str = "limits are named";

#[derive(Debug)]
pub struct Limits;

impl Checker for Limits {
    fn see(&mut self, deed: &Deed<'_>, findings: &mut Findings) {
        let (Ask::Submit(jobs), Reply::Submit(answers)) = (deed.ask, deed.reply) else { return };
        let accepted = jobs.iter().zip(answers).filter(|(_, answer)| matches!(answer, Submitted::Accepted { .. }));
        let queues: BTreeSet<QueueRef> = accepted.map(|(job, _)| job.queue_ref()).collect();
        let Ok(views) = at_once(deed.ground.queues(None)) else { return };
        // Retries may come back to a full queue; but then it takes nothing.
        for view in views.into_iter().filter(|view| queues.contains(&view.queue)) {
            let depth = view.counts.depth();
            if view.max_depth.is_some_and(|max| depth > max) {
                let (queue, max) = (&view.queue.queue, view.max_depth);
                findings.broken(deed.at, PROMISE, || format!("queue {queue} took a job and holds {depth} of {max:?}"));
            }
        }
    }
}
