//! How a running attempt is asked to stop, and why. Asks only: a handler that does not listen is ended by whoever runs it.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// Why an attempt is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// Somebody cancelled the job.
    Cancelled,
    /// The attempt took longer than the job's timeout.
    TimedOut,
    /// The worker no longer holds the job; whatever the handler answers is not sent.
    Lost,
    /// The worker shuts down. A failure now gives the attempt back instead of using it up.
    ShuttingDown,
}

/// One attempt's stop signal. The first reason given is the one that counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    reason: Arc<OnceLock<StopReason>>,
}

impl Stop {
    pub fn ask(&self, reason: StopReason) {
        // Losing against an earlier reason is fine.
        let _ = self.reason.set(reason);
        self.token.cancel();
    }

    pub fn reason(&self) -> Option<StopReason> {
        self.reason.get().copied()
    }

    pub fn token(&self) -> &CancellationToken {
        &self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts_and_every_clone_hears_it() {
        let stop = Stop::default();
        let other = stop.clone();
        assert_eq!(other.reason(), None);
        stop.ask(StopReason::TimedOut);
        stop.ask(StopReason::ShuttingDown);
        assert_eq!(other.reason(), Some(StopReason::TimedOut));
        assert!(other.token().is_cancelled());
    }
}
