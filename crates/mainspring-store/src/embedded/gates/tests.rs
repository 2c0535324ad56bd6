//! What only a store with a disk can break of limits: rows that are read, moves that are bounded, and what a crash leaves.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mainspring_core::gate::{BreakerRule, Entry, Rate, Reach, Rule};
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Claimed, Failure, Job, Json, Keys};
use mainspring_core::name::{LimitKey, QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::seats::Warrants;
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};
use tempfile::TempDir;

use super::super::claim;
use super::super::{Embedded, Options};
use super::walk::PARK_STEP_MAX;

const NOW: Time = Time::from_millis(1_700_000_000_000);
const WORKER: WorkerId = WorkerId(uuid::Uuid::from_u128(1));

fn open(dir: &TempDir) -> Embedded {
    Embedded::open(Options { reserve_bytes: 0, ..Options::new(dir.path()) }).expect("nobody has it")
}

async fn new() -> (TempDir, Embedded) {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory for the test");
    let store = open(&dir);
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(3600) };
    let beat = Beat { worker: WORKER, tenant: TenantName::default_tenant(), kind };
    store.heartbeat(NOW, vec![beat]).await.expect("there is room");
    (dir, store)
}

/// Later ones are behind earlier ones.
fn job(key: Option<&str>) -> Job {
    static ORDER: AtomicU32 = AtomicU32::new(1);
    let order = ORDER.fetch_add(1, Ordering::Relaxed);
    let key = key.map(|text| LimitKey::parse(text).expect("a key"));
    Job {
        id: JobId::mint(NOW, order, Segment::wrap(order as u8), 0),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").expect("a name"),
        data: Json("{}".into()),
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
        keys: Keys { concurrency: key.clone(), rate: key, weight: 1 },
    }
}

fn ask(max: usize) -> Claim {
    let queues = vec![QueueName::default_queue()];
    Claim { worker: WORKER, tenant: TenantName::default_tenant(), whose: Whose::Own, queues, max }
}

async fn take(store: &Embedded, now: Time, max: usize) -> Vec<Claimed> {
    match store.claim(now, vec![ask(max)]).await.expect("an answer").remove(0) {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("{other:?}"),
    }
}

async fn limit(store: &Embedded, reach: &str, rule: Rule) {
    let reach = Reach::parse(reach).expect("a reach");
    let what = GateCommand::Set(rule);
    let set = Command::Gate { tenant: TenantName::default_tenant(), reach, what };
    assert_eq!(store.command(NOW, vec![set]).await.expect("an answer"), [Commanded::Done]);
}

fn at_once(concurrency: u32) -> Rule {
    Rule { concurrency: Some(concurrency), ..Rule::default() }
}

async fn promote(store: &Embedded, now: Time) -> Promoted {
    let ask = Promote {
        segments: Segments::ALL,
        warrants: Warrants::NONE,
        limit: 10_000,
        look_ahead_until: now,
        look_ahead_limit: 0,
        due_limit: 0,
    };
    store.promote(now, ask).await.expect("an answer")
}

/// Rows that claims have read.
async fn looked_at(store: &Embedded) -> u64 {
    store.writer.call(|batch| Ok(batch.mirror.gates.looked_at)).await.expect("an answer")
}

/// Jobs that stand before gates.
fn parked(store: &Embedded) -> u64 {
    let disk = store.reader.disk();
    let txn = disk.env.read_txn().expect("a snapshot");
    disk.tables.lots.len(&txn).expect("a count")
}

#[tokio::test]
async fn a_claim_of_others_reads_none_of_the_thousands_that_are_parked() {
    const PARKED: u64 = 5_000;
    let (dir, store) = new().await;
    limit(&store, "key:*", at_once(1)).await;
    store.submit(NOW, (0..=PARKED).map(|_| job(Some("slow"))).collect()).await.expect("there is room");
    let others: Vec<Job> = (0..100).map(|_| job(None)).collect();
    let expected: Vec<JobId> = others.iter().map(|job| job.id).collect();
    store.submit(NOW, others).await.expect("there is room");
    assert_eq!(parked(&store), PARKED + 1, "a burst behind one key never enters the lanes");
    assert_eq!(take(&store, NOW, 1).await.len(), 1, "the first of the key");

    let mut store = store;
    for (round, expected) in expected.chunks(20).enumerate() {
        let before = looked_at(&store).await;
        let taken: Vec<JobId> = take(&store, NOW, 20).await.iter().map(|claimed| claimed.job.id).collect();
        assert_eq!(taken, expected);
        let rows = looked_at(&store).await - before;
        // Each that is taken, the one behind the last of them, and at most the head of the lot and the one behind it.
        assert!(rows <= 20 + 3, "{rows} rows in round {round}");
        assert_eq!(parked(&store), PARKED);
        if round == 2 {
            drop(store);
            store = open(&dir);
        }
    }
    let before = looked_at(&store).await;
    assert_eq!(take(&store, NOW, 20).await.len(), 0);
    assert_eq!(looked_at(&store).await, before, "a lot that is known to be shut is not looked at");
}

