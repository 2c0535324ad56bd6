//! The sweep: whatever is held has an end.

use super::*;
use crate::Expiry;
use crate::actor::Actor;
use crate::ownership::Ownership;
use crate::sweep::Sweep;

struct Swept {
    world: World,
    sweep: Sweep,
}

impl Swept {
    fn new() -> Swept {
        let world = World::still();
        let sweep = Sweep::new(world.node(), START);
        Swept { world, sweep }
    }

    async fn tick(&mut self) {
        let now = self.world.now();
        Ownership::new(self.world.node()).tick(now).await.unwrap();
        self.sweep.tick(now).await.unwrap();
    }

    /// Second by second, as it runs in life.
    async fn sweep_for(&mut self, count: u64) {
        for _ in 0..count {
            self.world.ground.clock.advance(seconds(1));
            self.tick().await;
        }
    }

    /// A fresh worker that claims and is never heard of again.
    async fn claim_and_vanish(&self) -> Claimed {
        let worker = self.world.worker().await;
        self.world.claim_now(worker).await.pop().expect("something is ready")
    }
}

#[tokio::test]
async fn a_silent_workers_job_is_taken_back_and_its_late_word_is_stale() {
    let mut swept = Swept::new();
    let id = swept.world.submit(draft()).await;
    let lost = swept.claim_and_vanish().await;
    swept.sweep_for(29).await;
    assert_eq!(swept.world.state(id).await, State::Running);
    swept.sweep_for(2).await;
    let standing = swept.world.view(id).await.unwrap().standing;
    assert_eq!((standing.state, standing.tally.crashes), (State::Waiting, 1));
    assert_eq!(swept.world.settle(&lost, Outcome::Succeeded { result: None }).await, Settled::Stale);
    assert_eq!(swept.world.settle(&lost, failed()).await, Settled::Stale);
}

#[tokio::test]
async fn a_crash_loop_ends_dead() {
    let mut swept = Swept::new();
    let id = swept.world.submit(draft()).await;
    for crash in 1..=2 {
        swept.claim_and_vanish().await;
        swept.sweep_for(31).await;
        assert_eq!(swept.world.view(id).await.unwrap().standing.tally.crashes, crash);
        swept.sweep_for(5).await;
        let mut trigger = crate::trigger::Trigger::new(swept.world.node());
        trigger.tick(swept.world.now()).await.unwrap();
    }
    assert_eq!(swept.world.state(id).await, State::Dead);
}

#[tokio::test]
async fn an_attempt_that_runs_past_its_timeout_has_failed() {
    let mut swept = Swept::new();
    let id = swept.world.submit(Draft { timeout: Some(seconds(5)), ..draft() }).await;
    swept.claim_and_vanish().await;
    swept.sweep_for(4).await;
    assert_eq!(swept.world.state(id).await, State::Running);
    swept.sweep_for(1).await;
    let standing = swept.world.view(id).await.unwrap().standing;
    assert_eq!((standing.state, standing.tally.failures, standing.tally.crashes), (State::Waiting, 1, 0));
}

#[tokio::test]
async fn a_job_that_does_not_start_in_time_is_cancelled() {
    let mut swept = Swept::new();
    let id = swept.world.submit(Draft { expires: Some(Expiry::In(seconds(3))), ..draft() }).await;
    swept.sweep_for(2).await;
    assert_eq!(swept.world.state(id).await, State::Ready);
    swept.sweep_for(2).await;
    assert_eq!(swept.world.state(id).await, State::Cancelled);
}

#[tokio::test]
async fn after_a_pause_of_ours_silent_workers_get_a_lease_to_be_heard() {
    let mut swept = Swept::new();
    let id = swept.world.submit(draft()).await;
    swept.sweep_for(31).await;
    swept.claim_and_vanish().await;
    swept.world.ground.clock.advance(seconds(600));
    swept.tick().await;
    swept.sweep_for(29).await;
    assert_eq!(swept.world.state(id).await, State::Running);
    swept.sweep_for(1).await;
    assert_eq!(swept.world.state(id).await, State::Waiting);
}

#[tokio::test]
async fn what_is_past_its_retention_is_forgotten() {
    let mut swept = Swept::new();
    let [done, dead] = [swept.world.submit(draft()).await, swept.world.submit(draft()).await];
    let worker = swept.world.worker().await;
    let claimed = swept.world.claim_now(worker).await;
    let never = Outcome::Failed { error: Failure::new("no"), retry: RetryWish::Never };
    swept.world.settle(&claimed[0], Outcome::Succeeded { result: None }).await;
    swept.world.settle(&claimed[1], never).await;

    let day = seconds(24 * 3600);
    swept.world.ground.clock.advance(day);
    swept.tick().await;
    assert!(swept.world.view(done).await.is_some(), "a day is kept in full");
    swept.sweep_for(1).await;
    assert!(swept.world.view(done).await.is_none());
    assert_eq!(swept.world.state(dead).await, State::Dead, "dead letters are kept for longer");
    swept.world.ground.clock.advance(29 * day);
    swept.tick().await;
    assert!(swept.world.view(dead).await.is_none());
}

#[tokio::test]
async fn a_node_that_does_not_lead_does_not_sweep() {
    let ground = Ground::new();
    let leader = World::still_on(ground.clone());
    Ownership::new(leader.node()).tick(START).await.unwrap();
    let other = World::still_on(ground.clone());
    let id = other.submit(Draft { expires: Some(Expiry::In(seconds(1))), ..draft() }).await;
    ground.clock.advance(seconds(2));
    for (world, state) in [(other, State::Ready), (leader, State::Cancelled)] {
        Ownership::new(world.node()).tick(world.now()).await.unwrap();
        Sweep::new(world.node(), START).tick(world.now()).await.unwrap();
        assert_eq!(world.state(id).await, state);
    }
}
