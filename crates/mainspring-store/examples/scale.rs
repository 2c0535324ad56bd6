//! cargo run --release -p mainspring-store --example scale -- [children] [schedules] [due] [round]
//!
//! What dependencies, workflows and schedules cost the embedded store: a parent with many children that is settled while
//! others claim, a large workflow in one call, many schedules put, and many of them due at one instant.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mainspring_core::id::{JobId, WorkerId, WorkflowId};
use mainspring_core::job::{Dependency, Job, Json, Keys, Membership, OnFailure, Origin, Role};
use mainspring_core::name::{QueueName, ScheduleName, StepName, TenantName, TypeName};
use mainspring_core::placement::Placement;
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::schedule::{
    Catchup, LedgerRow, Overlap, Schedule, ScheduleView, Spec, Standing, Template, What, When, occurrence_id,
};
use mainspring_core::seats::Warrants;
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::{
    Beat, BeatKind, Claim, ClaimAnswer, Error, Promote, Settlement, Store, Submitted, To, Turn, Turned, Whose,
    WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use mainspring_store::embedded::{Embedded, Options};

const NOW: Time = Time::from_millis(1_800_000_000_000);
const WORKER: WorkerId = WorkerId(uuid::Uuid::from_u128(1));
/// Schedules put in one turn, edges and jobs in one step.
const STEP: usize = 1_000;
/// How many jobs of others are done before the parent is settled.
const WARM_UP: u64 = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let children = arguments.next().transpose()?.unwrap_or(10_000);
    let schedules = arguments.next().transpose()?.unwrap_or(1_000_000);
    let due = arguments.next().transpose()?.unwrap_or(100_000);
    let round = arguments.next().transpose()?.unwrap_or(1_000);

    let dir = tempfile::tempdir_in(".")?;
    let store: Arc<dyn Store> = Arc::new(Embedded::open(Options::new(dir.path()))?);
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(3600) };
    store.heartbeat(NOW, vec![Beat { worker: WORKER, tenant: TenantName::default_tenant(), kind }]).await?;

    fan_out(&store, children).await?;
    workflow(&store, children).await?;
    put_schedules(&store, schedules, due).await?;
    fire(&store, due, round as usize).await?;
    Ok(())
}

/// A parent with many children is settled while others submit, claim and settle.
async fn fan_out(store: &Arc<dyn Store>, children: u32) -> Result<(), Box<dyn std::error::Error>> {
    let parent = job(0, "parents");
    let edge = Dependency { parent: parent.id, on_failure: OnFailure::Cancel };
    store.submit(NOW, vec![parent]).await?;
    let jobs: Vec<Job> = (1..=children).map(|n| Job { depends_on: vec![edge], ..job(n, "children") }).collect();
    let started = Instant::now();
    for jobs in jobs.chunks(10_000) {
        store.submit(NOW, jobs.to_vec()).await?;
    }
    println!("{children} children submitted: {:.1?}", started.elapsed());

    let done = Arc::new(AtomicBool::new(false));
    let (slowest, lifecycles) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let others = Others {
        store: Arc::clone(store),
        done: Arc::clone(&done),
        slowest: Arc::clone(&slowest),
        lifecycles: Arc::clone(&lifecycles),
    };
    let others = tokio::spawn(others.live(children + 1));
    while lifecycles.load(Ordering::Relaxed) < WARM_UP {
        tokio::task::yield_now().await;
    }
    let before = slowest.swap(0, Ordering::Relaxed);

    let parent = claim(store, "parents", 1).await?;
    let started = Instant::now();
    settle(store, parent).await?;
    let settled = started.elapsed();
    let (mut steps, mut longest) = (0, Duration::ZERO);
    loop {
        let step = Instant::now();
        let promoted = store.promote(NOW, promote(NOW)).await?;
        (steps, longest) = (steps + 1, longest.max(step.elapsed()));
        if !promoted.more {
            break;
        }
    }
    let released = started.elapsed();
    done.store(true, Ordering::Relaxed);
    others.await??;
    let lifecycles = lifecycles.load(Ordering::Relaxed) - WARM_UP;
    println!(
        "its parent settled: {settled:.1?}; all released after {released:.1?} in {steps} steps, the longest {longest:.1?}"
    );
    println!(
        "meanwhile {lifecycles} jobs of others; slowest call {:.1} ms (before: {:.1} ms)",
        slowest.load(Ordering::Relaxed) as f64 / 1e3,
        before as f64 / 1e3
    );
    Ok(())
}

