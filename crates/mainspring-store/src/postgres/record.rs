//! The job as it was submitted: its columns in `jobs`, both directions. What happens to it later is in [`super::slip`].

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Failure, Job, Json, Keys};
use mainspring_core::name::{LimitKey, QueueRef, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::store::Result;
use tokio_postgres::Row;
use tokio_postgres::types::{Json as JsonCell, Type};
use uuid::Uuid;

use super::bulk::{Column, Insert, Way};
use super::error::damaged;
use super::extras::Extras;
use super::numbers::{ms, time};

/// The columns of many jobs.
#[derive(Debug, Default)]
pub(super) struct Records {
    ids: Vec<Uuid>,
    queues: Vec<i32>,
    priorities: Vec<i16>,
    weights: Vec<i32>,
    submitted: Vec<i64>,
    runs: Vec<i64>,
    max_attempts: Vec<i32>,
    max_crashes: Vec<i32>,
    deadlines: Vec<Option<i64>>,
    expiries: Vec<Option<i64>>,
    timeouts: Vec<Option<i64>>,
    workflows: Vec<Option<Uuid>>,
    kinds: Vec<String>,
    schedules: Vec<Option<String>>,
    concurrency: Vec<Option<String>>,
    rates: Vec<Option<String>>,
    data: Vec<String>,
    extras: Vec<Option<JsonCell<Extras>>>,
}

impl Records {
    pub fn push(&mut self, job: &Job, queue: i32) {
        let key = |key: &Option<LimitKey>| key.as_ref().map(|key| key.as_str().to_owned());
        self.ids.push(job.id.uuid());
        self.queues.push(queue);
        self.priorities.push(job.priority.value());
        self.weights.push(job.keys.weight.into());
        self.submitted.push(ms(job.submitted_at));
        self.runs.push(ms(job.run_at));
        // The same 32 bits: whatever was accepted reads back as it was.
        self.max_attempts.push(job.max_attempts as i32);
        self.max_crashes.push(job.max_crashes as i32);
        self.deadlines.push(job.deadline.map(ms));
        self.expiries.push(job.expires_at.map(ms));
        self.timeouts.push(job.timeout.map(|timeout| timeout.as_millis() as i64));
        self.workflows.push(job.workflow.as_ref().map(|it| it.workflow.0));
        self.kinds.push(job.kind.as_str().to_owned());
        self.schedules.push(job.origin.as_ref().map(|it| it.schedule.as_str().to_owned()));
        self.concurrency.push(key(&job.keys.concurrency));
        self.rates.push(key(&job.keys.rate));
        self.data.push(job.data.as_str().to_owned());
        self.extras.push(Extras::of(job).map(JsonCell));
    }
}

static JOBS: Way = Way {
    unnest: include_str!("sql/submit_jobs.sql"),
    copy: include_str!("sql/copy_jobs.sql"),
    types: &[
        Type::UUID,
        Type::INT4,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::JSONB,
    ],
};

impl Records {
    pub fn insert(&self) -> Insert<'_> {
        let columns = vec![
            &self.ids as &dyn Column,
            &self.queues,
            &self.priorities,
            &self.weights,
            &self.submitted,
            &self.runs,
            &self.max_attempts,
            &self.max_crashes,
            &self.deadlines,
            &self.expiries,
            &self.timeouts,
            &self.workflows,
            &self.kinds,
            &self.schedules,
            &self.concurrency,
            &self.rates,
            &self.data,
            &self.extras,
        ];
        Insert { way: &JOBS, rows: self.ids.len(), columns }
    }
}

/// How many columns [`job`] reads.
pub(super) const COLUMNS: usize = 17;

/// Reads a job from the columns of a row that begin at `first` and are, in this order (names would be looked up row by
/// row, and claims read many): `id, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at,
/// timeout_ms, workflow, kind, schedule, concurrency_key, rate_key, data, extras::text`.
pub(super) fn job(row: &Row, first: usize, queue: &QueueRef) -> Result<Job> {
    let id = JobId::from(row.get::<_, Uuid>(first));
    let bad = |what: String| damaged(format!("job {id}, which cannot be read: {what}"));
    let key = |at: usize| row.get::<_, Option<&str>>(first + at).map(LimitKey::parse).transpose();
    let at = |at: usize| row.get::<_, Option<i64>>(first + at);
    let mut job = Job {
        id,
        tenant: queue.tenant.clone(),
        queue: queue.queue.clone(),
        kind: TypeName::parse(row.get(first + 11)).map_err(|error| bad(error.to_string()))?,
        data: Json(row.get::<_, &str>(first + 15).into()),
        priority: Priority::new(row.get::<_, i16>(first + 1).into()).unwrap_or_default(),
        submitted_at: time(row.get(first + 3)),
        run_at: time(row.get(first + 4)),
        deadline: at(7).map(time),
        expires_at: at(8).map(time),
        retry: RetryPolicy::default(),
        max_attempts: row.get::<_, i32>(first + 5) as u32,
        max_crashes: row.get::<_, i32>(first + 6) as u32,
        timeout: at(9).map(|ms| Duration::from_millis(ms.unsigned_abs())),
        tags: Vec::new(),
        idempotency: None,
        depends_on: Vec::new(),
        workflow: None,
        origin: None,
        keys: Keys {
            concurrency: key(13).map_err(|error| bad(error.to_string()))?,
            rate: key(14).map_err(|error| bad(error.to_string()))?,
            weight: u16::try_from(row.get::<_, i32>(first + 2)).unwrap_or(u16::MAX),
        },
    };
    if let Some(extras) = row.get::<_, Option<&str>>(first + 16) {
        let extras = Extras::read(extras).map_err(bad)?;
        extras.give(&mut job, row.get(first + 10), row.get(first + 12)).map_err(bad)?;
    }
    Ok(job)
}

/// Three columns from `first`: message, kind and detail of an error, if there is one.
pub(super) fn failure(row: &Row, first: usize) -> Option<Failure> {
    let message: Option<String> = row.get(first);
    message.map(|message| Failure { message, kind: row.get(first + 1), detail: row.get(first + 2) })
}
