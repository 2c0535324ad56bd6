//! Sees every call at the store, in the order in which they happen there, and shows it to the checkers. Changes nothing.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use mainspring_core::store::Result;
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use crate::checkers::{Before, Bench, Deed};
use crate::hop::{Ask, Hop, Reply};
use crate::world::{START, WorldClock};

/// How much of a history is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// A number that two histories share only if every call and every answer was the same.
    pub digest: bool,
    /// A line for every call.
    pub lines: bool,
}

#[derive(Debug)]
pub struct Witness {
    next: Arc<dyn Hop>,
    world: WorldClock,
    keep: Keep,
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    bench: Bench,
    digest: DefaultHasher,
    deeds: u64,
    lines: Vec<String>,
    /// Calls within one millisecond: since when, and how many.
    busy: (Time, u64),
}

/// More calls than this within a millisecond go in a circle.
const CALLS_AT_ONCE_MAX: u64 = 5_000;

impl Witness {
    pub fn new(next: Arc<dyn Hop>, world: WorldClock, bench: Bench, keep: Keep) -> Witness {
        let desk = Desk { bench, digest: DefaultHasher::new(), deeds: 0, lines: Vec::new(), busy: (Time::ZERO, 0) };
        Witness { next, world, keep, desk: Mutex::new(desk) }
    }

    /// Writes down what somebody else did.
    pub fn say(&self, what: impl FnOnce() -> String) {
        if self.keep.lines {
            let line = format!("{} {}", since_start(self.world.now()), what());
            self.desk().lines.push(line);
        }
    }

    pub fn with_bench<T>(&self, look: impl FnOnce(&mut Bench) -> T) -> T {
        look(&mut self.desk().bench)
    }

    pub fn deeds(&self) -> u64 {
        self.desk().deeds
    }

    pub fn digest(&self) -> u64 {
        self.desk().digest.finish()
    }

    pub fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.desk().lines)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().expect("no checker panics")
    }

    fn write_down(&self, deed: &Deed<'_>) {
        let mut desk = self.desk();
        desk.deeds += 1;
        let (since, calls) = desk.busy;
        desk.busy = if since == deed.at { (since, calls + 1) } else { (deed.at, 1) };
        if desk.busy.1 == CALLS_AT_ONCE_MAX {
            let what = format!("nobody comes to rest, for example {:?}", deed.ask);
            desk.bench.broken(deed.at, "no state without an exit", what);
        }
        if self.keep.digest {
            let text = write!(Digest(&mut desk.digest), "{:?} {:?} {:?} {:?}", deed.at, deed.now, deed.ask, deed.reply);
            text.expect("a hash takes everything");
        }
        if self.keep.lines {
            desk.lines.push(format!("{} {:?}\n      => {:?}", since_start(deed.at), deed.ask, deed.reply));
        }
        desk.bench.see(deed);
    }
}

fn since_start(at: Time) -> String {
    format!("{:>9.3}s", at.since(START).as_secs_f64())
}

/// Text into a hash, without keeping it.
struct Digest<'a>(&'a mut DefaultHasher);

impl fmt::Write for Digest<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[async_trait]
impl Hop for Witness {
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply> {
        if self.desk().busy.1 > CALLS_AT_ONCE_MAX {
            // The circle is found, and would keep time from passing.
            return std::future::pending().await;
        }
        let before = Before::of(&ask, self.next.ground());
        let reply = self.next.pass(now, ask.clone()).await?;
        let deed = Deed { at: self.world.now(), now, ask: &ask, reply: &reply, before, ground: self.next.ground() };
        self.write_down(&deed);
        Ok(reply)
    }

    fn ground(&self) -> &Memory {
        self.next.ground()
    }
}
