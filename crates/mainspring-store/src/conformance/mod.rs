//! Conformance: the promises that every store keeps, one function each, in a file per verb. What a test is named is
//! what is promised; those of the design's third section begin with its words (`nothing_accepted_is_lost_…`).
//!
//! One line per engine, among its tests: `conformance!(EmbeddedHome::new)`. To add a promise, write it into its verb's
//! file and name it in `list.rs`.

mod list;
pub mod stage;

pub mod claim;
pub mod command;
pub mod find;
pub mod heartbeat;
pub mod promote;
pub mod prune;
pub mod reclaim;
pub mod report;
pub mod settle;
pub mod submit;

#[cfg(test)]
mod tests;

use crate::home::Home;
use stage::Stage;

/// Plays one promise on a new store.
pub fn keeps<H: Home + 'static, F: Future<Output = ()>>(new_home: impl FnOnce() -> H, promise: impl FnOnce(Stage) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs no more than memory");
    runtime.block_on(async { promise(Stage::set(Box::new(new_home())).await).await });
}
