//! Claims for all tenants, where they live in several databases.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Job};
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::store::*;

use super::home::MemorySet;
use crate::conformance::stage::{LEASE, at, job, queue, succeed, sweep, worker};
use crate::home::Home;

const TENANTS: usize = 3;

/// One tenant for each database, by shard.
pub(super) fn tenants(placement: Placement) -> Vec<TenantName> {
    let of = |shard| {
        let names = (0..).map(|number| TenantName::parse(&format!("tenant-{number}")).unwrap());
        names.into_iter().find(|tenant| placement.home(tenant) == shard).unwrap()
    };
    placement.shards().map(of).collect()
}

pub(super) fn job_of(tenant: &TenantName, placement: Placement, number: u32) -> Job {
    let segment = placement.segment_for(tenant, u64::from(number));
    Job { id: JobId::mint(at(0), number, segment, 0), tenant: tenant.clone(), ..job(number) }
}

pub(super) fn register(tenant: &TenantName) -> Beat {
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    Beat { worker: worker(1), tenant: tenant.clone(), kind }
}

fn ask(tenant: &TenantName, whose: Whose, max: usize) -> Claim {
    Claim { worker: worker(1), tenant: tenant.clone(), whose, queues: vec![queue("mail")], max }
}

async fn claim(store: &Arc<dyn Store>, claim: Claim) -> Vec<Claimed> {
    match store.claim(at(2), vec![claim]).await.unwrap().remove(0) {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("{other:?}"),
    }
}

/// Three databases with so many jobs of a tenant in each, and worker 1 of the first tenant.
async fn stage(each: u32) -> (MemorySet, Arc<dyn Store>, Vec<TenantName>) {
    let mut home = MemorySet::of(TENANTS);
    let store = home.open().await;
    let tenants = tenants(home.placement());
    for (place, tenant) in (0u32..).zip(&tenants) {
        let jobs = (0..each).map(|number| job_of(tenant, home.placement(), place * 100 + number)).collect();
        store.submit(at(0), jobs).await.unwrap();
    }
    store.heartbeat(at(0), vec![register(&tenants[0])]).await.unwrap();
    (home, store, tenants)
}

#[tokio::test]
async fn order_is_fair_every_database_is_the_first_in_its_turn() {
    let (_home, store, tenants) = stage(10).await;
    let mut first = BTreeSet::new();
    for _ in 0..TENANTS {
        let taken = claim(&store, ask(&tenants[0], Whose::All, 2)).await;
        assert_eq!(taken.len(), 2);
        first.insert(taken[0].job.tenant.clone());
    }
    assert_eq!(first, tenants.iter().cloned().collect());
}

#[tokio::test]
async fn a_claim_for_all_takes_what_there_is_from_every_database_and_no_more_than_it_asked() {
    let (_home, store, tenants) = stage(2).await;
    assert_eq!(claim(&store, ask(&tenants[0], Whose::All, 5)).await.len(), 5);
    assert_eq!(claim(&store, ask(&tenants[0], Whose::All, 5)).await.len(), 1);
    assert_eq!(claim(&store, ask(&tenants[0], Whose::All, 5)).await, []);
}

#[tokio::test]
async fn a_claim_for_its_own_gets_no_others() {
    let (_home, store, tenants) = stage(2).await;
    let taken = claim(&store, ask(&tenants[0], Whose::Own, 9)).await;
    assert_eq!(taken.len(), 2);
    assert!(taken.iter().all(|claimed| claimed.job.tenant == tenants[0]));
}

#[tokio::test]
async fn a_worker_holds_jobs_of_all_databases_and_its_beat_tells_of_all_of_them() {
    let (_home, store, tenants) = stage(1).await;
    let taken = claim(&store, ask(&tenants[0], Whose::All, 9)).await;
    let asked = &taken[1];
    let cancel = JobCommand::Cancel { reason: "no longer wanted".into() };
    let cancel = Command::Job { tenant: asked.job.tenant.clone(), id: asked.job.id, what: cancel };
    assert_eq!(store.command(at(3), vec![cancel]).await.unwrap(), [Commanded::Asked]);
    let settled = Settlement { lease: taken[2].lease_id(), verdict: succeed() };
    assert!(matches!(store.settle(at(3), vec![settled]).await.unwrap()[0], Settled::Applied { .. }));

    let leases = taken.iter().map(Claimed::lease_id).collect();
    let kind = BeatKind::Holding { leases, claimed_before: at(0) };
    let beat = Beat { kind, ..register(&tenants[0]) };
    let expected = Pulse::Alive {
        order: Order::Work,
        held: 2,
        cancel: vec![asked.lease_id()],
        lost: vec![taken[2].lease_id()],
        released: vec![],
        gates: None,
    };
    assert_eq!(store.heartbeat(at(4), vec![beat]).await.unwrap(), [expected]);
    assert_eq!(store.workers().await.unwrap()[0].held, 2);
}

