//! The Rust SDK of Mainspring: a typed client and a worker. Speaks HTTP and knows the wire, nothing of what is behind it.
//!
//! Reading order:
//! - [`Client`]: one method per call of the API. [`Error`]: what can go wrong, sorted by what to do about it.
//! - [`Context`], [`Outcome`], [`Failure`]: what a handler receives and answers.
//! - [`Worker`]: runs handlers: claims, heartbeats, settles. [`WorkerHandle`]: its health, and how to stop it.
//! - [`testing`]: runs a handler without a server.
//! - [`wire`]: the types that are sent, as the server has them.

mod client;
mod error;

pub use client::{Client, Events};
pub use error::{BoxError, Error, Result};
/// What is said over HTTP.
pub use mainspring_wire as wire;
pub use uuid::Uuid;
