//! cargo run --release -p mainspring-store --example raw_limit -- [jobs] [batch] [lanes-of-callers] [rules]
//!
//! What the embedded store does alone, without HTTP and engine: full lifecycles a second, each step durable. The
//! ceiling that `mainspring bench lifecycle` is compared with. With `rules` (at most 2), under so many limits that hold nobody
//! back; on a busy machine compare the CPU time of several runs in turn (`time`), not these figures.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mainspring_core::gate::{Reach, Rule};
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Job, Json, Keys};
use mainspring_core::name::{QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::segment::Segment;
use mainspring_core::store::{
    Beat, BeatKind, Claim, ClaimAnswer, Command, GateCommand, Settlement, Store, Whose, WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use mainspring_store::embedded::{Embedded, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let jobs = arguments.next().transpose()?.unwrap_or(300_000);
    let batch = arguments.next().transpose()?.unwrap_or(500);
    let callers = arguments.next().transpose()?.unwrap_or(2);
    let rules = arguments.next().transpose()?.unwrap_or(0);

    let dir = tempfile::tempdir_in(".")?;
    let store: Arc<dyn Store> = Arc::new(Embedded::open(Options::new(dir.path()))?);
    let worker = WorkerId(uuid::Uuid::from_u128(1));
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(3600) };
    store.heartbeat(now(), vec![Beat { worker, tenant: TenantName::default_tenant(), kind }]).await?;

    for reach in ["queue:default", "type:noop"].into_iter().take(rules) {
        let what = GateCommand::Set(Rule { concurrency: Some(1_000_000), ..Rule::default() });
        let set = Command::Gate { tenant: TenantName::default_tenant(), reach: Reach::parse(reach)?, what };
        store.command(now(), vec![set]).await?;
    }

    let started = Instant::now();
    let minted = Arc::new(AtomicU64::new(0));
    let settled = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (submitter, minted) = (Arc::clone(&store), Arc::clone(&minted));
        tasks.push(tokio::spawn(async move {
            loop {
                let first = minted.fetch_add(batch as u64, Ordering::Relaxed);
                if first >= jobs as u64 {
                    return;
                }
                let at = now();
                let batch = (first..first + batch as u64).map(|n| job(at, n)).collect();
                submitter.submit(at, batch).await.expect("submit");
            }
        }));
        let (store, settled) = (Arc::clone(&store), Arc::clone(&settled));
        tasks.push(tokio::spawn(async move {
            while settled.load(Ordering::Relaxed) < jobs as u64 {
                let claim = Claim {
                    worker,
                    tenant: TenantName::default_tenant(),
                    whose: Whose::Own,
                    queues: vec![QueueName::default_queue()],
                    max: batch,
                };
                let answers = store.claim(now(), vec![claim]).await.expect("claim");
                let Some(ClaimAnswer::Jobs(claimed)) = answers.into_iter().next() else { panic!("no worker") };
                if claimed.is_empty() {
                    tokio::task::yield_now().await;
                    continue;
                }
                let count = claimed.len() as u64;
                let settlements = claimed
                    .iter()
                    .map(|claimed| Settlement { lease: claimed.lease_id(), verdict: Verdict::Succeed { result: None } })
                    .collect();
                store.settle(now(), settlements).await.expect("settle");
                settled.fetch_add(count, Ordering::Relaxed);
            }
        }));
    }
    for task in tasks {
        task.await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{} jobs, batches of {batch}, {callers} callers: {:.0} lifecycles/s", jobs, jobs as f64 / seconds);
    Ok(())
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(since.as_millis() as u64)
}

fn job(at: Time, n: u64) -> Job {
    Job {
        id: JobId::mint(at, n as u32, Segment::wrap(n as u8), n),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("noop").expect("a name"),
        data: Json(format!("\"{}\"", "x".repeat(398)).into()),
        priority: Priority::DEFAULT,
        submitted_at: at,
        run_at: at,
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
