//! Promise 1: nothing accepted is lost. Whatever the store took in is handed out as it was accepted, stays until it is past its retention or
//! a person deletes it, and ends as those who ended it were told; and so does whatever somebody was told: accepted, done, cancelled.

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{ClaimAnswer, Prune, Pruned};

use super::{Checker, Deed, Findings, Last, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "nothing accepted is lost";

#[derive(Debug)]
pub struct NothingLost;

impl NothingLost {
    fn pruned(&self, deed: &Deed<'_>, ask: &Prune, pruned: &Pruned, past: &Past, findings: &mut Findings) {
        if pruned.jobs == 0 {
            return;
        }
        let missing = past.missing(deed.ground);
        for &id in missing.iter().filter(|id| !past.may_forget(ask, **id)) {
            let known = past.get(id).map(|known| (&known.ended, &known.held));
            findings.broken(deed.at, PROMISE, || format!("job {id} was forgotten by {ask:?}, and is {known:?}"));
        }
        if missing.len() as u64 != pruned.jobs {
            let told = pruned.jobs;
            findings.broken(deed.at, PROMISE, || format!("{told} jobs are said to be forgotten, and {missing:?} are"));
        }
    }
}

impl Checker for NothingLost {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Prune(ask), Reply::Prune(pruned)) => self.pruned(deed, ask, pruned, past, findings),
            (Ask::Claim(_), Reply::Claim(answers)) => {
                let given = answers.iter().filter_map(|answer| match answer {
                    ClaimAnswer::Jobs(jobs) => Some(jobs),
                    ClaimAnswer::UnknownWorker | ClaimAnswer::Quiet => None,
                });
                for claimed in given.flatten() {
                    let accepted = past.get(claimed.job.id).map(|known| &known.job);
                    if accepted != Some(&claimed.job) {
                        let job = &claimed.job;
                        findings.broken(deed.at, PROMISE, || format!("{accepted:?} was handed out as {job:?}"));
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        for (id, known) in past.jobs.iter().filter(|(_, known)| !known.gone) {
            let Some(view) = last.jobs.get(id) else {
                findings.broken(last.at, PROMISE, || format!("job {id} was taken in and is gone"));
                continue;
            };
            let is = view.standing.ended.as_ref().map(|ended| (view.standing.state, ended.at));
            if is != known.ended {
                let told = &known.ended;
                findings.broken(last.at, PROMISE, || format!("job {id} ended as {told:?}, and is {is:?}"));
            }
        }
        if let Some(id) = last.jobs.keys().find(|id| past.get(**id).is_none()) {
            findings.broken(last.at, PROMISE, || format!("job {id} is there, and nobody was told that it is accepted"));
        }
        let mut told = |ids: &mut dyn Iterator<Item = &JobId>, what: &str, state: Option<State>| {
            for id in ids.filter(|id| past.get(**id).is_none_or(|known| !known.again)) {
                let is = past.get(*id).map(|known| known.ended.map(|(state, _)| state));
                if is.is_none() || state.is_some() && is != Some(state) {
                    findings.broken(last.at, PROMISE, || format!("job {id} was told to be {what}, and is {is:?}"));
                }
            }
        };
        told(&mut last.acks.accepted.iter(), "accepted", None);
        told(&mut last.acks.succeeded.iter(), "done", Some(State::Succeeded));
        told(&mut last.acks.cancelled.iter(), "cancelled", Some(State::Cancelled));
    }
}
