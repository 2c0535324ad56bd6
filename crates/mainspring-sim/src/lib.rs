//! Whole clusters in one thread, under a clock that leaps, from one seed: real engines on the reference store, behind lines that
//! delay, refuse, lose and repeat, with nodes that crash, freeze and mistake the time, and workers that die and come back late. What the
//! promises of the design's third section say is checked at every call and at the end.
//!
//! Reading order:
//! - [`run`]: one history, or many; what came out of them. `seeds`: those that once failed.
//! - `world`: the machines, the time, the plan that a seed draws. `workload`: what clients, workers and operators do.
//! - `faults`: what goes wrong on purpose. `hop`: the way of a call from engine to store.
//! - `witness`: sees every call at the store. `checkers`: one file a promise.
//! - `mutants`: stores that break a promise each. A simulator that does not catch them shows nothing.

mod checkers;
mod faults;
mod hop;
mod mutants;
pub mod run;
pub mod seeds;
mod witness;
mod workload;
mod world;

pub use checkers::Finding;
pub use mutants::Mutant;
