//! The routes, one file per group. A route reads, asks the engine, and shows; it decides nothing.

pub(crate) mod claims;
pub(crate) mod clock;
pub(crate) mod cluster;
pub(crate) mod dead;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod forecast;
pub(crate) mod health;
pub(crate) mod index;
pub(crate) mod jobs;
pub(crate) mod limits;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod queues;
pub(crate) mod schedules;
pub(crate) mod settlements;
pub(crate) mod workers;
pub(crate) mod workflows;

/// What a route answers.
pub(crate) type Answer = Result<axum::response::Response, crate::problem::Refusal>;
