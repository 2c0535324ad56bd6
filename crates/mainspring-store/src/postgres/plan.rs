//! Decides which jobs of a call are taken in, one after the other, from what was read before: a later job sees the earlier
//! ones and can wait for them. Reads and writes nothing itself: [`super::submit`] does.

use std::collections::HashMap;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Job, OnFailure, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueRef, TenantName};
use mainspring_core::store::Submitted;
use mainspring_core::time::Time;
use uuid::Uuid;

/// What is known, and what has been decided so far.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub now: Time,
    pub known: Known,
    pub taken: Vec<Taken<'a>>,
}

/// What a job can meet.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Jobs of these ids, and parents.
    pub jobs: HashMap<JobId, Seen>,
    pub keys: HashMap<(TenantName, IdempotencyKey), Made>,
    /// Queues that take only so many.
    pub bounded: HashMap<QueueRef, Bounded>,
    /// How many steps have not ended.
    pub unfinished: HashMap<(TenantName, Uuid), u64>,
    pub queue_ids: HashMap<QueueRef, i32>,
}

#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub tenant: TenantName,
    pub state: State,
    pub ready_at: Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub id: JobId,
    pub fingerprint: [u8; 16],
    pub until: Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded {
    pub max_depth: u64,
    pub depth: u64,
}

/// A job that is taken in.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    pub job: &'a Job,
    pub state: State,
    /// Whom it waits for.
    pub open: Vec<Dependency>,
    /// What its key made before.
    replaced: Option<Made>,
}

impl<'a> Plan<'a> {
    /// Takes in one job, or the jobs of one workflow: all of them, or none. Of a workflow that is here already, a job that is
    /// gone is answered as the first one is.
    pub fn together(&mut self, jobs: &'a [Job]) -> Vec<Submitted> {
        if let Some(first) = self.known.jobs.get(&jobs[0].id) {
            return jobs.iter().map(|job| self.known.jobs.get(&job.id).unwrap_or(first).accepted()).collect();
        }
        let mark = self.mark();
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            match self.one(job) {
                answer @ Submitted::Accepted { .. } => answers.push(answer),
                refusal => {
                    self.rewind(mark);
                    return vec![refusal; jobs.len()];
                }
            }
        }
        answers
    }

    /// Where we are, for [`Plan::rewind`].
    pub fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Takes in nothing of what came since.
    pub fn rewind(&mut self, mark: usize) {
        while self.taken.len() > mark {
            let taken = self.taken.pop().expect("there are more than the mark says");
            let job = taken.job;
            self.known.jobs.remove(&job.id);
            if let Some(said) = &job.idempotency {
                let key = (job.tenant.clone(), said.key.clone());
                match taken.replaced {
                    Some(made) => drop(self.known.keys.insert(key, made)),
                    None => drop(self.known.keys.remove(&key)),
                }
            }
            if let Some(bounded) = self.known.bounded.get_mut(&job.queue_ref()) {
                bounded.depth -= 1;
            }
            if let Some(key) = step_of(job) {
                *self.known.unfinished.get_mut(&key).expect("it was counted when taken in") -= 1;
            }
        }
    }

    fn one(&mut self, job: &'a Job) -> Submitted {
        if let Some(seen) = self.known.jobs.get(&job.id) {
            return seen.accepted();
        }
        if let Some(answer) = self.seen_key(job) {
            return answer;
        }
        let open = match self.open_edges(job) {
            Ok(open) => open,
            Err(refusal) => return refusal,
        };
        let full = self.known.bounded.get(&job.queue_ref()).filter(|bounded| bounded.depth >= bounded.max_depth);
        if let Some(Bounded { max_depth, .. }) = full {
            return Submitted::QueueFull { max_depth: *max_depth };
        }
        self.take(job, open)
    }

    fn seen_key(&self, job: &Job) -> Option<Submitted> {
        let said = job.idempotency.as_ref()?;
        let before = self.known.keys.get(&(job.tenant.clone(), said.key.clone()))?;
        let is_live = before.until > self.now;
        is_live.then(|| match before.fingerprint == said.fingerprint {
            true => Submitted::Duplicate { id: before.id },
            false => Submitted::Mismatch { id: before.id },
        })
    }

    /// The parents it has to wait for, or why it cannot.
    fn open_edges(&self, job: &Job) -> Result<Vec<Dependency>, Submitted> {
        let mut open = Vec::new();
        for &dependency in &job.depends_on {
            let Dependency { parent, on_failure } = dependency;
            let of_tenant = self.known.jobs.get(&parent).filter(|seen| seen.tenant == job.tenant);
            match (of_tenant.ok_or(Submitted::UnknownParent { parent })?.state, on_failure) {
                (State::Succeeded, _) | (State::Dead | State::Cancelled, OnFailure::Run) => {}
                (state @ (State::Dead | State::Cancelled), OnFailure::Cancel) => {
                    return Err(Submitted::FailedParent { parent, state });
                }
                _ => open.push(dependency),
            }
        }
        Ok(open)
    }

    fn take(&mut self, job: &'a Job, open: Vec<Dependency>) -> Submitted {
        let is_blocked = !open.is_empty() || self.waits_for_steps(job);
        let state = if is_blocked { State::Blocked } else { due(job.run_at, self.now) };
        let seen = Seen { tenant: job.tenant.clone(), state, ready_at: job.run_at };
        let answer = seen.accepted();
        self.known.jobs.insert(job.id, seen);
        let replaced = job.idempotency.as_ref().and_then(|said| {
            let made = Made { id: job.id, fingerprint: said.fingerprint, until: said.until };
            self.known.keys.insert((job.tenant.clone(), said.key.clone()), made)
        });
        if let Some(bounded) = self.known.bounded.get_mut(&job.queue_ref()) {
            bounded.depth += 1;
        }
        if let Some(key) = step_of(job) {
            *self.known.unfinished.entry(key).or_insert(0) += 1;
        }
        self.taken.push(Taken { job, state, open, replaced });
        answer
    }

    /// Whether it is a callback and a step of its workflow has not ended. The steps come before it.
    fn waits_for_steps(&self, job: &Job) -> bool {
        let Some(place) = job.workflow.as_ref().filter(|place| place.role == Role::Callback) else { return false };
        self.known.unfinished.get(&(job.tenant.clone(), place.workflow.0)).is_some_and(|steps| *steps > 0)
    }
}

impl Seen {
    fn accepted(&self) -> Submitted {
        Submitted::Accepted { state: self.state, ready_at: self.ready_at }
    }
}

/// The workflow that counts this job as a step.
fn step_of(job: &Job) -> Option<(TenantName, Uuid)> {
    let place = job.workflow.as_ref().filter(|place| place.role == Role::Step)?;
    Some((job.tenant.clone(), place.workflow.0))
}

/// Whether two neighbours of a batch are jobs of one workflow.
pub(super) fn are_together(one: &Job, next: &Job) -> bool {
    match (&one.workflow, &next.workflow) {
        (Some(this), Some(that)) => this.workflow == that.workflow && one.tenant == next.tenant,
        _ => false,
    }
}

/// Where a job goes that is due at `at`.
pub(super) fn due(at: Time, now: Time) -> State {
    if at <= now { State::Ready } else { State::Waiting }
}
