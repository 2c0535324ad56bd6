//! Somebody holds a transaction open for as long as it likes: nothing that is dead may be forgotten then, and the walk of a job must
//! not get longer all the same. What is measured is work, in pages read, not time.

use mainspring_core::job::{Claimed, Job};
use mainspring_core::name::TenantName;
use mainspring_core::store::*;
use tokio_postgres::Client;

use super::testing::Database;
use super::{Postgres, renew, upkeep};
use crate::conformance::stage::*;

const BATCH: u32 = 1_000;
const ROUNDS: u32 = 30;
/// Late may cost so many times what early cost, and a few pages more for what was killed since the last upkeep.
const FACTOR: i64 = 3;
const PAGES_MORE: i64 = 100;

/// The statements that would walk over what is dead, with their parameters.
fn statements() -> [(&'static str, String); 4] {
    let with = |sql: &str, parameters: &[&str]| {
        let numbered = (1..).zip(parameters);
        numbered
            .fold(sql.to_owned(), |sql, (number, value)| sql.replace(&format!("${number}::"), &format!("{value}::")))
    };
    let segments = "(SELECT array_agg(number) FROM generate_series(0, 99) AS number)";
    [
        ("claim", with(include_str!("sql/claim_offers.sql"), &["'{1}'", "'{1}'", "0"])),
        ("promote", with(include_str!("sql/promote_due.sql"), &[segments, "281474976710655", "1", "false"])),
        ("reclaim", with(include_str!("sql/reclaim_leases.sql"), &["'{}'", "0", "1"])),
        ("count", "SELECT sum(ready) FROM counts WHERE queue = 1".to_owned()),
    ]
}

/// Pages that a statement reads; what it does is undone.
async fn pages(client: &mut Client, sql: &str) -> i64 {
    let transaction = client.transaction().await.expect("it begins");
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT TEXT) {sql}");
    let rows = transaction.query(&explain, &[]).await.expect("it explains");
    transaction.rollback().await.expect("it is undone");
    // The first line about buffers is that of the whole plan: `Buffers: shared hit=12 read=3 dirtied=1`.
    let lines: Vec<String> = rows.iter().map(|row| row.get::<_, String>(0)).collect();
    let buffers = lines.iter().find(|line| line.trim().starts_with("Buffers: shared")).cloned().unwrap_or_default();
    let counted = |word: &str| {
        let after = buffers.split(word).nth(1).unwrap_or("0");
        after.split_whitespace().next().and_then(|number| number.parse::<i64>().ok()).unwrap_or(0)
    };
    counted("hit=") + counted("read=")
}

/// Without statistics that come and go: what is measured is the walk, not the planner.
async fn observer(database: &Database) -> Client {
    let client = database.connect().await;
    let sql =
        "SET search_path = mainspring; SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off";
    client.batch_execute(sql).await.expect("it is well formed");
    client
}

async fn walk(node: &Postgres, first: u32, is_later: bool) {
    let later = |number| Job { run_at: at(1), ..job(number) };
    let jobs: Vec<Job> =
        (first..first + BATCH).map(|number| if is_later { later(number) } else { job(number) }).collect();
    node.submit(at(0), jobs).await.expect("takes them in");
    while node.promote(at(1), everything(BATCH as usize)).await.expect("promotes").more {}
    let (tenant, queues) = (TenantName::default_tenant(), vec![queue("mail")]);
    let claim = Claim { worker: worker(1), tenant, whose: Whose::Own, queues, max: BATCH as usize };
    let claimed: Vec<Claimed> = match node.claim(at(1), vec![claim]).await.expect("claims").remove(0) {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("{other:?}"),
    };
    assert_eq!(claimed.len(), BATCH as usize);
    let settle = |claimed: &Claimed| Settlement { lease: claimed.lease_id(), verdict: succeed() };
    let settled = node.settle(at(2), claimed.iter().map(settle).collect()).await.expect("settles");
    assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied { .. })));
}

