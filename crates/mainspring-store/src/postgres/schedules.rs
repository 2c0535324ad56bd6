//! What readers ask of schedules, and the bytes that a schedule is kept as. Changes nothing.

use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::{Schedule, ScheduleRef, ScheduleView, Standing};
use mainspring_core::store::{SchedulePage, ScheduleQuery};
use tokio_postgres::Row;

use super::Postgres;
use super::error::{Result, damaged};
use super::packed::{pack, unpack};
use super::pipeline;
use crate::embedded::rows::{ScheduleRow, StandingRow};

pub(super) async fn schedule(store: &Postgres, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
    let connection = store.pool.get().await?;
    let (tenant, name) = (schedule.tenant.as_str(), schedule.name.as_str());
    let rows = pipeline::ask(&connection, include_str!("sql/schedule.sql"), &[&tenant, &name]).await?;
    rows.first().map(schedule_view).transpose()
}

pub(super) async fn schedules(store: &Postgres, ask: ScheduleQuery) -> Result<SchedulePage> {
    let connection = store.pool.get().await?;
    let above = ask.above.as_ref().map(ScheduleName::as_str);
    // One more than asked shows whether there is a next page.
    let limit = i64::try_from(ask.limit).unwrap_or(i64::MAX - 1) + 1;
    let sql = include_str!("sql/schedules.sql");
    let rows = pipeline::ask(&connection, sql, &[&ask.tenant.as_str(), &above, &limit]).await?;
    let mut schedules: Vec<ScheduleView> = rows.iter().map(schedule_view).collect::<Result<_>>()?;
    let has_next = schedules.len() > ask.limit;
    schedules.truncate(ask.limit);
    let last = schedules.last().map(|view| view.schedule.name.clone());
    Ok(SchedulePage { schedules, next: last.filter(|_| has_next) })
}

/// Reads the columns tenant, name, spec, standing.
pub(super) fn schedule_view(row: &Row) -> Result<ScheduleView> {
    let (tenant, name): (&str, &str) = (row.get(0), row.get(1));
    let bad = |error| damaged(format!("the schedule {name:?} of tenant {tenant:?}: {error}"));
    let of =
        ScheduleRef { tenant: TenantName::parse(tenant).map_err(bad)?, name: ScheduleName::parse(name).map_err(bad)? };
    let spec: ScheduleRow<'_> = unpack("schedules", row.get(2))?;
    let standing: StandingRow = unpack("standings", row.get(3))?;
    let version = standing.version;
    Ok(ScheduleView { schedule: spec.schedule(&of)?, standing: standing.standing(), version })
}

pub(super) fn pack_spec(schedule: &Schedule) -> Vec<u8> {
    pack(&ScheduleRow::of(schedule))
}

pub(super) fn pack_standing(version: u64, standing: &Standing) -> Vec<u8> {
    pack(&StandingRow::of(version, standing))
}
