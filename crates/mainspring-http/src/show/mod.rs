//! What answers look like. Reads what the core and the engine say; changes nothing.

mod claimed;
mod cluster;
mod doctor;
mod event;
mod execution;
mod explanation;
mod forecast;
mod hurdle;
mod job;
mod limit;
mod occurrence;
mod queue;
mod schedule;
mod worker;
mod workflow;

pub(crate) use claimed::{claimed_jobs, settled_and_claimed};
pub(crate) use cluster::cluster;
pub(crate) use doctor::doctor;
pub(crate) use event::event;
pub(crate) use execution::{execution, running};
pub(crate) use explanation::explanation;
pub(crate) use forecast::forecast;
pub(crate) use job::{failure, job};
pub(crate) use limit::limit;
pub(crate) use occurrence::{ledger_row, occurrence};
pub(crate) use queue::queue;
pub(crate) use schedule::{document, schedule};
pub(crate) use worker::worker;
pub(crate) use workflow::{parent, workflow};

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// An answer in JSON.
pub(crate) fn answer(status: StatusCode, value: &impl Serialize) -> Response {
    printed(status, serde_json::to_vec(value).expect("wire types print"))
}

/// An answer in JSON that is printed already.
pub(crate) fn printed(status: StatusCode, json: Vec<u8>) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    let mut response = Response::new(Body::from(json));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// Prints one wire value at the end of an answer.
pub(crate) fn push(answer: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(answer, value).expect("wire types print into memory");
}
