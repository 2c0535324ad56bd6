//! `GET /v1/schedules/{id}/ledger`: what became of each occurrence, latest first. The ledger outlives its schedule.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::store::{LedgerPlace, LedgerQuery as Query};
use mainspring_core::time::Time;
use mainspring_wire::{LedgerPage, LedgerQuery};

use crate::ask::{Pairs, SchedulePath, Tenant};
use crate::door::Door;
use crate::limits::PAGE_ROWS_DEFAULT;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::schedules::{load, rows_limit};
use crate::show;

/// What became of each occurrence, latest first.
#[utoipa::path(
    get, path = "/v1/schedules/{id}/ledger", tag = "schedules", params(("id" = String, Path), LedgerQuery),
    responses((status = 200, description = "A page of the ledger", body = LedgerPage), Refused)
)]
pub(crate) async fn get_ledger(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    SchedulePath(name): SchedulePath,
    mut pairs: Pairs,
) -> Answer {
    let limit = pairs.parse("limit", rows_limit)?.unwrap_or(PAGE_ROWS_DEFAULT);
    let below = pairs.parse("cursor", cursor)?;
    pairs.done()?;
    let schedule = ScheduleRef { tenant, name };
    let page = door.engine.store().ledger(Query { schedule: schedule.clone(), below, limit }).await?;
    if page.rows.is_empty() && below.is_none() {
        load(&door, schedule.tenant, schedule.name).await?;
    }
    let rows = page.rows.iter().map(show::ledger_row).collect();
    Ok(show::answer(StatusCode::OK, &LedgerPage { rows, next_cursor: page.next.map(print) }))
}

fn print(place: LedgerPlace) -> String {
    format!("{}.{}.{}", place.occurrence.as_millis(), place.version, place.index)
}

fn cursor(text: &str) -> Result<LedgerPlace, String> {
    let read = || {
        let mut parts = text.split('.');
        let occurrence = Time::from_millis(parts.next()?.parse().ok()?);
        let version = parts.next()?.parse().ok()?;
        let index = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(LedgerPlace { occurrence, version, index })
    };
    read().ok_or_else(|| format!("{text:?} is not a cursor: send the next_cursor of the page before"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_printed() {
        let place = LedgerPlace { occurrence: Time::from_millis(1_796_115_600_000), version: 7, index: 3 };
        assert_eq!(cursor(&print(place)), Ok(place));
        for bad in ["", "1", "1.2", "1.2.3.4", "a.b.c", "-1.2.3", "1.2.x"] {
            assert!(cursor(bad).is_err(), "{bad}");
        }
    }
}
