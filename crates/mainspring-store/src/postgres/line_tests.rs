//! Statements that share a connection, and one of them that is stuck.

use std::sync::Arc;

use mainspring_core::id::{JobId, LeaseId};
use mainspring_core::store::*;
use tokio_postgres::Client;

use crate::conformance::stage::*;
use crate::postgres::Postgres;
use crate::postgres::testing::Database;

/// How many statements wait for a lock.
async fn stuck(client: &Client) -> i64 {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    client.query_one(sql, &[]).await.expect("it is well formed").get(0)
}

async fn claim(store: Arc<Postgres>) -> Vec<JobId> {
    match store.claim(at(1), vec![claim_of(1, &["mail"], 1)]).await.expect("claim").remove(0) {
        ClaimAnswer::Jobs(jobs) => ids_of(&jobs),
        other => panic!("{other:?} in place of jobs"),
    }
}

/// With so many ready jobs, and worker 1.
async fn with_jobs(database: &Database, count: u32) -> Arc<Postgres> {
    let store = Arc::new(Postgres::open(&database.options()).await.unwrap());
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    store.heartbeat(at(0), vec![Beat { worker: worker(1), tenant: tenant("default"), kind }]).await.unwrap();
    store.submit(at(0), (1..=count).map(job).collect()).await.unwrap();
    store
}

#[tokio::test]
async fn a_failure_stays_where_it_is_who_is_just_connecting_keeps_nobody_else_waiting() {
    let database = Database::new();
    let store = with_jobs(&database, 1).await;
    let _connecting = store.turn_line.connection.lock().await;
    assert_eq!(claim(store.clone()).await, [id(1)]);
}

#[tokio::test]
async fn a_failure_stays_where_it_is_who_is_stuck_in_the_line_keeps_nobody_else_waiting() {
    let database = Database::new();
    let store = with_jobs(&database, 3).await;
    assert_eq!(claim(store.clone()).await, [id(1)]);
    let view = store.get(&tenant("default"), vec![id(1)]).await.unwrap().remove(0).expect("it is here");
    let lease = LeaseId { job: id(1), fence: view.standing.lease.expect("it is held").fence };

    let mut other = database.connect().await;
    let locking = other.transaction().await.unwrap();
    locking.execute("SELECT FROM mainspring.leases FOR UPDATE", &[]).await.unwrap();
    let settling = tokio::spawn({
        let store = store.clone();
        async move { store.settle(at(1), vec![Settlement { lease, verdict: succeed() }]).await }
    });
    let observer = database.connect().await;
    while stuck(&observer).await == 0 {
        tokio::task::yield_now().await;
    }
    let behind = tokio::spawn(claim(store.clone()));
    // It takes its place in the line.
    tokio::task::yield_now().await;
    assert_eq!(claim(store.clone()).await, [id(2)], "the line is full, and there are other connections");
    assert!(!settling.is_finished() && !behind.is_finished());

    locking.rollback().await.unwrap();
    assert!(matches!(settling.await.unwrap().unwrap()[..], [Settled::Applied { .. }]));
    assert_eq!(behind.await.unwrap(), [id(3)]);
}
