//! What running attempts say of themselves. Never ends one.

use mainspring_core::id::JobId;
use mainspring_core::store::{Hold, Report, ReportKind, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::rows::{self, Change, Marks};
use super::storage;

pub fn report(batch: &mut Batch<'_>, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
    reports.into_iter().map(|report| report_one(batch, now, report)).collect()
}

fn report_one(batch: &mut Batch<'_>, now: Time, report: Report) -> Result<Hold> {
    let id = report.lease.job;
    let Some(lease) = batch.mirror.leases.get_mut(&id).filter(|lease| lease.fence == report.lease.fence.0) else {
        return Ok(Hold::Stale);
    };
    let cancel_asked = lease.cancel_asked.is_some();
    match report.kind {
        ReportKind::Started if lease.started_ms.is_some() => {}
        ReportKind::Started => {
            lease.started_ms = Some(now.as_millis());
            write_lease(batch, id)?;
        }
        ReportKind::Checkpoint { data, progress } => {
            let bytes = batch.tables.changes.get(&batch.txn, id.as_bytes()).map_err(storage)?;
            let mut change: Change = match bytes {
                Some(bytes) => rows::decode("changes", bytes)?,
                None => Change::default(),
            };
            if let Some(data) = data {
                change.checkpoint = Some(data.0.into());
            }
            if let Some(progress) = progress {
                change.progress = Some(rows::progress_row(progress));
            }
            batch.put(batch.tables.changes, id.as_bytes(), &change)?;
            mark_changed(batch, id)?;
        }
    }
    Ok(Hold::Held { cancel_asked })
}

fn mark_changed(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    let lease = batch.mirror.leases.get_mut(&id).expect("the lease was just found");
    if lease.slip.marks.has(Marks::CHANGED) {
        return Ok(());
    }
    lease.slip.marks = lease.slip.marks.and(Marks::CHANGED);
    write_lease(batch, id)
}

/// Writes a lease that was changed in the mirror.
pub fn write_lease(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    let lease = batch.mirror.leases[&id].clone();
    batch.put(batch.tables.leases, id.as_bytes(), &lease)
}
