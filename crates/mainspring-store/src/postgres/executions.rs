//! The attempts of a job that are over. Changes nothing.

use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Execution, ExecutionOutcome};
use mainspring_core::name::TenantName;
use tokio_postgres::Row;

use super::Postgres;
use super::error::Result;
use super::numbers::{outcome, time};
use super::pipeline::ask;
use super::record;

pub(super) async fn executions(store: &Postgres, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
    let connection = store.pool.get().await?;
    let rows = ask(&connection, include_str!("sql/executions.sql"), &[&tenant.as_str(), &id.uuid()]).await?;
    rows.iter().map(execution).collect()
}

/// Reads (attempt, fence, worker, started_at, ended_at, outcome, error message, kind, detail).
pub(super) fn execution(row: &Row) -> Result<Execution> {
    let outcome = outcome(row.get(5))?;
    // With its end a job keeps its last error, which need not be that of its last attempt.
    let has_error =
        matches!(outcome, ExecutionOutcome::Failed | ExecutionOutcome::TimedOut | ExecutionOutcome::Crashed);
    Ok(Execution {
        attempt: row.get::<_, i16>(0).unsigned_abs().into(),
        fence: Fence(row.get::<_, i64>(1).unsigned_abs()),
        worker: WorkerId(row.get(2)),
        started_at: time(row.get(3)),
        ended_at: time(row.get(4)),
        outcome,
        error: record::failure(row, 6).filter(|_| has_error),
    })
}
