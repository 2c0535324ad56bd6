//! Holds the reference to the promises of all stores, and to those of its own seats and wakeups.

use mainspring_core::id::NodeId;
use mainspring_core::job::Job;
use mainspring_core::seats::{Seat, Seats, Term};
use mainspring_core::segment::Segment;
use mainspring_core::store::{Command, Commanded, Error, QueueCommand, Store, Turn, Views};
use mainspring_core::wakeups::{Wakeup, Wakeups};

use super::{Alone, Memory, MemorySeats, Together};
use crate::conformance::stage::*;
use crate::home::MemoryHome;

crate::conformance!(MemoryHome::default);
crate::lockstep!(memory, MemoryHome::default);

fn node(number: u32) -> NodeId {
    NodeId(id(number).uuid())
}

#[tokio::test]
async fn limits_are_named_one_queue_too_many_is_refused_and_nothing_of_the_call_happens() {
    let store = Memory::with_queues_max(2);
    let in_queue = |number, name| Job { queue: queue(name), ..job(number) };
    store.submit(at(0), vec![in_queue(1, "a"), in_queue(2, "b")]).await.unwrap();
    let refused = store.submit(at(0), vec![in_queue(3, "a"), in_queue(4, "c")]).await;
    assert!(matches!(&refused, Err(Error::Invalid(why)) if why.contains("limit of 2")), "{refused:?}");
    assert_eq!(store.get(&tenant("default"), vec![id(3)]).await.unwrap(), [None]);
    let turn = |name| Turn { jobs: vec![in_queue(3, name)], ..put("hourly", None) };
    assert!(matches!(store.turn(at(0), vec![put("daily", None), turn("c")]).await, Err(Error::Invalid(_))));
    assert_eq!(store.schedule(&schedule("daily")).await.unwrap(), None);
    let pause = |name| Command::Queue { queue: queue_ref(name), what: QueueCommand::Pause };
    assert!(matches!(store.command(at(0), vec![pause("a"), pause("c")]).await, Err(Error::Invalid(_))));
    assert!(!store.queues(None).await.unwrap()[0].paused);
    assert_eq!(store.command(at(0), vec![pause("b")]).await.unwrap(), [Commanded::Done]);
    store.submit(at(0), vec![in_queue(3, "a")]).await.unwrap();
}

#[tokio::test]
async fn no_two_holders_a_seat_is_one_nodes_until_its_term_is_over() {
    let seats = MemorySeats::new();
    let segment = Seat::Segment(Segment::wrap(7));
    let asked = vec![segment, Seat::Leader];
    let term = |seat, holder, epoch, until| Term { seat, holder: node(holder), epoch, until: at(until) };
    let taken = seats.take(at(0), node(1), asked.clone(), at(100)).await.unwrap();
    assert_eq!(taken, [term(segment, 1, 1, 100), term(Seat::Leader, 1, 1, 100)]);

    let refused = seats.take(at(99), node(2), asked.clone(), at(200)).await.unwrap();
    assert_eq!(refused, taken, "the term that stands is answered");

    let renewed = seats.take(at(99), node(1), vec![segment], at(150)).await.unwrap();
    assert_eq!(renewed, [term(segment, 1, 1, 150)], "renewing is no new epoch");

    let after = seats.take(at(100), node(2), asked, at(200)).await.unwrap();
    assert_eq!(after, [term(segment, 1, 1, 150), term(Seat::Leader, 2, 2, 200)]);
}

#[tokio::test]
async fn no_state_without_an_exit_a_seat_that_was_left_is_free_and_its_epoch_rises() {
    let seats = MemorySeats::new();
    seats.take(at(0), node(1), vec![Seat::Leader], at(100)).await.unwrap();
    seats.leave(at(10), node(2)).await.unwrap();
    assert_eq!(seats.take(at(10), node(2), vec![Seat::Leader], at(90)).await.unwrap()[0].holder, node(1));
    seats.leave(at(10), node(1)).await.unwrap();
    let taken = seats.take(at(10), node(2), vec![Seat::Leader], at(90)).await.unwrap();
    assert_eq!((taken[0].holder, taken[0].epoch), (node(2), 2));
    assert_eq!(Seats::terms(&seats).await.unwrap(), taken);
}

#[tokio::test]
async fn hints_reach_every_other_node_and_not_the_one_that_gave_them() {
    let nodes = Together::nodes(3);
    let hint = |ms| vec![Wakeup::Due { at: at(ms) }];
    nodes[0].wake(hint(1)).await;
    nodes[1].wake(hint(2)).await;
    assert_eq!(nodes[0].wakes().await, hint(2));
    assert_eq!(nodes[1].wakes().await, hint(1));
    assert_eq!([nodes[2].wakes().await, nodes[2].wakes().await], [hint(1), hint(2)]);
}

#[tokio::test]
async fn a_node_that_is_alone_hears_nothing() {
    Alone.wake(vec![Wakeup::Due { at: at(1) }]).await;
    let heard = tokio::select! { biased; hints = Alone.wakes() => Some(hints), () = std::future::ready(()) => None };
    assert_eq!(heard, None);
}
