//! Mutants that keep something else than they took in. Who is handed a job sees it as it was submitted, or they would be too easy to catch.

use mainspring_core::job::{Job, Keys, Role};
use mainspring_core::store::ClaimAnswer;

use super::Mutant;
use super::store::Mutated;
use crate::hop::{Ask, Reply};

impl Mutated {
    pub(super) fn bend(&self, ask: &mut Ask) {
        match ask {
            Ask::Submit(jobs) => jobs.iter_mut().for_each(|job| self.bend_job(job)),
            Ask::Turn(turns) => turns.iter_mut().flat_map(|turn| &mut turn.jobs).for_each(|job| self.bend_job(job)),
            _ => {}
        }
    }

    fn bend_job(&self, job: &mut Job) {
        let said = job.clone();
        match self.how {
            Mutant::WeightIgnored => job.keys.weight = 1,
            Mutant::KeysIgnored => job.keys = Keys { weight: job.keys.weight, ..Keys::default() },
            Mutant::DeadlineIgnored => job.deadline = None,
            Mutant::ExpiryIgnored => job.expires_at = None,
            Mutant::TimeoutIgnored => job.timeout = None,
            Mutant::ForgetsParents => job.depends_on.clear(),
            Mutant::KeyForgotten if self.chance.percent(50) => job.idempotency = None,
            Mutant::CallbackEarly => {
                job.workflow = job.workflow.take().filter(|place| place.role != Role::Callback);
            }
            _ => return,
        }
        if *job != said {
            self.notes().said.insert(said.id, said);
        }
    }

    pub(super) fn mend(&self, reply: &mut Reply) {
        let notes = self.notes();
        let mend = |job: &mut Job| {
            if let Some(said) = notes.said.get(&job.id) {
                let is = std::mem::replace(job, said.clone());
                // What people changed since stays changed.
                (job.data, job.priority, job.run_at) = (is.data, is.priority, is.run_at);
            }
        };
        match reply {
            Reply::Claim(answers) => {
                for answer in answers {
                    if let ClaimAnswer::Jobs(jobs) = answer {
                        jobs.iter_mut().for_each(|claimed| mend(&mut claimed.job));
                    }
                }
            }
            Reply::Reclaim(reclaimed) => reclaimed.leases.iter_mut().for_each(|taken| mend(&mut taken.claimed.job)),
            _ => {}
        }
    }
}
