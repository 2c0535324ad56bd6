//! cargo run -p mainspring-store --example raw_sql -- postgres://… [jobs] [batch] [connections]
//!
//! What PostgreSQL does alone with our tables: full lifecycles a second by bare SQL in batches, and then what the store makes of
//! it, in the same run. The ceiling that `mainspring bench lifecycle --store postgres://…` is compared with. Empties the database
//! that it is given.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Job, Json, Keys};
use mainspring_core::name::{QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Beat, BeatKind, Claim, ClaimAnswer, Settlement, Store, Whose, WorkerInfo};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use mainspring_store::postgres::{Options, Postgres};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const SUBMIT: &str = "
WITH new AS (
    INSERT INTO jobs (id, queue, submitted_at, run_at, kind, data)
    SELECT id, 0, $2, $2, 'send', $3 FROM unnest($1::uuid[]) AS job (id) RETURNING id, queue, run_at
)
INSERT INTO ready (id, queue, lane, ready_at) SELECT id, queue, 5, run_at FROM new";

/// Written so that the planner cannot turn a join around when it believes a hot table to be empty.
const CLAIM: &str = "
WITH taken AS (
    DELETE FROM ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ready WHERE queue = 0 AND lot = 0 AND lane = 5 ORDER BY ready_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
    )) RETURNING id, queue, lane, ready_at
), lent AS (
    INSERT INTO leases (id, fence, worker, claimed_at, ready_at, queue, lane, attempts, failures, crashes, marks)
    SELECT id, nextval('fences'), $2, $3, ready_at, queue, lane, 1, 0, 0, 0 FROM taken RETURNING id, fence
)
SELECT lent.id, lent.fence, job.data
FROM lent CROSS JOIN LATERAL (SELECT data FROM jobs WHERE jobs.id = lent.id OFFSET 0) job";

const SETTLE: &str = "
WITH gone AS (
    DELETE FROM leases WHERE id = ANY($1::uuid[]) AND fence = ANY($2::bigint[]) RETURNING *
)
INSERT INTO ended (id, ended_at, ready_at, queue, state, attempts, failures, crashes, marks, outcome, attempt, fence, started_at,
                   worker)
SELECT id, $3, ready_at, queue, 4, attempts, failures, crashes, marks, 0, attempts, fence, claimed_at, worker FROM gone";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("say which database: postgres://…")?;
    let mut number = |or| arguments.next().map_or(Ok(or), |text| text.parse::<usize>());
    let (jobs, batch, connections) = (number(300_000)?, number(500)?, number(4)?);

    let store = Arc::new(Postgres::open(&Options::new(url.clone())).await?);
    println!(
        "{}; {jobs} jobs, {batch} a batch, {connections} connections",
        mainspring_core::store::Views::describe(&*store)
    );
    empty(&url).await?;
    let raw = raw(&url, jobs, batch, connections).await?;
    println!("bare SQL   {raw:>8.0} lifecycles/s");
    empty(&url).await?;
    let ours = ours(store, jobs, batch, connections).await?;
    println!("the store  {ours:>8.0} lifecycles/s, {:.0}% of it", 100.0 * ours / raw);
    Ok(())
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("SET search_path = mainspring; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off; SET jit = off; SET plan_cache_mode = force_generic_plan").await?;
    Ok(client)
}

async fn empty(url: &str) -> Result<(), tokio_postgres::Error> {
    let client = connect(url).await?;
    client.batch_execute("TRUNCATE jobs, ready, leases, ended, waiting, aside, counts, queues, workers").await?;
    client.batch_execute("CHECKPOINT").await
}

async fn raw(url: &str, jobs: usize, batch: usize, connections: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let minted = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (client, minted) = (connect(url).await?, Arc::clone(&minted));
        tasks.push(tokio::spawn(async move {
            let (submit, claim) = (client.prepare(SUBMIT).await?, client.prepare(CLAIM).await?);
            let settle = client.prepare(SETTLE).await?;
            loop {
                let first = minted.fetch_add(batch as u64, Ordering::Relaxed);
                if first >= jobs as u64 {
                    return Ok::<(), tokio_postgres::Error>(());
                }
                let at = now();
                let ms = at.as_millis() as i64;
                let ids: Vec<Uuid> = (first..first + batch as u64).map(|n| id(at, n).uuid()).collect();
                client.execute(&submit, &[&ids, &ms, &payload()]).await?;
                let rows = client.query(&claim, &[&(batch as i64), &Uuid::nil(), &ms]).await?;
                let ids: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
                let fences: Vec<i64> = rows.iter().map(|row| row.get(1)).collect();
                client.execute(&settle, &[&ids, &fences, &ms]).await?;
            }
        }));
    }
    let vacuum = tokio::spawn(vacuum(connect(url).await?));
    for task in tasks {
        task.await??;
    }
    vacuum.abort();
    Ok(jobs as f64 / started.elapsed().as_secs_f64())
}

/// As the store does it: what is dead at the head of the queue must not stay.
async fn vacuum(client: Client) {
    let mut every = tokio::time::interval(Duration::from_secs(2));
    loop {
        every.tick().await;
        if client.batch_execute("VACUUM (TRUNCATE false) ready, leases").await.is_err() {
            return;
        }
    }
}

async fn ours(
    store: Arc<Postgres>,
    jobs: usize,
    batch: usize,
    callers: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let worker = WorkerId(Uuid::from_u128(1));
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(3600) };
    store.heartbeat(now(), vec![Beat { worker, tenant: TenantName::default_tenant(), kind }]).await?;
    let minted = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (store, minted) = (Arc::clone(&store), Arc::clone(&minted));
        tasks.push(tokio::spawn(async move {
            loop {
                let first = minted.fetch_add(batch as u64, Ordering::Relaxed);
                if first >= jobs as u64 {
                    return Ok::<(), mainspring_core::store::Error>(());
                }
                let at = now();
                store.submit(at, (first..first + batch as u64).map(|n| job(at, n)).collect()).await?;
                let queues = vec![QueueName::default_queue()];
                let tenant = TenantName::default_tenant();
                let claim = Claim { worker, tenant, whose: Whose::Own, queues, max: batch };
                let mut settlements = Vec::new();
                for answer in store.claim(at, vec![claim]).await? {
                    let ClaimAnswer::Jobs(claimed) = answer else { continue };
                    let succeed = || Verdict::Succeed { result: None };
                    let settled = claimed.iter().map(|job| Settlement { lease: job.lease_id(), verdict: succeed() });
                    settlements.extend(settled);
                }
                store.settle(now(), settlements).await?;
            }
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(jobs as f64 / started.elapsed().as_secs_f64())
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(since.as_millis() as u64)
}

fn id(at: Time, n: u64) -> JobId {
    JobId::mint(at, n as u32 & JobId::ORDER_MAX, Segment::wrap((n % 100) as u8), n)
}

/// 400 bytes.
fn payload() -> String {
    format!("{{\"to\":\"{}\"}}", "x".repeat(391))
}

fn job(at: Time, n: u64) -> Job {
    Job {
        id: id(at, n),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("send").expect("a name"),
        data: Json(payload().into()),
        priority: Priority::DEFAULT,
        submitted_at: at,
        run_at: at,
        deadline: None,
        expires_at: None,
        retry: RetryPolicy::default(),
        max_attempts: Job::MAX_ATTEMPTS_DEFAULT,
        max_crashes: Job::MAX_CRASHES_DEFAULT,
        timeout: None,
        tags: Vec::new(),
        idempotency: None,
        depends_on: Vec::new(),
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}
