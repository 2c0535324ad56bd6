//! Several nodes at once on the walk of a job: what must hold however their transactions cross.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use mainspring_core::id::{JobId, LeaseId};
use mainspring_core::job::{Claimed, Job};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::*;

use super::testing::Database;
use super::{Postgres, upkeep};
use crate::conformance::stage::*;

async fn nodes(database: &Database, count: usize) -> Vec<Postgres> {
    let mut nodes = Vec::new();
    for _ in 0..count {
        nodes.push(Postgres::open(&database.options()).await.unwrap());
    }
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    nodes[0].heartbeat(at(0), vec![Beat { worker: worker(1), tenant: tenant("default"), kind }]).await.unwrap();
    nodes
}

async fn claim(node: &Postgres, max: usize) -> Vec<Claimed> {
    let (tenant, queues) = (TenantName::default_tenant(), vec![queue("mail")]);
    let claim = Claim { worker: worker(1), tenant, whose: Whose::Own, queues, max };
    match node.claim(at(1), vec![claim]).await.unwrap().remove(0) {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("{other:?}"),
    }
}

async fn settle(node: &Postgres, leases: &[LeaseId]) -> Vec<Settled> {
    let settlements = leases.iter().map(|lease| Settlement { lease: *lease, verdict: succeed() }).collect();
    node.settle(at(2), settlements).await.unwrap()
}

async fn states(node: &Postgres, jobs: impl Iterator<Item = u32>) -> Vec<State> {
    let views = node.get(&tenant("default"), jobs.map(id).collect()).await.unwrap();
    views.into_iter().map(|view| view.unwrap().standing.state).collect()
}

#[tokio::test]
async fn no_two_holders_of_nodes_that_claim_at_once_each_gets_other_jobs() {
    const JOBS: u32 = 300;
    let database = Database::new();
    let nodes = nodes(&database, 4).await;
    nodes[0].submit(at(0), (1..=JOBS).map(job).collect()).await.unwrap();
    let drain = async |node: &Postgres| {
        let mut taken = Vec::new();
        // Rows that others hold are passed over, so only two empty answers in a row say that nothing is left.
        let mut empty = 0;
        while empty < 2 {
            let claimed = claim(node, 7).await;
            empty = if claimed.is_empty() { empty + 1 } else { 0 };
            taken.extend(claimed.into_iter().map(|job| job.lease_id()));
        }
        taken
    };
    let mut taken: Vec<LeaseId> = join_all(nodes.iter().map(drain)).await.concat();
    taken.extend(claim(&nodes[0], JOBS as usize).await.iter().map(Claimed::lease_id));
    let jobs: BTreeSet<JobId> = taken.iter().map(|lease| lease.job).collect();
    let fences: BTreeSet<_> = taken.iter().map(|lease| lease.fence).collect();
    assert_eq!((taken.len(), jobs.len(), fences.len()), (300, 300, 300));
    let counts = nodes[0].queues(None).await.unwrap()[0].counts;
    assert_eq!((counts.ready, counts.running), (0, 300));
}

#[tokio::test]
async fn nodes_that_promote_at_once_make_each_job_ready_once() {
    const JOBS: u32 = 200;
    let database = Database::new();
    let nodes = nodes(&database, 3).await;
    let later = |number| Job { run_at: at(1), ..job(number) };
    nodes[0].submit(at(0), (1..=JOBS).map(later).collect()).await.unwrap();
    let promote = async |node: &Postgres| {
        let mut count = 0;
        loop {
            let promoted = node.promote(at(1), everything(20)).await.unwrap();
            count += promoted.ready.iter().map(|(_, count)| count).sum::<u64>();
            if !promoted.more {
                return count;
            }
        }
    };
    let promoted: u64 = join_all(nodes.iter().map(promote)).await.into_iter().sum();
    assert_eq!(promoted, u64::from(JOBS));
    assert_eq!(claim(&nodes[1], 1000).await.len(), JOBS as usize);
}

