//! The time of the world, and what a node's clock makes of it. The runtime's timers stand still and leap to the next instant at
//! which somebody wakes: an hour of a quiet world costs nothing.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainspring_core::time::Time;
use mainspring_engine::Clock;
use tokio::time::Instant;

use super::life::Life;

/// Every world begins at this instant.
pub const START: Time = Time::from_millis(1_790_000_000_000);

/// The time that nobody disputes.
#[derive(Clone, Copy, Debug)]
pub struct WorldClock(Instant);

impl WorldClock {
    #[allow(clippy::disallowed_methods, reason = "this is the simulator's clock")]
    pub fn start() -> WorldClock {
        WorldClock(Instant::now())
    }

    pub fn now(self) -> Time {
        START.after(self.0.elapsed())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the simulator's clock")]
pub async fn sleep(wait: Duration) {
    tokio::time::sleep(wait).await;
}

/// A machine's clock: wrong by some milliseconds, and it may be stepped. Its timers do not step with it, as real ones do not.
#[derive(Debug)]
pub struct NodeClock {
    world: WorldClock,
    off_ms: AtomicI64,
    life: Arc<Life>,
}

impl NodeClock {
    pub fn new(world: WorldClock, off_ms: i64, life: Arc<Life>) -> NodeClock {
        NodeClock { world, off_ms: AtomicI64::new(off_ms), life }
    }

    /// From now on it is so far ahead of the world.
    pub fn set_off(&self, off_ms: i64) {
        self.off_ms.store(off_ms, Ordering::Relaxed);
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Time {
        let off = self.off_ms.load(Ordering::Relaxed);
        Time::from_millis(self.world.now().as_millis().saturating_add_signed(off))
    }

    fn sleep_until<'a>(&'a self, at: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let wait = at.since(self.now());
        Box::pin(async move {
            sleep(wait).await;
            self.life.awake().await;
        })
    }
}
