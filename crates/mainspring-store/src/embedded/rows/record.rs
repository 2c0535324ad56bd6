//! The job as it was submitted, and the key it was submitted under.

use std::time::Duration;

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Idempotency, Job, Json, Keys, Role};
use mainspring_core::name::{IdempotencyKey, QueueRef, Tag, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::Ways;
use super::bonds::{BondsRow, Trailing};

/// The job as submitted. The defaults that most jobs share are not written out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record<'a> {
    pub queue: u32,
    kind: &'a str,
    data: &'a str,
    priority: i16,
    submitted_ms: u64,
    run_ms: u64,
    deadline_ms: Option<u64>,
    expires_ms: Option<u64>,
    retry: Option<RetryRow>,
    max_attempts: u32,
    max_crashes: u32,
    timeout_ms: Option<u64>,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    #[serde(borrow)]
    idempotency: Option<(&'a str, [u8; 16], u64)>,
    #[serde(borrow)]
    bonds: Trailing<BondsRow<'a>>,
}

impl<'a> Record<'a> {
    pub fn run_at(&self) -> Time {
        Time::from_millis(self.run_ms)
    }

    pub fn priority(&self) -> Priority {
        Priority::new(self.priority.into()).unwrap_or_default()
    }

    pub fn deadline(&self) -> Option<Time> {
        self.deadline_ms.map(Time::from_millis)
    }

    pub fn may_block(&self) -> bool {
        self.bonds.0.as_ref().is_some_and(BondsRow::may_block)
    }

    /// Which gates of type and keys it passes.
    pub fn ways(&self) -> Ways {
        let (concurrency, rate, weight) = self.bonds.0.as_ref().map_or((None, None, 1), BondsRow::keys);
        Ways::new(self.kind, concurrency, rate, weight)
    }

    /// The workflow it belongs to, and as what.
    pub fn membership(&self) -> Option<(WorkflowId, Role)> {
        self.bonds.0.as_ref()?.membership()
    }

    pub fn of(job: &'a Job, queue: u32) -> Record<'a> {
        Record {
            queue,
            kind: job.kind.as_str(),
            data: job.data.as_str(),
            priority: job.priority.value(),
            submitted_ms: job.submitted_at.as_millis(),
            run_ms: job.run_at.as_millis(),
            deadline_ms: job.deadline.map(Time::as_millis),
            expires_ms: job.expires_at.map(Time::as_millis),
            retry: (job.retry != RetryPolicy::default()).then(|| RetryRow::of(&job.retry)),
            max_attempts: job.max_attempts,
            max_crashes: job.max_crashes,
            timeout_ms: job.timeout.map(|timeout| timeout.as_millis() as u64),
            tags: job.tags.iter().map(Tag::as_str).collect(),
            idempotency: job.idempotency.as_ref().map(|it| (it.key.as_str(), it.fingerprint, it.until.as_millis())),
            bonds: Trailing(BondsRow::of(job)),
        }
    }

    pub fn job(self, id: JobId, queue: &QueueRef) -> Result<Job> {
        let name = |error| Error::Damaged(format!("job {id} carries a bad name: {error}"));
        let mut job = Job {
            id,
            tenant: queue.tenant.clone(),
            queue: queue.queue.clone(),
            kind: TypeName::parse(self.kind).map_err(name)?,
            data: Json(self.data.into()),
            priority: Priority::new(self.priority.into()).unwrap_or_default(),
            submitted_at: Time::from_millis(self.submitted_ms),
            run_at: Time::from_millis(self.run_ms),
            deadline: self.deadline_ms.map(Time::from_millis),
            expires_at: self.expires_ms.map(Time::from_millis),
            retry: self.retry.map(RetryRow::policy).unwrap_or_default(),
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout_ms.map(Duration::from_millis),
            tags: self.tags.into_iter().map(Tag::parse).collect::<std::result::Result<_, _>>().map_err(name)?,
            idempotency: match self.idempotency {
                None => None,
                Some((key, fingerprint, until)) => Some(Idempotency {
                    key: IdempotencyKey::parse(key).map_err(name)?,
                    fingerprint,
                    until: Time::from_millis(until),
                }),
            },
            depends_on: vec![],
            workflow: None,
            origin: None,
            keys: Keys::default(),
        };
        if let Some(bonds) = self.bonds.0 {
            bonds.tie(&mut job).map_err(name)?;
        }
        Ok(job)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct RetryRow {
    backoff: BackoffRow,
    cap_ms: u64,
    jitter: f64,
}

#[derive(Debug, Serialize, Deserialize)]
enum BackoffRow {
    Fixed(u64),
    Linear(u64),
    Exponential(u64, f64),
    List(Vec<u64>),
}

impl RetryRow {
    pub fn of(policy: &RetryPolicy) -> RetryRow {
        let ms = |wait: &Duration| wait.as_millis() as u64;
        let backoff = match &policy.backoff {
            Backoff::Fixed { delay } => BackoffRow::Fixed(ms(delay)),
            Backoff::Linear { step } => BackoffRow::Linear(ms(step)),
            Backoff::Exponential { base, factor } => BackoffRow::Exponential(ms(base), *factor),
            Backoff::List { delays } => BackoffRow::List(delays.iter().map(ms).collect()),
        };
        RetryRow { backoff, cap_ms: ms(&policy.cap), jitter: policy.jitter }
    }

    pub fn policy(self) -> RetryPolicy {
        let wait = Duration::from_millis;
        let backoff = match self.backoff {
            BackoffRow::Fixed(ms) => Backoff::Fixed { delay: wait(ms) },
            BackoffRow::Linear(ms) => Backoff::Linear { step: wait(ms) },
            BackoffRow::Exponential(ms, factor) => Backoff::Exponential { base: wait(ms), factor },
            BackoffRow::List(delays) => Backoff::List { delays: delays.into_iter().map(wait).collect() },
        };
        RetryPolicy { backoff, cap: wait(self.cap_ms), jitter: self.jitter }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct KeyRow {
    pub id: [u8; 16],
    pub fingerprint: [u8; 16],
    pub until_ms: u64,
}
