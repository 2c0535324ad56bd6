//! What can be wrong with the database: somebody's transaction that keeps dead rows alive, settings that lose what was
//! committed, dead rows that pile up, connections that run out. Reads the catalogs and changes nothing; what the facts mean is
//! said in [`check`].

mod check;
#[cfg(test)]
mod tests;

use std::time::Duration;

use mainspring_core::store::Ailment;
use tokio_postgres::Row;

use super::Postgres;
use super::error::Result;
use super::pipeline::ask;
use check::{Connections, Holder, Setting, Table};

/// A transaction that is open for longer is nobody's batch any more.
pub(super) const LONG_TRANSACTION: Duration = Duration::from_secs(60);

/// Looks at everything; a transaction counts as long from `long` on.
pub(super) async fn ailments(store: &Postgres, long: Duration) -> Result<Vec<Ailment>> {
    let connection = store.pool.get().await?;
    let place = &*store.pool.place;
    let long_ms = i64::try_from(long.as_millis()).unwrap_or(i64::MAX);
    let holders = ask(&connection, include_str!("../sql/doctor_holders.sql"), &[&long_ms]).await?;
    let settings = ask(&connection, include_str!("../sql/doctor_settings.sql"), &[]).await?;
    let tables = ask(&connection, include_str!("../sql/doctor_tables.sql"), &[]).await?;
    let connections = ask(&connection, include_str!("../sql/doctor_connections.sql"), &[]).await?;
    let holders: Vec<Holder> = holders.iter().map(holder).collect();
    let settings: Vec<Setting> = settings.iter().map(setting).collect();
    let tables: Vec<Table> = tables.iter().map(table).collect();
    let mut found = check::holders(&holders, long, place);
    found.extend(check::settings(&settings, place));
    found.extend(check::tables(&tables, place));
    found.extend(connections.first().map(|row| check::connections(counted(row), place)));
    Ok(found)
}

fn holder(row: &Row) -> Holder {
    Holder {
        kind: row.get(0),
        name: row.get(1),
        user: row.get(2),
        application: row.get(3),
        state: row.get(4),
        age: Duration::from_millis(row.get::<_, Option<i64>>(5).unwrap_or_default().unsigned_abs()),
        query: row.get(6),
    }
}

fn setting(row: &Row) -> Setting {
    Setting { name: row.get(0), value: row.get(1) }
}

fn table(row: &Row) -> Table {
    let count = |at: usize| row.get::<_, i64>(at).unsigned_abs();
    Table { name: row.get(0), live: count(1), dead: count(2) }
}

fn counted(row: &Row) -> Connections {
    Connections { open: row.get::<_, i64>(0).unsigned_abs(), max: row.get::<_, i64>(1).unsigned_abs() }
}
