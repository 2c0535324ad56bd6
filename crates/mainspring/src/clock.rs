//! The clocks and sleeps of the programs around the server: bench, `--wait`, the process runner. The server itself takes its
//! time from the engine's clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mainspring_wire::Timestamp;

#[allow(clippy::disallowed_methods, reason = "this file owns the clocks of the binary")]
pub fn instant() -> Instant {
    Instant::now()
}

/// Microseconds since 1970 on the wall clock, which client and server share on one machine.
#[allow(clippy::disallowed_methods, reason = "this file owns the clocks of the binary")]
pub fn unix_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Now, as the API says it.
pub fn now() -> Timestamp {
    Timestamp(unix_us() / 1000)
}

#[allow(clippy::disallowed_methods, reason = "this file owns the sleeps of the binary")]
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Sleeps until an instant of [`unix_us`]; returns at once if it is past.
pub async fn sleep_until_unix_us(at_us: u64) {
    let left_us = at_us.saturating_sub(unix_us());
    if left_us > 0 {
        sleep(Duration::from_micros(left_us)).await;
    }
}
