//! Seats and hints between nodes that share a database.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::NodeId;
use mainspring_core::seats::{Seat, Seats, Term};
use mainspring_core::segment::Segment;
use mainspring_core::store::Error;
use mainspring_core::wakeups::{Wakeup, Wakeups};

use super::error::Fault;
use super::testing::Database;
use super::{Opened, Options, Postgres, warrant};
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
async fn the_seats_of_a_node_that_froze_in_the_middle_of_a_write_can_be_taken() {
    let database = Database::new();
    let options = Options { frozen_max: Duration::from_millis(400), ..database.options() };
    let [frozen, other] = [Postgres::open(&options).await.unwrap(), Postgres::open(&options).await.unwrap()];
    let seats = vec![Seat::Leader, Seat::Segment(Segment::new(7).unwrap())];
    let terms = frozen.seats().take(at(0), node(1), seats.clone(), at(100)).await.unwrap();
    let mut connection = frozen.pool.get().await.unwrap();
    // It begins to write in the name of a seat, and stops before the commit.
    let txn = connection.transaction().await.unwrap();
    assert!(warrant::stands(&txn, Some(terms[1].warrant())).await.unwrap());

    // The first try may find the lock held for too long; whoever looks at the seats tries on.
    let taken = loop {
        match other.seats().take(at(200), node(2), seats.clone(), at(300)).await {
            Ok(taken) => break taken,
            Err(error) => assert!(matches!(error, Error::Unavailable(_)), "{error}"),
        }
    };
    assert!(taken.iter().all(|term| (term.holder, term.epoch) == (node(2), 2)), "{taken:?}");
    let gone = Error::from(Fault::from(txn.commit().await.expect_err("what it had begun is gone")));
    assert!(matches!(gone, Error::Unavailable(_)), "its caller may try again: {gone}");
}

#[tokio::test]
async fn a_node_keeps_its_seats_while_jobs_take_up_all_of_its_connections() {
    let database = Database::new();
    let options = Options { connections_max: Options::CONNECTIONS_MIN, ..database.options() };
    let store = Postgres::open(&options).await.unwrap();
    let taken = store.seats().take(at(0), node(1), vec![Seat::Leader], at(100)).await.unwrap();
    let mut busy = Vec::new();
    for _ in 0..Options::CONNECTIONS_MIN {
        busy.push(store.pool.get().await.unwrap());
    }
    let again = store.seats().take(at(50), node(1), vec![Seat::Leader], at(150)).await.unwrap();
    assert_eq!((again[0].epoch, again[0].until), (taken[0].epoch, at(150)));
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
