//! How bad the lines are just now: how often a call is late, refused, answered into the void or carried twice. Shared by all lines;
//! the nemesis changes it, and clears it at the end.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::world::Chance;

#[derive(Debug)]
pub struct Weather {
    clear: AtomicBool,
    /// In a hundred calls.
    refused: AtomicU32,
    lost: AtomicU32,
    repeated: AtomicU32,
    /// The longest delay, one way.
    slow_ms: AtomicU32,
}

/// What happens to one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    pub there: Duration,
    pub back: Duration,
    pub refused: bool,
    pub lost: bool,
    pub repeated: bool,
}

impl Weather {
    /// As bad as a run draws it.
    pub fn draw(chance: &Chance) -> Weather {
        let worst = *chance.pick(&[0, 1, 3, 8]);
        Weather {
            clear: AtomicBool::new(false),
            refused: AtomicU32::new(chance.between(0, worst) as u32),
            lost: AtomicU32::new(chance.between(0, worst) as u32),
            repeated: AtomicU32::new(chance.between(0, worst) as u32),
            slow_ms: AtomicU32::new(*chance.pick(&[0, 2, 5, 20])),
        }
    }

    /// Everything takes up to this long, one way.
    pub fn set_slow(&self, slow: Duration) {
        self.slow_ms.store(slow.as_millis() as u32, Ordering::Relaxed);
    }

    /// From now on nothing goes wrong.
    pub fn clear_up(&self) {
        self.clear.store(true, Ordering::Relaxed);
    }

    pub fn is_clear(&self) -> bool {
        self.clear.load(Ordering::Relaxed)
    }

    pub fn fate(&self, chance: &Chance) -> Fate {
        if self.is_clear() {
            return Fate::default();
        }
        let slow = u64::from(self.slow_ms.load(Ordering::Relaxed));
        // Most calls are quick, also on a bad day.
        let delay = || if slow > 0 && chance.percent(30) { chance.ms(0, slow) } else { Duration::ZERO };
        let happens = |percent: &AtomicU32| chance.percent(percent.load(Ordering::Relaxed));
        Fate {
            there: delay(),
            back: delay(),
            refused: happens(&self.refused),
            lost: happens(&self.lost),
            repeated: happens(&self.repeated),
        }
    }
}
