//! What the simulator owes: worlds that keep every promise, histories that can be replayed, and mutants that are caught.

use mainspring_sim::run::{self, CATCH_SEEDS, Keep};
use mainspring_sim::{Mutant, seeds};

/// As many as an ordinary run can afford.
const SEEDS: u64 = 200;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[test]
fn two_hundred_worlds_keep_every_promise() {
    let summary = run::many(0..SEEDS, cores(), 3, |_| {});
    for (seed, history) in &summary.broken {
        eprintln!("seed {seed}: {:#?}", history.findings);
    }
    assert!(summary.broken.is_empty(), "replay one with `mainspring-sim run --seed N --lines`");
    assert_eq!(summary.histories, SEEDS);
    assert!(summary.jobs > SEEDS * 20, "only {} jobs: does anything happen in these worlds?", summary.jobs);
}

#[test]
fn worlds_that_once_broke_a_promise_keep_it() {
    for seed in seeds::kept() {
        let findings = run::history(seed, None, Keep::default()).findings;
        assert!(findings.is_empty(), "seed {seed}: {findings:#?}");
    }
}

#[test]
fn a_world_that_is_played_twice_says_the_same_line_by_line() {
    let keep = Keep { digest: true, lines: true };
    let [first, second] = [(); 2].map(|()| run::history(2_000, None, keep));
    assert!(first.lines.len() > 1_000, "only {} lines: does anything happen in this world?", first.lines.len());
    for (at, (one, other)) in first.lines.iter().zip(&second.lines).enumerate() {
        assert_eq!(one, other, "line {at} differs");
    }
    assert_eq!((first.lines.len(), first.digest), (second.lines.len(), second.digest));
}

#[test]
fn a_broken_promise_is_found_again_by_its_seed() {
    let (seed, found) = run::catch(Mutant::WorstFirst, 0..CATCH_SEEDS).expect("it is caught");
    let again = run::history(seed, Some(Mutant::WorstFirst), Keep { digest: true, lines: true });
    assert_eq!(again.findings, found.findings);
    assert_eq!(again.deeds, found.deeds);
    assert!(run::history(seed, None, Keep::default()).findings.is_empty(), "the sound store keeps the promise there");
}

#[test]
fn the_same_seed_is_the_same_history_and_another_is_another() {
    let keep = Keep { digest: true, lines: false };
    let mut digests = Vec::new();
    for seed in 1_000..1_012 {
        let [first, second] = [(); 2].map(|()| run::history(seed, None, keep));
        assert_eq!((first.digest, first.deeds), (second.digest, second.deeds), "seed {seed} cannot be replayed");
        digests.push(first.digest);
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 12);
}

#[test]
fn every_mutant_is_caught() {
    let free = run::hunt(0..CATCH_SEEDS, cores(), |_, _| {});
    assert!(free.is_empty(), "nobody noticed {free:?}");
}
