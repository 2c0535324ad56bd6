//! The Rust SDK of Mainspring: a typed client and a worker. Speaks HTTP and knows the wire, nothing of what is behind it.
//!
//! Reading order:
//! - [`Client`]: one method per call of the API. [`Error`]: what can go wrong, sorted by what to do about it.
//! - [`Workflow`]: jobs that wait for each other, written down in one go.
//! - [`Context`], [`Outcome`], [`Failure`]: what a handler is given and what it answers.
//! - [`Worker`]: runs handlers: claims, heartbeats, settles. [`WorkerHandle`]: its health, and its switch.
//! - [`testing`]: runs a handler without a server.
//! - [`wire`]: the types that are sent, as the server has them.

mod client;
mod error;
mod workflow;

mod context;
mod desk;
mod failure;
mod handler;
mod outcome;
mod stop;

mod worker;

mod backoff;
mod clock;

pub mod testing;

pub use client::{Client, Events, Expect};
pub use context::Context;
pub use error::{BoxError, Error, Result};
pub use failure::{Failure, RetryWish};
pub use outcome::{IntoDone, IntoOutcome, Outcome};
pub use stop::StopReason;
pub use worker::{Worker, WorkerHandle, shutdown_signal};
pub use workflow::Workflow;

/// What is said over HTTP.
pub use mainspring_wire as wire;
pub use tokio_util::sync::CancellationToken;
pub use uuid::Uuid;
