//! Lockstep: random scripts of calls, played on [`Memory`](crate::memory::Memory) and on another store, every answer
//! compared; also those of nodes that take seats and of calls under warrants that are right, stale or missing. A difference is shrunk to the shortest script that still shows it.
//!
//! One line per engine, among its tests: `lockstep!(embedded, EmbeddedHome::new)`.

mod concrete;
mod draw;
#[cfg(test)]
mod flawed;
#[cfg(test)]
mod flawed_gates;
#[cfg(test)]
mod flawed_seats;
mod housed;
mod limits;
mod past;
mod perform;
mod play;
#[cfg(test)]
mod reach;
mod scene;
mod script;
mod seats;
mod steps;
mod words;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestError, TestRunner};

use crate::home::Home;
pub use script::Script;

/// How many scripts an ordinary run plays.
pub const CASES_DEFAULT: u32 = 1000;

/// Plays `MAINSPRING_LOCKSTEP_CASES` scripts (else [`CASES_DEFAULT`]) and panics with the shortest one that tells the
/// store from the reference. Scripts that failed once are kept in the file `failures` and played first.
pub fn lockstep<H: Home>(failures: &'static str, new_home: impl Fn() -> H) {
    let cases = match std::env::var("MAINSPRING_LOCKSTEP_CASES") {
        Ok(text) => text.parse().expect("MAINSPRING_LOCKSTEP_CASES must be a number"),
        Err(_) => CASES_DEFAULT,
    };
    let config = Config {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..Config::default()
    };
    if let Err(found) = check(config, new_home) {
        panic!("{}\nthe script:{:?}\n", found.difference, found.script);
    }
}

/// A script that tells a store from the reference.
#[derive(Debug)]
pub struct Found {
    pub script: Script,
    pub difference: String,
}

/// Plays scripts until one differs, and shrinks that one.
pub fn check<H: Home>(config: Config, new_home: impl Fn() -> H) -> Result<(), Found> {
    check_drawn(config, draw::scripts(), new_home)
}

/// The same with scripts in two halves: between them the store is closed and opened for the first time, and asked for all that a reader
/// can know. For homes that do something to a store while it is closed.
pub fn check_halves<H: Home>(config: Config, new_home: impl Fn() -> H) -> Result<(), Found> {
    let halves = (draw::scripts(), draw::scripts()).prop_map(|(Script(mut first), Script(second))| {
        first.retain(|call| !matches!(call, script::Call::Reopen));
        Script([first, vec![script::Call::Reopen], play::everything(), second].concat())
    });
    check_drawn(config, halves, new_home)
}

fn check_drawn<H: Home>(
    config: Config,
    scripts: impl Strategy<Value = Script>,
    new_home: impl Fn() -> H,
) -> Result<(), Found> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs no more than memory");
    let play = |script: &Script| {
        let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(play::play(script, &mut new_home()))));
        played.unwrap_or_else(|_| Err("the store panicked; its words are above".into()))
    };
    let played = TestRunner::new(config).run(&scripts, |script| play(&script).map_err(TestCaseError::fail));
    match played {
        Ok(()) => Ok(()),
        Err(TestError::Fail(why, script)) => Err(shorten(Found { script, difference: why.message().into() }, play)),
        Err(TestError::Abort(why)) => panic!("no scripts could be drawn: {why}"),
    }
}

/// Leaves out every call that the difference does not need. Shrinking tries each of them only once, and often too
/// early.
fn shorten(mut found: Found, play: impl Fn(&Script) -> Result<(), String>) -> Found {
    let mut at = 0;
    while at < found.script.0.len() {
        let mut script = found.script.clone();
        script.0.remove(at);
        match play(&script) {
            Err(difference) => {
                found = Found { script, difference };
                at = 0;
            }
            Ok(()) => at += 1,
        }
    }
    found
}

/// A test named `lockstep` that holds a store to the reference: the engine's name and what makes an empty [`Home`].
#[macro_export]
macro_rules! lockstep {
    ($engine:ident, $new_home:expr) => {
        #[test]
        fn lockstep() {
            $crate::lockstep::lockstep(
                concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/lockstep-", stringify!($engine), ".txt"),
                $new_home,
            );
        }
    };
}
