//! Promise 6: there is no state without an exit. Every sweep finds whatever is overdue: attempts past their timeout, and jobs that were not
//! started in time. And when the storm is over, whatever somebody serves comes to an end, whatever nobody serves waits where it is, and
//! nothing is held by anybody.

use mainspring_core::lifecycle::State;

use mainspring_core::store::{Reclaim, Reclaimed};

use super::{Checker, Deed, Findings, Last, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "no state without an exit";

#[derive(Debug)]
pub struct Exits;

impl Exits {
    fn swept(&self, deed: &Deed<'_>, ask: &Reclaim, reclaimed: &Reclaimed, past: &Past, findings: &mut Findings) {
        if reclaimed.deposed || reclaimed.more || ask.limit == 0 {
            return;
        }
        for (id, known) in &past.jobs {
            let is_late = match (&known.held, known.ended) {
                (Some(held), _) => {
                    let timeout_at = known.job.timeout.map(|timeout| held.claimed_at.after(timeout));
                    let late = !held.taken_back && timeout_at.is_some_and(|at| at <= deed.now);
                    late && reclaimed.leases.iter().all(|taken| taken.claimed.job.id != *id)
                }
                (None, None) => {
                    let late = known.tally.attempts == 0 && known.job.expires_at.is_some_and(|at| at <= deed.now);
                    late && !known.gone && reclaimed.expired.iter().all(|(expired, _)| expired != id)
                }
                (None, Some(_)) => false,
            };
            if is_late {
                let held = &known.held;
                findings.broken(deed.at, PROMISE, || format!("job {id} is overdue and was not found; held: {held:?}"));
            }
        }
    }
}

impl Checker for Exits {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        if let (Ask::Reclaim(ask), Reply::Reclaim(reclaimed)) = (deed.ask, deed.reply) {
            self.swept(deed, ask, reclaimed, past, findings);
        }
    }

    fn end(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        for (id, view) in &last.jobs {
            let state = view.standing.state;
            let right = match last.is_served(view) {
                true => state.is_final(),
                false => state == State::Ready || state == State::Cancelled,
            };
            if !right {
                let standing = &view.standing;
                let hurdles = past.gates.hurdles(last.at, &view.job);
                let what = || format!("job {id} ({}) is still {standing:?}, before {hurdles:?}", view.job.kind);
                findings.broken(last.at, PROMISE, what);
            }
        }
        for (id, known) in past.jobs.iter().filter(|(_, known)| known.held.is_some()) {
            let held = &known.held;
            findings.broken(last.at, PROMISE, || format!("job {id} is still held: {held:?}"));
        }
    }
}
