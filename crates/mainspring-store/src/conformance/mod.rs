//! Conformance: the promises that every store keeps, one function each, in a file per verb. What a test is named is
//! what is promised; those of the design's third section begin with its words (`nothing_accepted_is_lost_…`).
//!
//! One line per engine, among its tests: `conformance!(EmbeddedHome::new)`. To add a promise, write it into its verb's
//! file and name it in `list.rs`.

mod list;
pub mod stage;

pub mod agenda;
pub mod claim;
pub mod command;
pub mod depend;
pub mod find;
pub mod heartbeat;
pub mod ledger;
pub mod promote;
pub mod prune;
pub mod reclaim;
pub mod release;
pub mod report;
pub mod settle;
pub mod submit;
pub mod turn;
pub mod workflow;

#[cfg(test)]
mod tests;

use std::pin::Pin;

use crate::home::Home;
use stage::Stage;

/// Plays one promise on a new store.
pub fn keeps<H: Home + 'static, F: Future<Output = ()> + 'static>(
    new_home: impl FnOnce() -> H,
    promise: fn(Stage) -> F,
) {
    let home = Box::new(new_home());
    // Boxed, or every promise would compile a runtime of its own.
    play(Box::pin(async move { promise(Stage::set(home).await).await }));
}

fn play(promise: Pin<Box<dyn Future<Output = ()>>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs no more than memory");
    runtime.block_on(promise);
}
