//! Takes jobs in, one after the other: a later job of a batch sees the earlier ones. Makes no ids.

use mainspring_core::job::{Job, Standing, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Result, Submitted};
use mainspring_core::time::Time;

use super::book::{Book, Entry, Remembered};

impl Book {
    pub(super) fn submit(&mut self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        self.has_room_for(jobs.iter().map(Job::queue_ref))?;
        Ok(jobs.into_iter().map(|job| self.submit_one(now, job)).collect())
    }

    fn submit_one(&mut self, now: Time, job: Job) -> Submitted {
        if let Some(seen) = self.jobs.get(&job.id) {
            return Submitted::Accepted { state: seen.standing.state, ready_at: seen.standing.ready_at };
        }
        if let Some(answer) = self.seen_key(now, &job) {
            return answer;
        }
        if let Some(max_depth) = self.full(&job.queue_ref()) {
            return Submitted::QueueFull { max_depth };
        }
        self.accept(now, job)
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

    fn accept(&mut self, now: Time, job: Job) -> Submitted {
        let (state, ready_at) = (due(job.run_at, now), job.run_at);
        self.queues.entry(job.queue_ref()).or_default();
        if let Some(said) = &job.idempotency {
            let made = Remembered { id: job.id, fingerprint: said.fingerprint, until: said.until };
            self.keys.insert((job.tenant.clone(), said.key.clone()), made);
        }
        let standing = Standing {
            state,
            paused: false,
            ready_at,
            tally: Tally::default(),
            lease: None,
            checkpoint: None,
            progress: None,
            last_error: None,
            ended: None,
        };
        self.jobs.insert(job.id, Entry { job, standing, executions: Vec::new(), taken_back: None });
        Submitted::Accepted { state, ready_at }
    }
}

/// Where a job goes that is due at `at`.
pub(super) fn due(at: Time, now: Time) -> State {
    if at <= now { State::Ready } else { State::Waiting }
}
