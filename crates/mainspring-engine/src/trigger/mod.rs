//! Fires what is due, on the millisecond. Claims nothing.
//!
//! [`wheel`] knows the near instants, `plan` is what others tell it, `fire` is the actor that sleeps until the next
//! instant and promotes.

mod fire;
mod plan;
pub mod wheel;

pub(crate) use fire::Trigger;
pub(crate) use plan::Plan;
