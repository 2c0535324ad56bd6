//! Ways in which ready jobs reach workers. Today there is one: workers ask, and wait.
//!
//! `poll` is the claim, `turn` the claim that settles first, `parking` is where claims wait for a wake, `serve` takes
//! woken claims to the store, `backstop` looks behind the wakes, `handful` makes sure that no job is lost on the way
//! back to a worker that has hung up.

mod backstop;
mod handful;
mod parking;
mod poll;
mod serve;
mod turn;

pub(crate) use backstop::Backstop;
pub(crate) use handful::{Handful, give_back};
pub use poll::ClaimAsk;
pub(crate) use poll::Poll;
pub(crate) use serve::Along;
pub(crate) use turn::{Turn, Turned};
