//! Promise 1, for what an attempt leaves behind: whatever became of it, the next one is given the last checkpoint that was accepted.

use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "a checkpoint outlives its attempt";

#[derive(Debug)]
pub struct Checkpoints;

impl Checker for Checkpoints {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        let (Ask::Claim(_), Reply::Claim(answers)) = (deed.ask, deed.reply) else { return };
        for answer in answers {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            for claimed in jobs {
                let left = past.get(claimed.job.id).and_then(|known| known.checkpoint.as_ref());
                if claimed.checkpoint.as_ref() != left {
                    let (id, given) = (claimed.job.id, &claimed.checkpoint);
                    findings
                        .broken(deed.at, PROMISE, || format!("job {id} left {left:?} behind and was given {given:?}"));
                }
            }
        }
    }
}
