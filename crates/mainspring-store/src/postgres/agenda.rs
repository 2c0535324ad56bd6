//! How many waiting jobs fall due when. Changes nothing.

use mainspring_core::name::TenantName;
use mainspring_core::store::{Agenda, AgendaAsk};

use super::Postgres;
use super::error::Result;
use super::numbers::{ms, time};
use super::pipeline;

pub(super) async fn agenda(store: &Postgres, ask: &AgendaAsk) -> Result<Agenda> {
    let connection = store.pool.get().await?;
    let tenant = ask.tenant.as_ref().map(TenantName::as_str);
    // No step is shorter than a millisecond, none longer than time itself.
    let step_ms = i64::try_from(ask.step.as_millis()).unwrap_or(i64::MAX).max(1);
    let jobs_max = i64::try_from(ask.jobs_max).unwrap_or(i64::MAX).min(i64::MAX - 1);
    let rows = pipeline::ask(
        &connection,
        include_str!("sql/agenda.sql"),
        &[&tenant, &ms(ask.from), &ms(ask.until), &step_ms, &jobs_max],
    )
    .await?;
    let steps = rows.iter().map(|row| (time(row.get(0)), row.get::<_, i64>(1).unsigned_abs()));
    Ok(Agenda {
        due: steps.filter(|&(_, count)| count > 0).collect(),
        partial: rows.iter().any(|row| row.get::<_, bool>(2)),
    })
}
