//! `GET /v1/jobs/{id}`, its executions, and why it is where it is.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::name::TenantName;
use mainspring_wire as wire;

use crate::ask::{JobPath, Pairs, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

/// A job and all that has happened to it.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "The job", body = wire::JobView), Refused)
)]
pub(crate) async fn get_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    let view = load(&door, &tenant, id).await?;
    Ok(show::answer(StatusCode::OK, &show::job(&view)))
}

/// The attempts at a job, oldest first; the last one may still run.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/executions", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "Its attempts", body = wire::Executions), Refused)
)]
pub(crate) async fn get_executions(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    let view = load(&door, &tenant, id).await?;
    let over = door.engine.store().executions(&tenant, id).await?;
    // Settled between the two reads, an attempt is in both: then it is over.
    let running = show::running(&view).filter(|running| over.iter().all(|one| one.fence.0 != running.fence));
    let executions = over.iter().map(show::execution).chain(running).collect();
    Ok(show::answer(StatusCode::OK, &wire::Executions { executions }))
}

/// Why a job is not running, or what holds it.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/explain", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "The reasons, the most telling first", body = wire::Explanation), Refused)
)]
pub(crate) async fn explain_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    let explanation = door.engine.explain(&tenant, id).await?.ok_or_else(|| no_such_job(id))?;
    Ok(show::answer(StatusCode::OK, &show::explanation(&explanation)))
}

pub(super) async fn load(door: &Door, tenant: &TenantName, id: JobId) -> Result<JobView, Refusal> {
    let mut views = door.engine.store().get(tenant, vec![id]).await?;
    views.pop().flatten().ok_or_else(|| no_such_job(id))
}

pub(super) fn no_such_job(id: JobId) -> Refusal {
    Refusal::not_found(format!("there is no job {id}: it was never submitted, or its retention is over"))
}
