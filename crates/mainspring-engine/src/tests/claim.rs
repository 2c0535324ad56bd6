//! Claims: who waits is served, and nothing is lost on the way.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use mainspring_core::id::WorkerId;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Command, Order, QueueCommand};

use super::lossy::Lossy;
use super::*;
use crate::Error;

#[tokio::test]
async fn a_waiting_claim_receives_a_job_submitted_later() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let id = world.submit(draft()).await;
    let claimed = claim.await.unwrap();
    assert_eq!(claimed.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>(), [id]);
}

#[tokio::test]
async fn a_claim_ends_empty_when_its_wait_is_over_and_not_before() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(10))).await;
    world.ground.clock.advance(ms(9_999));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!claim.is_finished());
    world.ground.clock.advance(ms(1));
    assert_eq!(claim.await.unwrap(), []);
}

#[tokio::test]
async fn a_clock_set_back_makes_no_claim_wait_longer() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(10))).await;
    world.ground.clock.set(START.before(seconds(3600)));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    world.ground.clock.advance(seconds(10));
    assert_eq!(claim.await.unwrap(), []);
}

#[tokio::test]
async fn each_of_many_waiting_claims_gets_its_share() {
    let world = World::running().await;
    let worker = world.worker().await;
    let mut claims = vec![];
    for _ in 0..20 {
        claims.push(world.waiting(ClaimAsk { max: 3, ..ask(worker, seconds(30)) }).await);
    }
    world.engine.submit(vec![draft(); 60]).await.unwrap();
    let mut ids = vec![];
    for claim in claims {
        let claimed = claim.await.unwrap();
        assert_eq!(claimed.len(), 3);
        ids.extend(claimed.iter().map(|claimed| claimed.job.id));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 60);
}

#[tokio::test]
async fn a_waiter_that_is_filled_from_another_queue_passes_the_wake_on() {
    let world = World::running().await;
    let worker = world.worker().await;
    let one = |queues: Vec<QueueName>| ClaimAsk { queues, max: 1, ..ask(worker, seconds(30)) };
    let both = world.waiting(one(vec![queue("a"), queue("b")])).await;
    let only_a = world.waiting(one(vec![queue("a")])).await;
    // The older one is in `b`, so the first in the line of `a` takes that one.
    world.engine.submit(["b", "a"].map(|name| Draft { queue: queue(name), ..draft() }).into()).await.unwrap();
    assert_eq!(both.await.unwrap()[0].job.queue, queue("b"));
    assert_eq!(only_a.await.unwrap()[0].job.queue, queue("a"));
}

