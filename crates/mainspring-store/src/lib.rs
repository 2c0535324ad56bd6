//! Who remembers: the stores behind the core's seams.
//!
//! - [`embedded`]: the default: one process, one directory, durable.
//! - [`memory`]: the reference: small, obviously right. Wakeups of one process are here too.
//! - `roster`: the nodes and seats that both of them keep beside the jobs.
//! - [`postgres`]: the truth for a cluster: as many nodes as there are share a database.
//! - [`moving`]: everything that a directory remembers, from the embedded store into PostgreSQL.
//! - [`traced`]: a decorator for any of them. [`sharded`]: several of them, which share the tenants out.
//! - `conformance` and `lockstep`, on a store's `home`: what every store is held to. Behind the feature `conformance`,
//!   never in a shipped program.

pub mod embedded;
pub mod memory;
pub mod moving;
pub mod postgres;
mod roster;
pub mod sharded;
pub mod traced;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod home;
#[cfg(any(test, feature = "conformance"))]
pub mod lockstep;
