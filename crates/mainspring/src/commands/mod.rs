//! The nouns of the command line that ask a server. Each file reads its arguments, makes the call, and shows the answer.

pub mod dead;
pub mod events;
pub mod job;
pub mod queue;
pub mod worker;

mod retry_spec;
mod show;
mod submit;
mod wait;
