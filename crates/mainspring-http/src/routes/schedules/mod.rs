//! `/v1/schedules`: rules that make jobs, one file per verb.

mod backfill;
mod create;
mod delete;
mod ledger;
mod list;
mod patch;
mod pause;
mod preview;
mod put;
mod trigger;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_engine::ScheduleMove;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;
use crate::limits::PAGE_ROWS_MAX;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new()
        .routes(routes!(create::create_schedule, list::list_schedules))
        .routes(routes!(preview::preview_document))
        .routes(routes!(list::get_schedule, put::put_schedule, patch::patch_schedule, delete::delete_schedule))
        .routes(routes!(pause::pause_schedule))
        .routes(routes!(pause::resume_schedule))
        .routes(routes!(trigger::trigger_schedule))
        .routes(routes!(backfill::backfill_schedule))
        .routes(routes!(preview::preview_schedule))
        .routes(routes!(ledger::get_ledger))
}

/// A schedule, with its revision as the entity tag.
fn shown(status: StatusCode, view: &ScheduleView) -> Response {
    let mut response = show::answer(status, &show::schedule(view));
    let tag = format!("\"{}\"", view.standing.revision);
    response.headers_mut().insert(header::ETAG, HeaderValue::try_from(tag).expect("digits in quotes"));
    response
}

/// A schedule that is new, with where it is.
fn created(view: &ScheduleView) -> Response {
    let mut response = shown(StatusCode::CREATED, view);
    let path = format!("/v1/schedules/{}", view.schedule.name.as_str().replace('/', "%2F"));
    response.headers_mut().insert(header::LOCATION, HeaderValue::try_from(path).expect("names are plain words"));
    response
}

fn moved(answer: ScheduleMove, name: &ScheduleName) -> Answer {
    match answer {
        ScheduleMove::Done(view) => Ok(shown(StatusCode::OK, &view)),
        ScheduleMove::Missing => Err(no_such_schedule(name)),
        ScheduleMove::Conflict { revision } => Err(conflict(Some(revision))),
    }
}

async fn load(door: &Door, tenant: TenantName, name: ScheduleName) -> Result<ScheduleView, Refusal> {
    let at = ScheduleRef { tenant, name };
    door.engine.store().schedule(&at).await?.ok_or_else(|| no_such_schedule(&at.name))
}

fn no_such_schedule(name: &ScheduleName) -> Refusal {
    Refusal::not_found(format!("there is no schedule {name}; GET /v1/schedules lists them all"))
}

/// It does not stand as the caller believed.
fn conflict(revision: Option<u64>) -> Refusal {
    Refusal::precondition_failed(match revision {
        Some(revision) => format!(
            "the schedule is there, at revision {revision}. Look at it with GET, and send If-Match: \"{revision}\" if the \
             change is still wanted"
        ),
        None => "there is no such schedule any more, or there never was: leave If-Match out to create it".to_owned(),
    })
}

fn rows_limit(text: &str) -> Result<usize, String> {
    let read = text.parse().ok().filter(|limit| (1..=PAGE_ROWS_MAX).contains(limit));
    read.ok_or_else(|| format!("{text:?} is not a number from 1 to {PAGE_ROWS_MAX}"))
}
