//! What others see of a running worker: its health, and a switch. Cheap to clone; works before, during and after the run.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use mainspring_wire::Order;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock;

/// The health of a worker, and its switch.
///
/// ```
/// use std::time::Duration;
/// use mainspring_worker::{Client, Worker};
///
/// # fn main() -> mainspring_worker::Result<()> {
/// let worker = Worker::new(Client::new("http://127.0.0.1:7710")?);
/// let handle = worker.control();
/// assert!(!handle.is_healthy(Duration::from_secs(60)), "it has not polled yet");
/// handle.stop();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct WorkerHandle {
    stop: CancellationToken,
    vitals: Arc<Mutex<Vitals>>,
}

/// The signs of life. All by our own clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Vitals {
    pub worker_id: Option<Uuid>,
    pub order: Order,
    pub running: usize,
    /// There is room for another job, and the worker should ask for one.
    pub polls: bool,
    pub polled_at: Option<Instant>,
    pub heard_at: Option<Instant>,
}

impl WorkerHandle {
    /// Asks the worker to shut down as it would at the end of its `run_until`.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// How long ago the last claim was answered, with jobs or without; `None` before the first.
    pub fn last_poll_age(&self) -> Option<Duration> {
        let polled_at = self.vitals().polled_at?;
        Some(clock::now().saturating_duration_since(polled_at))
    }

    /// Whether the last successful poll is not older than this. A worker that is full or was told to be quiet has no reason
    /// to poll; then its last heartbeat counts. Choose something over the claim wait, such as a minute.
    pub fn is_healthy(&self, age_max: Duration) -> bool {
        self.vitals().is_healthy(age_max, clock::now())
    }

    /// How many jobs it runs.
    pub fn running(&self) -> usize {
        self.vitals().running
    }

    /// What the server knows it as, once it is registered. Changes when the server forgot it.
    pub fn worker_id(&self) -> Option<Uuid> {
        self.vitals().worker_id
    }

    /// What the server last told it to do.
    pub fn order(&self) -> Order {
        self.vitals().order
    }

    pub(super) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    pub(super) fn vitals(&self) -> MutexGuard<'_, Vitals> {
        self.vitals.lock().expect("nobody panics while taking a pulse")
    }
}

impl Vitals {
    fn is_healthy(&self, age_max: Duration, now: Instant) -> bool {
        let recent = |at: Option<Instant>| at.is_some_and(|at| now.saturating_duration_since(at) <= age_max);
        recent(self.polled_at) || !self.polls && recent(self.heard_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_means_the_last_successful_poll() {
        let start = clock::now();
        let at = |seconds| Some(start + Duration::from_secs(seconds));
        let check = |polls: bool, polled_at: Option<Instant>, heard_at: Option<Instant>, healthy: bool| {
            let vitals = Vitals { polls, polled_at, heard_at, ..Vitals::default() };
            let now = start + Duration::from_secs(100);
            assert_eq!(vitals.is_healthy(Duration::from_secs(60), now), healthy, "{vitals:?}");
        };
        check(true, None, None, false);
        check(true, at(50), None, true);
        check(true, at(30), None, false);
        // A heartbeat does not make up for polls that fail, but it does for polls that are not due.
        check(true, at(30), at(99), false);
        check(false, at(30), at(99), true);
        check(false, at(30), at(30), false);
        check(false, None, None, false);
    }

    #[test]
    fn every_handle_sees_the_same_worker() {
        let one = WorkerHandle::default();
        let other = one.clone();
        one.vitals().running = 3;
        assert_eq!(other.running(), 3);
        assert_eq!(other.last_poll_age(), None);
        one.vitals().polled_at = Some(clock::now());
        assert!(other.last_poll_age().is_some());
        other.stop();
        assert!(one.stop.is_cancelled());
    }
}