#[tokio::test]
async fn a_dropped_claim_gives_its_jobs_back_uncounted() {
    let world = World::running().await;
    let [gone, next] = [world.worker().await, world.worker().await];
    let id = {
        let mut claim = pin!(world.engine.claim(ask(gone, seconds(30))));
        // Asked by hand, so that it is parked and nobody looks at its answer.
        while world.node().poll.waiting() == 0 {
            assert!(claim.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            tokio::task::yield_now().await;
        }
        let id = world.submit(draft()).await;
        while world.state(id).await != State::Running {
            tokio::task::yield_now().await;
        }
        id
    };
    let claimed = jobs(world.engine.claim(ask(next, seconds(30))).await.unwrap());
    assert_eq!((claimed[0].job.id, claimed[0].tally.attempts), (id, 1));
}

#[tokio::test]
async fn a_request_that_is_gone_before_the_store_is_asked_claims_nothing() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    {
        let claim = pin!(world.engine.claim(ask(worker, seconds(30))));
        assert!(claim.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let claimed = jobs(world.engine.claim(ask(worker, seconds(30))).await.unwrap());
    assert_eq!(claimed[0].job.id, id);
    let before = world.engine.store().executions(&tenant(), id).await.unwrap();
    assert_eq!(before, [], "it was not claimed and given back before");
}

#[tokio::test]
async fn a_worker_that_nobody_knows_does_not_wait() {
    let world = World::running().await;
    let stranger = WorkerId(uuid::Uuid::from_u128(1));
    let answer = world.engine.claim(ask(stranger, seconds(30))).await.unwrap();
    assert_eq!(answer, ClaimAnswer::UnknownWorker);
}

#[tokio::test]
async fn a_waiting_worker_hears_at_once_that_it_is_to_go_quiet() {
    let world = World::running().await;
    let worker = world.worker().await;
    let engine = world.engine.clone();
    let claim = tokio::spawn(async move { engine.claim(ask(worker, seconds(30))).await.unwrap() });
    while world.node().poll.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    world.engine.command(vec![Command::Worker { id: worker, order: Order::Quiet }]).await.unwrap();
    assert_eq!(claim.await.unwrap(), ClaimAnswer::Quiet);
}

#[tokio::test]
async fn a_queue_that_is_resumed_serves_everyone_who_waits() {
    let world = World::running().await;
    let worker = world.worker().await;
    let of = QueueRef { tenant: tenant(), queue: QueueName::default_queue() };
    let command = |what| vec![Command::Queue { queue: of.clone(), what }];
    world.engine.submit(vec![draft(); 9]).await.unwrap();
    world.engine.command(command(QueueCommand::Pause)).await.unwrap();
    let mut claims = vec![];
    for _ in 0..9 {
        claims.push(world.waiting(ClaimAsk { max: 1, ..ask(worker, seconds(30)) }).await);
    }
    world.engine.command(command(QueueCommand::Resume)).await.unwrap();
    for claim in claims {
        assert_eq!(claim.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_claim_that_overtook_the_submit_it_went_along_with_is_woken_once_the_job_is_there() {
    let store = Arc::new(Lossy::default());
    let world = World::on(Ground::with(store.clone(), store.inner.clone())).await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    store.overtaken.store(1, Ordering::Relaxed);
    let id = world.submit(draft()).await;
    assert_eq!(claim.await.unwrap()[0].job.id, id, "and the clock stands still");
}

#[tokio::test]
async fn a_job_that_nobody_announced_is_found_behind_the_wakes() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    // Another node stores a job, and its hint is lost.
    let other = World::still_on(world.ground.clone());
    let id = other.submit(draft()).await;
    world.ground.clock.advance(seconds(5));
    assert_eq!(claim.await.unwrap()[0].job.id, id);
}

#[tokio::test]
async fn a_node_that_shuts_down_answers_who_waits_and_refuses_the_rest() {
    let world = World::running().await;
    let worker = world.worker().await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    let mut events = world.engine.events();
    world.engine.shutdown().await;
    world.engine.shutdown().await;
    assert_eq!(claim.await.unwrap(), []);
    assert!(matches!(world.engine.submit(vec![draft()]).await, Err(Error::Closed)));
    assert!(matches!(world.engine.claim(ask(worker, seconds(1))).await, Err(Error::Closed)));
    assert_eq!(events.next().await, None);
    assert!(!world.engine.health().ready);
    let terms = world.ground.seats.roll().await.unwrap().terms;
    assert!(terms.iter().all(|term| term.until <= world.now()), "the seats are free for the next node");
}

#[tokio::test]
async fn a_turn_that_finds_nothing_waits_as_any_claim_does() {
    let world = World::running().await;
    let worker = world.worker().await;
    let first = world.submit(draft()).await;
    let held = world.claim_now(worker).await.remove(0);
    let engine = world.engine.clone();
    let ends = vec![end(&held, Outcome::Succeeded { result: None })];
    let turn = tokio::spawn(async move { engine.settle_and_claim(ends, ask(worker, seconds(30))).await.unwrap() });
    while world.node().poll.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.state(first).await, State::Succeeded, "what is finished does not wait with it");
    let next = world.submit(draft()).await;
    let (settled, claimed) = turn.await.unwrap();
    assert_eq!(settled.len(), 1);
    assert_eq!(jobs(claimed.unwrap())[0].job.id, next);
}

#[tokio::test]
async fn a_dropped_turn_has_settled_and_gives_back_what_it_claimed() {
    let world = World::running().await;
    let [gone, next] = [world.worker().await, world.worker().await];
    let first = world.submit(draft()).await;
    let held = world.claim_now(gone).await.remove(0);
    let second = world.submit(draft()).await;
    {
        let ends = vec![end(&held, Outcome::Succeeded { result: None })];
        let turn = pin!(world.engine.settle_and_claim(ends, ask(gone, seconds(30))));
        assert!(turn.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let claimed = jobs(world.engine.claim(ask(next, seconds(30))).await.unwrap());
    assert_eq!((claimed[0].job.id, claimed[0].tally.attempts), (second, 1));
    assert_eq!(world.state(first).await, State::Succeeded);
}
