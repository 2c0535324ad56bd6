//! `GET /v1/schedules/{id}/preview` and `POST /v1/schedules/preview`: when a schedule will fire. Pure: nothing is kept.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::limits::PREVIEW_MAX;
use mainspring_core::name::ScheduleName;
use mainspring_core::schedule::{BadSchedule, Occurrence, Schedule, create, preview};
use mainspring_core::time::Time;
use mainspring_wire::{NewSchedule, Preview, PreviewQuery, Timestamp};

use crate::accept::{Form, schedule, schedule_name};
use crate::ask::{Pairs, Said, SchedulePath, Tenant};
use crate::convert::time;
use crate::door::Door;
use crate::limits::PREVIEW_DEFAULT;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::schedules::load;
use crate::show;

/// When a schedule will fire next, with offsets and what changes of the clocks do to it.
#[utoipa::path(
    get, path = "/v1/schedules/{id}/preview", tag = "schedules", params(("id" = String, Path), PreviewQuery),
    responses((status = 200, description = "The occurrences to come", body = Preview), Refused)
)]
pub(crate) async fn preview_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    pairs: Pairs,
) -> Answer {
    let ask = Ask::read(pairs, door.engine.now())?;
    let view = load(&door, tenant, name).await?;
    let runs_left = view.schedule.max_runs.map(|max| max.saturating_sub(view.standing.runs));
    let shown = look_ahead(view.schedule, ask, runs_left).await?;
    let (_, preview) = shown.map_err(|bad| Refusal::from(Form::Several.wrong(bad)))?;
    Ok(show::answer(StatusCode::OK, &preview))
}

/// When a document would fire that is not saved; bad ones are refused as by `POST /v1/schedules`.
#[utoipa::path(
    post, path = "/v1/schedules/preview", tag = "schedules", params(PreviewQuery), request_body = NewSchedule,
    responses((status = 200, description = "The occurrences to come, and the document as it would be kept", body = Preview), Refused)
)]
pub(crate) async fn preview_document(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    pairs: Pairs,
    Said(said): Said<NewSchedule>,
) -> Answer {
    let now = door.engine.now();
    let ask = Ask::read(pairs, now)?;
    let named = said.schedule_id.as_deref().map(schedule_name).transpose()?;
    let is_named = named.is_some();
    let written = schedule(said, tenant, named.unwrap_or_else(unnamed))?;
    // Whatever would be refused when it is made is refused here.
    create(&written.schedule, now).map_err(|bad| Refusal::from(written.form.wrong(bad)))?;
    let runs_left = written.schedule.max_runs;
    let shown = look_ahead(written.schedule, ask, runs_left).await?;
    let (schedule, preview) = shown.map_err(|bad| Refusal::from(written.form.wrong(bad)))?;
    let mut document = show::document(&schedule);
    document.schedule_id = document.schedule_id.filter(|_| is_named);
    Ok(show::answer(StatusCode::OK, &Preview { schedule: Some(document), ..preview }))
}

#[derive(Clone, Copy, Debug)]
struct Ask {
    count: usize,
    after: Time,
}

impl Ask {
    fn read(mut pairs: Pairs, now: Time) -> Result<Ask, Refusal> {
        let count = pairs.parse("count", count)?.unwrap_or(PREVIEW_DEFAULT);
        let after = pairs.parse("after", str::parse::<Timestamp>)?.map_or(now, time);
        pairs.done()?;
        Ok(Ask { count, after })
    }
}

/// On a thread of its own: a rule may have its occurrences far apart, and looking for many of them takes a while.
async fn look_ahead(
    schedule: Schedule,
    ask: Ask,
    runs_left: Option<u64>,
) -> Result<Result<(Schedule, Preview), BadSchedule>, Refusal> {
    let runs_left = runs_left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
    let look = move || -> Result<(Schedule, Preview), BadSchedule> {
        let calendar = schedule.compile()?;
        let found: Vec<Occurrence> = preview(&calendar, ask.after, ask.count.min(runs_left));
        let occurrences: Vec<_> = found.iter().map(show::occurrence).collect();
        let timezone = schedule.when.zone.clone();
        let ends = occurrences.len() < ask.count;
        Ok((schedule, Preview { timezone, occurrences, ends, schedule: None }))
    };
    tokio::task::spawn_blocking(look).await.map_err(|error| {
        tracing::error!(%error, "a preview ended early");
        Refusal::new(
            mainspring_wire::problem::INTERNAL,
            StatusCode::INTERNAL_SERVER_ERROR,
            "the preview ended early: this is a bug of the server",
        )
    })
}

/// Only its `H` depends on it.
fn unnamed() -> ScheduleName {
    ScheduleName::parse("unnamed").expect("is a word")
}

fn count(text: &str) -> Result<usize, String> {
    let read = text.parse().ok().filter(|count| (1..=PREVIEW_MAX).contains(count));
    read.ok_or_else(|| format!("{text:?} is not a number from 1 to {PREVIEW_MAX}"))
}
