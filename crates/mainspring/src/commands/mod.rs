//! The nouns of the command line that ask a server. Each file reads its arguments, makes the call, and shows the answer.

pub mod apply;
pub mod clock;
pub mod cluster;
pub mod dead;
pub mod doctor;
pub mod events;
pub mod forecast;
pub mod import;
pub mod job;
pub mod limit;
pub mod queue;
pub mod schedule;
pub mod worker;
pub mod workflow;

mod retry_spec;
mod show;
mod submit;
mod wait;
