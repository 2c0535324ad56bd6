//! Who remembers: the stores behind the core's seams.
//!
//! - [`embedded`]: the default: one process, one directory, durable.
//! - [`memory`]: the reference: small, obviously right. Seats and wakeups of one process are here too.
//! - [`traced`]: a decorator for any of them.
//! - `conformance` and `lockstep`, on a store's `home`: what every store is held to. Behind the feature `conformance`,
//!   never in a shipped program.

pub mod embedded;
pub mod memory;
pub mod traced;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod home;
#[cfg(any(test, feature = "conformance"))]
pub mod lockstep;
