//! `POST /v1/jobs/{id}/pause` and `…/resume`: sets a job aside, and takes it up again.

use axum::extract::State;
use mainspring_core::job::JobView as View;
use mainspring_core::store::JobCommand;
use mainspring_wire::JobView;

use crate::ask::{JobPath, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::command::Call;

/// Sets a job aside that has not started.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/pause", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "It is paused", body = JobView), Refused)
)]
pub(crate) async fn pause_job(State(door): State<Door>, Tenant(tenant): Tenant, JobPath(id): JobPath) -> Answer {
    let only = "only a job that has not started can be paused";
    let is_so = |view: &View| view.standing.paused && !view.standing.state.is_final();
    Call { door: &door, tenant, id, only }.give(vec![JobCommand::Pause], is_so).await
}

/// Takes a paused job up again.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/resume", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "It goes on", body = JobView), Refused)
)]
pub(crate) async fn resume_job(State(door): State<Door>, Tenant(tenant): Tenant, JobPath(id): JobPath) -> Answer {
    let only = "only a job that has not ended can be resumed";
    let is_so = |view: &View| !view.standing.paused && !view.standing.state.is_final();
    Call { door: &door, tenant, id, only }.give(vec![JobCommand::Resume], is_so).await
}
