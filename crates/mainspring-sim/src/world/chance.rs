//! Where everything that looks like luck comes from: one seed. Nothing else in this room draws a random number.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

/// A source of its own for each actor, so that one that draws more often does not change what the others draw.
#[derive(Debug)]
pub struct Chance(Mutex<StdRng>);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(Mutex::new(StdRng::seed_from_u64(seed)))
    }

    /// A new source that follows from this one.
    pub fn fork(&self) -> Chance {
        Chance::new(self.seed())
    }

    pub fn seed(&self) -> u64 {
        self.random().next_u64()
    }

    /// True so many times in a hundred.
    pub fn percent(&self, percent: u32) -> bool {
        self.random().random_range(0..100) < percent
    }

    /// From the first to the last, both included.
    pub fn between(&self, first: u64, last: u64) -> u64 {
        self.random().random_range(first..=last)
    }

    pub fn below(&self, count: usize) -> usize {
        self.random().random_range(0..count)
    }

    pub fn pick<'a, T>(&self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A length from one to the other, in milliseconds.
    pub fn ms(&self, first: u64, last: u64) -> Duration {
        Duration::from_millis(self.between(first, last))
    }

    fn random(&self) -> MutexGuard<'_, StdRng> {
        self.0.lock().expect("nobody panics while drawing")
    }
}
