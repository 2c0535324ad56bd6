//! `POST /v1/jobs/{id}/{start,checkpoint,complete,fail}`: one attempt by hand, for a worker without an SDK. All take the
//! fence.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mainspring_core::id::{Fence, JobId, LeaseId};
use mainspring_core::name::TenantName;
use mainspring_core::store::{Hold, Report, ReportKind};
use mainspring_core::verdict::Outcome;
use mainspring_engine::AttemptEnd;
use mainspring_wire::{self as wire, Checkpoint, Complete, Fail, Held, Settled, Start};

use crate::accept::{checkpoint, failure, result};
use crate::ask::{JobPath, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::jobs::get::load;
use crate::routes::settlements::settled;
use crate::show;

/// The worker begins.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/start", tag = "work", params(("id" = Uuid, Path)), request_body = Start,
    responses((status = 200, description = "It is still the worker's", body = Held), Refused)
)]
pub(crate) async fn start_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    Said(said): Said<Start>,
) -> Answer {
    let lease = LeaseId { job: id, fence: Fence(said.fence) };
    report(&door, &tenant, Report { lease, kind: ReportKind::Started }).await
}

/// The worker saves how far it is.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/checkpoint", tag = "work", params(("id" = Uuid, Path)), request_body = Checkpoint,
    responses((status = 200, description = "Saved; it is still the worker's", body = Held), Refused)
)]
pub(crate) async fn checkpoint_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    Said(said): Said<Checkpoint>,
) -> Answer {
    report(&door, &tenant, checkpoint(id, said)?).await
}

/// The worker is done.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/complete", tag = "work", params(("id" = Uuid, Path)), request_body = Complete,
    responses((status = 200, description = "What became of the job", body = Settled), Refused)
)]
pub(crate) async fn complete_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    Said(said): Said<Complete>,
) -> Answer {
    let outcome = Outcome::Succeeded { result: result(said.result)? };
    let lease = LeaseId { job: id, fence: Fence(said.fence) };
    end(&door, AttemptEnd { lease, tenant, outcome }, wire::Outcome::Success).await
}

/// The worker failed.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/fail", tag = "work", params(("id" = Uuid, Path)), request_body = Fail,
    responses((status = 200, description = "What became of the job", body = Settled), Refused)
)]
pub(crate) async fn fail_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    Said(said): Said<Fail>,
) -> Answer {
    let outcome = failure(said.error, said.retry_after, said.never_retry)?;
    let lease = LeaseId { job: id, fence: Fence(said.fence) };
    end(&door, AttemptEnd { lease, tenant, outcome }, wire::Outcome::Failure).await
}

async fn report(door: &Door, tenant: &TenantName, report: Report) -> Answer {
    let job = report.lease.job;
    let hold = door.engine.report(vec![report]).await?.pop().expect("one answer for one report");
    match hold {
        Hold::Held { cancel_asked } => Ok(held(cancel_asked)),
        Hold::Stale => Err(lost(door, tenant, job).await),
    }
}

fn held(cancel_requested: bool) -> Response {
    show::answer(StatusCode::OK, &Held { held: true, cancel_requested })
}

async fn end(door: &Door, end: AttemptEnd, said: wire::Outcome) -> Answer {
    let (job, tenant) = (end.lease.job, end.tenant.clone());
    let answer = door.engine.settle(vec![end]).await?.pop().expect("one answer for one settlement");
    let settled = settled(job, said, &answer);
    if settled.state == wire::SettledAs::Stale {
        return Err(lost(door, &tenant, job).await);
    }
    Ok(show::answer(StatusCode::OK, &settled))
}

/// Stale, or no such job at all.
async fn lost(door: &Door, tenant: &TenantName, job: JobId) -> Refusal {
    match load(door, tenant, job).await {
        Ok(_) => Refusal::stale().at("fence"),
        Err(refusal) => refusal,
    }
}
