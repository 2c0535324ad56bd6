//! Seats and hints between nodes that share a database.

use std::sync::Arc;

use mainspring_core::id::NodeId;
use mainspring_core::seats::{Seat, Seats, Term};
use mainspring_core::segment::Segment;
use mainspring_core::wakeups::{Wakeup, Wakeups};

use super::testing::Database;
use super::{Opened, Postgres};
use crate::conformance::stage::{at, id, queue_ref};

fn node(number: u32) -> NodeId {
    NodeId(id(number).uuid())
}

async fn open(database: &Database) -> Opened {
    let opened = Postgres::open_shared(&database.options()).await.unwrap();
    opened.wakeups.listening(1).await;
    opened
}

#[tokio::test]
async fn no_two_holders_of_many_nodes_that_take_all_seats_at_once_each_seat_has_one() {
    let database = Database::new();
    let seats = Arc::new(open(&database).await.seats);
    let all: Vec<Seat> = Segment::all().map(Seat::Segment).collect();
    let take = |number: u32| {
        let (seats, mut asked) = (seats.clone(), all.clone());
        // Each in an order of its own, so that they would meet crosswise if they locked as they are asked.
        asked.rotate_left(number as usize * 13);
        async move { seats.take(at(0), node(number), asked, at(100)).await.unwrap() }
    };
    let taken: Vec<Vec<Term>> = futures_util::future::join_all((1..=6).map(take)).await;
    let standing = seats.roll().await.unwrap().terms;
    assert_eq!(standing.len(), all.len());
    assert!(standing.iter().all(|term| term.epoch == 1), "no term was over, so none changed hands");
    for mut seen in taken {
        seen.sort_by_key(|term| term.seat);
        assert_eq!(seen, standing, "all were told the same");
    }
}

#[tokio::test]
async fn hints_reach_every_other_node_and_not_the_one_that_gave_them() {
    let database = Database::new();
    let (one, other) = (open(&database).await.wakeups, open(&database).await.wakeups);
    let ready = |count| Wakeup::Ready { queue: queue_ref("mail"), count };
    let due = Wakeup::Due { at: at(7) };
    one.wake(vec![ready(2), due.clone()]).await;
    assert_eq!(other.wakes().await, [ready(2), due]);
    other.wake(vec![ready(3)]).await;
    assert_eq!(one.wakes().await, [ready(3)], "what it said itself is not heard");
}

#[tokio::test]
async fn a_node_whose_line_was_cut_hears_again() {
    let database = Database::new();
    let (one, other) = (open(&database).await.wakeups, open(&database).await.wakeups);
    let client = database.connect().await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_notify%'";
    // Both have spoken, so that the line can be told from the other connections.
    for (speaks, hears) in [(&one, &other), (&other, &one)] {
        speaks.wake(vec![Wakeup::Due { at: at(1) }]).await;
        hears.wakes().await;
    }
    assert_eq!(client.query(cut, &[]).await.unwrap().len(), 2);
    let hint = vec![Wakeup::Due { at: at(2) }];
    one.listening(2).await;
    other.listening(2).await;
    one.wake(hint.clone()).await;
    assert_eq!(other.wakes().await, hint);
}
