//! A child waits for its parents: it is handed out when all of them have ended, and in the way that its edges ask for. What it waits for
//! is known from its submit, not from what the store kept of that.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Dependency, Job, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{ClaimAnswer, Command, JobCommand, Views};

use super::{Checker, Deed, Findings};
use crate::hop::{Ask, Reply, at_once};

const PROMISE: &str = "a child waits for its parents";

#[derive(Debug, Default)]
pub struct Parents {
    edges: BTreeMap<JobId, Vec<Dependency>>,
    /// A dead parent has let its children go. If it is revived after that, they do not wait again.
    revived: BTreeSet<JobId>,
}

impl Parents {
    fn submitted(&mut self, jobs: &[Job]) {
        let children = jobs.iter().filter(|job| !job.depends_on.is_empty());
        self.edges.extend(children.map(|job| (job.id, job.depends_on.clone())));
    }

    fn commanded(&mut self, commands: &[Command]) {
        self.revived.extend(commands.iter().filter_map(|command| match command {
            Command::Job { id, what: JobCommand::Revive { .. }, .. } => Some(*id),
            _ => None,
        }));
    }

    fn claimed(&self, deed: &Deed<'_>, claimed: &Claimed, findings: &mut Findings) {
        let Some(edges) = self.edges.get(&claimed.job.id) else { return };
        let ids = edges.iter().map(|dependency| dependency.parent).collect();
        let Ok(parents) = at_once(deed.ground.get(&claimed.job.tenant, ids)) else { return };
        for (dependency, parent) in edges.iter().zip(parents) {
            let state = parent.map(|view| view.standing.state);
            let right = match state {
                Some(State::Succeeded) => true,
                Some(State::Dead | State::Cancelled) => dependency.on_failure == OnFailure::Run,
                _ => false,
            };
            if !right && !self.revived.contains(&dependency.parent) {
                let (child, parent) = (claimed.job.id, dependency.parent);
                findings.broken(deed.at, PROMISE, || format!("{child} was handed out while {parent} is {state:?}"));
            }
        }
    }
}

impl Checker for Parents {
    fn see(&mut self, deed: &Deed<'_>, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Submit(jobs), _) => self.submitted(jobs),
            (Ask::Command(commands), _) => self.commanded(commands),
            (Ask::Claim(_), Reply::Claim(answers)) => {
                for answer in answers {
                    if let ClaimAnswer::Jobs(jobs) = answer {
                        jobs.iter().for_each(|claimed| self.claimed(deed, claimed, findings));
                    }
                }
            }
            _ => {}
        }
    }
}
