//! Takes jobs in: gives each an id, a segment and its times, and tells whoever waits for them. Validates nothing:
//! a draft is made of types that are valid, and the door checks the rest.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Idempotency, Job, Json, Keys, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueName, QueueRef, Tag, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::{self, RetryPolicy};
use mainspring_core::store::{self, Submitted};
use mainspring_core::time::Time;

use crate::announce::News;
use crate::dispatch::Along;
use crate::error::Result;
use crate::events::{Event, EventKind};
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

/// A job as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub tenant: TenantName,
    pub queue: QueueName,
    pub kind: TypeName,
    pub data: Json,
    pub priority: Priority,
    pub when: When,
    /// Spreads the run time over `[0, jitter]` after it.
    pub jitter: Duration,
    pub deadline: Option<Time>,
    pub expires: Option<Expiry>,
    pub retry: RetryPolicy,
    pub max_attempts: u32,
    pub max_crashes: u32,
    pub timeout: Option<Duration>,
    pub tags: Vec<Tag>,
    pub idempotency: Option<IdempotencyAsk>,
    pub depends_on: Vec<Dependency>,
    pub keys: Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Now,
    At(Time),
    In(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    At(Time),
    /// After its run time, jitter included.
    In(Duration),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyAsk {
    pub key: IdempotencyKey,
    pub fingerprint: [u8; 16],
    pub retention: Duration,
}

impl IdempotencyAsk {
    pub(crate) fn from(self, now: Time) -> Idempotency {
        Idempotency { key: self.key, fingerprint: self.fingerprint, until: now.after(self.retention) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// For a Duplicate or Mismatch, the job that the key made before.
    pub id: JobId,
    pub answer: Submitted,
}

impl gather::Item for Job {
    /// The store refuses a job whose queue is one too many.
    fn spare(&self) -> Option<Job> {
        Some(self.clone())
    }
}

impl Node {
    pub(crate) async fn submit(&self, drafts: Vec<Draft>) -> Result<Vec<Submission>> {
        let jobs = self.mint_jobs(drafts);
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let answers = self.submits.ask(jobs).await?;
        Ok(ids.into_iter().zip(answers).map(|(id, answer)| Submission::new(id, answer)).collect())
    }

    fn mint_jobs(&self, drafts: Vec<Draft>) -> Vec<Job> {
        let now = self.clock.now();
        let mut press = self.mint.lock();
        let mint = |draft: Draft| {
            let id = press.job(now, &draft.tenant);
            let seed = if draft.jitter.is_zero() { 0 } else { press.seed() };
            draft.into_job(id, now, seed)
        };
        drafts.into_iter().map(mint).collect()
    }

    /// One gathered call, and all that follows from it, whether the callers still listen or not.
    pub(crate) async fn apply_submits(self: Arc<Node>, jobs: Vec<Job>) -> store::Result<Vec<Submitted>> {
        let now = self.clock.now();
        let runs = Run::of(&jobs);
        let told: Option<Vec<(JobId, TypeName)>> =
            self.stage.listening().then(|| jobs.iter().map(|job| (job.id, job.kind.clone())).collect());
        let coming = Run::coming(&runs, &jobs, now);
        let along = if self.settings.joins_calls { self.poll.take_along(&coming) } else { Along::default() };
        let call = self.store.submit(now, jobs);
        let submit = self.meters.time_gathered(Call::Submit, runs.iter().map(|run| run.len).sum(), call);
        // The submit is polled first, so the store has it first.
        let (answers, taken) = tokio::join!(biased; submit, along.ask(&self));
        let answers = answers?;

        let mut news = News::default();
        let mut rest = &answers[..];
        for run in &runs {
            let (own, others) = rest.split_at(run.len);
            rest = others;
            self.count_submitted(&run.queue, own, &mut news);
        }
        news.without(&taken);
        self.announce(now, news);
        if let Some(told) = told {
            let queues = runs.iter().flat_map(|run| std::iter::repeat_n(&run.queue, run.len));
            let told = told.into_iter().zip(queues).zip(&answers);
            let accepted = told.filter(|(_, answer)| matches!(answer, Submitted::Accepted { .. }));
            self.stage.say(|| {
                accepted.map(|(((id, kind), queue), _)| {
                    Event::new(now, EventKind::Submitted).of_queue(queue.clone()).of_job(id).of_type(kind)
                })
            });
        }
        Ok(answers)
    }

    fn count_submitted(&self, queue: &QueueRef, answers: &[Submitted], news: &mut News) {
        let (mut accepted, mut full) = (0, 0);
        for answer in answers {
            match answer {
                Submitted::Accepted { state, ready_at } => {
                    accepted += 1;
                    match state {
                        State::Ready => news.ready(&queue.tenant, &queue.queue),
                        State::Waiting => news.due(*ready_at),
                        _ => {}
                    }
                }
                Submitted::QueueFull { .. } => full += 1,
                Submitted::Duplicate { .. }
                | Submitted::Mismatch { .. }
                | Submitted::UnknownParent { .. }
                | Submitted::FailedParent { .. } => {}
            }
        }
        self.meters.queue(&queue.queue).submitted.increment(accepted);
        if full > 0 {
            self.meters.rejected_queue_full.increment(full);
        }
    }
}

fn is_callback(job: &Job) -> bool {
    job.workflow.as_ref().is_some_and(|place| place.role == Role::Callback)
}

/// Jobs of one queue in a row, so that a batch is counted by queue and not by job.
struct Run {
    queue: QueueRef,
    len: usize,
}

impl Run {
    fn of(jobs: &[Job]) -> Vec<Run> {
        let runs = jobs.chunk_by(|a, b| a.queue == b.queue && a.tenant == b.tenant);
        runs.map(|run| Run { queue: run[0].queue_ref(), len: run.len() }).collect()
    }

    /// How many jobs of each queue will be ready at once, each queue named once.
    fn coming(runs: &[Run], jobs: &[Job], now: Time) -> Vec<(QueueRef, u64)> {
        let mut news = News::default();
        let mut rest = jobs;
        for run in runs {
            let (own, others) = rest.split_at(run.len);
            rest = others;
            let waits = |job: &&Job| !job.depends_on.is_empty() || is_callback(job);
            let due = own.iter().filter(|job| job.run_at <= now && !waits(job)).count();
            (0..due).for_each(|_| news.ready(&run.queue.tenant, &run.queue.queue));
        }
        news.into_ready()
    }
}

impl Submission {
    pub(crate) fn new(minted: JobId, answer: Submitted) -> Submission {
        let id = match answer {
            Submitted::Duplicate { id } | Submitted::Mismatch { id } => id,
            Submitted::Accepted { .. }
            | Submitted::QueueFull { .. }
            | Submitted::UnknownParent { .. }
            | Submitted::FailedParent { .. } => minted,
        };
        Submission { id, answer }
    }
}

impl Draft {
    pub(crate) fn into_job(self, id: JobId, now: Time, seed: u64) -> Job {
        let asked = match self.when {
            When::Now => now,
            When::At(at) => at,
            When::In(wait) => now.after(wait),
        };
        let run_at = asked.after(retry::spread(self.jitter, seed));
        let expires_at = self.expires.map(|expiry| match expiry {
            Expiry::At(at) => at,
            Expiry::In(span) => run_at.after(span),
        });
        let idempotency = self.idempotency.map(|ask| ask.from(now));
        Job {
            id,
            tenant: self.tenant,
            queue: self.queue,
            kind: self.kind,
            data: self.data,
            priority: self.priority,
            submitted_at: now,
            run_at,
            deadline: self.deadline,
            expires_at,
            retry: self.retry,
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout,
            tags: self.tags,
            idempotency,
            depends_on: self.depends_on,
            workflow: None,
            origin: None,
            keys: self.keys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Time = Time::from_millis(1_000_000);

    fn draft() -> Draft {
        Draft {
            tenant: TenantName::default_tenant(),
            queue: QueueName::default_queue(),
            kind: TypeName::parse("mail").unwrap(),
            data: Json::null(),
            priority: Priority::DEFAULT,
            when: When::Now,
            jitter: Duration::ZERO,
            deadline: None,
            expires: None,
            retry: RetryPolicy::default(),
            max_attempts: 3,
            max_crashes: 5,
            timeout: None,
            tags: vec![],
            idempotency: None,
            depends_on: vec![],
            keys: Keys::default(),
        }
    }

    #[test]
    fn a_draft_says_when_from_now_or_by_the_clock() {
        let check = |when: When, expected: Time| {
            assert_eq!(Draft { when, ..draft() }.into_job(JobId::MIN, NOW, 0).run_at, expected, "{when:?}");
        };
        check(When::Now, NOW);
        check(When::At(Time::from_millis(5)), Time::from_millis(5));
        check(When::In(Duration::from_secs(2)), Time::from_millis(1_002_000));
        check(When::In(Duration::MAX), Time::MAX);
    }

    proptest! {
        #[test]
        fn jitter_only_adds_and_expiry_counts_from_the_jittered_time(seed: u64, jitter_ms in 0u64..1 << 40, span in 0u64..1 << 40) {
            let (jitter, span) = (Duration::from_millis(jitter_ms), Duration::from_millis(span));
            let job = Draft { jitter, expires: Some(Expiry::In(span)), ..draft() }.into_job(JobId::MIN, NOW, seed);
            prop_assert!(NOW <= job.run_at && job.run_at <= NOW.after(jitter));
            prop_assert_eq!(job.expires_at, Some(job.run_at.after(span)));
        }
    }
}
