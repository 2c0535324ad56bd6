//! History in buckets: made ahead, dropped whole, and nothing in them lost that was to be kept.

use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::lifecycle::State;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Counts, Pruned, Store, Views};

use super::*;
use crate::conformance::stage::{self, Stage, at, job, nothing, queue_ref, tenant};
use crate::home::Home;
use crate::postgres::Options;
use crate::postgres::testing::Database;

const HOUR: u64 = 3_600_000;

/// A store that keeps buckets, on the stage. Its first buckets are made at the beginning, and begin within six hours of it.
async fn bucketed() -> (Arc<Database>, Stage) {
    struct Bucketed(Arc<Database>);

    #[async_trait::async_trait]
    impl Home for Bucketed {
        async fn open(&mut self) -> Arc<dyn Store> {
            let options = Options { has_buckets: true, ..self.0.options() };
            Arc::new(Postgres::open(&options).await.expect("the database is there"))
        }
    }

    let database = Arc::new(Database::new());
    let stage = Stage::set(Box::new(Bucketed(database.clone()))).await;
    stage.store.prune(at(0), nothing()).await.expect("prune");
    (database, stage)
}

/// Made seven hours after the beginning, when there is a bucket.
fn bucketed_job(number: u32) -> Job {
    Job { id: id_in_bucket(number), submitted_at: at(7 * HOUR), run_at: at(7 * HOUR), ..job(number) }
}

fn id_in_bucket(number: u32) -> JobId {
    JobId::mint(at(7 * HOUR), number, Segment::wrap(0), 0)
}

/// How many rows each bucket of a table has.
async fn partitions(database: &Database, table: &str) -> Vec<i64> {
    let client = database.connect().await;
    client.batch_execute("SET search_path = mainspring").await.unwrap();
    let mut counts = Vec::new();
    for row in client.query(include_str!("sql/buckets.sql"), &[&table]).await.unwrap() {
        let count = format!("SELECT count(*) FROM {}", row.get::<_, &str>(0));
        counts.push(client.query_one(&count, &[]).await.unwrap().get(0));
    }
    counts
}

#[test]
fn the_present_bucket_is_whole_unless_something_lies_beside_it() {
    let (now, present) = (at(HOUR), Bucket::of(at(HOUR), WIDTH));
    assert_eq!(missing(now, WIDTH, &[], true)[0], present);
    let rest = Bucket { start: now.after(LEAD).as_millis(), ..present };
    assert_eq!(missing(now, WIDTH, &[], false)[0], rest);
    for there in [present, rest] {
        assert_eq!(missing(now, WIDTH, &[there], true)[0], present.next(), "it is there");
    }
}

#[tokio::test]
async fn a_job_that_comes_first_to_a_fresh_store_lies_in_a_bucket() {
    let (database, stage) = bucketed().await;
    stage.accept(at(0), vec![job(1)]).await;
    assert_eq!(partitions(&database, "jobs").await, [1, 0, 0]);
}

#[tokio::test]
async fn buckets_are_made_ahead_of_their_time_and_only_once() {
    let (database, stage) = bucketed().await;
    let begun = 1 + AHEAD as usize;
    assert_eq!(partitions(&database, "jobs").await.len(), begun, "the present one, and those ahead");
    assert_eq!(partitions(&database, "ledger").await.len(), begun);
    let ask = nothing();
    let prunes = (0..4).map(|_| stage.store.prune(at(6 * HOUR), ask));
    for pruned in futures_util::future::join_all(prunes).await {
        assert_eq!(pruned.unwrap(), Pruned::default());
    }
    // One who finds another at it leaves it to the other, so ask once more.
    stage.store.prune(at(6 * HOUR), ask).await.unwrap();
    assert_eq!(partitions(&database, "jobs").await.len(), begun + 1);
    assert_eq!(partitions(&database, "ended").await.len(), begun + 1);
    assert_eq!(partitions(&database, "executions").await.len(), begun + 1);
}

#[tokio::test]
async fn a_bucket_whose_time_has_come_by_the_clock_of_another_node_is_not_made_and_stops_nothing() {
    let database = Database::new();
    let store = Postgres::open(&Options { has_buckets: true, ..database.options() }).await.unwrap();
    let early = |number| Job { id: JobId::mint(at(number), 0, Segment::wrap(0), 0), ..job(1) };
    store.submit(at(0), vec![early(0), early(8 * HOUR)]).await.unwrap();
    store.prune(at(0), nothing()).await.unwrap();
    assert_eq!(partitions(&database, "jobs").await.len(), AHEAD as usize, "all but the one that has a job already");
    store.prune(at(0), nothing()).await.unwrap();
}

