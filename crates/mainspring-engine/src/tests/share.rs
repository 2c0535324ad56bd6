//! Claims for every tenant: whoever has work wakes them, and each gets its share.

use std::collections::BTreeMap;

use super::*;

fn other(name: &str) -> TenantName {
    TenantName::parse(name).unwrap()
}

fn for_all(worker: WorkerId, max: usize, wait: Duration) -> ClaimAsk {
    ClaimAsk { whose: Whose::All, max, ..ask(worker, wait) }
}

fn of(name: &str) -> Draft {
    Draft { tenant: other(name), ..draft() }
}

fn tenants(claimed: &[Claimed]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for claimed in claimed {
        *counts.entry(claimed.job.tenant.to_string()).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn a_claim_for_every_tenant_is_woken_by_any_of_them() {
    let world = World::running().await;
    let worker = world.worker().await;
    for name in ["acme", "bolt"] {
        let claim = world.waiting(for_all(worker, 10, seconds(30))).await;
        world.submit(Draft { queue: queue("mail"), ..of(name) }).await;
        settled_down().await;
        assert!(!claim.is_finished(), "another queue");
        world.submit(of(name)).await;
        assert_eq!(tenants(&claim.await.unwrap()), BTreeMap::from([(name.to_owned(), 1)]));
    }
    let claim = world.waiting(for_all(worker, 10, seconds(30))).await;
    let later = world.submit(Draft { when: When::In(ms(50)), ..of("acme") }).await;
    world.ground.clock.advance(ms(50));
    assert_eq!(ids(&claim.await.unwrap()), [later], "also by time");
}

#[tokio::test]
async fn a_claim_of_ones_own_is_not_woken_by_another_tenant() {
    let world = World::running().await;
    let worker = world.worker().await;
    let own = world.waiting(ask(worker, seconds(30))).await;
    let all = world.waiting(for_all(worker, 10, seconds(30))).await;
    world.submit(of("acme")).await;
    assert_eq!(tenants(&all.await.unwrap()), BTreeMap::from([("acme".to_owned(), 1)]));
    assert!(!own.is_finished());
    let id = world.submit(draft()).await;
    assert_eq!(ids(&own.await.unwrap()), [id]);
}

#[tokio::test]
async fn a_freed_slot_of_any_tenant_wakes_it() {
    let world = World::running().await;
    let worker = world.worker().await;
    let acme = other("acme");
    world.engine.set_limit(acme, reach("tenant"), at_once(1)).await.unwrap();
    world.engine.submit(vec![of("acme"); 2]).await.unwrap();
    let held = jobs(world.engine.claim(for_all(worker, 10, Duration::ZERO)).await.unwrap());
    assert_eq!(held.len(), 1);
    let claim = world.waiting(for_all(worker, 10, seconds(30))).await;
    assert!(!claim.is_finished());
    world.settle(&held[0], done()).await;
    assert_eq!(claim.await.unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_drowns_behind_a_tenant_with_a_flood() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.engine.submit(vec![of("acme"); 200]).await.unwrap();
    world.engine.submit(vec![of("bolt"); 10]).await.unwrap();
    let claimed = jobs(world.engine.claim(for_all(worker, 20, Duration::ZERO)).await.unwrap());
    assert_eq!(tenants(&claimed), BTreeMap::from([("acme".to_owned(), 10), ("bolt".to_owned(), 10)]));
}

#[tokio::test]
async fn a_tenant_of_weight_three_gets_three_quarters() {
    let world = World::running().await;
    let worker = world.worker().await;
    let weight = Rule { weight: Some(3), ..Rule::default() };
    world.engine.set_limit(other("acme"), reach("tenant"), weight).await.unwrap();
    for name in ["acme", "bolt"] {
        world.engine.submit(vec![of(name); 100]).await.unwrap();
    }
    let mut claims = vec![];
    for _ in 0..40 {
        claims.extend(jobs(world.engine.claim(for_all(worker, 2, Duration::ZERO)).await.unwrap()));
    }
    let counts = tenants(&claims);
    assert!(counts["acme"].abs_diff(60) <= 1, "{counts:?}");
    assert_eq!(claims.len(), 80);
}

#[tokio::test]
async fn a_job_that_a_claim_for_every_tenant_waits_for_does_not_lack_a_worker() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(Draft { queue: queue("mail"), ..of("acme") }).await;
    let explained = || async { world.engine.explain(&other("acme"), id).await.unwrap().unwrap().reasons };
    assert_eq!(explained().await, [crate::Reason::NoWorker { elsewhere: 0 }]);
    world.engine.set_limit(other("acme"), reach("queue:mail"), at_once(0)).await.unwrap();
    world.waiting(ClaimAsk { queues: vec![queue("mail")], ..for_all(worker, 1, seconds(30)) }).await;
    assert!(matches!(explained().await[..], [crate::Reason::Full { max: 0, .. }]));
}
