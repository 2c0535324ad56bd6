//! The one clock of the test, and its pauses: load comes at a pace, and faults last for a while. Decides nothing.

use std::time::{Duration, Instant};

#[allow(clippy::disallowed_methods, reason = "what workers saw is put in order by the machine's own clock")]
pub fn now() -> Instant {
    Instant::now()
}

#[allow(
    clippy::disallowed_methods,
    reason = "the pace of a load and the length of a fault; nothing is waited for with it"
)]
pub async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