/// Those who have nothing to do with it.
struct Others {
    store: Arc<dyn Store>,
    done: Arc<AtomicBool>,
    /// How long the slowest call took, in microseconds.
    slowest: Arc<AtomicU64>,
    lifecycles: Arc<AtomicU64>,
}

impl Others {
    /// Submits, claims and settles one job after the other.
    async fn live(self, first: u32) -> Result<(), Error> {
        for n in first.. {
            if self.done.load(Ordering::Relaxed) {
                break;
            }
            self.timed(self.store.submit(NOW, vec![job(n, "others")])).await?;
            let claimed = self.timed(claim(&self.store, "others", 1)).await?;
            self.timed(settle(&self.store, claimed)).await?;
            self.lifecycles.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn timed<T>(&self, call: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let answer = call.await;
        self.slowest.fetch_max(started.elapsed().as_micros() as u64, Ordering::Relaxed);
        answer
    }
}

/// A workflow of layers of a hundred steps, each waiting for three of the layer before, submitted in one call and run.
async fn workflow(store: &Arc<dyn Store>, steps: u32) -> Result<(), Box<dyn std::error::Error>> {
    let first = 50_000_000;
    let place = |n: u32, role| {
        let step = StepName::parse(&format!("step-{n}")).expect("a name");
        Some(Box::new(Membership { workflow: WorkflowId(uuid::Uuid::from_u128(7)), step, role }))
    };
    let step = |n: u32| {
        let layer = n / 100 * 100;
        let parents = (0..3).filter(|_| layer > 0).map(|k| first + layer - 100 + (n + k * 7) % 100);
        let edge = |parent: u32| Dependency { parent: job(parent, "steps").id, on_failure: OnFailure::Cancel };
        Job { depends_on: parents.map(edge).collect(), workflow: place(n, Role::Step), ..job(first + n, "steps") }
    };
    let mut jobs: Vec<Job> = (0..steps - 1).map(step).collect();
    jobs.push(Job { workflow: place(steps - 1, Role::Callback), ..job(first + steps - 1, "steps") });
    let started = Instant::now();
    let answers = store.submit(NOW, jobs).await?;
    assert!(answers.iter().all(|answer| matches!(answer, Submitted::Accepted { .. })), "{:?}", answers[0]);
    println!("a workflow of {steps} jobs submitted: {:.1?}", started.elapsed());

    let started = Instant::now();
    let mut ended = 0;
    while ended < steps as usize {
        let claimed = claim(store, "steps", STEP).await?;
        ended += claimed.len();
        settle(store, claimed).await?;
        while store.promote(NOW, promote(NOW)).await?.more {}
    }
    let took = started.elapsed();
    println!("and run through its layers: {took:.1?}, {:.0} steps/s", f64::from(steps) / took.as_secs_f64());
    Ok(())
}

/// The first `due` of them are due at one instant.
async fn put_schedules(store: &Arc<dyn Store>, schedules: u32, due: u32) -> Result<(), Box<dyn std::error::Error>> {
    let memory = memory_kb();
    let started = Instant::now();
    for first in (0..schedules).step_by(STEP) {
        let put = |n: u32| {
            // Names are not in the order of anything: those that are due lie everywhere among the others.
            let schedule = schedule(n.wrapping_mul(2_654_435_761));
            let wake_at = NOW.after(Duration::from_secs(if n < due { 60 } else { 3600 + u64::from(n) }));
            let standing = standing(wake_at);
            let to = To::Put { schedule: Box::new(schedule.clone()), standing };
            Turn { schedule: schedule.reference(), expect: None, to, jobs: Vec::new(), rows: Vec::new(), warrant: None }
        };
        let turns = (first..(first + STEP as u32).min(schedules)).map(put).collect();
        let answers = store.turn(NOW, turns).await?;
        assert!(answers.iter().all(|answer| matches!(answer, Turned::Done { .. })), "{:?}", answers[0]);
    }
    let took = started.elapsed();
    println!("{schedules} schedules put: {took:.1?}, {:.0}/s", f64::from(schedules) / took.as_secs_f64());
    println!("memory grew by {} MB of our own", (memory_kb().saturating_sub(memory)) / 1024);
    Ok(())
}

/// Lists what is due and moves it on, each with its job and its ledger row, until nothing is.
async fn fire(store: &Arc<dyn Store>, due: u32, round: usize) -> Result<(), Box<dyn std::error::Error>> {
    let now = NOW.after(Duration::from_secs(60));
    let memory = memory_kb();
    let started = Instant::now();
    let (mut fired, mut listing) = (0, Duration::ZERO);
    loop {
        let asked = Instant::now();
        let promoted = store.promote(now, Promote { due_limit: round, ..promote(now) }).await?;
        listing += asked.elapsed();
        if promoted.due.is_empty() {
            break;
        }
        fired += promoted.due.len();
        let answers = store.turn(now, promoted.due.iter().map(|view| turn(now, view)).collect()).await?;
        assert!(answers.iter().all(|answer| matches!(answer, Turned::Done { .. })), "{:?}", answers[0]);
    }
    let took = started.elapsed();
    assert_eq!(fired, due as usize, "each fires once");
    println!(
        "{due} due at once, listed and moved: {took:.1?} ({listing:.1?} listing), {:.0}/s",
        f64::from(due) / took.as_secs_f64()
    );
    println!("memory grew by {} MB of our own", (memory_kb().saturating_sub(memory)) / 1024);
    Ok(())
}

fn turn(now: Time, view: &ScheduleView) -> Turn {
    let schedule = view.schedule.reference();
    let occurrence = view.standing.next.expect("it is due");
    let id = occurrence_id(&schedule, Placement::ONE, view.standing.created_at, occurrence);
    let origin = Origin { schedule: schedule.name.clone(), occurrence };
    let job = Job { id, origin: Some(Box::new(origin)), run_at: occurrence, ..job(0, "fired") };
    let next = occurrence.after(Duration::from_secs(3600));
    let standing = Standing {
        last: occurrence,
        next: Some(next),
        wake_at: Some(next),
        runs: view.standing.runs + 1,
        last_job: Some(id),
        last_fired: Some(now),
        ..view.standing.clone()
    };
    let rows = vec![LedgerRow::one(occurrence, now, What::Fired { job: id, late_ms: 0 })];
    Turn { schedule, expect: Some(view.version), to: To::Move(standing), jobs: vec![job], rows, warrant: None }
}

fn schedule(n: u32) -> Schedule {
    Schedule {
        tenant: TenantName::default_tenant(),
        name: ScheduleName::parse(&format!("report-{n:08x}")).expect("a name"),
        when: When::new(vec![Spec::Cron("0 9 * * mon-fri".into())]),
        job: Template {
            data: Json(format!("\"{}\"", "x".repeat(198)).into()),
            ..Template::new(TypeName::parse("report").expect("a name"))
        },
        catchup: Catchup::default(),
        overlap: Overlap::default(),
        jitter: Duration::ZERO,
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

fn standing(wake_at: Time) -> Standing {
    Standing {
        revision: 1,
        created_at: NOW,
        updated_at: NOW,
        pause: None,
        last: NOW,
        next: Some(wake_at),
        wake_at: Some(wake_at),
        runs: 0,
        last_job: None,
        last_fired: None,
    }
}

fn promote(now: Time) -> Promote {
    Promote {
        segments: Segments::ALL,
        warrants: Warrants::NONE,
        limit: STEP,
        look_ahead_until: now,
        look_ahead_limit: 0,
        due_limit: STEP,
    }
}

async fn claim(store: &Arc<dyn Store>, queue: &str, max: usize) -> Result<Vec<Settlement>, Error> {
    let queues = vec![QueueName::parse(queue).expect("a name")];
    let claim = Claim { worker: WORKER, tenant: TenantName::default_tenant(), whose: Whose::Own, queues, max };
    let answers = store.claim(NOW, vec![claim]).await?;
    let Some(ClaimAnswer::Jobs(claimed)) = answers.into_iter().next() else { panic!("the worker is registered") };
    let succeed = |lease| Settlement { lease, verdict: Verdict::Succeed { result: None } };
    Ok(claimed.iter().map(|claimed| succeed(claimed.lease_id())).collect())
}

async fn settle(store: &Arc<dyn Store>, settlements: Vec<Settlement>) -> Result<(), Error> {
    store.settle(NOW, settlements).await.map(drop)
}

/// What is resident and not a page of a mapped file.
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn job(n: u32, queue: &str) -> Job {
    Job {
        id: JobId::mint(NOW, n, Segment::wrap(n as u8), u64::from(n)),
        tenant: TenantName::default_tenant(),
        queue: QueueName::parse(queue).expect("a name"),
        kind: TypeName::parse("noop").expect("a name"),
        data: Json(format!("\"{}\"", "x".repeat(198)).into()),
        priority: Priority::DEFAULT,
        submitted_at: NOW,
        run_at: NOW,
        deadline: None,
        expires_at: None,
        retry: RetryPolicy::default(),
        max_attempts: 3,
        max_crashes: 5,
        timeout: None,
        tags: Vec::new(),
        idempotency: None,
        depends_on: Vec::new(),
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}
