//! What ended and is not settled yet. Attempts put it in; whoever speaks to the server next takes it along. Sends nothing.
//!
//! While the claimer waits for a place, an attempt that ends and frees its place leaves its settlement to the claim that this
//! place brings: one request in place of two. In every other case the settler is told at once, because a claim that is under
//! way may wait for long.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use mainspring_wire::Settlement;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// How many may wait before handlers that ended keep their places, and so fewer are claimed. Also the most in one request.
pub(super) const SETTLE_JOBS_MAX: usize = 1_000;

#[derive(Debug)]
pub(super) struct Outbox {
    inside: Mutex<Inside>,
    room: Semaphore,
    told: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    ended: Vec<Settlement>,
    /// Sent with a claim that failed: perhaps done, perhaps the reason. The settler finds out.
    given_back: VecDeque<Vec<Settlement>>,
    /// The claimer waits for a place, and takes what is here when it gets one.
    claim_comes: bool,
    /// What is here is the claimer's: the place that it waits for has been freed.
    left_to_claim: bool,
    closed: bool,
}

/// What the settler is to send.
#[derive(Debug)]
pub(super) struct ToSettle {
    pub settlements: Vec<Settlement>,
    /// It was sent before, and nobody knows whether it was heard.
    pub repeated: bool,
}

impl Outbox {
    pub fn new() -> Outbox {
        Outbox { inside: Mutex::default(), room: Semaphore::new(SETTLE_JOBS_MAX), told: Notify::new() }
    }

    /// Waits for room for one.
    pub async fn room(&self) -> SemaphorePermit<'_> {
        self.room.acquire().await.expect("the room is never closed")
    }

    /// Puts one in and frees the place of its attempt; none if the handler still runs, or if there was no place.
    pub fn put(&self, room: SemaphorePermit<'_>, settlement: Settlement, place: Option<OwnedSemaphorePermit>) {
        room.forget();
        let mut inside = self.inside();
        let settler_was_told = !inside.ended.is_empty() && !inside.left_to_claim;
        inside.ended.push(settlement);
        inside.left_to_claim = inside.claim_comes && place.is_some() && !settler_was_told;
        if !inside.left_to_claim {
            self.told.notify_one();
        }
        drop(inside);
        // Only now: the claimer that gets it finds the settlement here.
        drop(place);
    }

    /// The claimer is about to wait for a place.
    pub fn expect_claim(&self) -> ComingClaim<'_> {
        self.inside().claim_comes = true;
        ComingClaim { outbox: self }
    }

    /// A claim that took these failed. The next one does not take them.
    pub fn give_back(&self, settlements: Vec<Settlement>) {
        self.inside().given_back.push_back(settlements);
        self.told.notify_one();
    }

    /// Waits for something to settle. Nothing when the outbox is closed and all of it was taken.
    pub async fn to_settle(&self) -> Option<ToSettle> {
        loop {
            let told = self.told.notified();
            {
                let mut inside = self.inside();
                if let Some(settlements) = inside.given_back.pop_front() {
                    self.told.notify_one();
                    return Some(ToSettle { settlements, repeated: true });
                }
                if !inside.ended.is_empty() && !inside.left_to_claim {
                    return Some(ToSettle { settlements: self.take(&mut inside), repeated: false });
                }
                if inside.closed {
                    return None;
                }
            }
            told.await;
        }
    }

    /// Nothing is put in any more.
    pub fn close(&self) {
        self.inside().closed = true;
        self.told.notify_one();
    }

    fn take(&self, inside: &mut Inside) -> Vec<Settlement> {
        let ended = std::mem::take(&mut inside.ended);
        inside.left_to_claim = false;
        self.room.add_permits(ended.len());
        ended
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("nobody panics while holding the outbox")
    }
}

/// A claim that waits for its place. Dropped before it takes anything, it leaves all to the settler.
#[derive(Debug)]
pub(super) struct ComingClaim<'a> {
    outbox: &'a Outbox,
}

impl ComingClaim<'_> {
    /// The place is there: what has ended goes with the claim.
    pub fn take(self) -> Vec<Settlement> {
        let outbox = self.outbox;
        outbox.take(&mut outbox.inside())
    }
}

impl Drop for ComingClaim<'_> {
    fn drop(&mut self) {
        let mut inside = self.outbox.inside();
        inside.claim_comes = false;
        inside.left_to_claim = false;
        if !inside.ended.is_empty() {
            self.outbox.told.notify_one();
        }
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
