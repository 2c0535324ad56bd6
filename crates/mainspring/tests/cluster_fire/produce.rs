//! A steady load: single jobs, batches and workflows under idempotency keys, some delayed, some cancelled, some submitted again. What is
//! not answered is repeated under the same key, wherever a node answers, until it is.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::{
    Batch, CancelRequest, Catchup, CatchupMode, LimitRule, NewJob, NewSchedule, NewWorkflow, RetryPolicy,
    RetryStrategy, ScheduledJob, Span, Timestamp,
};
use mainspring_worker::{Client, Result, Workflow};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio_util::sync::CancellationToken;

use crate::book::Book;
use crate::watch;

pub const QUEUES: [&str; 2] = ["fire", "smoke"];
/// How many jobs of one key may run at once, whoever claims them.
pub const KEY_LIMIT: u32 = 2;
const KEYS: u64 = 3;
/// The mean pause of a producer between two calls.
const PACE: Duration = Duration::from_millis(60);
/// After an answer that did not come.
const AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Succeeds at its first attempt that ends.
pub const STEADY: &str = "steady";
/// Fails every other time, and is tried again.
pub const FLAKY: &str = "flaky";
/// Always fails, and dies of it.
pub const DOOMED: &str = "doomed";
/// Shares a key with others.
pub const KEYED: &str = "keyed";
/// Takes longer than others.
pub const SLOW: &str = "slow";
/// Is made by a schedule.
pub const TICK: &str = "tick";

pub async fn set_limits(client: &Client) {
    let rule = LimitRule { concurrency: Some(KEY_LIMIT), ..LimitRule::default() };
    client.set_limit("key:fire-*", &rule).await.expect("the rule is set");
}

/// A schedule, and exactly when it fires: every `every_s` seconds from the first to the last.
pub struct Planned {
    pub name: String,
    pub every_s: u64,
    pub first_s: u64,
    pub last_s: u64,
}

/// Schedules that fire while the fire lasts.
pub async fn schedule(client: &Client, fire: Duration) -> Vec<Planned> {
    let now_s = client.cluster().await.expect("the cluster").now.as_millis() / 1_000;
    let mut planned = Vec::new();
    for (number, every_s) in [1, 1, 2, 2].into_iter().enumerate() {
        // Whole even seconds, so that the first and the last are occurrences of both.
        let first_s = (now_s + 3).next_multiple_of(2);
        let last_s = first_s + fire.as_secs().next_multiple_of(2);
        let name = format!("tick-{number}");
        let schedule = NewSchedule {
            cron: Some(format!("*/{every_s} * * * * *")),
            start_at: Some(Timestamp::from_millis(first_s * 1_000)),
            end_at: Some(Timestamp::from_millis(last_s * 1_000)),
            catchup: Some(Catchup { mode: CatchupMode::All, window: None, max: None }),
            job: ScheduledJob {
                kind: TICK.into(),
                queue: Some(QUEUES[number % QUEUES.len()].into()),
                retry: Some(soon()),
                max_attempts: Some(100),
                max_crashes: Some(100),
                ..ScheduledJob::default()
            },
            ..NewSchedule::default()
        };
        client.put_schedule(&name, &schedule, mainspring_worker::Expect::Anything).await.expect("it is made");
        planned.push(Planned { name, every_s, first_s, last_s });
    }
    planned
}

pub async fn produce(client: Client, book: Arc<Book>, seed: u64, stop: CancellationToken) {
    let mut producer = Producer { client, book, random: StdRng::seed_from_u64(seed), seed, count: 0 };
    while !stop.is_cancelled() {
        watch::pause(PACE.mul_f64(producer.random.random_range(0.2..1.8))).await;
        match producer.random.random_range(0..100) {
            0..70 => producer.single().await,
            70..94 => producer.batch().await,
            _ => producer.workflow().await,
        }
    }
}

struct Producer {
    client: Client,
    book: Arc<Book>,
    random: StdRng,
    seed: u64,
    count: u64,
}

