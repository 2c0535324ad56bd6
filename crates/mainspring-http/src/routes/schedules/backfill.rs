//! `POST /v1/schedules/{id}/backfill`: makes the jobs of occurrences that have passed, in bounded steps.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::schedule::ScheduleRef;
use mainspring_engine::{BackfillOccurrence as Filled, BackfillWas};
use mainspring_wire::{Backfill, BackfillAnswer, BackfillOccurrence, BackfillResult};

use crate::accept::backfill;
use crate::ask::{Said, SchedulePath, Tenant};
use crate::convert::stamp;
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::schedules::no_such_schedule;
use crate::show;

/// Makes the jobs of occurrences that have passed and have none; with `dry_run` only says which.
#[utoipa::path(
    post, path = "/v1/schedules/{id}/backfill", tag = "schedules", params(("id" = String, Path)),
    request_body = Backfill,
    responses((status = 200, description = "Every occurrence of the range, and what was done", body = BackfillAnswer), Refused)
)]
pub(crate) async fn backfill_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    Said(said): Said<Backfill>,
) -> Answer {
    let ask = backfill(said)?;
    let at = ScheduleRef { tenant, name };
    let filled = door.engine.backfill(&at, ask).await?.ok_or_else(|| no_such_schedule(&at.name))?;
    let occurrence = |one: &Filled| BackfillOccurrence {
        occurrence: stamp(one.at),
        job_id: one.job.uuid(),
        result: match one.was {
            BackfillWas::Exists => BackfillResult::Exists,
            BackfillWas::Filled if ask.dry_run => BackfillResult::WouldFill,
            BackfillWas::Filled => BackfillResult::Filled,
        },
    };
    let occurrences = filled.occurrences.iter().map(occurrence).collect();
    Ok(show::answer(StatusCode::OK, &BackfillAnswer { occurrences, more: filled.more }))
}
