//! What every call and every answer so far adds up to: which jobs there are, who holds them, how they ended, and what the gates let in.
//! Follows from what was asked and answered alone; judges nothing, and asks no store what it has become.

mod gates;
mod leases;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Job, Json, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::rank::Aging;
use mainspring_core::store::{Order, Prune, Submitted, Turned};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

pub use gates::{Gates, passes};

use super::Deed;
use crate::hop::{Ask, Reply};

#[derive(Debug, Default)]
pub struct Past {
    pub jobs: BTreeMap<JobId, Known>,
    pub queues: BTreeMap<QueueRef, QueueKnown>,
    pub gates: Gates,
    /// What workers were told, if it was anything but to work.
    pub orders: BTreeMap<WorkerId, Order>,
}

/// A job, as it must be.
#[derive(Debug)]
pub struct Known {
    /// As it was accepted, and as people changed it since.
    pub job: Job,
    /// Of the attempts that are over; while it is held, with the one that runs.
    pub tally: Tally,
    pub checkpoint: Option<Json>,
    pub held: Option<Held>,
    pub cancel_asked: bool,
    pub paused: bool,
    /// Not to be handed out before.
    pub due_at: Time,
    /// How it ended, and when.
    pub ended: Option<(State, Time)>,
    /// It was dead, and is not any more.
    pub revived: bool,
    /// Deleted, or past its retention.
    pub gone: bool,
    /// It was gone, and another one was made under its id: what somebody was told of the first is not about this one.
    pub again: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub fence: Fence,
    pub worker: WorkerId,
    pub claimed_at: Time,
    /// By the node that settles it, and no longer by its worker.
    pub taken_back: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct QueueKnown {
    pub paused: bool,
    pub aging: Aging,
    pub max_depth: Option<u64>,
}

impl Past {
    /// Goes on by one call. Whoever judges it does so before.
    pub fn note(&mut self, deed: &Deed<'_>) {
        let now = deed.now;
        match (deed.ask, deed.reply) {
            (Ask::Submit(jobs), Reply::Submit(answers)) => self.take_in(jobs, answers),
            (Ask::Turn(turns), Reply::Turn(answers)) => {
                for (turn, answer) in turns.iter().zip(answers) {
                    if let Turned::Done { jobs, .. } = answer {
                        self.take_in(&turn.jobs, jobs);
                    }
                }
            }
            (Ask::Promote(_), Reply::Promote(promoted)) => self.end_all(now, &promoted.cancelled),
            (Ask::Claim(_), Reply::Claim(answers)) => self.claimed(now, answers),
            (Ask::Heartbeat(beats), Reply::Heartbeat(pulses)) => self.beaten(now, beats, pulses),
            (Ask::Report(reports), Reply::Report(holds)) => self.reported(reports, holds),
            (Ask::Settle(settlements), Reply::Settle(answers)) => self.settled(now, settlements, answers),
            (Ask::Reclaim(_), Reply::Reclaim(reclaimed)) => self.reclaimed(now, reclaimed),
            (Ask::Command(commands), Reply::Command(answers)) => {
                commands.iter().zip(answers).for_each(|(command, answer)| self.commanded(now, command, answer));
            }
            (Ask::Prune(ask), Reply::Prune(pruned)) if !pruned.deposed => {
                if pruned.jobs > 0 {
                    let forgotten = self.missing(deed.ground);
                    for id in forgotten {
                        if self.may_forget(ask, id) {
                            self.forget(id);
                        }
                    }
                }
                self.gates.forget_what_rests(now);
            }
            _ => {}
        }
    }

    pub fn get(&self, id: JobId) -> Option<&Known> {
        self.jobs.get(&id)
    }

    pub fn queue(&self, queue: &QueueRef) -> QueueKnown {
        self.queues.get(queue).copied().unwrap_or_default()
    }

    /// Jobs that should be there and are not.
    pub fn missing(&self, ground: &Memory) -> Vec<JobId> {
        let mut there = BTreeSet::new();
        ground.each_job(|job, _| {
            there.insert(job.id);
        });
        let expected = self.jobs.iter().filter(|(_, known)| !known.gone).map(|(id, _)| *id);
        expected.filter(|id| !there.contains(id)).collect()
    }

    /// Whether a job is past the retention that a prune was asked for.
    pub fn may_forget(&self, ask: &Prune, id: JobId) -> bool {
        self.get(id).and_then(|known| known.ended).is_some_and(|(state, at)| match state {
            State::Dead => at < ask.dead_before,
            _ => at < ask.ended_before,
        })
    }

    fn forget(&mut self, id: JobId) {
        self.jobs.get_mut(&id).into_iter().for_each(|known| known.gone = true);
    }

    fn take_in(&mut self, jobs: &[Job], answers: &[Submitted]) {
        for (job, answer) in jobs.iter().zip(answers) {
            let is_there = self.get(job.id).is_some_and(|known| !known.gone);
            if matches!(answer, Submitted::Accepted { .. }) && !is_there {
                let again = self.jobs.contains_key(&job.id);
                self.jobs.insert(job.id, Known { again, ..Known::new(job.clone()) });
            }
        }
    }

    fn end_all(&mut self, now: Time, cancelled: &[(JobId, QueueRef)]) {
        for (id, _) in cancelled {
            self.jobs.get_mut(id).into_iter().for_each(|known| known.end(State::Cancelled, now));
        }
    }
}

impl Known {
    fn new(job: Job) -> Known {
        Known {
            due_at: job.run_at,
            job,
            paused: false,
            tally: Tally::default(),
            checkpoint: None,
            held: None,
            cancel_asked: false,
            ended: None,
            revived: false,
            gone: false,
            again: false,
        }
    }

    fn end(&mut self, state: State, at: Time) {
        self.ended = Some((state, at));
        self.paused = false;
        // Only a dead one may come back.
        if state != State::Dead {
            self.checkpoint = None;
        }
    }
}
