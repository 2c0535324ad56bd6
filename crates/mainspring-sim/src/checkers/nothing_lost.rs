//! Promise 1: nothing accepted is lost. Whatever the store took in is there at the end, and so is whatever somebody was told:
//! accepted, done, cancelled.

use std::collections::BTreeSet;

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Settled, Submitted, Turned};

use super::{Checker, Deed, Findings, Last};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "nothing accepted is lost";

#[derive(Debug, Default)]
pub struct NothingLost {
    taken_in: BTreeSet<JobId>,
    succeeded: BTreeSet<JobId>,
}

impl NothingLost {
    fn take_in<'a>(&mut self, answers: impl Iterator<Item = (JobId, &'a Submitted)>) {
        let accepted = answers.filter(|(_, answer)| matches!(answer, Submitted::Accepted { .. }));
        self.taken_in.extend(accepted.map(|(id, _)| id));
    }
}

impl Checker for NothingLost {
    fn see(&mut self, deed: &Deed<'_>, _: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Submit(jobs), Reply::Submit(answers)) => {
                self.take_in(jobs.iter().map(|job| job.id).zip(answers));
            }
            (Ask::Turn(turns), Reply::Turn(answers)) => {
                for (turn, answer) in turns.iter().zip(answers) {
                    if let Turned::Done { jobs, .. } = answer {
                        self.take_in(turn.jobs.iter().map(|job| job.id).zip(jobs));
                    }
                }
            }
            (Ask::Settle(settlements), Reply::Settle(answers)) => {
                let done = |answer: &Settled| matches!(answer, Settled::Applied { state: State::Succeeded, .. });
                let ends = settlements.iter().zip(answers).filter(|(_, answer)| done(answer));
                self.succeeded.extend(ends.map(|(settlement, _)| settlement.lease.job));
            }
            _ => {}
        }
    }

    fn end(&mut self, last: &Last, findings: &mut Findings) {
        let mut state_of = |id: &JobId, told: &str| {
            let found = last.jobs.get(id);
            if found.is_none() {
                findings.broken(last.at, PROMISE, || format!("job {id} was {told} and is gone"));
            }
            found.map(|view| view.standing.state)
        };
        let mut wrong = Vec::new();
        for id in &self.taken_in {
            state_of(id, "taken in");
        }
        for id in &last.acks.accepted {
            state_of(id, "accepted");
        }
        for (ids, told, expected) in [
            (&last.acks.succeeded, "told to be done", State::Succeeded),
            (&self.succeeded, "done", State::Succeeded),
            (&last.acks.cancelled, "told to be cancelled", State::Cancelled),
        ] {
            for id in ids {
                wrong.extend(state_of(id, told).filter(|state| *state != expected).map(|state| (*id, told, state)));
            }
        }
        for (id, told, state) in wrong {
            findings.broken(last.at, PROMISE, || format!("job {id} was {told} and is {state:?}"));
        }
        for (id, view) in &last.jobs {
            if view.standing.state == State::Succeeded && !self.succeeded.contains(id) {
                findings.broken(last.at, PROMISE, || format!("job {id} is done, and nobody did it"));
            }
        }
    }
}
