//! `PATCH /v1/schedules/{id}`: changes a part of what a schedule says, by JSON merge patch over its document.

use axum::extract::State;
use http::StatusCode;
use mainspring_engine::{Expect, SchedulePut};
use mainspring_wire::{NewSchedule, RawValue, ScheduleView, problem};

use crate::accept::schedule;
use crate::ask::{Precondition, Said, SchedulePath, Tenant, parse_text};
use crate::door::Door;
use crate::limits::{PATCH_BYTES_MAX, PATCH_DEPTH_MAX, PATCH_TRIES_MAX};
use crate::merge::merge;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::schedules::put::{changed_all_the_time, check_name, put};
use crate::routes::schedules::{conflict, load, shown};
use crate::show;

/// Changes a part of a schedule.
///
/// A JSON merge patch (RFC 7396) of the document: what it names is replaced, `null` takes away, the rest stays.
#[utoipa::path(
    patch, path = "/v1/schedules/{id}", tag = "schedules",
    params(
        ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The ETag that the caller has seen")
    ),
    request_body(content = NewSchedule, description = "Any part of the document", content_type = "application/merge-patch+json"),
    responses((status = 200, description = "The schedule as it is now", body = ScheduleView), Refused)
)]
pub(crate) async fn patch_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    precondition: Precondition,
    Said(patch): Said<Box<RawValue>>,
) -> Answer {
    if !patch.get().starts_with('{') {
        let detail = "a merge patch of a schedule is an object: expected an object";
        return Err(Refusal::new(problem::INVALID_BODY, StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    if patch.get().len() > PATCH_BYTES_MAX {
        let detail = format!(
            "the patch is larger than patch_bytes_max, {PATCH_BYTES_MAX} bytes: no schedule has so much to say"
        );
        return Err(Refusal::new(problem::TOO_LARGE, StatusCode::PAYLOAD_TOO_LARGE, detail)
            .limit("patch_bytes_max", PATCH_BYTES_MAX as u64));
    }
    for _ in 0..PATCH_TRIES_MAX {
        let view = load(&door, tenant.clone(), name.clone()).await?;
        let revision = view.standing.revision;
        match precondition {
            Precondition::Revision(expected) if expected != revision => return Err(conflict(Some(revision))),
            Precondition::Absent => return Err(conflict(Some(revision))),
            Precondition::None | Precondition::Present | Precondition::Revision(_) => {}
        }
        let said = patched(&show::document(&view.schedule), &patch)?;
        check_name(&said, &name)?;
        let written = schedule(said, tenant.clone(), name.clone())?;
        match put(&door, &written, Expect::Revision(revision)).await? {
            SchedulePut::Created(view) | SchedulePut::Replaced(view) | SchedulePut::Unchanged(view) => {
                return Ok(shown(StatusCode::OK, &view));
            }
            // Somebody was faster: the patch is still wanted, on top of that.
            SchedulePut::Conflict { .. } => {}
        }
    }
    Err(changed_all_the_time(&name))
}

fn patched(document: &NewSchedule, patch: &RawValue) -> Result<NewSchedule, Refusal> {
    let document = serde_json::value::to_raw_value(document).expect("wire types print");
    let merged = merge(&document, patch).map_err(|_| {
        let detail =
            format!("the patch nests deeper than patch_depth_max, {PATCH_DEPTH_MAX} levels: replace it with PUT");
        Refusal::new(problem::TOO_LARGE, StatusCode::UNPROCESSABLE_ENTITY, detail)
            .limit("patch_depth_max", PATCH_DEPTH_MAX as u64)
    })?;
    parse_text(merged.get())
}
