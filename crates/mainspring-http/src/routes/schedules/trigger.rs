//! `POST /v1/schedules/{id}/trigger`: one job now, beside the occurrences.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::store::Submitted as Stored;
use mainspring_wire::Submitted;

use crate::ask::{SchedulePath, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::jobs::{accepted, duplicate};
use crate::routes::schedules::no_such_schedule;
use crate::show;

/// Makes one job now, beside the occurrences of the schedule.
#[utoipa::path(
    post, path = "/v1/schedules/{id}/trigger", tag = "schedules", params(("id" = String, Path)),
    responses((status = 202, description = "The job is durable", body = Submitted), Refused)
)]
pub(crate) async fn trigger_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
) -> Answer {
    let at = ScheduleRef { tenant, name };
    let submission = door.engine.trigger_schedule(&at).await?.ok_or_else(|| no_such_schedule(&at.name))?;
    let submitted = match submission.answer {
        Stored::Accepted { state, ready_at } => accepted(submission.id, state, ready_at),
        Stored::QueueFull { max_depth } => return Err(Refusal::queue_full(max_depth)),
        // Its job has no idempotency key and waits for nobody; a store that says otherwise names the job all the same.
        Stored::Duplicate { id } | Stored::Mismatch { id } => duplicate(id, None),
        Stored::UnknownParent { parent } => return Err(Refusal::unknown_parent(parent)),
        Stored::FailedParent { parent, state } => return Err(Refusal::failed_parent(parent, state)),
    };
    Ok(show::answer(StatusCode::ACCEPTED, &submitted))
}
