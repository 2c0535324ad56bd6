//! Promise 8, for queues: one with a depth never holds more, whoever submits to it at once.

use std::collections::BTreeSet;

use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::Submitted;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "a bounded queue holds no more than it may";

#[derive(Debug)]
pub struct Depth;

impl Checker for Depth {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        let (Ask::Submit(jobs), Reply::Submit(answers)) = (deed.ask, deed.reply) else { return };
        // Said again of a job that is there already, it takes no place.
        let is_new = |id| past.get(id).is_none_or(|known| known.gone);
        let accepted = jobs.iter().zip(answers).filter(|(_, answer)| matches!(answer, Submitted::Accepted { .. }));
        let queues: BTreeSet<QueueRef> =
            accepted.filter(|(job, _)| is_new(job.id)).map(|(job, _)| job.queue_ref()).collect();
        for queue in queues {
            // Retries may come back to a full queue; but then it takes nothing.
            let Some(max) = past.queue(&queue).max_depth else { continue };
            let mut depth = 0;
            deed.ground.each_job(|job, standing| {
                let is_in = job.tenant == queue.tenant && job.queue == queue.queue;
                depth += u64::from(is_in && !standing.state.is_final() && standing.state != State::Running);
            });
            if depth > max {
                findings.broken(deed.at, PROMISE, || format!("{} took a job and holds {depth} of {max}", queue.queue));
            }
        }
    }
}
