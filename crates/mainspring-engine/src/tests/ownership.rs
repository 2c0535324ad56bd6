//! Seats: who cannot renew stops acting, and says so.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use mainspring_core::segment::Segments;

use super::*;
use crate::actor::Actor;
use crate::ownership::Ownership;
use crate::trigger::Trigger;

#[tokio::test]
async fn a_node_that_cannot_renew_stops_acting_before_its_term_ends() {
    let world = World::still();
    let (mut ownership, mut trigger) = (Ownership::new(world.node()), Trigger::new(world.node()));
    ownership.tick(START).await.unwrap();
    assert_eq!(world.node().holdings.segments(START), Segments::ALL);
    let id = world.submit(due_in(ms(9_500))).await;

    world.ground.seats.set_out_of_reach(true);
    assert!(ownership.tick(START.after(seconds(3))).await.is_err());
    assert_eq!(world.node().holdings.segments(START.after(ms(8_999))), Segments::ALL);
    assert_eq!(world.node().holdings.segments(START.after(seconds(9))), Segments::NONE);
    assert_eq!(world.node().holdings.leads(START.after(seconds(9))), None);
    world.ground.clock.advance(ms(9_600));
    trigger.tick(world.now()).await.unwrap();
    assert_eq!(world.state(id).await, State::Waiting);
    let node = world.node();
    let nudged = pin!(node.ownership.notified()).poll(&mut Context::from_waker(Waker::noop()));
    assert!(nudged.is_ready(), "the renewal does not wait for its own time");

    world.ground.seats.set_out_of_reach(false);
    ownership.tick(world.now()).await.unwrap();
    trigger.tick(world.now()).await.unwrap();
    assert_eq!(world.state(id).await, State::Ready);
}

#[tokio::test]
async fn a_second_node_takes_over_when_the_first_is_gone() {
    let ground = Ground::new();
    let [first, second] = [World::still_on(ground.clone()), World::still_on(ground.clone())];
    Ownership::new(first.node()).tick(START).await.unwrap();
    let mut ownership = Ownership::new(second.node());
    let mut now = START;
    while second.node().holdings.segments(now) == Segments::NONE {
        assert!(now < START.after(seconds(11)), "takes over when the term is over");
        now = ownership.tick(now).await.unwrap();
    }
    assert_eq!(first.node().holdings.segments(now), Segments::NONE);
    assert_eq!(second.node().holdings.segments(now), Segments::ALL);
}

/// An actor that has a bug.
struct Broken;

impl Actor for Broken {
    const NAME: &'static str = "broken";

    async fn tick(&mut self, _now: Time) -> crate::Result<Time> {
        panic!("a bug");
    }
}

#[tokio::test]
async fn a_node_whose_actor_has_failed_is_not_ready() {
    let world = World::running().await;
    crate::actor::spawn(Broken, &world.node(), Arc::default(), START).await.unwrap();
    let health = world.engine.health();
    assert!(!health.ready);
    assert!(health.store_error.unwrap().starts_with("broken has stopped"));
}

#[tokio::test]
async fn a_node_in_trouble_says_so_and_recovers() {
    let world = World::running().await;
    assert!(world.engine.health().ready);
    world.ground.seats.set_out_of_reach(true);
    world.ground.clock.advance(seconds(4));
    while world.engine.health().ready {
        tokio::task::yield_now().await;
    }
    assert!(world.engine.health().store_error.unwrap().contains("out of reach"));
    world.ground.seats.set_out_of_reach(false);
    world.ground.clock.advance(seconds(1));
    while !world.engine.health().ready {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.engine.health().store_error, None);
}
