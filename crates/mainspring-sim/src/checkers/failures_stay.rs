//! Promise 5: a failure stays where it is. In a world where all jobs of one tenant or one queue fail, hang or kill their workers, and in
//! every other, whatever is well has ended when the calm has lasted for `WELL_AFTER`, whatever still goes on there. Well is what is served,
//! waits for nobody else, and is under no limit: behind a narrow one, it is the limit that takes its time.

use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State;

use super::past::passes;
use super::{Checker, Findings, Last, Past};

const PROMISE: &str = "a failure stays where it is";

#[derive(Debug)]
pub struct FailuresStay;

impl Checker for FailuresStay {
    fn midway(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        for (id, view) in &last.jobs {
            if is_well(view, last, past) && !view.standing.state.is_final() {
                let standing = &view.standing;
                findings.broken(last.at, PROMISE, || {
                    format!("job {id} ({}) is well and still {standing:?}", view.job.kind)
                });
            }
        }
    }
}

fn is_well(view: &JobView, last: &Last, past: &Past) -> bool {
    let waits = view.standing.state == State::Blocked;
    let is_limited = passes(&view.job).any(|(gate, _)| !past.gates.rule(&gate).is_empty());
    last.is_served(view) && !last.poisoned.has(&view.job.tenant, &view.job.queue) && !waits && !is_limited
}
