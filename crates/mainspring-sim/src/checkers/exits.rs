//! Promises 5 and 6: a failure stays where it is, and there is no state without an exit. When the storm is over, whatever somebody
//! serves comes to an end, and whatever nobody serves waits where it is.

use mainspring_core::lifecycle::State;

use super::{Checker, Deed, Findings, Last};

const PROMISE: &str = "no state without an exit";

#[derive(Debug)]
pub struct Exits;

impl Checker for Exits {
    fn see(&mut self, _: &Deed<'_>, _: &mut Findings) {}

    fn end(&mut self, last: &Last, findings: &mut Findings) {
        for (id, view) in &last.jobs {
            let state = view.standing.state;
            let right = match last.is_served(view) {
                true => state.is_final(),
                false => state == State::Ready || state == State::Cancelled,
            };
            if !right {
                let standing = &view.standing;
                findings.broken(last.at, PROMISE, || format!("job {id} ({}) is still {standing:?}", view.job.kind));
            }
        }
    }
}
