//! Workers: they come, are told what to stop, and go.

use mainspring_core::limits;
use mainspring_core::store::{Command, Commanded, JobCommand, Order, Pulse};

use super::*;

#[tokio::test]
async fn a_cancel_reaches_the_worker_through_its_heartbeat() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    let claimed = world.claim_now(worker).await.remove(0);
    let what = JobCommand::Cancel { reason: "not needed".into() };
    let answers = world.engine.command(vec![Command::Job { tenant: tenant(), id, what }]).await.unwrap();
    assert_eq!(answers, [Commanded::Asked]);

    let pulse = world.engine.heartbeat(tenant(), worker, None).await.unwrap();
    assert!(matches!(pulse, Pulse::Alive { cancel, .. } if cancel == [claimed.lease_id()]));
    world.settle(&claimed, failed()).await;
    assert_eq!(world.state(id).await, State::Cancelled);
}

#[tokio::test]
async fn a_worker_is_told_to_terminate() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.engine.command(vec![Command::Worker { id: worker, order: Order::Terminate }]).await.unwrap();
    let pulse = world.engine.heartbeat(tenant(), worker, None).await.unwrap();
    assert!(matches!(pulse, Pulse::Alive { order: Order::Terminate, .. }));
}

#[tokio::test]
async fn what_a_worker_never_received_is_given_to_another() {
    let world = World::running().await;
    let [deaf, next] = [world.worker().await, world.worker().await];
    let id = world.submit(draft()).await;
    assert_eq!(world.claim_now(deaf).await.len(), 1);
    let claim = world.waiting(ask(next, seconds(60))).await;

    world.ground.clock.advance(seconds(5));
    world.engine.heartbeat(tenant(), deaf, Some(vec![])).await.unwrap();
    assert_eq!(world.state(id).await, State::Running, "the answer may still be on its way");
    world.ground.clock.advance(seconds(6));
    world.engine.heartbeat(tenant(), deaf, Some(vec![])).await.unwrap();
    assert_eq!(claim.await.unwrap()[0].job.id, id);
}

#[tokio::test]
async fn a_lease_stays_within_its_limits() {
    let world = World::running().await;
    let check = async |asked: Option<Duration>, expected: Duration| {
        let registration = world.engine.register(tenant(), WorkerInfo::default(), asked).await.unwrap();
        assert_eq!((registration.lease, registration.heartbeat_every), (expected, expected / 3));
    };
    check(None, seconds(30)).await;
    check(Some(seconds(60)), seconds(60)).await;
    check(Some(ms(1)), limits::LEASE_MIN).await;
    check(Some(Duration::MAX), limits::LEASE_MAX).await;
}

#[tokio::test]
async fn what_a_leaving_worker_holds_is_given_back_at_once() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    assert_eq!(world.claim_now(worker).await.len(), 1);
    world.engine.leave(tenant(), worker).await.unwrap();
    assert_eq!(world.state(id).await, State::Ready);
    assert_eq!(world.view(id).await.unwrap().standing.tally.retries(), 0);
}
