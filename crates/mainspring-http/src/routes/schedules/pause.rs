//! `POST /v1/schedules/{id}/pause` and `…/resume`: nothing fires, and fires again.

use axum::extract::State;
use mainspring_core::schedule::ScheduleRef;
use mainspring_wire::{SchedulePause, ScheduleView};

use crate::accept::pause;
use crate::ask::{MaybeSaid, SchedulePath, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::schedules::moved;

/// Nothing fires until it is resumed, or until the time that is given.
#[utoipa::path(
    post, path = "/v1/schedules/{id}/pause", tag = "schedules", params(("id" = String, Path)),
    request_body = Option<SchedulePause>,
    responses((status = 200, description = "It is paused", body = ScheduleView), Refused)
)]
pub(crate) async fn pause_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    MaybeSaid(said): MaybeSaid<SchedulePause>,
) -> Answer {
    let (note, until) = pause(said, door.engine.now())?;
    let at = ScheduleRef { tenant, name };
    moved(door.engine.pause_schedule(&at, note, until).await?, &at.name)
}

/// Fires again from now on: what fell into the pause is skipped.
#[utoipa::path(
    post, path = "/v1/schedules/{id}/resume", tag = "schedules", params(("id" = String, Path)),
    responses((status = 200, description = "It goes on", body = ScheduleView), Refused)
)]
pub(crate) async fn resume_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
) -> Answer {
    let at = ScheduleRef { tenant, name };
    moved(door.engine.resume_schedule(&at).await?, &at.name)
}