impl Producer {
    async fn single(&mut self) {
        let (kind, job) = self.job();
        let id = self.until_answered(|client| {
            let job = job.clone();
            async move { client.submit(&job).await }
        });
        let id = id.await.job_id;
        self.book.accept(id, kind);
        if self.random.random_bool(0.05) {
            // Another client begins elsewhere.
            let again = self.until_answered(|client| {
                let job = job.clone();
                async move { client.submit(&job).await }
            });
            let again = again.await;
            assert_eq!((again.job_id, again.duplicate), (id, true), "the same key made another job");
            self.book.pages().again += 1;
        }
        if job.delay.is_some() && self.random.random_bool(0.2) {
            self.book.pages().cancel_asked.insert(id);
            // Whether it comes too late does not matter, nor whether it is heard.
            let _ = self.client.cancel(id, &CancelRequest::default()).await;
        }
    }

    async fn batch(&mut self) {
        let (kinds, jobs): (Vec<_>, Vec<_>) = (0..self.random.random_range(2..6)).map(|_| self.job()).unzip();
        let answer = self.until_answered(|client| {
            let batch = Batch { jobs: jobs.clone() };
            async move { client.submit_batch(&batch).await }
        });
        for (item, kind) in answer.await.results.iter().zip(kinds) {
            let id = item.job_id.unwrap_or_else(|| panic!("a job of a batch was refused: {:?}", item.problem));
            self.book.accept(id, kind);
        }
    }

    async fn workflow(&mut self) {
        self.count += 1;
        let step = || NewJob { idempotency_key: None, delay: None, ..self.plain(STEADY) };
        let workflow = Workflow::new()
            .job("first", step())
            .job("left", step())
            .after("first")
            .job("right", step())
            .after("first")
            .callback(step())
            .build();
        let key = Some(format!("flow-{}-{}", self.seed, self.count));
        let workflow = NewWorkflow { idempotency_key: key, ..workflow };
        let answer = self.until_answered(|client| {
            let workflow = workflow.clone();
            async move { client.submit_workflow(&workflow).await }
        });
        let answer = answer.await;
        answer.jobs.values().copied().chain(answer.callback_id).for_each(|id| self.book.accept(id, STEADY));
    }

    fn job(&mut self) -> (&'static str, NewJob) {
        self.count += 1;
        let kind = match self.random.random_range(0..100) {
            0..45 => STEADY,
            45..60 => FLAKY,
            60..67 => DOOMED,
            67..90 => KEYED,
            _ => SLOW,
        };
        let delay = self.random.random_bool(0.25).then(|| Span::from_millis(self.random.random_range(50..3_000)));
        let key = (kind == KEYED).then(|| format!("fire-{}", self.random.random_range(0..KEYS)));
        let queue = Some(QUEUES[self.random.random_range(0..QUEUES.len())].to_owned());
        (kind, NewJob { delay, concurrency_key: key, queue, ..self.plain(kind) })
    }

    fn plain(&self, kind: &'static str) -> NewJob {
        NewJob {
            queue: Some(QUEUES[0].into()),
            idempotency_key: Some(format!("job-{}-{}", self.seed, self.count)),
            retry: Some(soon()),
            max_attempts: Some(if kind == DOOMED { 2 } else { 100 }),
            max_crashes: Some(100),
            ..NewJob::new(kind)
        }
    }

    /// Repeats a call until it is answered. A refusal is none that a fault explains.
    async fn until_answered<A, F: Future<Output = Result<A>>>(&self, call: impl Fn(Client) -> F) -> A {
        loop {
            match call(self.client.clone()).await {
                Ok(answer) => return answer,
                Err(error) if error.is_passing() => {
                    assert!(!is_broken(&error), "a server failed: {error}");
                    self.book.pages().repeated += 1;
                    watch::pause(AGAIN_AFTER).await;
                }
                Err(error) => panic!("a producer was refused: {error}"),
            }
        }
    }
}

/// An answer that calls for a person: no fault of a node or of the database is one.
pub fn is_broken(error: &mainspring_worker::Error) -> bool {
    matches!(error, mainspring_worker::Error::Broken(_) | mainspring_worker::Error::Protocol { .. })
}

fn soon() -> RetryPolicy {
    RetryPolicy {
        strategy: RetryStrategy::Fixed,
        base: Some(Span::from_millis(100)),
        jitter: Some(0.0),
        ..RetryPolicy::default()
    }
}
