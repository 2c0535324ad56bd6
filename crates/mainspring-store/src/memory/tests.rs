//! Holds the reference to its own promises.

use crate::home::MemoryHome;

crate::conformance!(MemoryHome::default);
crate::lockstep!(memory, MemoryHome::default);
