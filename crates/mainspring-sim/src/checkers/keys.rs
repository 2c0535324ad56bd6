//! Promise 1, for what was said twice: an idempotency key makes one job for as long as it is remembered, whatever became of the first
//! answer; the same words again are answered with that job, other words are refused.

use std::collections::BTreeMap;

use mainspring_core::id::JobId;
use mainspring_core::job::{Idempotency, Job};
use mainspring_core::name::{IdempotencyKey, TenantName};
use mainspring_core::store::Submitted;
use mainspring_core::time::Time;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "a key makes one job";

#[derive(Debug, Default)]
pub struct Keys {
    made: BTreeMap<(TenantName, IdempotencyKey), Made>,
}

#[derive(Clone, Copy, Debug)]
struct Made {
    id: JobId,
    fingerprint: [u8; 16],
    until: Time,
}

impl Keys {
    fn submitted(
        &mut self,
        deed: &Deed<'_>,
        job: &Job,
        said: &Idempotency,
        answer: &Submitted,
        findings: &mut Findings,
    ) {
        let place = (job.tenant.clone(), said.key.clone());
        let before = self.made.get(&place).filter(|made| made.until > deed.now).copied();
        let right = match (before, answer) {
            (None, Submitted::Duplicate { .. } | Submitted::Mismatch { .. }) => false,
            (Some(made), Submitted::Accepted { .. }) => made.id == job.id,
            (Some(made), Submitted::Duplicate { id }) => *id == made.id && made.fingerprint == said.fingerprint,
            (Some(made), Submitted::Mismatch { id }) => *id == made.id && made.fingerprint != said.fingerprint,
            _ => true,
        };
        if !right {
            let key = &said.key;
            findings.broken(deed.at, PROMISE, || format!("{key:?} made {before:?}; said again it is {answer:?}"));
        }
        if matches!(answer, Submitted::Accepted { .. }) && before.is_none() {
            self.made.insert(place, Made { id: job.id, fingerprint: said.fingerprint, until: said.until });
        }
    }
}

impl Checker for Keys {
    fn see(&mut self, deed: &Deed<'_>, _: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Submit(jobs), Reply::Submit(answers)) => {
                let said =
                    jobs.iter().zip(answers).filter_map(|(job, answer)| Some((job, job.idempotency.as_ref()?, answer)));
                let said: Vec<_> = said.collect();
                said.into_iter().for_each(|(job, said, answer)| self.submitted(deed, job, said, answer, findings));
            }
            // By the clock of whoever prunes, which may be ahead of others.
            (Ask::Prune(_), Reply::Prune(pruned)) if !pruned.deposed => {
                self.made.retain(|_, made| made.until > deed.now);
            }
            _ => {}
        }
    }
}
