//! `POST /v1/jobs/{id}/run`: does not wait for its time.

use axum::extract::State;
use mainspring_core::store::JobCommand;
use mainspring_wire::JobView;

use crate::ask::{JobPath, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::command::{Call, never};

/// Makes a waiting job ready at once.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/run", tag = "jobs", params(("id" = Uuid, Path)),
    responses((status = 200, description = "It is ready", body = JobView), Refused)
)]
pub(crate) async fn run_job(State(door): State<Door>, Tenant(tenant): Tenant, JobPath(id): JobPath) -> Answer {
    let only = "only a job that waits for its time can be run now";
    Call { door: &door, tenant, id, only }.give(vec![JobCommand::RunNow], never).await
}