#[tokio::test]
async fn a_transaction_held_open_by_somebody_makes_no_walk_longer_without_bound() {
    let database = Database::new();
    let node = Postgres::open(&database.options()).await.expect("it is there");
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    node.heartbeat(at(0), vec![Beat { worker: worker(1), tenant: tenant("default"), kind }]).await.expect("registers");
    let mut observer = observer(&database).await;
    let somebody = database.connect().await;
    somebody
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1")
        .await
        .expect("begins");

    // Before the first renewal, and long after it: each time with as many jobs since the last upkeep.
    let mut measured: Vec<Vec<i64>> = Vec::new();
    for round in 0..ROUNDS {
        walk(&node, round * BATCH + 1, round % 2 == 0).await;
        if round == 2 || round == ROUNDS - 1 {
            let mut all = Vec::new();
            for (_, sql) in statements() {
                all.push(pages(&mut observer, &sql).await);
            }
            measured.push(all);
        }
        if round % 3 == 2 {
            upkeep::tend(&node.pool).await.expect("tends");
        }
    }
    for ((name, _), (early, late)) in statements().iter().zip(measured[0].iter().zip(&measured[1])) {
        assert!(*early > 0 && *late <= early * FACTOR + PAGES_MORE, "{name}: {early} pages early, {late} late");
    }
    let counts = node.queues(None).await.expect("it reads")[0].counts;
    assert_eq!((counts.ready, counts.running, counts.succeeded), (0, 0, u64::from(ROUNDS * BATCH)));
    somebody.batch_execute("ROLLBACK").await.expect("ends");
}

async fn vacuum_and_renew(node: &Postgres) -> Vec<&'static str> {
    let connection = node.pool.get().await.expect("a connection");
    connection.batch_execute(include_str!("sql/vacuum_hot.sql")).await.expect("vacuums");
    drop(connection);
    renew::renew(&node.pool).await.expect("renews")
}

#[tokio::test]
async fn what_is_live_stays_when_a_table_is_renewed() {
    let database = Database::new();
    let node = Postgres::open(&database.options()).await.expect("it is there");
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    node.heartbeat(at(0), vec![Beat { worker: worker(1), tenant: tenant("default"), kind }]).await.expect("registers");
    let somebody = database.connect().await;
    somebody
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1")
        .await
        .expect("begins");
    for round in 0..(renew::DEAD_MIN as u32 / BATCH + 1) {
        walk(&node, round * BATCH + 1, true).await;
    }
    let later = Job { run_at: at(1_000_000), expires_at: Some(at(2_000_000)), ..job(900_001) };
    let kept = vec![job(900_002), with_key(900_003, "k"), later];
    node.submit(at(2), kept).await.expect("takes them in");
    let claim = Claim {
        worker: worker(1),
        tenant: TenantName::default_tenant(),
        whose: Whose::Own,
        queues: vec![queue("mail")],
        max: 1,
    };
    let held = node.claim(at(3), vec![claim]).await.expect("claims");
    let ids = || (900_001..=900_003).map(id).collect();
    let before = node.get(&tenant("default"), ids()).await.expect("it reads");

    assert_eq!(vacuum_and_renew(&node).await, ["leases", "ready", "waiting"]);
    assert_eq!(node.get(&tenant("default"), ids()).await.expect("it reads"), before);
    assert!(vacuum_and_renew(&node).await.is_empty(), "there is nothing more to do");

    let ClaimAnswer::Jobs(held) = &held[0] else { panic!("{held:?}") };
    let settlement = Settlement { lease: held[0].lease_id(), verdict: succeed() };
    let settled = node.settle(at(4), vec![settlement]).await.expect("settles");
    assert!(matches!(settled[0], Settled::Applied { .. }), "{settled:?}");
}

#[tokio::test]
async fn a_table_that_somebody_looks_into_is_left_for_another_time() {
    let database = Database::new();
    let node = Postgres::open(&database.options()).await.expect("it is there");
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    node.heartbeat(at(0), vec![Beat { worker: worker(1), tenant: tenant("default"), kind }]).await.expect("registers");
    let somebody = database.connect().await;
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM mainspring.ready LIMIT 1";
    somebody.batch_execute(begin).await.expect("begins");
    for round in 0..(renew::DEAD_MIN as u32 / BATCH + 1) {
        walk(&node, round * BATCH + 1, false).await;
    }
    assert_eq!(vacuum_and_renew(&node).await, ["leases"]);
    somebody.batch_execute("ROLLBACK").await.expect("ends");
}