#[tokio::test]
async fn limits_are_named_a_claim_puts_a_bounded_number_elsewhere_and_says_to_ask_again() {
    let (_dir, store) = new().await;
    let many = (0..2 * PARK_STEP_MAX + 500).map(|_| job(Some("stopped"))).collect();
    store.submit(NOW, many).await.expect("there is room");
    let free = job(None);
    let id = free.id;
    store.submit(NOW, vec![free]).await.expect("there is room");
    limit(&store, "key:stopped", at_once(0)).await;
    for moved in [PARK_STEP_MAX, 2 * PARK_STEP_MAX] {
        assert_eq!(take(&store, NOW, 10).await.len(), 0);
        assert_eq!(parked(&store), moved as u64);
        assert_eq!(promote(&store, NOW).await.opened.len(), 1, "whoever waits is told to ask again");
    }
    let taken: Vec<JobId> = take(&store, NOW, 10).await.iter().map(|claimed| claimed.job.id).collect();
    assert_eq!(taken, [id], "who stands behind all of them");
    assert_eq!(promote(&store, NOW).await.opened, []);
}

/// The reasons that hold a job back.
async fn reasons(store: &Embedded, id: JobId) -> Vec<Entry> {
    let hurdles = store.hurdles(&TenantName::default_tenant(), id, NOW).await.expect("an answer").expect("it is ready");
    hurdles.into_iter().flat_map(|hurdle| hurdle.reasons).collect()
}

#[tokio::test]
async fn a_bucket_and_a_breaker_survive_a_kill() {
    let (dir, store) = new().await;
    let rate = Some(Rate { permits: 1, per: Duration::from_secs(3600), burst: 1 });
    limit(&store, "key:*", Rule { rate, ..Rule::default() }).await;
    let breaker = Some(BreakerRule { min_attempts: 1, ..BreakerRule::default() });
    limit(&store, "type:mail", Rule { breaker, ..at_once(5) }).await;
    let jobs = vec![job(Some("a")), job(Some("a")), job(None)];
    let waits = jobs[1].id;
    store.submit(NOW, jobs).await.expect("there is room");
    let taken = take(&store, NOW, 10).await;
    assert_eq!(taken.len(), 2);
    let error = Failure { message: "no".into(), kind: None, detail: None };
    let verdict = Verdict::Bury { cause: Cause::Failure, error };
    store.settle(NOW, vec![Settlement { lease: taken[0].lease_id(), verdict }]).await.expect("an answer");
    let before = reasons(&store, waits).await;
    assert!(matches!(before[..], [Entry::BreakerOpen { .. }, Entry::NoToken { .. }]), "{before:?}");

    // What the disk has at this instant is all that a killed process leaves.
    let copy = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory for the test");
    std::fs::copy(dir.path().join("data.mdb"), copy.path().join("data.mdb")).expect("a copy");
    let after = open(&copy);
    assert_eq!(reasons(&after, waits).await, before);
    let tenant = TenantName::default_tenant();
    assert_eq!(after.gates(&tenant, NOW).await.expect("views"), store.gates(&tenant, NOW).await.expect("views"));
    assert_eq!(take(&after, NOW, 10).await.len(), 0);
}

#[tokio::test]
async fn nothing_happens_by_halves_a_claim_whose_commit_failed_has_entered_no_gate() {
    let (_dir, store) = new().await;
    let rate = Some(Rate { permits: 1, per: Duration::from_secs(3600), burst: 1 });
    limit(&store, "key:*", Rule { rate, ..at_once(1) }).await;
    let only = job(Some("a"));
    let id = only.id;
    store.submit(NOW, vec![only]).await.expect("there is room");
    let failed = store.writer.call(|batch| -> Result<()> {
        let picked = claim::claim(batch, NOW, vec![ask(1)])?;
        assert_eq!(picked[0].jobs(), 1);
        Err(Error::Unavailable("the disk is gone".into()))
    });
    failed.await.expect_err("it said so");
    assert_eq!(reasons(&store, id).await, []);
    assert_eq!(take(&store, NOW, 1).await.len(), 1);
}

#[tokio::test]
async fn when_the_last_limit_is_gone_nothing_is_counted_any_more() {
    let (_dir, store) = new().await;
    let is_idle = async || store.writer.call(|batch| Ok(batch.mirror.gates.is_idle())).await.expect("an answer");
    store.submit(NOW, (0..3).map(|_| job(Some("a"))).collect()).await.expect("there is room");
    let running = take(&store, NOW, 1).await;
    assert!(is_idle().await);
    limit(&store, "key:a", at_once(2)).await;
    assert_eq!(take(&store, NOW, 10).await.len(), 1, "what ran before counts");
    assert!(!is_idle().await);
    let reach = Reach::parse("key:a").expect("a reach");
    let clear = Command::Gate { tenant: TenantName::default_tenant(), reach, what: GateCommand::Clear };
    store.command(NOW, vec![clear]).await.expect("an answer");
    assert_eq!(take(&store, NOW, 10).await.len(), 1, "nothing holds it back, though it stands there");
    let verdict = Verdict::Succeed { result: None };
    store.settle(NOW, vec![Settlement { lease: running[0].lease_id(), verdict }]).await.expect("an answer");
    let long_ago =
        Prune { ended_before: Time::ZERO, dead_before: Time::ZERO, ledger_before: Time::ZERO, limit: 1, warrant: None };
    store.prune(NOW, long_ago).await.expect("an answer");
    assert!(is_idle().await);
    limit(&store, "key:a", at_once(3)).await;
    store.submit(NOW, (0..3).map(|_| job(Some("a"))).collect()).await.expect("there is room");
    assert_eq!(take(&store, NOW, 10).await.len(), 1, "two still run");
}
