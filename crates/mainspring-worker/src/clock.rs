//! The one place of the SDK that reads a clock, sleeps and rolls dice. Decides nothing: who needs a time is given one.

use std::time::{Duration, Instant};

#[allow(clippy::disallowed_methods, reason = "the SDK's own clock; it never leaves the process")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "only the worker's loops and the enforcement of a timeout sleep")]
pub(crate) async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// A number from 0 to 1, to spread what many workers would do at one instant.
#[allow(clippy::disallowed_methods, reason = "jitter that decides when, never what")]
pub(crate) fn dice() -> f64 {
    rand::random()
}
