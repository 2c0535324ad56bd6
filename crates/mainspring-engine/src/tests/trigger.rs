//! The trigger: on the millisecond, whatever the clock does.

use super::*;
use crate::actor::Actor;
use crate::ownership::Ownership;
use crate::trigger::Trigger;

/// A still world whose seats are taken, and its trigger.
async fn armed() -> (World, Trigger) {
    let world = World::still();
    Ownership::new(world.node()).tick(world.now()).await.unwrap();
    let trigger = Trigger::new(world.node());
    (world, trigger)
}

impl World {
    async fn tick(&self, trigger: &mut Trigger, at: Time) -> Time {
        self.ground.clock.set(at);
        // The seats are kept for as long as the test takes.
        Ownership::new(self.node()).tick(at).await.unwrap();
        trigger.tick(at).await.unwrap()
    }
}

#[tokio::test]
async fn a_job_fires_at_its_instant_and_not_before() {
    let (world, mut trigger) = armed().await;
    world.tick(&mut trigger, START).await;
    let id = world.submit(due_in(ms(250))).await;
    let at = START.after(ms(250));
    assert_eq!(world.tick(&mut trigger, START.after(ms(1))).await, at);
    assert_eq!(world.tick(&mut trigger, at.before(ms(1))).await, at);
    assert_eq!(world.state(id).await, State::Waiting);
    world.tick(&mut trigger, at).await;
    assert_eq!(world.state(id).await, State::Ready);
}

#[tokio::test]
async fn a_job_far_ahead_is_found_in_time() {
    let (world, mut trigger) = armed().await;
    let id = world.submit(due_in(ms(20_123))).await;
    let at = START.after(ms(20_123));
    let mut now = START;
    while now < at {
        assert_eq!(world.state(id).await, State::Waiting);
        let next = world.tick(&mut trigger, now).await;
        assert!(now < next && next <= now.after(seconds(1)), "looks again within a second");
        now = next;
    }
    assert_eq!(now, at, "wakes on the millisecond");
    world.tick(&mut trigger, now).await;
    assert_eq!(world.state(id).await, State::Ready);
}

#[tokio::test]
async fn a_waiting_claim_receives_a_job_when_it_falls_due() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let later = world.submit(due_in(ms(500))).await;
    let sooner = world.submit(due_in(ms(100))).await;
    world.ground.clock.advance(ms(100));
    assert_eq!(claim.await.unwrap()[0].job.id, sooner);
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    world.ground.clock.advance(ms(400));
    assert_eq!(claim.await.unwrap()[0].job.id, later);
}

#[tokio::test]
async fn a_clock_set_back_fires_nothing_early_and_stalls_nothing() {
    let (world, mut trigger) = armed().await;
    let old = world.submit(due_in(ms(100))).await;
    world.tick(&mut trigger, START).await;

    let back = START.before(seconds(3600));
    let next = world.tick(&mut trigger, back).await;
    assert!(next <= back.after(seconds(1)), "looks again within a second of the new time");
    let new = world.submit(due_in(ms(100))).await;
    world.tick(&mut trigger, back.after(ms(99))).await;
    assert_eq!((world.state(new).await, world.state(old).await), (State::Waiting, State::Waiting));
    world.tick(&mut trigger, back.after(ms(100))).await;
    assert_eq!((world.state(new).await, world.state(old).await), (State::Ready, State::Waiting));
    world.tick(&mut trigger, START.after(ms(100))).await;
    assert_eq!(world.state(old).await, State::Ready);
}

#[tokio::test]
async fn a_running_trigger_survives_a_clock_set_back() {
    let world = World::running().await;
    world.ground.clock.set(START.before(seconds(3600)));
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let id = world.submit(due_in(ms(50))).await;
    world.ground.clock.advance(ms(50));
    assert_eq!(claim.await.unwrap()[0].job.id, id);
}

#[tokio::test]
async fn a_clock_set_forward_fires_everything_overdue() {
    let world = World::running().await;
    for hours in [1, 2, 30] {
        world.submit(due_in(seconds(hours * 3600))).await;
    }
    world.ground.clock.advance(seconds(48 * 3600));
    let worker = world.worker().await;
    // The terms were over too: the first look may come before the seats are back.
    let mut claimed = 0;
    while claimed < 3 {
        claimed += jobs(world.engine.claim(ask(worker, seconds(30))).await.unwrap()).len();
    }
    assert_eq!(claimed, 3);
}

#[tokio::test]
async fn what_was_overdue_before_the_start_is_ready_after_it() {
    let ground = Ground::new();
    let id = World::still_on(ground.clone()).submit(due_in(seconds(60))).await;
    ground.clock.advance(seconds(120));
    let world = World::on(ground).await;
    assert_eq!(world.state(id).await, State::Ready);
    assert!(world.engine.health().ready);
}

#[tokio::test]
async fn two_nodes_that_both_promote_break_nothing() {
    let ground = Ground::new();
    let first = World::on(ground.clone()).await;
    // Seats of its own: it believes that it holds everything, too.
    let second = World::on(Ground { seats: Arc::default(), ..ground.clone() }).await;
    let worlds = [&first, &second];
    let mut submitted = vec![];
    for at in 0..100 {
        submitted.push(worlds[at % 2].submit(due_in(ms(at as u64 % 7))).await);
    }
    ground.clock.advance(ms(10));
    let workers = [first.worker().await, second.worker().await];
    let mut claimed = vec![];
    while claimed.len() < submitted.len() {
        for (world, worker) in worlds.into_iter().zip(workers) {
            claimed.extend(world.claim_now(worker).await.into_iter().map(|claimed| claimed.job.id));
            tokio::task::yield_now().await;
        }
    }
    claimed.sort();
    assert_eq!(
        claimed,
        submitted.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    );
}
