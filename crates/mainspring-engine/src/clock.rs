//! The one place that reads clocks and sleeps. Decides nothing: everyone else is told what time it is.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use mainspring_core::time::Time;
use tokio::sync::watch;

pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// The wall clock. It may step, both ways.
    fn now(&self) -> Time;

    /// Sleeps until `at`. May wake early, above all when the clock is set: callers look again.
    fn sleep_until<'a>(&'a self, at: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    /// Waits for as long as a caller is willing to. A clock that is set back makes nobody wait longer.
    fn patience<'a>(&'a self, wait: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let mut until = self.now().after(wait);
            while self.now() < until {
                self.sleep_until(until).await;
                until = until.min(self.now().after(wait));
            }
        })
    }

    /// Its hands, if people may move them.
    fn hands(&self) -> Option<&ManualClock> {
        None
    }

    /// Whether no other node can go by it, because it is moved in this process alone.
    fn is_apart(&self) -> bool {
        false
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the place that owns the clock")]
    fn since_epoch() -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Time {
        Time::ZERO.after(Self::since_epoch())
    }

    /// The wait is measured from the clock's nanoseconds, because the timer rounds up to whole milliseconds again.
    #[allow(clippy::disallowed_methods, reason = "this is the place that sleeps")]
    fn sleep_until<'a>(&'a self, at: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let wait = Duration::from_millis(at.as_millis()).saturating_sub(Self::since_epoch());
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    hands: watch::Sender<Hands>,
}

#[derive(Clone, Copy, Debug)]
struct Hands {
    now: Time,
    /// How often the clock was set back: sleepers wake then, as they do on a real clock, whose timers do not step.
    set_back: u64,
}

impl ManualClock {
    pub fn new(now: Time) -> ManualClock {
        ManualClock { hands: watch::Sender::new(Hands { now, set_back: 0 }) }
    }

    /// Sets the clock, forward or back.
    pub fn set(&self, now: Time) {
        self.hands.send_modify(|hands| {
            hands.set_back += u64::from(now < hands.now);
            hands.now = now;
        });
    }

    pub fn advance(&self, by: Duration) {
        self.hands.send_modify(|hands| hands.now = hands.now.after(by));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        self.hands.borrow().now
    }

    fn sleep_until<'a>(&'a self, at: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let mut hands = self.hands.subscribe();
        let set_back = hands.borrow().set_back;
        Box::pin(async move {
            let woken = hands.wait_for(|hands| hands.now >= at || hands.set_back != set_back).await;
            woken.map(drop).expect("the clock outlives the sleep that borrows it");
        })
    }

    fn hands(&self) -> Option<&ManualClock> {
        Some(self)
    }
}

/// A clock for users' tests: it stands still until somebody advances it. Jobs, schedules, leases and retries go by it; a
/// worker that waits for a job does not, or it would hang for as long as nobody moves the clock.
#[derive(Debug)]
pub struct VirtualClock(ManualClock);

impl VirtualClock {
    pub fn new(now: Time) -> VirtualClock {
        VirtualClock(ManualClock::new(now))
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.0.now()
    }

    fn sleep_until<'a>(&'a self, at: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.0.sleep_until(at)
    }

    #[allow(clippy::disallowed_methods, reason = "this is the place that sleeps")]
    fn patience<'a>(&'a self, wait: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(tokio::time::sleep(wait))
    }

    fn hands(&self) -> Option<&ManualClock> {
        Some(&self.0)
    }

    fn is_apart(&self) -> bool {
        true
    }
}

/// Measures how long something takes, for metrics. Nothing is decided by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "this is the place that owns the clock")]
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn the_system_clock_sleeps_until_the_instant_and_not_shorter() {
        let at = SystemClock.now().after(Duration::from_millis(20));
        SystemClock.sleep_until(at).await;
        assert!(SystemClock.now() >= at);
    }

    #[tokio::test]
    async fn a_manual_clock_wakes_sleepers_when_it_is_moved_there_or_set_back() {
        let clock = Arc::new(ManualClock::new(Time::from_millis(1_000)));
        for target in [2_000, 500] {
            clock.set(Time::from_millis(1_000));
            let sleep = clock.sleep_until(Time::from_millis(2_000));
            clock.set(Time::from_millis(target));
            sleep.await;
            assert_eq!(clock.now(), Time::from_millis(target));
        }
        clock.advance(Duration::from_millis(100));
        assert_eq!(clock.now(), Time::from_millis(600));
    }
}
