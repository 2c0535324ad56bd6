//! Queues with their settings and counts. Counts no jobs: writers keep the counts as they go. Changes nothing.

use mainspring_core::name::TenantName;
use mainspring_core::rank::Aging;
use mainspring_core::store::{Counts, QueueView};
use tokio_postgres::Row;

use super::Postgres;
use super::error::Result;
use super::numbers::time;
use super::pipeline::ask;
use super::queue_ids::queue_ref;

pub(super) async fn queues(store: &Postgres, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
    let connection = store.pool.get().await?;
    let tenant = tenant.map(TenantName::as_str);
    let rows = ask(&connection, include_str!("sql/queues.sql"), &[&tenant]).await?;
    rows.iter().map(queue_view).collect()
}

fn queue_view(row: &Row) -> Result<QueueView> {
    Ok(QueueView {
        queue: queue_ref(row.get(0), row.get(1))?,
        paused: row.get(2),
        aging: Aging::from_point_ms(row.get::<_, i64>(3).unsigned_abs()),
        max_depth: row.get::<_, Option<i64>>(4).map(i64::unsigned_abs),
        counts: counts(|at| row.get::<_, i64>(5 + at)),
        oldest_ready_at: row.get::<_, Option<i64>>(13).map(time),
    })
}

/// Eight numbers in the order of the columns of `counts`.
pub(super) fn counts(number: impl Fn(usize) -> i64) -> Counts {
    let number = |at| u64::try_from(number(at)).unwrap_or_default();
    Counts {
        blocked: number(0),
        waiting: number(1),
        ready: number(2),
        paused: number(3),
        running: number(4),
        succeeded: number(5),
        dead: number(6),
        cancelled: number(7),
    }
}
