//! `PATCH /v1/jobs/{id}`: changes a job that has not started.

use axum::extract::State;
use mainspring_wire::{JobPatch, JobView};

use crate::accept::update;
use crate::ask::{JobPath, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::command::{Call, never};

/// Changes the data, the priority or the time of a job that has not started.
#[utoipa::path(
    patch, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = Uuid, Path)), request_body = JobPatch,
    responses((status = 200, description = "The job as it is now", body = JobView), Refused)
)]
pub(crate) async fn patch_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    Said(patch): Said<JobPatch>,
) -> Answer {
    let command = update(patch, door.engine.now())?;
    let only = "only a job that has not started can be changed";
    Call { door: &door, tenant, id, only }.give(vec![command], never).await
}
