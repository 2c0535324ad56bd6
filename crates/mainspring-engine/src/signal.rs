//! A word that is said once and stays said: "the node closes". Carries nothing.
//!
//! Those who wait are woken in the order in which they came, so that a run can be replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Raised when it is dropped, at the latest.
#[derive(Debug)]
pub(crate) struct Signal(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: AtomicBool,
    waiting: Notify,
}

impl Signal {
    pub(crate) fn new() -> Signal {
        Signal(Arc::default())
    }

    pub(crate) fn raise(&self) {
        // First: whoever is woken finds it raised.
        self.0.raised.store(true, Ordering::SeqCst);
        self.0.waiting.notify_waiters();
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.clone())
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.raise();
    }
}

#[derive(Debug)]
pub(crate) struct Listener(Arc<Flag>);

impl Listener {
    /// Returns once it is raised, or nobody is left to raise it.
    pub(crate) async fn raised(&mut self) {
        let waiting = self.0.waiting.notified();
        let mut waiting = std::pin::pin!(waiting);
        // Before looking: a flag that is raised in between is not missed.
        waiting.as_mut().enable();
        if !self.0.raised.load(Ordering::SeqCst) {
            waiting.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_listens_hears_it_before_after_and_at_the_end() {
        let signal = Signal::new();
        let mut before = signal.listen();
        let waiting = tokio::spawn(async move { before.raised().await });
        tokio::task::yield_now().await;
        assert!(!signal.is_raised());
        signal.raise();
        waiting.await.unwrap();
        signal.listen().raised().await;

        let mut orphan = Signal::new().listen();
        orphan.raised().await;
    }
}
