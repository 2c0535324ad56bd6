//! Jobs by id. Changes nothing.

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::name::TenantName;

use super::Postgres;
use super::error::Result;
use super::view::views;

pub(super) async fn get(store: &Postgres, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
    let connection = store.pool.get().await?;
    let found = views(&connection, &ids).await?;
    // An id may be asked for twice.
    let view = |id| found.get(id).filter(|view| view.job.tenant == *tenant).cloned();
    Ok(ids.iter().map(view).collect())
}