#[tokio::test]
async fn no_two_holders_a_settlement_that_crosses_a_reclaim_is_applied_or_stale_never_both() {
    let database = Database::new();
    let nodes = nodes(&database, 2).await;
    nodes[0].submit(at(0), (1..=60).map(job).collect()).await.unwrap();
    let leases: Vec<LeaseId> = claim(&nodes[0], 60).await.iter().map(Claimed::lease_id).collect();
    let late = at(1).after(LEASE).after(LEASE);
    let ask = Reclaim { limit: 100, ..sweep(late) };
    let (settled, reclaimed) = join(settle(&nodes[0], &leases), nodes[1].reclaim(late, ask)).await;
    let taken: BTreeSet<JobId> = reclaimed.unwrap().leases.iter().map(|taken| taken.claimed.job.id).collect();
    for (lease, settled) in leases.iter().zip(&settled) {
        assert_eq!(*settled == Settled::Stale, taken.contains(&lease.job), "{settled:?}");
    }
}

#[tokio::test]
async fn limits_hold_over_all_nodes_that_claim_at_once() {
    let database = Database::new();
    let nodes = nodes(&database, 4).await;
    nodes[0].submit(at(0), (1..=100).map(|number| with_key(number, "k")).collect()).await.unwrap();
    let what = GateCommand::Set(slots(5));
    let set = Command::Gate { tenant: tenant("default"), reach: reach("key:k"), what };
    nodes[0].command(at(0), vec![set]).await.unwrap();
    for _ in 0..5 {
        let claims = join_all(nodes.iter().map(|node| claim(node, 4))).await;
        let leases: Vec<LeaseId> = claims.concat().iter().map(Claimed::lease_id).collect();
        assert!(leases.len() <= 5, "{} run at once", leases.len());
        let more = claim(&nodes[0], 100).await;
        assert_eq!(leases.len() + more.len(), 5);
        let rest: Vec<LeaseId> = more.iter().map(Claimed::lease_id).collect();
        join(settle(&nodes[1], &leases), settle(&nodes[2], &rest)).await;
    }
}

#[tokio::test]
async fn no_state_without_an_exit_a_child_whose_parent_ends_while_it_is_submitted_becomes_ready() {
    let database = Database::new();
    let nodes = nodes(&database, 2).await;
    for round in 0..20 {
        let (first, last) = (round * 10 + 1, round * 10 + 5);
        nodes[0].submit(at(0), (first..=last).map(job).collect()).await.unwrap();
        let leases: Vec<LeaseId> = claim(&nodes[0], 5).await.iter().map(Claimed::lease_id).collect();
        let parents: Vec<u32> = (first..=last).collect();
        let submit = nodes[1].submit(at(2), vec![child(last + 1, &parents)]);
        let (_, submitted) = join(settle(&nodes[0], &leases), submit).await;
        assert!(matches!(submitted.unwrap()[0], Submitted::Accepted { .. }));
        while nodes[0].promote(at(2), everything(100)).await.unwrap().more {}
        assert_eq!(states(&nodes[0], [last + 1].into_iter()).await, [State::Ready]);
        let leases: Vec<LeaseId> = claim(&nodes[0], 5).await.iter().map(Claimed::lease_id).collect();
        settle(&nodes[0], &leases).await;
    }
}

#[tokio::test]
async fn no_state_without_an_exit_of_two_last_steps_that_end_at_once_one_frees_the_callback() {
    let database = Database::new();
    let nodes = nodes(&database, 2).await;
    for round in 0..10 {
        let number = round * 10 + 1;
        let jobs = vec![step(round, job(number)), step(round, job(number + 1)), callback(round, job(number + 2))];
        nodes[0].submit(at(0), jobs).await.unwrap();
        let leases: Vec<LeaseId> = claim(&nodes[0], 2).await.iter().map(Claimed::lease_id).collect();
        let (one, other) = join(settle(&nodes[0], &leases[..1]), settle(&nodes[1], &leases[1..])).await;
        let awaited =
            one.iter().chain(&other).filter(|it| matches!(it, Settled::Applied { awaited: true, .. })).count();
        assert_eq!(awaited, 1, "{one:?} {other:?}");
        nodes[1].promote(at(2), everything(100)).await.unwrap();
        assert_eq!(states(&nodes[0], [number + 2].into_iter()).await, [State::Ready]);
        let leases: Vec<LeaseId> = claim(&nodes[0], 5).await.iter().map(Claimed::lease_id).collect();
        settle(&nodes[0], &leases).await;
    }
}

