//! `DELETE /v1/schedules/{id}`: forgets a schedule. Its jobs and its ledger stay.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use mainspring_core::schedule::ScheduleRef;
use mainspring_engine::{Expect, ScheduleMove};

use crate::ask::{Precondition, SchedulePath, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::schedules::{conflict, no_such_schedule};

/// Forgets a schedule. Its jobs and its ledger stay.
#[utoipa::path(
    delete, path = "/v1/schedules/{id}", tag = "schedules",
    params(
        ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The ETag that the caller has seen")
    ),
    responses((status = 204, description = "It is gone"), Refused)
)]
pub(crate) async fn delete_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    precondition: Precondition,
) -> Answer {
    let expect = match precondition {
        Precondition::None | Precondition::Present => Expect::Anything,
        Precondition::Revision(revision) => Expect::Revision(revision),
        Precondition::Absent => Expect::Absent,
    };
    let at = ScheduleRef { tenant, name };
    match door.engine.remove_schedule(&at, expect).await? {
        ScheduleMove::Done(_) => Ok(StatusCode::NO_CONTENT.into_response()),
        ScheduleMove::Missing => Err(no_such_schedule(&at.name)),
        ScheduleMove::Conflict { revision } => Err(conflict(Some(revision))),
    }
}
