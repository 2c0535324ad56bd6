//! cargo run --release -p mainspring-store --example limits -- [parked] [rounds] [batch]
//!
//! What limits cost the embedded store: claims of unlimited jobs beside many that are parked on one key, against a store
//! with an otherwise empty queue; and full lifecycles under two rules that hold nobody back, against none. The stores take
//! turns, so that whatever else the machine does meets all of them; medians are compared, and a second store like the
//! first shows how much of it is noise.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::time::{Duration, Instant};

use mainspring_core::gate::{Reach, Rule};
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Claimed, Job, Json, Keys};
use mainspring_core::name::{LimitKey, QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::segment::Segment;
use mainspring_core::store::{
    Beat, BeatKind, Claim, ClaimAnswer, Command, GateCommand, Settlement, Store, Whose, WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use mainspring_store::embedded::{Embedded, Options};

const NOW: Time = Time::from_millis(1_800_000_000_000);
const WORKER: WorkerId = WorkerId(uuid::Uuid::from_u128(1));
const SUBMIT: u32 = 10_000;

type Failed = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let parked = arguments.next().transpose()?.unwrap_or(1_000_000);
    let rounds = arguments.next().transpose()?.unwrap_or(500);
    let batch = arguments.next().transpose()?.unwrap_or(500);
    beside_parked(parked, rounds).await?;
    under_rules(rounds, batch).await
}

/// Claims of one unlimited job each.
async fn beside_parked(parked: u32, rounds: u32) -> Result<(), Failed> {
    let places = [Place::new().await?, Place::new().await?, Place::new().await?];
    for place in &places {
        place.limit("key:slow", 1).await?;
    }
    let full = &places[MEASURED];
    let slow = LimitKey::parse("slow")?;
    for first in (0..parked).step_by(SUBMIT as usize) {
        let keys = Keys { concurrency: Some(slow.clone()), ..Keys::default() };
        let jobs = first..(first + SUBMIT).min(parked);
        full.store.submit(NOW, jobs.map(|n| Job { keys: keys.clone(), ..job(n) }).collect()).await?;
    }
    if full.claim(1).await?.len() != 1 {
        return Err("the first of the key must go".into());
    }
    for place in &places {
        place.store.submit(NOW, (0..rounds).map(|n| job(parked + n)).collect()).await?;
    }
    let mut times = Times::default();
    for round in 0..rounds as usize {
        for at in in_turn(round) {
            let started = Instant::now();
            if places[at].claim(1).await?.len() != 1 {
                return Err("an unlimited job must go".into());
            }
            times.add(at, started);
        }
    }
    times.tell(&format!("claim of one, empty queue against {parked} parked on one key"));
    Ok(())
}

/// Batches through submit, claim and settle.
async fn under_rules(rounds: u32, batch: u32) -> Result<(), Failed> {
    let places = [Place::new().await?, Place::new().await?, Place::new().await?];
    places[MEASURED].limit("queue:default", 1_000_000).await?;
    places[MEASURED].limit("type:noop", 1_000_000).await?;
    let mut times = Times::default();
    for round in 0..rounds {
        for at in in_turn(round as usize) {
            let place = &places[at];
            let jobs: Vec<Job> = ((round * batch)..(round + 1) * batch).map(job).collect();
            let started = Instant::now();
            place.store.submit(NOW, jobs).await?;
            let claimed = place.claim(batch as usize).await?;
            if claimed.len() != batch as usize {
                return Err("all of them must go".into());
            }
            let settle = |claimed: &Claimed| Settlement {
                lease: claimed.lease_id(),
                verdict: Verdict::Succeed { result: None },
            };
            place.store.settle(NOW, claimed.iter().map(settle).collect()).await?;
            times.add(at, started);
        }
    }
    times.tell(&format!("{batch} lifecycles, no rules against two that hold nobody back"));
    Ok(())
}

/// Of three stores, the first two are alike: what they differ by is noise. The third is what is measured.
const MEASURED: usize = 2;

/// Each goes first equally often.
fn in_turn(round: usize) -> [usize; 3] {
    [round % 3, (round + 1) % 3, (round + 2) % 3]
}

#[derive(Default)]
struct Times([Vec<Duration>; 3]);

impl Times {
    fn add(&mut self, at: usize, started: Instant) {
        self.0[at].push(started.elapsed());
    }

    fn tell(self, what: &str) {
        let [one, alike, measured] = self.0.map(median);
        let of = |time: Duration| time.as_secs_f64() / one.as_secs_f64();
        println!("{what}: {one:?} against {measured:?}, {:.2}× (two alike: {:.2}×)", of(measured), of(alike));
    }
}

struct Place {
    store: Embedded,
    _dir: tempfile::TempDir,
}

impl Place {
    async fn new() -> Result<Place, Failed> {
        let dir = tempfile::tempdir_in(".")?;
        let store = Embedded::open(Options::new(dir.path()))?;
        let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(3600) };
        store.heartbeat(NOW, vec![Beat { worker: WORKER, tenant: TenantName::default_tenant(), kind }]).await?;
        Ok(Place { store, _dir: dir })
    }

    async fn limit(&self, reach: &str, concurrency: u32) -> Result<(), Failed> {
        let what = GateCommand::Set(Rule { concurrency: Some(concurrency), ..Rule::default() });
        let set = Command::Gate { tenant: TenantName::default_tenant(), reach: Reach::parse(reach)?, what };
        self.store.command(NOW, vec![set]).await?;
        Ok(())
    }

    async fn claim(&self, max: usize) -> Result<Vec<Claimed>, Failed> {
        let queues = vec![QueueName::default_queue()];
        let claim = Claim { worker: WORKER, tenant: TenantName::default_tenant(), whose: Whose::Own, queues, max };
        match self.store.claim(NOW, vec![claim]).await?.into_iter().next() {
            Some(ClaimAnswer::Jobs(jobs)) => Ok(jobs),
            other => Err(format!("no jobs but {other:?}").into()),
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn job(n: u32) -> Job {
    Job {
        id: JobId::mint(NOW, n, Segment::wrap(n as u8), u64::from(n)),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("noop").expect("a name"),
        data: Json(format!("\"{}\"", "x".repeat(398)).into()),
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
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}
