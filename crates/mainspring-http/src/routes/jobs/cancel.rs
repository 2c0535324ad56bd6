//! `DELETE /v1/jobs/{id}` and `POST …/cancel`: cancels a job. A running one is told through its worker's heartbeat.

use axum::extract::State;
use mainspring_core::id::JobId;
use mainspring_core::job::JobView as View;
use mainspring_core::lifecycle::State as JobState;
use mainspring_core::name::TenantName;
use mainspring_core::store::JobCommand;
use mainspring_wire::{CancelRequest, JobView};

use crate::accept::cancel_reason;
use crate::ask::{JobPath, MaybeSaid, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::command::Call;

/// Cancels a job.
#[utoipa::path(
    delete, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = Uuid, Path)),
    request_body = Option<CancelRequest>,
    responses(
        (status = 200, description = "It is cancelled", body = JobView),
        (status = 202, description = "It runs: its worker is told with its next heartbeat", body = JobView),
        Refused
    )
)]
pub(crate) async fn delete_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    MaybeSaid(said): MaybeSaid<CancelRequest>,
) -> Answer {
    cancel(&door, tenant, id, said).await
}

/// Cancels a job, like `DELETE`.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/cancel", tag = "jobs", params(("id" = Uuid, Path)),
    request_body = Option<CancelRequest>,
    responses(
        (status = 200, description = "It is cancelled", body = JobView),
        (status = 202, description = "It runs: its worker is told with its next heartbeat", body = JobView),
        Refused
    )
)]
pub(crate) async fn cancel_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    MaybeSaid(said): MaybeSaid<CancelRequest>,
) -> Answer {
    cancel(&door, tenant, id, said).await
}

async fn cancel(door: &Door, tenant: TenantName, id: JobId, said: CancelRequest) -> Answer {
    let reason = cancel_reason(said)?;
    let only = "only a job that has not ended can be cancelled";
    Call { door, tenant, id, only }.give(vec![JobCommand::Cancel { reason }], is_cancelled).await
}

fn is_cancelled(view: &View) -> bool {
    view.standing.state == JobState::Cancelled
}
