//! `POST /v1/claims`: hands jobs to a worker, and waits a while if there are none.

use std::time::Duration;

use axum::extract::State;
use http::StatusCode;
use mainspring_core::store::ClaimAnswer as Given;
use mainspring_wire::{ClaimAnswer, ClaimRequest};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::claim;
use crate::ask::{Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show::{claimed_jobs, printed};

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(claim_jobs))
}

/// Claims jobs for a worker.
///
/// Waits up to `wait` for the first one; an empty list means that there was nothing, or that the worker was told to go quiet.
#[utoipa::path(
    post, path = "/v1/claims", tag = "work", request_body = ClaimRequest,
    responses((status = 200, description = "The jobs it holds from now on, best first", body = ClaimAnswer), Refused)
)]
pub(crate) async fn claim_jobs(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    Said(said): Said<ClaimRequest>,
) -> Answer {
    let ask = claim(said, tenant, door.engine.settings().claim_wait_max)?;
    let wait = ask.wait;
    match door.engine.claim(ask).await? {
        Given::Jobs(jobs) => Ok(printed(StatusCode::OK, claimed_jobs(&jobs))),
        Given::UnknownWorker => Err(Refusal::unknown_worker().at("worker_id")),
        Given::Quiet => {
            wait_out(wait).await;
            Ok(printed(StatusCode::OK, claimed_jobs(&[])))
        }
    }
}

/// A quiet worker that goes on asking would ask without end: it gets what a wait for nothing gets.
#[allow(clippy::disallowed_methods, reason = "the wait of a request, which no job depends on")]
async fn wait_out(wait: Duration) {
    tokio::time::sleep(wait).await;
}
