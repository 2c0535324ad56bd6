//! A child waits for its parents: it is handed out when all of them have ended, and in the way that its edges ask for; the callback of a
//! workflow when every step has. What a job waits for is known from its submit, not from what the store kept of that.

use std::collections::BTreeMap;

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Claimed, Job, OnFailure, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "a child waits for its parents";

#[derive(Debug, Default)]
pub struct Parents {
    steps: BTreeMap<WorkflowId, Vec<JobId>>,
}

impl Parents {
    fn submitted(&mut self, jobs: &[Job]) {
        for job in jobs {
            let place = job.workflow.as_ref().filter(|place| place.role == Role::Step);
            place.into_iter().for_each(|place| self.steps.entry(place.workflow).or_default().push(job.id));
        }
    }

    fn claimed(&self, deed: &Deed<'_>, claimed: &Claimed, past: &Past, findings: &mut Findings) {
        let Some(known) = past.get(claimed.job.id) else { return };
        let edges = known.job.depends_on.iter().map(|dependency| (dependency.parent, dependency.on_failure));
        let callback = known.job.workflow.as_ref().filter(|place| place.role == Role::Callback);
        let steps = callback.and_then(|place| self.steps.get(&place.workflow)).into_iter().flatten();
        for (parent, on_failure) in edges.chain(steps.map(|step| (*step, OnFailure::Run))) {
            let state = past.get(parent).and_then(|parent| parent.ended).map(|(state, _)| state);
            let right = match state {
                Some(State::Succeeded) => true,
                Some(_) => on_failure == OnFailure::Run,
                None => false,
            };
            // A dead parent has let its children go. If it is revived after that, they do not wait again.
            if !right && !past.get(parent).is_some_and(|parent| parent.revived) {
                let child = claimed.job.id;
                findings.broken(deed.at, PROMISE, || format!("{child} was handed out while {parent} is {state:?}"));
            }
        }
    }
}

impl Checker for Parents {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Submit(jobs), _) => self.submitted(jobs),
            (Ask::Claim(_), Reply::Claim(answers)) => {
                for answer in answers {
                    if let ClaimAnswer::Jobs(jobs) = answer {
                        jobs.iter().for_each(|claimed| self.claimed(deed, claimed, past, findings));
                    }
                }
            }
            _ => {}
        }
    }
}
