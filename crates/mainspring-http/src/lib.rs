//! The door: HTTP under `/v1`, problems, metrics, OpenAPI. Decides nothing about jobs: it reads what was asked, checks
//! it against the limits, hands it to the engine and prints the answer.
//!
//! Reading order:
//! - `router`: every route there is, built together with the OpenAPI document. [`serve`] listens.
//! - `ask/`: what a request says — body, path, query, tenant — and what is wrong with it.
//! - `accept/`: whether a job that was asked for is one: pure, no IO.
//! - `routes/`: one file per group, by verb. `show/`: what answers look like. `convert`: words of the wire to words of the core.
//! - `fingerprint`: whether two requests say the same. `merge`: a document with a patch.
//! - `problem`: every refusal as RFC 9457 problem+json. [`metrics`]: the recorder and `/metrics`.

mod accept;
mod ask;
mod convert;
mod door;
mod fingerprint;
mod merge;
mod openapi;
mod problem;
mod router;
mod routes;
mod serve;
mod show;

pub mod limits;
pub mod metrics;

pub use door::Options;
pub use openapi::document;
pub use router::router;
pub use serve::serve;
