//! `POST /v1/claims`: hands jobs to a worker, and waits a while if there are none. Settles before what the worker has
//! finished, if it says so; then it does not wait.

use std::time::Duration;

use axum::extract::State;
use http::StatusCode;
use mainspring_core::store::ClaimAnswer as Given;
use mainspring_engine::{ClaimAsk, Engine};
use mainspring_wire::{ClaimAnswer, ClaimRequest};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::claim;
use crate::ask::{FieldError, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::settlements::{Accepted, accepted};
use crate::show::{claimed_jobs, printed, settled_and_claimed};

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(claim_jobs))
}

/// Claims jobs for a worker.
///
/// Waits up to `wait` for the first one; an empty list means that there was nothing, or that the worker was told to go quiet.
/// With `settlements`, these are settled first, and the answer comes without a wait.
#[utoipa::path(
    post, path = "/v1/claims", tag = "work", request_body = ClaimRequest,
    responses((status = 200, description = "The jobs it holds from now on, best first", body = ClaimAnswer), Refused)
)]
pub(crate) async fn claim_jobs(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    Said(said): Said<ClaimRequest>,
) -> Answer {
    let ask = claim(&said, tenant.clone(), door.engine.settings().claim_wait_max);
    if !said.settlements.is_empty() {
        return settle_and_claim(&door.engine, ask, accepted(said.settlements, &tenant)).await;
    }
    let ask = ask?;
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

/// Once the settlements stand, whatever becomes of the claim must not hide it: a refusal is told beside them.
async fn settle_and_claim(
    engine: &Engine,
    ask: Result<ClaimAsk, Vec<FieldError>>,
    settlements: Result<Accepted, Vec<FieldError>>,
) -> Answer {
    let (ask, Accepted { ends, words }) = match (ask, settlements) {
        (Ok(ask), Ok(settlements)) => (ask, settlements),
        (ask, settlements) => {
            let wrong = [ask.err(), settlements.err()].into_iter().flatten().flatten();
            return Err(wrong.collect::<Vec<_>>().into());
        }
    };
    let (settled, given) = engine.settle_and_claim(ends, ask).await?;
    let claimed = match given {
        Ok(Given::Jobs(jobs)) => Ok(jobs),
        Ok(Given::Quiet) => Ok(Vec::new()),
        Ok(Given::UnknownWorker) => Err(Refusal::unknown_worker().at("worker_id")),
        Err(error) => Err(Refusal::from(error)),
    };
    let claimed = claimed.as_deref().map_err(|refusal| &*refusal.0);
    Ok(printed(StatusCode::OK, settled_and_claimed(&words, &settled, claimed)))
}

/// A quiet worker that goes on asking would ask without end: it gets what a wait for nothing gets.
#[allow(clippy::disallowed_methods, reason = "the wait of a request, which no job depends on")]
async fn wait_out(wait: Duration) {
    tokio::time::sleep(wait).await;
}
