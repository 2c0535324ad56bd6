//! A machine of the world: its process comes and goes, its clock and its line stay with it. Knows no promises.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mainspring_engine::{Engine, Parts, Settings};

use super::clock::NodeClock;
use super::{Chance, Life, World, sleep};
use crate::faults::{Line, Whispers};
use crate::hop::Through;

/// How long a process that could not start waits before it tries again.
const START_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct NodeSlot {
    pub index: usize,
    chance: Chance,
    off_ms: AtomicI64,
    in_trouble: AtomicBool,
    retired: AtomicBool,
    process: Mutex<Option<Process>>,
}

/// One run of a node.
#[derive(Clone, Debug)]
struct Process {
    life: Arc<Life>,
    clock: Arc<NodeClock>,
    line: Arc<Line>,
    /// Once it has started.
    engine: Option<Engine>,
}

/// A node that is in somebody's hands until this is dropped.
#[derive(Debug)]
pub struct InTrouble<'a>(&'a NodeSlot);

impl Drop for InTrouble<'_> {
    fn drop(&mut self) {
        self.0.in_trouble.store(false, Ordering::Relaxed);
    }
}

impl NodeSlot {
    pub fn new(index: usize, chance: Chance) -> NodeSlot {
        NodeSlot {
            index,
            chance,
            off_ms: AtomicI64::new(0),
            in_trouble: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            process: Mutex::new(None),
        }
    }

    /// One trouble at a time.
    pub fn trouble(&self) -> Option<InTrouble<'_>> {
        (!self.in_trouble.swap(true, Ordering::Relaxed)).then_some(InTrouble(self))
    }

    /// It is taken out of the cluster, and never starts again.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
    }

    /// Starts a process on this machine, which tries until it has started.
    pub fn start(self: &Arc<NodeSlot>, world: &Arc<World>) {
        if self.process().is_some() || self.is_retired() {
            return;
        }
        let life = Arc::new(Life::begin());
        let clock = Arc::new(NodeClock::new(world.clock, self.off_ms.load(Ordering::Relaxed), life.clone()));
        let line = Line::new(world.court.clone(), life.clone(), world.weather.clone(), self.chance.fork(), world.clock);
        let line = Arc::new(line);
        let process = Process { life: life.clone(), clock: clock.clone(), line: line.clone(), engine: None };
        *self.process() = Some(process);

        let whispers = Whispers::new(world.hub.clone(), life.clone(), world.weather.clone(), self.chance.fork());
        let through = Arc::new(Through(line));
        let parts = Parts { store: through.clone(), seats: through, wakeups: Arc::new(whispers), clock };
        let settings = Settings { seed: Some(self.chance.seed()), ..world.plan.settings() };
        let slot = self.clone();
        tokio::spawn(async move {
            while !life.is_over() {
                match Engine::start(parts.clone(), settings.clone()).await {
                    Ok(engine) => return slot.is_up(&life, engine),
                    Err(_) => sleep(START_AGAIN).await,
                }
            }
        });
    }

    fn is_up(&self, life: &Arc<Life>, engine: Engine) {
        if let Some(process) = self.process().as_mut().filter(|process| Arc::ptr_eq(&process.life, life)) {
            process.engine = Some(engine);
        }
    }

    /// Whoever asks it, if it runs.
    pub fn engine(&self) -> Option<(Engine, Arc<Life>)> {
        let process = self.process();
        let process = process.as_ref()?;
        Some((process.engine.clone()?, process.life.clone()))
    }

    /// Ends it as a power cut would: whatever it was doing is never finished.
    pub fn crash(&self) {
        if let Some(process) = self.process().take() {
            process.life.end();
        }
    }

    /// Ends it as SIGTERM does.
    pub async fn stop(&self) {
        let Some(process) = self.process().take() else { return };
        if let Some(engine) = process.engine {
            engine.shutdown().await;
        }
        process.life.end();
    }

    pub fn freeze(&self) {
        self.process().as_ref().inspect(|process| process.life.freeze());
    }

    pub fn thaw(&self) {
        self.process().as_ref().inspect(|process| process.life.thaw());
    }

    pub fn set_cut(&self, cut: bool) {
        self.process().as_ref().inspect(|process| process.line.set_cut(cut));
    }

    pub fn set_off(&self, off_ms: i64) {
        self.off_ms.store(off_ms, Ordering::Relaxed);
        self.process().as_ref().inspect(|process| process.clock.set_off(off_ms));
    }

    /// Everything is as it should be, and the process runs.
    pub fn heal(self: &Arc<NodeSlot>, world: &Arc<World>) {
        self.set_off(0);
        self.set_cut(false);
        self.thaw();
        self.start(world);
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().expect("nobody panics at a machine")
    }
}
