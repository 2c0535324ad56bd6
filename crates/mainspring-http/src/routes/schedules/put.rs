//! `PUT /v1/schedules/{id}`: makes a schedule, or replaces what it says. What it has done stays.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::name::ScheduleName;
use mainspring_engine::{Error, Expect, SchedulePut};
use mainspring_wire::{NewSchedule, ScheduleView};

use crate::accept::{Written, schedule, schedule_name};
use crate::ask::{FieldError, Precondition, Said, SchedulePath, Tenant};
use crate::door::Door;
use crate::limits::PATCH_TRIES_MAX;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::schedules::{conflict, created, shown};

/// Makes a schedule, or replaces it as a whole.
///
/// With `If-Match` only if it is still at that revision, with `If-None-Match: *` only if there is none.
#[utoipa::path(
    put, path = "/v1/schedules/{id}", tag = "schedules",
    params(
        ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The ETag that the caller has seen, or *"),
        ("If-None-Match" = Option<String>, Header, description = "Only *: there must be none yet")
    ),
    request_body = NewSchedule,
    responses(
        (status = 200, description = "It is replaced, or said so already", body = ScheduleView),
        (status = 201, description = "It is new", body = ScheduleView),
        Refused
    )
)]
pub(crate) async fn put_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    precondition: Precondition,
    Said(said): Said<NewSchedule>,
) -> Answer {
    schedule_name(name.as_str())?;
    check_name(&said, &name)?;
    let written = schedule(said, tenant, name)?;
    let expect = match precondition {
        Precondition::None => Expect::Anything,
        Precondition::Absent => Expect::Absent,
        Precondition::Revision(revision) => Expect::Revision(revision),
        Precondition::Present => return put_present(&door, written).await,
    };
    match put(&door, &written, expect).await? {
        SchedulePut::Created(view) => Ok(created(&view)),
        SchedulePut::Replaced(view) | SchedulePut::Unchanged(view) => Ok(shown(StatusCode::OK, &view)),
        SchedulePut::Conflict { revision } => Err(conflict(revision)),
    }
}

pub(super) async fn put(door: &Door, written: &Written, expect: Expect) -> Result<SchedulePut, Refusal> {
    match door.engine.put_schedule(written.schedule.clone(), expect).await {
        Err(Error::Schedule(bad)) => Err(written.form.wrong(bad).into()),
        answer => Ok(answer?),
    }
}

/// Whatever its revision is, but it must be there.
async fn put_present(door: &Door, written: Written) -> Answer {
    for _ in 0..PATCH_TRIES_MAX {
        let Some(view) = door.engine.store().schedule(&written.schedule.reference()).await? else {
            return Err(conflict(None));
        };
        match put(door, &written, Expect::Revision(view.standing.revision)).await? {
            SchedulePut::Created(view) | SchedulePut::Replaced(view) | SchedulePut::Unchanged(view) => {
                return Ok(shown(StatusCode::OK, &view));
            }
            SchedulePut::Conflict { .. } => {}
        }
    }
    Err(changed_all_the_time(&written.schedule.name))
}

/// The document may leave its name to the path, but not name another.
pub(super) fn check_name(said: &NewSchedule, name: &ScheduleName) -> Result<(), FieldError> {
    match &said.schedule_id {
        Some(other) if other != name.as_str() => {
            let message = format!("is not {name}, as the path says: a schedule keeps its name, leave it out");
            Err(FieldError::invalid("schedule_id", message))
        }
        _ => Ok(()),
    }
}

pub(super) fn changed_all_the_time(name: &ScheduleName) -> Refusal {
    Refusal::conflict(format!(
        "others change schedule {name} all the time: nothing of this request happened, try again"
    ))
}
