//! Where the jobs of a workflow are. Counts no jobs: writers keep the counts as they go. Changes nothing.

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::name::TenantName;
use mainspring_core::store::WorkflowView;
use uuid::Uuid;

use super::Postgres;
use super::error::Result;
use super::numbers::time;
use super::pipeline::ask;
use super::queues::counts;

pub(super) async fn workflow(store: &Postgres, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
    let connection = store.pool.get().await?;
    let rows = ask(&connection, include_str!("sql/workflow.sql"), &[&tenant.as_str(), &id.0]).await?;
    Ok(rows.first().map(|row| WorkflowView {
        id,
        submitted_at: time(row.get(0)),
        callback: row.get::<_, Option<Uuid>>(1).map(JobId::from),
        counts: counts(|at| row.get::<_, i32>(2 + at).into()),
    }))
}
