//! Holds the reference to the promises of all stores, and to those of its own wakeups.

use mainspring_core::job::Job;
use mainspring_core::store::{Command, Commanded, Error, QueueCommand, Store, Turn, Views};
use mainspring_core::wakeups::{Wakeup, Wakeups};

use super::{Alone, Memory, Together};
use crate::conformance::stage::*;
use crate::home::MemoryHome;

crate::conformance!(MemoryHome::default);
crate::lockstep!(memory, MemoryHome::default);

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
