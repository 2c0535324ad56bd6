//! Breakers: what fails too often is parked and burns no attempts, and comes back by itself.

use mainspring_core::gate::{BreakerRule, GateName, GateRef};

use super::*;
use crate::{EventKind, Reason};

/// Opens on two failures of two, for 300 ms; one probe at a time, and two must succeed.
fn touchy() -> Rule {
    let breaker = BreakerRule {
        window: seconds(10),
        min_attempts: 2,
        failures_per_mille: 1_000,
        cooldown: ms(300),
        probes: 1,
        closes_after: 2,
    };
    Rule { breaker: Some(breaker), ..Rule::default() }
}

fn gate() -> GateRef {
    GateRef { tenant: tenant(), gate: GateName::Type(TypeName::parse("mail").unwrap()) }
}

/// A world whose breaker is open, with four jobs of its type, two of them to be retried later.
async fn broken() -> (World, WorkerId, Vec<JobId>) {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("type:mail", touchy()).await;
    let mut submitted = vec![];
    for _ in 0..4 {
        submitted.push(world.submit(draft()).await);
    }
    for claimed in jobs(world.engine.claim(ClaimAsk { max: 2, ..ask(worker, Duration::ZERO) }).await.unwrap()) {
        world.settle(&claimed, failed()).await;
    }
    (world, worker, submitted)
}

#[tokio::test]
async fn a_breaker_parks_probes_and_closes() {
    let (world, worker, submitted) = broken().await;
    assert_eq!(world.claim_now(worker).await, []);
    let probe_at = START.after(ms(300));
    let [first, second] = [0, 1].map(|_| world.waiting(ClaimAsk { max: 1, ..ask(worker, seconds(30)) }));
    let [first, second] = [first.await, second.await];
    world.ground.clock.advance(ms(299));
    settled_down().await;
    assert!(!first.is_finished() && !second.is_finished());

    world.ground.clock.advance(ms(1));
    let probe = first.await.unwrap();
    assert_eq!((ids(&probe), probe[0].lease.claimed_at), (vec![submitted[2]], probe_at));
    assert_eq!(probe[0].tally.attempts, 1, "parked without burning attempts");
    settled_down().await;
    assert!(!second.is_finished(), "one probe at a time");
    let explained = world.engine.explain(&tenant(), submitted[3]).await.unwrap().unwrap();
    assert_eq!(explained.reasons[0], Reason::Probing { gate: gate() });
    assert_eq!(explained.eta, None);

    world.settle(&probe[0], done()).await;
    let probe = second.await.unwrap();
    assert_eq!(ids(&probe), [submitted[3]], "the next probe");
    world.settle(&probe[0], done()).await;
    world.engine.submit(vec![draft(); 3]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 3, "all go");
}

#[tokio::test]
async fn a_probe_that_fails_opens_it_again_for_as_long() {
    let (world, worker, _) = broken().await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(300));
    let probe = claim.await.unwrap();
    world.settle(&probe[0], failed()).await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(299));
    settled_down().await;
    assert!(!claim.is_finished());
    world.ground.clock.advance(ms(1));
    assert_eq!(claim.await.unwrap()[0].lease.claimed_at, START.after(ms(600)));
}

#[tokio::test]
async fn explain_and_onlookers_hear_of_a_breaker() {
    let world = World::running().await;
    let worker = world.worker().await;
    let mut events = world.engine.events();
    world.limit("type:*", touchy()).await;
    world.engine.submit(vec![draft(); 3]).await.unwrap();
    let held = jobs(world.engine.claim(ClaimAsk { max: 2, ..ask(worker, Duration::ZERO) }).await.unwrap());
    for claimed in &held {
        world.settle(claimed, failed()).await;
    }
    let probe_at = START.after(ms(300));
    let waiting = world.submit(draft()).await;
    let explained = world.engine.explain(&tenant(), waiting).await.unwrap().unwrap();
    assert_eq!(explained.reasons[0], Reason::BreakerOpen { gate: gate(), probe_at });
    assert_eq!(explained.eta, Some(probe_at));

    world.ground.clock.advance(ms(300));
    for _ in 0..2 {
        let probe = jobs(world.engine.claim(ask(worker, seconds(30))).await.unwrap());
        world.settle(&probe[0], done()).await;
    }
    let mut changes = vec![];
    while changes.last().is_none_or(|(kind, _)| *kind != EventKind::BreakerClosed) {
        let event = events.next().await.expect("the node runs");
        if event.limit == Some(reach("type:mail")) {
            changes.push((event.kind, event.until));
        }
    }
    assert_eq!(changes, [(EventKind::BreakerOpened, Some(probe_at)), (EventKind::BreakerClosed, None)]);
}

#[tokio::test]
async fn a_person_who_knows_better_reopens_it() {
    let (world, worker, submitted) = broken().await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    assert!(!claim.is_finished());
    assert!(world.engine.reopen_limit(tenant(), reach("type:mail")).await.unwrap());
    assert_eq!(ids(&claim.await.unwrap()), submitted[2..]);
}