#[tokio::test]
async fn a_failure_stays_where_it_is_rows_that_somebody_holds_open_stop_no_claim() {
    let database = Database::new();
    let nodes = nodes(&database, 1).await;
    nodes[0].submit(at(0), (1..=10).map(job).collect()).await.unwrap();
    let somebody = database.connect().await;
    somebody.batch_execute("BEGIN; SELECT FROM mainspring.ready ORDER BY id LIMIT 3 FOR UPDATE").await.unwrap();
    let taken: Vec<JobId> = claim(&nodes[0], 10).await.iter().map(|job| job.job.id).collect();
    assert_eq!(taken, (4..=10).map(id).collect::<Vec<_>>());
    somebody.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(claim(&nodes[0], 10).await.len(), 3);
}

#[tokio::test]
async fn upkeep_folds_counts_and_changes_nothing_that_can_be_seen() {
    let database = Database::new();
    let nodes = nodes(&database, 1).await;
    for number in 1..=20 {
        nodes[0].submit(at(0), vec![job(number)]).await.unwrap();
    }
    claim(&nodes[0], 5).await;
    let before = nodes[0].queues(None).await.unwrap();
    let somebody = database.connect().await;
    let rows =
        async || somebody.query_one("SELECT count(*) FROM mainspring.counts", &[]).await.unwrap().get::<_, i64>(0);
    assert!(rows().await > 20);
    upkeep::tend(&nodes[0].pool).await.unwrap();
    assert_eq!(rows().await, 1);
    assert_eq!(nodes[0].queues(None).await.unwrap(), before);
    assert_eq!((before[0].counts.ready, before[0].counts.running), (15, 5));
}

#[tokio::test]
async fn nothing_accepted_is_lost_of_many_jobs_one_of_which_was_there_already() {
    const JOBS: u32 = 200;
    let database = Database::new();
    let node = nodes(&database, 1).await.remove(0);
    node.submit(at(0), vec![job(7)]).await.unwrap();
    // Many, so that they are copied, and plain, so that nobody looks first.
    for _ in 0..2 {
        let answers = node.submit(at(0), (1..=JOBS).map(job).collect()).await.unwrap();
        assert!(answers.iter().all(|answer| matches!(answer, Submitted::Accepted { .. })), "{answers:?}");
        let ready = node.queues(None).await.unwrap()[0].counts.ready;
        assert_eq!(ready, u64::from(JOBS), "each is there once");
    }
    assert_eq!(claim(&node, 2 * JOBS as usize).await.len(), JOBS as usize);
}

#[tokio::test]
async fn limits_are_named_and_a_queue_that_was_bounded_meanwhile_takes_no_more_than_it_may() {
    let database = Database::new();
    let nodes = nodes(&database, 2).await;
    // The first has seen the queue without a bound, and writes to it without a look.
    nodes[0].submit(at(0), vec![job(1)]).await.unwrap();
    let bound = Command::Queue { queue: queue_ref("mail"), what: QueueCommand::SetMaxDepth(Some(2)) };
    nodes[1].command(at(0), vec![bound]).await.unwrap();
    let answers = nodes[0].submit(at(0), (2..5).map(job).collect()).await.unwrap();
    let taken = answers.iter().filter(|answer| matches!(answer, Submitted::Accepted { .. })).count();
    assert_eq!(taken, 1, "{answers:?}");
    assert!(matches!(answers[2], Submitted::QueueFull { max_depth: 2 }), "{answers:?}");
}
