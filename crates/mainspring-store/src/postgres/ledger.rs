//! What became of a schedule's occurrences. Changes nothing.

use mainspring_core::schedule::LedgerRow;
use mainspring_core::store::{LedgerPage, LedgerPlace, LedgerQuery};
use tokio_postgres::Row;

use super::Postgres;
use super::error::Result;
use super::numbers::{ms, time};
use super::packed::unpack;
use super::pipeline;
use crate::embedded::rows::LedgerEntry;

pub(super) async fn ledger(store: &Postgres, ask: LedgerQuery) -> Result<LedgerPage> {
    let connection = store.pool.get().await?;
    let (tenant, schedule) = (ask.schedule.tenant.as_str(), ask.schedule.name.as_str());
    let occurrence = ask.below.map(|place| ms(place.occurrence));
    let version = ask.below.map(|place| place.version as i64);
    let index = ask.below.map(|place| place.index as i32);
    // One more than asked shows whether there is a next page.
    let limit = i64::try_from(ask.limit).unwrap_or(i64::MAX - 1) + 1;
    let sql = include_str!("sql/ledger.sql");
    let rows = pipeline::ask(&connection, sql, &[&tenant, &schedule, &occurrence, &version, &index, &limit]).await?;
    let mut found: Vec<(LedgerPlace, LedgerRow)> = rows.iter().map(ledger_row).collect::<Result<_>>()?;
    let has_next = found.len() > ask.limit;
    found.truncate(ask.limit);
    let last = found.last().map(|(place, _)| *place);
    Ok(LedgerPage { rows: found.into_iter().map(|(_, row)| row).collect(), next: last.filter(|_| has_next) })
}

/// Reads (occurrence, version, index, row).
pub(super) fn ledger_row(row: &Row) -> Result<(LedgerPlace, LedgerRow)> {
    let place = LedgerPlace {
        occurrence: time(row.get(0)),
        version: row.get::<_, i64>(1).unsigned_abs(),
        index: row.get::<_, i32>(2).unsigned_abs(),
    };
    let entry: LedgerEntry = unpack("ledger", row.get(3))?;
    Ok((place, entry.row(place.occurrence)))
}
