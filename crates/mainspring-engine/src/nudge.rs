//! Wakes an actor before its time, and counts how often somebody asked: whoever waits for all actors to be done must know
//! whether one has still to come. Carries nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Nudge {
    notify: Notify,
    asked: AtomicU64,
}

impl Nudge {
    pub(crate) fn notify_one(&self) {
        // First: an actor that is woken finds itself asked.
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.notify.notify_one();
    }

    pub(crate) async fn notified(&self) {
        self.notify.notified().await;
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}
