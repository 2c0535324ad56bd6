//! What a node owes, on the memory store and a clock that the tests move. Nothing here sleeps.
//!
//! [`World::still`] has a node whose actors the test ticks by hand, [`World::running`] one that runs by itself.

mod advance;
mod breaker;
mod claim;
mod cluster;
mod command;
mod depend;
mod forecast;
mod limits;
mod lossy;
mod operate;
mod ownership;
mod settle;
mod share;
mod storm;
mod sweep;
mod trigger;
mod turn;
mod worker;
mod workflow;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_core::gate::{Reach, Rule};
use mainspring_core::id::{JobId, NodeId, WorkerId};
use mainspring_core::job::{Claimed, Failure, JobView, Json, Keys};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{LimitKey, QueueName, ScheduleName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_core::schedule::{
    Catchup, LedgerRow, Overlap, Schedule, ScheduleRef, ScheduleView, Spec, Template, What,
};
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::{
    self, ClaimAnswer, Filter, LedgerQuery, Query, Settled, Store, Submitted, Whose, WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::verdict::{Outcome, RetryWish};
use mainspring_store::memory::{Alone, Memory};

use crate::node::{Node, Running};
use crate::{AttemptEnd, ClaimAsk, Clock, Draft, Engine, Expect, ManualClock, Parts, SchedulePut, Settings, When};

const START: Time = Time::from_millis(1_790_000_000_000);

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn tenant() -> TenantName {
    TenantName::default_tenant()
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

/// A job for now, in the default queue, that is tried three times, five seconds apart.
fn draft() -> Draft {
    Draft {
        tenant: tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").unwrap(),
        data: Json::null(),
        priority: Priority::DEFAULT,
        when: When::Now,
        jitter: Duration::ZERO,
        deadline: None,
        expires: None,
        retry: RetryPolicy { backoff: Backoff::Fixed { delay: seconds(5) }, cap: seconds(60), jitter: 0.0 },
        max_attempts: 3,
        max_crashes: 1,
        timeout: None,
        tags: vec![],
        idempotency: None,
        depends_on: vec![],
        keys: Keys::default(),
    }
}

/// One that takes a slot of this key.
fn slot_of(key: &str) -> Draft {
    let concurrency = Some(LimitKey::parse(key).unwrap());
    Draft { keys: Keys { concurrency, ..Keys::default() }, ..draft() }
}

/// One that takes a permit of this key.
fn permit_of(key: &str) -> Draft {
    let rate = Some(LimitKey::parse(key).unwrap());
    Draft { keys: Keys { rate, ..Keys::default() }, ..draft() }
}

fn reach(text: &str) -> Reach {
    Reach::parse(text).unwrap()
}

/// So many at once.
fn at_once(concurrency: u32) -> Rule {
    Rule { concurrency: Some(concurrency), ..Rule::default() }
}

fn due_in(wait: Duration) -> Draft {
    Draft { when: When::In(wait), ..draft() }
}

/// A schedule that makes the jobs of [`draft`], counted from the start.
fn schedule(name: &str, every: Duration) -> Schedule {
    let draft = draft();
    Schedule {
        tenant: tenant(),
        name: ScheduleName::parse(name).unwrap(),
        when: mainspring_core::schedule::When::new(vec![Spec::Every { every, anchor: Some(START) }]),
        job: Template {
            retry: draft.retry,
            max_attempts: draft.max_attempts,
            max_crashes: draft.max_crashes,
            ..Template::new(draft.kind)
        },
        catchup: Catchup::default(),
        overlap: Overlap::Allow,
        jitter: Duration::ZERO,
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

fn ask(worker: WorkerId, wait: Duration) -> ClaimAsk {
    ClaimAsk { worker, tenant: tenant(), whose: Whose::Own, queues: vec![QueueName::default_queue()], max: 10, wait }
}

fn done() -> Outcome {
    Outcome::Succeeded { result: None }
}

fn failed() -> Outcome {
    Outcome::Failed { error: Failure::new("boom"), retry: RetryWish::AsPolicy }
}

fn end(claimed: &Claimed, outcome: Outcome) -> AttemptEnd {
    AttemptEnd { lease: claimed.lease_id(), tenant: claimed.job.tenant.clone(), outcome }
}

fn jobs(answer: ClaimAnswer) -> Vec<Claimed> {
    match answer {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("expected jobs, got {other:?}"),
    }
}

/// On the one thread of a test everybody has had their turn after this many.
async fn settled_down() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn ids(claimed: &[Claimed]) -> Vec<JobId> {
    claimed.iter().map(|claimed| claimed.job.id).collect()
}

/// Seats that a test can take out of reach.
#[derive(Debug, Default)]
struct FlakySeats {
    seats: Arc<Memory>,
    out_of_reach: AtomicBool,
    /// How often somebody gave seats up.
    given_up: AtomicUsize,
    /// The store's own clock, if it has one.
    clock: Mutex<Option<Time>>,
}

impl FlakySeats {
    fn of(seats: Arc<Memory>) -> Arc<FlakySeats> {
        Arc::new(FlakySeats { seats, ..FlakySeats::default() })
    }

    fn reach(&self) -> store::Result<&Memory> {
        match self.out_of_reach.load(Ordering::Relaxed) {
            true => Err(store::Error::Unavailable("out of reach".into())),
            false => Ok(&self.seats),
        }
    }

    fn set_clock(&self, now: Option<Time>) {
        *self.clock.lock().unwrap() = now;
    }

    fn set_out_of_reach(&self, out_of_reach: bool) {
        self.out_of_reach.store(out_of_reach, Ordering::Relaxed);
    }
}

#[async_trait]
impl Seats for FlakySeats {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> store::Result<Roll> {
        self.reach()?.renew(now, node, until).await
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> store::Result<Vec<Term>> {
        self.reach()?.take(now, node, seats, until).await
    }

    async fn give_up(&self, now: Time, node: NodeId, seats: Vec<Seat>) -> store::Result<()> {
        self.given_up.fetch_add(1, Ordering::Relaxed);
        self.reach()?.give_up(now, node, seats).await
    }

    async fn assign(&self, now: Time, assign: Assign) -> store::Result<Assigned> {
        self.reach()?.assign(now, assign).await
    }

    async fn leave(&self, now: Time, node: NodeId) -> store::Result<()> {
        self.reach()?.leave(now, node).await
    }

    async fn roll(&self) -> store::Result<Roll> {
        self.reach()?.roll().await
    }

    async fn clock(&self) -> store::Result<Option<Time>> {
        Ok(*self.clock.lock().unwrap())
    }
}

/// What a node stands on.
#[derive(Clone)]
struct Ground {
    clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    seats: Arc<FlakySeats>,
}

impl Ground {
    fn new() -> Ground {
        let store = Arc::new(Memory::new());
        Ground::with(store.clone(), store)
    }

    /// A store that keeps its seats in this one.
    fn with(store: Arc<dyn Store>, seats: Arc<Memory>) -> Ground {
        Ground { clock: Arc::new(ManualClock::new(START)), store, seats: FlakySeats::of(seats) }
    }

    fn parts(&self) -> Parts {
        let Ground { clock, store, seats } = self.clone();
        Parts { store, seats, wakeups: Arc::new(Alone), clock }
    }
}

struct World {
    ground: Ground,
    engine: Engine,
}

impl World {
    async fn running() -> World {
        World::on(Ground::new()).await
    }

    async fn on(ground: Ground) -> World {
        let engine = Engine::start(ground.parts(), Settings::default()).await.unwrap();
        World { ground, engine }
    }

    /// A node whose actors nobody ticks but the test.
    fn still() -> World {
        World::still_on(Ground::new())
    }

    fn still_on(ground: Ground) -> World {
        let (node, ends) = Node::new(ground.parts(), Settings::default());
        let engine = Engine::of(Running::verbs_alone(node, ends));
        World { ground, engine }
    }

    fn node(&self) -> Arc<Node> {
        self.engine.shared()
    }

    fn now(&self) -> Time {
        self.ground.clock.now()
    }

    async fn submit(&self, draft: Draft) -> JobId {
        let submission = self.engine.submit(vec![draft]).await.unwrap().pop().unwrap();
        assert!(matches!(submission.answer, Submitted::Accepted { .. }), "{submission:?}");
        submission.id
    }

    async fn worker(&self) -> WorkerId {
        self.engine.register(tenant(), WorkerInfo::default(), None).await.unwrap().worker
    }

    /// A claim that waits, on a task of its own. It is parked, or served, when this returns.
    async fn waiting(&self, ask: ClaimAsk) -> tokio::task::JoinHandle<Vec<Claimed>> {
        let engine = self.engine.clone();
        let claim = tokio::spawn(async move { jobs(engine.claim(ask).await.unwrap()) });
        settled_down().await;
        claim
    }

    async fn limit(&self, text: &str, rule: Rule) {
        self.engine.set_limit(tenant(), reach(text), rule).await.unwrap();
    }

    async fn claim_now(&self, worker: WorkerId) -> Vec<Claimed> {
        jobs(self.engine.claim(ask(worker, Duration::ZERO)).await.unwrap())
    }

    async fn settle(&self, claimed: &Claimed, outcome: Outcome) -> Settled {
        self.engine.settle(vec![end(claimed, outcome)]).await.unwrap().pop().unwrap()
    }

    async fn view(&self, id: JobId) -> Option<JobView> {
        self.ground.store.get(&tenant(), vec![id]).await.unwrap().pop().unwrap()
    }

    async fn state(&self, id: JobId) -> State {
        self.view(id).await.expect("there is such a job").standing.state
    }

    async fn put(&self, schedule: Schedule) -> ScheduleRef {
        let put = self.engine.put_schedule(schedule.clone(), Expect::Anything).await.unwrap();
        assert!(matches!(put, SchedulePut::Created(_) | SchedulePut::Replaced(_)), "{put:?}");
        schedule.reference()
    }

    async fn schedule(&self, at: &ScheduleRef) -> ScheduleView {
        self.ground.store.schedule(at).await.unwrap().expect("there is such a schedule")
    }

    /// The whole ledger, oldest first.
    async fn ledger(&self, at: &ScheduleRef) -> Vec<LedgerRow> {
        let (mut rows, mut below) = (vec![], None);
        loop {
            let query = LedgerQuery { schedule: at.clone(), below, limit: 1_000 };
            let page = self.ground.store.ledger(query).await.unwrap();
            rows.extend(page.rows);
            below = page.next;
            if below.is_none() {
                rows.reverse();
                return rows;
            }
        }
    }

    /// What became of each occurrence, oldest first.
    async fn fates(&self, at: &ScheduleRef) -> Vec<What> {
        self.ledger(at).await.into_iter().map(|row| row.what).collect()
    }

    /// The jobs of a schedule, oldest first.
    async fn made_by(&self, at: &ScheduleRef) -> Vec<JobView> {
        let (mut jobs, mut below) = (vec![], None);
        loop {
            let filter = Filter { schedule: Some(at.name.clone()), ..Filter::default() };
            let page = self.ground.store.find(Query { tenant: tenant(), filter, below, limit: 1_000 }).await.unwrap();
            jobs.extend(page.jobs);
            below = page.next;
            if below.is_none() {
                jobs.reverse();
                return jobs;
            }
        }
    }
}
