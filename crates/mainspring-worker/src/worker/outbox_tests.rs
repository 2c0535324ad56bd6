//! Who takes what ended, and that nobody forgets any of it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mainspring_wire::Outcome;
use uuid::Uuid;

use super::*;

/// An outbox with the one place of its worker.
struct Desk {
    outbox: Outbox,
    places: Arc<Semaphore>,
}

fn desk() -> Desk {
    Desk { outbox: Outbox::new(), places: Arc::new(Semaphore::new(1)) }
}

fn settlement(number: u64) -> Settlement {
    Settlement::new(Uuid::from_u128(u128::from(number)), number, Outcome::Success)
}

fn numbers(settlements: &[Settlement]) -> Vec<u64> {
    settlements.iter().map(|settlement| settlement.fence).collect()
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl Desk {
    fn end(&self, number: u64, frees: bool) {
        let place = frees.then(|| Arc::clone(&self.places).try_acquire_owned().expect("the place was held"));
        let room = now(self.outbox.room()).expect("there is room");
        self.outbox.put(room, settlement(number), place);
    }

    /// What the settler would send now, and whether as a repetition.
    fn settler(&self) -> Option<(Vec<u64>, bool)> {
        let taken = now(self.outbox.to_settle())?.expect("is not closed");
        Some((numbers(&taken.settlements), taken.repeated))
    }
}

#[test]
fn what_ends_while_a_claim_waits_for_its_place_goes_with_the_claim() {
    let desk = desk();
    let coming = desk.outbox.expect_claim();
    desk.end(1, true);
    assert_eq!(desk.settler(), None);
    assert_eq!(desk.places.available_permits(), 1, "the claim gets the place");
    assert_eq!(numbers(&coming.take()), [1]);
    assert_eq!(desk.settler(), None);
}

#[test]
fn what_ends_while_no_claim_comes_is_settled_at_once() {
    let desk = desk();
    desk.end(1, true);
    desk.end(2, true);
    assert_eq!(desk.settler(), Some((vec![1, 2], false)));
    assert!(desk.outbox.expect_claim().take().is_empty());
    desk.end(3, true);
    assert_eq!(desk.settler(), Some((vec![3], false)), "that claim is under way");
}

#[test]
fn a_handler_that_keeps_its_place_holds_no_settlement_back() {
    let desk = desk();
    let _coming = desk.outbox.expect_claim();
    desk.end(1, false);
    assert_eq!(desk.settler(), Some((vec![1], false)));
    desk.end(2, true);
    desk.end(3, false);
    assert_eq!(desk.settler(), Some((vec![2, 3], false)));
}

#[test]
fn a_claim_that_never_comes_leaves_all_to_the_settler() {
    let desk = desk();
    let coming = desk.outbox.expect_claim();
    desk.end(1, true);
    drop(coming);
    assert_eq!(desk.settler(), Some((vec![1], false)));
}

#[tokio::test]
async fn a_settler_that_waits_is_woken_when_the_claim_does_not_come() {
    let desk = Arc::new(desk());
    let settler = {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move { desk.outbox.to_settle().await.expect("is not closed").settlements })
    };
    let coming = desk.outbox.expect_claim();
    desk.end(1, true);
    tokio::task::yield_now().await;
    assert!(!settler.is_finished());
    drop(coming);
    assert_eq!(numbers(&settler.await.expect("does not panic")), [1]);
}

#[test]
fn what_a_claim_could_not_settle_is_the_settlers_to_repeat() {
    let desk = desk();
    let coming = desk.outbox.expect_claim();
    desk.end(1, true);
    desk.outbox.give_back(coming.take());
    assert!(desk.outbox.expect_claim().take().is_empty(), "one that is refused must not spoil the next claim too");
    desk.end(2, true);
    assert_eq!(desk.settler(), Some((vec![1], true)));
    assert_eq!(desk.settler(), Some((vec![2], false)));
}

#[test]
fn a_full_outbox_lets_no_more_in_until_some_is_taken() {
    let desk = desk();
    (0..SETTLE_JOBS_MAX as u64).for_each(|number| desk.end(number, false));
    assert!(now(desk.outbox.room()).is_none());
    assert_eq!(desk.settler().map(|(taken, _)| taken.len()), Some(SETTLE_JOBS_MAX));
    assert!(now(desk.outbox.room()).is_some());
}

#[test]
fn a_closed_outbox_hands_out_what_is_left_and_ends() {
    let desk = desk();
    desk.outbox.give_back(vec![settlement(1)]);
    desk.end(2, true);
    desk.outbox.close();
    assert_eq!(desk.settler(), Some((vec![1], true)));
    assert_eq!(desk.settler(), Some((vec![2], false)));
    assert!(now(desk.outbox.to_settle()).expect("does not wait").is_none());
}
