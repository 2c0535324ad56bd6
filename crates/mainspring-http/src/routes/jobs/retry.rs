//! `POST /v1/jobs/{id}/retry`: tries again at once. A dead letter starts over; a retrying job does not wait any longer.

use axum::extract::State;
use mainspring_core::lifecycle::State as JobState;
use mainspring_core::store::JobCommand;
use mainspring_wire::{JobView, RetryRequest};

use crate::accept::new_data;
use crate::ask::{JobPath, MaybeSaid, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::command::{Call, never};
use crate::routes::jobs::get::load;

/// Tries a failed or retrying job again, with other data if it is given.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/retry", tag = "jobs", params(("id" = Uuid, Path)),
    request_body = Option<RetryRequest>,
    responses((status = 200, description = "It is ready", body = JobView), Refused)
)]
pub(crate) async fn retry_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    MaybeSaid(said): MaybeSaid<RetryRequest>,
) -> Answer {
    let data = new_data(said.data)?;
    let view = load(&door, &tenant, id).await?;
    let call = Call { door: &door, tenant, id, only: "only a FAILED or RETRYING job can be retried" };
    let commands = match view.standing.state {
        JobState::Dead => vec![JobCommand::Revive { data }],
        JobState::Waiting if view.standing.tally.retries() > 0 => {
            let patch = data.map(|data| JobCommand::Update { data: Some(data), priority: None, run_at: None });
            patch.into_iter().chain([JobCommand::RunNow]).collect()
        }
        _ => return Err(call.refused(&view)),
    };
    call.give(commands, never).await
}
