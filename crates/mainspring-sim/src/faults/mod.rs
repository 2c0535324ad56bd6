//! What goes wrong: a line between node and store that delays, refuses, loses and repeats; hints that do not arrive; and the
//! nemesis, who crashes, freezes, cuts off and mistimes nodes. Nothing here knows what is right: the checkers do.

mod line;
mod nemesis;
mod weather;
mod whispers;

pub use line::Line;
pub use nemesis::Nemesis;
pub use weather::Weather;
pub use whispers::{Hub, Whispers};
