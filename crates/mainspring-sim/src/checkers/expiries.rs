//! Promise 6, for jobs that nobody starts: one that was not started by its expiry is cancelled and not handed out; one that was tried
//! has started, and never expires.

use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "what was not started in time expires, and nothing else does";

#[derive(Debug)]
pub struct Expiries;

impl Checker for Expiries {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Claim(_), Reply::Claim(answers)) => {
                for answer in answers {
                    let ClaimAnswer::Jobs(jobs) = answer else { continue };
                    let untried = jobs.iter().filter_map(|claimed| past.get(claimed.job.id));
                    for known in untried.filter(|known| known.tally.attempts == 0) {
                        if known.job.expires_at.is_some_and(|at| at <= deed.now) {
                            let (id, at) = (known.job.id, known.job.expires_at);
                            findings.broken(deed.at, PROMISE, || format!("job {id} was handed out past {at:?}"));
                        }
                    }
                }
            }
            (Ask::Reclaim(_), Reply::Reclaim(reclaimed)) => {
                for (id, _) in &reclaimed.expired {
                    let known = past.get(*id);
                    let right = known.is_some_and(|known| {
                        let late = known.job.expires_at.is_some_and(|at| at <= deed.now);
                        late && known.tally.attempts == 0 && known.held.is_none() && known.ended.is_none()
                    });
                    if !right {
                        let how = known.map(|known| (known.tally, known.job.expires_at, known.held, known.ended));
                        findings.broken(deed.at, PROMISE, || format!("job {id} expired, and was {how:?}"));
                    }
                }
            }
            _ => {}
        }
    }
}
