//! Conformance: the promises that every store keeps, one function each, in a file per verb or subject. What a test is
//! named is what is promised; those of the design's third section begin with its words (`nothing_accepted_is_lost_…`).
//!
//! One line per engine, among its tests: `conformance!(EmbeddedHome::new)`. To add a promise, write it into its verb's
//! file and name it in `list.rs`.

mod list;
pub mod stage;

pub mod agenda;
pub mod breaker;
pub mod claim;
pub mod close;
pub mod command;
pub mod depend;
pub mod find;
pub mod heartbeat;
pub mod hurdle;
pub mod ledger;
pub mod limit;
pub mod promote;
pub mod prune;
pub mod rate;
pub mod reclaim;
pub mod release;
pub mod report;
pub mod rule;
pub mod seats;
pub mod settle;
pub mod settle_and_claim;
pub mod share;
pub mod submit;
pub mod turn;
pub mod warrant;
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
    keep(Box::new(new_home()), promise);
}

/// Without the kind of the home, or every engine would compile every promise anew.
fn keep<F: Future<Output = ()> + 'static>(home: Box<dyn Home>, promise: fn(Stage) -> F) {
    // Boxed, or every promise would compile a runtime of its own.
    play(Box::pin(async move { promise(Stage::set(home).await).await }));
}

fn play(promise: Pin<Box<dyn Future<Output = ()>>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs no more than memory");
    runtime.block_on(promise);
}
