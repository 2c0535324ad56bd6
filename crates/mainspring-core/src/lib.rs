//! What a job is and what may happen to it. Pure: no IO, no clock, no randomness.
//!
//! Reading order:
//! - [`time`], [`id`], [`name`], [`segment`]: the small nouns everything else is made of. [`placement`]: which of several
//!   databases has what.
//! - [`job`]: the record that is written once, and what has happened to it since.
//! - [`lifecycle`]: the states and the one table of moves between them.
//! - [`rank`]: who goes first. [`retry`]: how long to wait. [`verdict`]: what an ended attempt means.
//! - [`graph`]: what a workflow may look like. [`gate`]: whether a job may start now, and whose turn it is.
//! - [`schedule`]: rules that make jobs: when they fire, and what is due now.
//! - [`limits`]: every bound, with its name.
//! - The seams, implemented in other rooms: [`store`], [`seats`], [`wakeups`].

pub mod time;
pub mod id;
pub mod name;
pub mod segment;
pub mod placement;

pub mod job;
pub mod lifecycle;
pub mod rank;
pub mod retry;
pub mod verdict;
pub mod schedule;
pub mod graph;
pub mod gate;
pub mod limits;

pub mod seats;
pub mod store;
pub mod wakeups;
