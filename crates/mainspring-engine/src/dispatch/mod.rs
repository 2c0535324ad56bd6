//! Ways in which ready jobs reach workers. Today there is one: workers ask, and wait.
//!
//! `poll` is the claim, `turn` the claim that settles first, `parking` is where claims wait for a wake, `handful` makes sure that no job is lost on the way
//! back to a worker that has hung up.

mod handful;
mod parking;
mod poll;
mod turn;

pub(crate) use handful::{Handful, give_back};
pub use poll::ClaimAsk;
pub(crate) use poll::{Backstop, Poll};
pub(crate) use turn::{Turn, Turned};
