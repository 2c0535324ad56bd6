//! What a script has done so far, so that its later calls can name it. Both stores agree on it, or the play is over.

use std::collections::BTreeMap;

use mainspring_core::id::{JobId, LeaseId, WorkflowId};
use mainspring_core::job::Job;
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::seats::Seat;
use mainspring_core::store::{Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use super::concrete;
use super::perform::Answer;
use super::script::Call;

/// What a script has done so far.
#[derive(Debug, Default)]
pub struct Past {
    /// Every job that was taken in: alone, in a workflow, or by a schedule.
    pub jobs: Vec<JobId>,
    /// Every lease that was handed out.
    pub leases: Vec<LeaseId>,
    /// Every workflow that was submitted, with its jobs.
    pub workflows: Vec<(WorkflowId, Vec<Job>)>,
    /// The schedules that there are, and their versions.
    pub versions: BTreeMap<ScheduleRef, u64>,
    /// The seats that were ever taken, and the epoch at which they stand.
    pub epochs: BTreeMap<Seat, u64>,
}

impl Past {
    /// Remembers what later calls may name.
    pub fn note(&mut self, now: Time, call: &Call, answer: &Answer) {
        match (call, answer) {
            (Call::Submit(lots), Answer::Submitted(answers)) => {
                let jobs = concrete::jobs(lots, now, self);
                self.jobs.extend(taken_in(&jobs, answers));
                self.note_workflows(jobs);
            }
            (Call::Turn(turns), Answer::Turned(answers)) => {
                let turns: Vec<Turn> = turns.iter().map(|turn| concrete::turn(turn, now, self)).collect();
                turns.into_iter().zip(answers).for_each(|(turn, answer)| self.note_turn(turn, answer));
            }
            (_, Answer::Terms(terms)) => self.epochs.extend(terms.iter().map(|term| (term.seat, term.epoch))),
            _ => {}
        }
        self.leases.extend(answer.leases());
    }

    fn note_workflows(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            let Some(id) = job.workflow.as_ref().map(|place| place.workflow) else { continue };
            match self.workflows.iter_mut().find(|(workflow, _)| *workflow == id) {
                Some((_, jobs)) if jobs.iter().any(|known| known.id == job.id) => {}
                Some((_, jobs)) => jobs.push(job),
                None => self.workflows.push((id, vec![job])),
            }
        }
    }

    fn note_turn(&mut self, turn: Turn, answer: &Turned) {
        let Turned::Done { version, jobs } = answer else { return };
        self.jobs.extend(taken_in(&turn.jobs, jobs));
        match turn.to {
            To::Gone => self.versions.remove(&turn.schedule),
            _ => self.versions.insert(turn.schedule, *version),
        };
    }
}

fn taken_in(jobs: &[Job], answers: &[Submitted]) -> impl Iterator<Item = JobId> {
    let is_taken_in = |answer: &Submitted| matches!(answer, Submitted::Accepted { .. });
    jobs.iter().zip(answers).filter(move |(_, answer)| is_taken_in(answer)).map(|(job, _)| job.id)
}
