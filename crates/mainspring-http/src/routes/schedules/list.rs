//! `GET /v1/schedules` and `GET /v1/schedules/{id}`: schedules, by name.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::name::ScheduleName;
use mainspring_core::schedule::ScheduleView as View;
use mainspring_core::store::ScheduleQuery as Query;
use mainspring_wire::{SchedulePage, ScheduleQuery, ScheduleView};

use crate::ask::{Pairs, SchedulePath, Tenant};
use crate::door::Door;
use crate::limits::PAGE_ROWS_DEFAULT;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::schedules::{load, rows_limit, shown};
use crate::show;

/// Schedules, by name.
#[utoipa::path(
    get, path = "/v1/schedules", tag = "schedules", params(ScheduleQuery),
    responses((status = 200, description = "A page of schedules", body = SchedulePage), Refused)
)]
pub(crate) async fn list_schedules(State(door): State<Door>, Tenant(tenant): Tenant, mut pairs: Pairs) -> Answer {
    let paused = pairs.parse("paused", yes_or_no)?;
    let limit = pairs.parse("limit", rows_limit)?.unwrap_or(PAGE_ROWS_DEFAULT);
    let above = pairs.parse("cursor", cursor)?;
    pairs.done()?;
    let page = door.engine.store().schedules(Query { tenant, above, limit }).await?;
    let wanted = |view: &&View| paused.is_none_or(|paused| view.standing.pause.is_some() == paused);
    let schedules = page.schedules.iter().filter(wanted).map(show::schedule).collect();
    let next_cursor = page.next.map(|name| name.to_string());
    Ok(show::answer(StatusCode::OK, &SchedulePage { schedules, next_cursor }))
}

/// A schedule, and what has happened to it.
#[utoipa::path(
    get, path = "/v1/schedules/{id}", tag = "schedules", params(("id" = String, Path)),
    responses(
        (status = 200, description = "The schedule", body = ScheduleView,
         headers(("ETag" = String, description = "Its revision"))),
        Refused
    )
)]
pub(crate) async fn get_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    Ok(shown(StatusCode::OK, &load(&door, tenant, name).await?))
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{text:?} is neither true nor false"))
}

fn cursor(text: &str) -> Result<ScheduleName, String> {
    ScheduleName::parse(text).map_err(|_| format!("{text:?} is not a cursor: send the next_cursor of the page before"))
}