#[tokio::test]
async fn what_was_claimed_in_all_databases_and_never_arrived_is_given_back_in_all() {
    let (_home, store, tenants) = stage(1).await;
    claim(&store, ask(&tenants[0], Whose::All, 9)).await;
    let kind = BeatKind::Holding { leases: vec![], claimed_before: at(3) };
    let pulse = store.heartbeat(at(4), vec![Beat { kind, ..register(&tenants[0]) }]).await.unwrap().remove(0);
    let Pulse::Alive { held: 0, released, .. } = pulse else { panic!("{pulse:?}") };
    assert_eq!(released.len(), TENANTS);
    assert_eq!(claim(&store, ask(&tenants[0], Whose::All, 9)).await.len(), TENANTS);
}

#[tokio::test]
async fn a_worker_that_is_told_to_go_quiet_gets_nothing_from_any_database() {
    let (_home, store, tenants) = stage(9).await;
    let order = Command::Worker { id: worker(1), order: Order::Quiet };
    assert_eq!(store.command(at(1), vec![order]).await.unwrap(), [Commanded::Done]);
    for _ in 0..TENANTS {
        let answers = store.claim(at(2), vec![ask(&tenants[0], Whose::All, 1)]).await.unwrap();
        assert_eq!(answers, [ClaimAnswer::Quiet]);
    }
}

#[tokio::test]
async fn an_unknown_worker_gets_nothing_from_any_database() {
    let (_home, store, tenants) = stage(9).await;
    for _ in 0..TENANTS {
        let stranger = Claim { worker: worker(2), ..ask(&tenants[0], Whose::All, 1) };
        assert_eq!(store.claim(at(2), vec![stranger]).await.unwrap(), [ClaimAnswer::UnknownWorker]);
    }
}

#[tokio::test]
async fn a_worker_that_another_database_has_written_off_is_not_gone_and_is_let_in_again() {
    let (_home, store, tenants) = stage(1).await;
    let late = at(0).after(LEASE);
    // A claim shows its own database that it lives; the others have not heard of it.
    let own = store.claim(late, vec![ask(&tenants[0], Whose::Own, 0)]).await.unwrap();
    assert_eq!(own, [ClaimAnswer::Jobs(vec![])]);
    assert_eq!(store.reclaim(late, sweep(late)).await.unwrap().silent, []);
    assert_eq!(store.workers().await.unwrap().len(), 1);
    let answer = store.claim(late, vec![ask(&tenants[0], Whose::All, 9)]).await.unwrap().remove(0);
    assert!(matches!(&answer, ClaimAnswer::Jobs(jobs) if jobs.len() == TENANTS), "{answer:?}");
}

#[tokio::test]
async fn no_state_without_an_exit_a_worker_that_is_gone_loses_its_jobs_in_all_databases_and_is_told_of_once() {
    let (_home, store, tenants) = stage(1).await;
    claim(&store, ask(&tenants[0], Whose::All, 9)).await;
    let late = at(0).after(LEASE);
    let reclaimed = store.reclaim(late, sweep(late)).await.unwrap();
    assert_eq!(reclaimed.leases.len(), TENANTS);
    assert_eq!(reclaimed.silent, [worker(1)]);
    assert_eq!(store.workers().await.unwrap(), []);
}

#[tokio::test]
async fn limits_are_named_the_bounds_of_a_step_are_those_of_all_databases_together() {
    let (home, store, tenants) = stage(0).await;
    for (place, tenant) in (0u32..).zip(&tenants) {
        let due = |number: u32| Job { run_at: at(100), ..job_of(tenant, home.placement(), place * 100 + number) };
        store.submit(at(0), (0..5).map(due).collect()).await.unwrap();
    }
    let (mut count, mut steps) = (0, 0);
    loop {
        let step = store.promote(at(100), crate::conformance::stage::everything(2)).await.unwrap();
        let moved: u64 = step.ready.iter().map(|(_, count)| count).sum();
        assert!(moved <= 2, "{step:?}");
        (count, steps) = (count + moved, steps + 1);
        if !step.more {
            break;
        }
        assert!(steps < 100, "it says that there is more for ever");
    }
    assert_eq!(count, 15);
}
