//! Promise 6, for jobs that fail: attempts are counted, so that none is tried for ever. Failures and crashes are counted apart, what is
//! given back or put off is not counted, and a job that has used up its attempts is not handed out again.

use mainspring_core::job::{Claimed, Tally};
use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "every attempt is counted once";

#[derive(Debug)]
pub struct Attempts;

impl Attempts {
    fn claimed(&self, deed: &Deed<'_>, claimed: &Claimed, past: &Past, findings: &mut Findings) {
        let (id, tally) = (claimed.job.id, claimed.tally);
        let before = past.get(id).map(|known| known.tally).unwrap_or_default();
        let expected = Tally { attempts: before.attempts + 1, ..before };
        if tally != expected {
            findings.broken(deed.at, PROMISE, || format!("job {id} was handed out with {tally:?} after {before:?}"));
        }
        let job = &claimed.job;
        if tally.failures >= job.max_attempts || tally.crashes > job.max_crashes {
            findings.broken(deed.at, PROMISE, || {
                format!("job {id} has used up its attempts and is tried again: {tally:?}")
            });
        }
    }
}

impl Checker for Attempts {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        let (Ask::Claim(_), Reply::Claim(answers)) = (deed.ask, deed.reply) else { return };
        for answer in answers {
            if let ClaimAnswer::Jobs(jobs) = answer {
                jobs.iter().for_each(|claimed| self.claimed(deed, claimed, past, findings));
            }
        }
    }
}
