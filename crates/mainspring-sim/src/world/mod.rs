//! A world: machines, one store, a clock that nobody disputes, and those outside. Everything in it follows from its plan, and the plan from
//! its seed. Checks nothing.

mod chance;
mod clock;
mod history;
mod life;
mod node;
mod office;
mod plan;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mainspring_core::time::Time;

pub use chance::Chance;
pub use clock::{START, WorldClock, sleep};
pub use history::{History, live};
pub use life::Life;
pub use node::NodeSlot;
pub use plan::Plan;

use crate::checkers::{Acks, Bench};
use crate::faults::{Hub, Weather};
use crate::hop::Hop;
use crate::witness::{Keep, Witness};

#[derive(Debug)]
pub struct World {
    pub plan: Plan,
    pub clock: WorldClock,
    pub nodes: Vec<Arc<NodeSlot>>,
    pub weather: Arc<Weather>,
    pub hub: Hub,
    /// Where all lines end: the witness, and the store behind it.
    pub court: Arc<dyn Hop>,
    witness: Arc<Witness>,
    acks: Mutex<Acks>,
    over: AtomicBool,
}

impl World {
    pub fn new(plan: Plan, chance: &Chance, store: Arc<dyn Hop>, keep: Keep) -> World {
        let clock = WorldClock::start();
        let witness = Arc::new(Witness::new(store, clock, Bench::new(!plan.clocks_are_off), keep));
        World {
            clock,
            nodes: (0..plan.nodes).map(|index| Arc::new(NodeSlot::new(index, chance.fork()))).collect(),
            weather: Arc::new(Weather::draw(chance)),
            hub: Hub::new(),
            court: witness.clone(),
            witness,
            acks: Mutex::default(),
            over: AtomicBool::new(false),
            plan,
        }
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Writes down what happened outside the store.
    pub fn say(&self, what: impl FnOnce() -> String) {
        self.witness.say(what);
    }

    /// What those outside were told.
    pub fn acks(&self) -> MutexGuard<'_, Acks> {
        self.acks.lock().expect("nobody panics while taking notes")
    }

    /// How many nodes there are to be at the end.
    pub fn nodes_expected(&self) -> usize {
        self.nodes.iter().filter(|node| !node.is_retired()).count()
    }

    /// Nobody outside does anything any more.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
