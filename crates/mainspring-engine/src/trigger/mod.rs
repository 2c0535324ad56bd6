//! Fires what is due, on the millisecond. Claims nothing.
//!
//! [`wheel`] knows the near instants, `plan` is what others tell it, `fire` is the actor that sleeps until the next
//! instant and promotes. Schedules that are due go in `rounds` to `turn`, the actor that makes their jobs: it never keeps
//! `fire` waiting.

mod fire;
mod plan;
mod rounds;
mod turn;
pub mod wheel;

pub(crate) use fire::Trigger;
pub(crate) use plan::Plan;
pub(crate) use rounds::Rounds;
pub(crate) use turn::{OCCURRENCES_MAX, Turner, unreadable};
