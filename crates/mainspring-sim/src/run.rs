//! Runs histories: one, or many on all cores. A history is one thread's from beginning to end; two threads have nothing to do with each
//! other.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub use crate::witness::Keep;
pub use crate::world::History;

use crate::hop::{Ground, Hop};
use crate::mutants::{Mutant, Mutated};
use crate::world::{self, Chance};

/// A mutant that is not caught by so many worlds is not caught. Most are within five; a few need faults that are seldom drawn.
pub const CATCH_SEEDS: u64 = 200;

/// Lives through the world of a seed, on a sound store or on a mutant.
pub fn history(seed: u64, mutant: Option<Mutant>, keep: Keep) -> History {
    let store: Arc<dyn Hop> = match mutant {
        None => Arc::new(Ground::default()),
        Some(how) => Arc::new(Mutated::new(how, Chance::new(seed ^ MUTANT_SEED))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime needs no more than memory").block_on(world::live(seed, store, keep))
}

/// So that a mutant draws other numbers than the world around it.
const MUTANT_SEED: u64 = 0x6d75_7461_6e74;

/// What came out of many histories.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub histories: u64,
    pub deeds: u64,
    pub jobs: u64,
    /// Those that broke a promise, by seed.
    pub broken: Vec<(u64, History)>,
}

/// Runs every seed, so many threads at a time, and tells of each. Stops early after so many that broke a promise.
pub fn many(seeds: Range<u64>, threads: usize, broken_max: usize, tick: impl Fn(&Summary) + Sync) -> Summary {
    let next = AtomicU64::new(seeds.start);
    let stop = AtomicBool::new(false);
    let summary = std::sync::Mutex::new(Summary::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let history = history(seed, None, Keep::default());
                    let mut summary = summary.lock().expect("nobody panics while counting");
                    summary.histories += 1;
                    summary.deeds += history.deeds;
                    summary.jobs += history.jobs as u64;
                    if !history.findings.is_empty() {
                        summary.broken.push((seed, history));
                        stop.store(summary.broken.len() >= broken_max, Ordering::Relaxed);
                    }
                    tick(&summary);
                }
            });
        }
    });
    let mut summary = summary.into_inner().expect("nobody panics while counting");
    summary.broken.sort_by_key(|(seed, _)| *seed);
    summary
}

/// The first of these seeds whose world catches the mutant, and what it says.
pub fn catch(mutant: Mutant, seeds: Range<u64>) -> Option<(u64, History)> {
    seeds.map(|seed| (seed, history(seed, Some(mutant), Keep::default()))).find(|(_, it)| !it.findings.is_empty())
}

/// Hunts every mutant, so many threads at a time, and tells of each; answers those that got away.
pub fn hunt(seeds: Range<u64>, threads: usize, tell: impl Fn(Mutant, Option<(u64, &History)>) + Sync) -> Vec<Mutant> {
    let (next, free) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(&mutant) = Mutant::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let caught = catch(mutant, seeds.clone());
                    tell(mutant, caught.as_ref().map(|(seed, history)| (*seed, history)));
                    if caught.is_none() {
                        free.lock().expect("nobody panics while hunting").push(mutant);
                    }
                }
            });
        }
    });
    free.into_inner().expect("nobody panics while hunting")
}
