//! Promise 4, for time: nothing is handed out before it is due, whether it was submitted, put off, retried or moved to that time.

use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "nothing runs before its time";

#[derive(Debug)]
pub struct OnTime {
    /// Else a node whose clock is ahead makes jobs ready early, and that is what clocks are for.
    pub clocks_are_right: bool,
}

impl Checker for OnTime {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        let (Ask::Claim(_), Reply::Claim(answers)) = (deed.ask, deed.reply) else { return };
        for answer in answers.iter().filter(|_| self.clocks_are_right) {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            for known in jobs.iter().filter_map(|claimed| past.get(claimed.job.id)) {
                if deed.at < known.due_at {
                    let (id, due_at) = (known.job.id, known.due_at);
                    findings.broken(deed.at, PROMISE, || format!("job {id} was handed out before {due_at:?}"));
                }
            }
        }
    }
}
