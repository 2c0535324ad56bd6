//! Takes jobs in, one after the other: a later job of a batch sees the earlier ones, and can wait for them. Makes no
//! ids.

use mainspring_core::job::{Dependency, Job, OnFailure, Role, Standing, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Result, Submitted};
use mainspring_core::time::Time;

use super::book::{Book, Entry, Remembered};

impl Book {
    pub(super) fn submit(&mut self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        self.has_room_for(jobs.iter().map(Job::queue_ref))?;
        Ok(jobs.chunk_by(are_together).flat_map(|jobs| self.submit_together(now, jobs)).collect())
    }

    /// Takes in one job, or the jobs of one workflow: all of them, or none. Of a workflow that is here already, a job
    /// that is gone is answered as the first one is.
    pub(super) fn submit_together(&mut self, now: Time, jobs: &[Job]) -> Vec<Submitted> {
        if let Some(first) = self.jobs.get(&jobs[0].id) {
            return jobs.iter().map(|job| self.jobs.get(&job.id).unwrap_or(first).accepted()).collect();
        }
        let before = (jobs.len() > 1).then(|| self.clone());
        let mut answers = Vec::new();
        for job in jobs {
            match self.submit_one(now, job) {
                answer @ Submitted::Accepted { .. } => answers.push(answer),
                refusal => {
                    before.into_iter().for_each(|before| *self = before);
                    return vec![refusal; jobs.len()];
                }
            }
        }
        answers
    }

    fn submit_one(&mut self, now: Time, job: &Job) -> Submitted {
        if let Some(seen) = self.jobs.get(&job.id) {
            return seen.accepted();
        }
        if let Some(answer) = self.seen_key(now, job) {
            return answer;
        }
        let open = match self.open_edges(job) {
            Ok(open) => open,
            Err(refusal) => return refusal,
        };
        if let Some(max_depth) = self.full(&job.queue_ref()) {
            return Submitted::QueueFull { max_depth };
        }
        self.accept(now, job, &open)
    }

    fn seen_key(&self, now: Time, job: &Job) -> Option<Submitted> {
        let said = job.idempotency.as_ref()?;
        let before = self.keys.get(&(job.tenant.clone(), said.key.clone()))?;
        let live = before.until > now;
        live.then(|| match before.fingerprint == said.fingerprint {
            true => Submitted::Duplicate { id: before.id },
            false => Submitted::Mismatch { id: before.id },
        })
    }

    fn full(&self, queue: &QueueRef) -> Option<u64> {
        let max_depth = self.queues.get(queue)?.max_depth?;
        (self.counts(queue).depth() >= max_depth).then_some(max_depth)
    }

    /// The parents it has to wait for, or why it cannot.
    fn open_edges(&self, job: &Job) -> std::result::Result<Vec<Dependency>, Submitted> {
        let mut open = Vec::new();
        for &dependency in &job.depends_on {
            let Dependency { parent, on_failure } = dependency;
            let entry = self.job_of(&job.tenant, parent).ok_or(Submitted::UnknownParent { parent })?;
            match (entry.standing.state, on_failure) {
                (State::Succeeded, _) | (State::Dead | State::Cancelled, OnFailure::Run) => {}
                (state @ (State::Dead | State::Cancelled), OnFailure::Cancel) => {
                    return Err(Submitted::FailedParent { parent, state });
                }
                _ => open.push(dependency),
            }
        }
        Ok(open)
    }

    fn accept(&mut self, now: Time, job: &Job, open: &[Dependency]) -> Submitted {
        let is_blocked = !open.is_empty() || self.waits_for_steps(job);
        self.queues.entry(job.queue_ref()).or_default();
        if let Some(said) = &job.idempotency {
            let made = Remembered { id: job.id, fingerprint: said.fingerprint, until: said.until };
            self.keys.insert((job.tenant.clone(), said.key.clone()), made);
        }
        self.open.extend(open.iter().map(|dependency| ((dependency.parent, job.id), dependency.on_failure)));
        self.join(now, job);
        let standing = Standing {
            state: if is_blocked { State::Blocked } else { due(job.run_at, now) },
            paused: false,
            ready_at: job.run_at,
            tally: Tally::default(),
            lease: None,
            checkpoint: None,
            progress: None,
            last_error: None,
            ended: None,
        };
        let entry = Entry { job: job.clone(), standing, executions: Vec::new(), taken_back: None, stands: None };
        let answer = entry.accepted();
        self.jobs.insert(job.id, entry);
        self.place(now, job.id);
        answer
    }

    /// Whether it is a callback and a step of its workflow has not ended. The steps come before it.
    fn waits_for_steps(&self, job: &Job) -> bool {
        let Some(place) = job.workflow.as_ref().filter(|place| place.role == Role::Callback) else { return false };
        let row = self.workflows.get(&(job.tenant.clone(), place.workflow));
        row.is_some_and(|row| self.has_unfinished_steps(row))
    }
}

impl Entry {
    fn accepted(&self) -> Submitted {
        Submitted::Accepted { state: self.standing.state, ready_at: self.standing.ready_at }
    }
}

/// Whether two neighbours of a batch are jobs of one workflow.
fn are_together(one: &Job, next: &Job) -> bool {
    let workflow = |job: &Job| Some((job.tenant.clone(), job.workflow.as_ref()?.workflow));
    workflow(one).is_some() && workflow(one) == workflow(next)
}

/// Where a job goes that is due at `at`.
pub(super) fn due(at: Time, now: Time) -> State {
    if at <= now { State::Ready } else { State::Waiting }
}