#[tokio::test]
async fn a_bucket_that_is_past_retention_is_dropped_and_what_is_not_over_stays() {
    let (database, stage) = bucketed().await;
    let now = at(7 * HOUR);
    stage.accept(now, vec![bucketed_job(1), bucketed_job(2), bucketed_job(3), bucketed_job(4)]).await;
    let steps = [stage::step(1, bucketed_job(5)), stage::step(1, bucketed_job(6))];
    stage.accept(now, steps.into()).await;
    assert_eq!(partitions(&database, "jobs").await.iter().sum::<i64>(), 6);
    stage.register(now, 1).await;
    let claimed = stage.claim(now, 1, 6).await;
    assert_eq!(claimed.len(), 6);
    stage.end(now, claimed[0].lease_id(), stage::succeed()).await;
    stage.end(now, claimed[1].lease_id(), stage::bury()).await;
    stage.end(now, claimed[2].lease_id(), stage::retry(at(100 * HOUR))).await;
    // The fourth goes on running, the steps of the workflow succeed, the last of them late.
    stage.end(now, claimed[4].lease_id(), stage::succeed()).await;
    stage.end(at(30 * HOUR), claimed[5].lease_id(), stage::succeed()).await;

    let ask = Prune { ended_before: at(24 * HOUR), limit: 1000, ..nothing() };
    let pruned = stage.store.prune(at(31 * HOUR), ask).await.unwrap();
    assert_eq!((pruned.jobs, pruned.more), (2, false), "one job and one step");
    assert_eq!(partitions(&database, "jobs").await.iter().sum::<i64>(), 0, "the rest lies elsewhere");

    let states = [2, 3, 4, 6].map(|number| (number, id_in_bucket(number)));
    let expected = [State::Dead, State::Waiting, State::Running, State::Succeeded];
    for ((number, id), state) in states.into_iter().zip(expected) {
        assert_eq!(stage.view(id).await.standing.state, state, "{number}");
    }
    assert_eq!(stage.executions(id_in_bucket(2)).await.len(), 1);
    assert_eq!(stage.executions(id_in_bucket(3)).await.len(), 1);
    for gone in [1, 5] {
        assert_eq!(stage.look(id_in_bucket(gone)).await, None);
    }
    let counts = Counts { waiting: 1, running: 1, succeeded: 1, dead: 1, ..Counts::default() };
    assert_eq!(stage.queue("mail").await.counts, counts);
    let workflow = stage.store.workflow(&tenant("default"), stage::workflow(1)).await.unwrap().unwrap();
    assert_eq!(workflow.counts, Counts { succeeded: 1, ..Counts::default() });

    // They go on as if nothing had been, and go by themselves.
    stage.end(at(31 * HOUR), claimed[3].lease_id(), stage::succeed()).await;
    assert_eq!(stage.promote(at(100 * HOUR)).await, 1);
    let all = Prune { ended_before: at(99 * HOUR), dead_before: at(99 * HOUR), ..ask };
    assert_eq!(stage.store.prune(at(100 * HOUR), all).await.unwrap().jobs, 3);
    assert_eq!(stage.queue("mail").await.counts, Counts { ready: 1, ..Counts::default() });
    assert_eq!(stage.store.workflow(&tenant("default"), stage::workflow(1)).await.unwrap(), None);
    assert_eq!(stage.store.queues(None).await.unwrap()[0].queue, queue_ref("mail"));
}

#[tokio::test]
async fn a_bucket_that_cannot_be_dropped_loses_its_rows_one_by_one() {
    let database = Database::new();
    let store = Postgres::open(&Options { has_buckets: true, ..database.options() }).await.unwrap();
    store.prune(at(0), nothing()).await.unwrap();
    store.submit(at(7 * HOUR), (1..=5).map(bucketed_job).collect()).await.unwrap();
    let cancel = |number| mainspring_core::store::Command::Job {
        tenant: tenant("default"),
        id: id_in_bucket(number),
        what: stage::cancel(),
    };
    store.command(at(7 * HOUR), (1..=4).map(cancel).collect()).await.unwrap();
    let ask = Prune { ended_before: at(24 * HOUR), limit: 3, ..nothing() };
    let bucket = Bucket::of(at(7 * HOUR), WIDTH);
    let thin = async || -> Result<u64> { Ok(transact!(store.pool, |txn| thin_out(&txn, bucket, &ask).await?)) };
    assert_eq!([thin().await.unwrap(), thin().await.unwrap(), thin().await.unwrap()], [3, 1, 0]);
    assert_eq!(store.queues(None).await.unwrap()[0].counts, Counts { ready: 1, ..Counts::default() });
}
