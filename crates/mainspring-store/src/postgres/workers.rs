//! Every worker that is registered. Changes nothing.

use std::time::Duration;

use mainspring_core::id::WorkerId;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::store::{WorkerInfo, WorkerView};
use tokio_postgres::Row;

use super::Postgres;
use super::error::{Result, damaged};
use super::numbers::{order, time};
use super::pipeline::ask;

pub(super) async fn workers(store: &Postgres) -> Result<Vec<WorkerView>> {
    let connection = store.pool.get().await?;
    let rows = ask(&connection, include_str!("sql/workers.sql"), &[]).await?;
    rows.iter().map(worker).collect()
}

/// Reads a row of `sql/workers.sql`.
pub(super) fn worker(row: &Row) -> Result<WorkerView> {
    let id = WorkerId(row.get(0));
    let bad = |error| damaged(format!("worker {}, which cannot be read: {error}", id.0));
    let queues = row.get::<_, Vec<&str>>(12).into_iter().map(QueueName::parse).collect::<Result<_, _>>();
    Ok(WorkerView {
        id,
        tenant: TenantName::parse(row.get(1)).map_err(bad)?,
        info: WorkerInfo {
            name: row.get(9),
            host: row.get(10),
            pid: row.get::<_, Option<i64>>(8).map(|pid| pid as u32),
            version: row.get(11),
            queues: queues.map_err(bad)?,
            concurrency: row.get::<_, i64>(7) as u32,
        },
        lease: Duration::from_millis(row.get::<_, i64>(2).unsigned_abs()),
        registered_at: time(row.get(3)),
        last_seen_at: time(row.get(4)),
        expires_at: time(row.get(5)),
        order: order(row.get(6))?,
        held: row.get::<_, i64>(13).unsigned_abs(),
    })
}
