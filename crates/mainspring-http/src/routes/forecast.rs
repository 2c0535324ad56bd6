//! `GET /v1/forecast`: what will fire in the days ahead, the herds in it, and what a jitter would make of them.

use std::time::Duration;

use axum::extract::State;
use http::StatusCode;
use mainspring_core::limits::JITTER_MAX;
use mainspring_engine::ForecastAsk;
use mainspring_wire::{Forecast, ForecastQuery, Span};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ask::{Pairs, Tenant};
use crate::door::Door;
use crate::limits::{FORECAST_DAYS_MAX, HERDS_MAX};
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::show;

const DAY: Duration = Duration::from_secs(24 * 3600);
const STEP: Duration = Duration::from_secs(60);

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(get_forecast))
}

/// What fires in each minute of the days ahead: all schedules, and jobs that wait for their time.
#[utoipa::path(
    get, path = "/v1/forecast", tag = "operations", params(ForecastQuery),
    responses((status = 200, description = "The minutes that are not empty", body = Forecast), Refused)
)]
pub(crate) async fn get_forecast(State(door): State<Door>, Tenant(tenant): Tenant, mut pairs: Pairs) -> Answer {
    let days = pairs.parse("days", days)?.unwrap_or(FORECAST_DAYS_MAX);
    let jitter = pairs.parse("jitter", jitter)?;
    pairs.done()?;
    let from = door.engine.now();
    let until = from.after(DAY * days);
    let ask = ForecastAsk { tenant, from, until, step: STEP, jitter, herds_max: HERDS_MAX };
    let forecast = door.engine.forecast(ask).await?;
    Ok(show::answer(StatusCode::OK, &show::forecast(&forecast, from, until)))
}

fn days(text: &str) -> Result<u32, String> {
    let read = text.parse().ok().filter(|days| (1..=FORECAST_DAYS_MAX).contains(days));
    read.ok_or_else(|| format!("{text:?} is not a number from 1 to {FORECAST_DAYS_MAX}"))
}

fn jitter(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|error: mainspring_wire::ParseError| error.to_string())?;
    if span.duration() > JITTER_MAX {
        return Err(format!("{span} is longer than the longest jitter, {}", Span::from(JITTER_MAX)));
    }
    Ok(span.duration())
}
