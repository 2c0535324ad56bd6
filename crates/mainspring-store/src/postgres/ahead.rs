//! How many jobs go before a ready one. Changes nothing.

use mainspring_core::id::JobId;
use mainspring_core::name::TenantName;

use super::Postgres;
use super::error::Result;
use super::pipeline::ask;

pub(super) async fn ahead(store: &Postgres, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
    let connection = store.pool.get().await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = ask(&connection, include_str!("sql/ahead.sql"), &[&tenant.as_str(), &id.uuid(), &limit]).await?;
    // It counts itself.
    Ok(rows.first().map(|row| row.get::<_, i64>(0).unsigned_abs().saturating_sub(1)))
}
