//! May this job start now? Concurrency, rates, breakers and fair shares. Decides; parks and wakes nobody.
//!
//! A job passes several gates and must be let through by all of them or enters none: a store asks
//! [`GateState::entry`] of each gate that [`gates_of`] names, and calls [`GateState::enter`] on all of them once all
//! answered [`Entry::Open`]. When the attempt is over, it calls [`GateState::leave`] on the same ones.
//!
//! Reading order: [`name`] says which gates there are and which a job passes, [`rule`] what a person sets and [`rules`]
//! where it holds, [`state`] what a store keeps, made of [`bucket`] (rates) and [`breaker`]. [`share`] stands apart: whose turn it is among
//! tenants that could all go.
//!
//! States are plain integers, so that any store can write them down, and every function is the same for the same
//! arguments. Instants in them are absolute: a clock that steps back by S makes a gate wait S longer, and mints
//! nothing.

pub mod name;
pub mod rule;
pub mod rules;
pub mod bucket;
pub mod breaker;
pub mod state;
pub mod share;

pub use breaker::{Breaker, BreakerChange, Ending, Phase};
pub use bucket::Bucket;
pub use name::{BadGate, GateName, GateRef, Part, Pass, gates_of};
pub use rule::{BadRule, BreakerRule, Rate, Rule};
pub use rules::{Kind, Reach, Rules};
pub use share::{Share, Turn};
pub use state::{Ask, Entry, GateState, Leave};
