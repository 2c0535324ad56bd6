//! Takes back what ran out: leases, and jobs that did not start in time. Settles nothing: the caller decides.

use std::collections::BTreeMap;
use std::ops::Bound;

use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Reclaim, Result};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

use super::batch::Batch;
use super::command;
use super::rows::{CauseRow, LeaseRow};
use super::storage;
use super::tables;

/// What was taken back, before the records are read.
#[derive(Default)]
pub struct Taken {
    pub leases: Vec<(JobId, LeaseRow, Cause)>,
    pub expired: Vec<(JobId, QueueRef)>,
    pub silent: Vec<WorkerId>,
    pub deposed: bool,
    pub more: bool,
}

const EXPIRED: &str = "expired before it started";

pub fn reclaim(batch: &mut Batch<'_>, now: Time, ask: Reclaim) -> Result<Taken> {
    if !batch.mirror.roster.stands(ask.warrant) {
        return Ok(Taken { deposed: true, ..Taken::default() });
    }
    let overdue = overdue(batch, now, ask);
    let more = overdue.len() > ask.limit;
    let take = |(id, cause)| take_over(batch, id, cause, ask.hold_until);
    let leases = overdue.into_iter().take(ask.limit).map(take).collect::<Result<_>>()?;
    let (expired, more_expired) = expire(batch, now, ask.limit)?;
    let silent = write_off(batch, now, ask.spare_silent)?;
    Ok(Taken { leases, expired, silent, deposed: false, more: more || more_expired })
}

/// Leases that ran out, and why, in the order of jobs.
fn overdue(batch: &Batch<'_>, now: Time, ask: Reclaim) -> BTreeMap<JobId, CauseRow> {
    let mirror = &batch.mirror;
    let mut overdue = BTreeMap::new();
    for &(at, id) in &mirror.alarms {
        if at > now {
            break;
        }
        overdue.insert(id, mirror.leases[&id].taken.map_or(CauseRow::Timeout, |(cause, _)| cause));
    }
    for worker in mirror.workers.values().filter(|worker| worker.is_silent(now, ask.spare_silent)) {
        overdue.extend(worker.held.iter().map(|&id| (id, CauseRow::Crash)));
    }
    overdue
}

fn take_over(batch: &mut Batch<'_>, id: JobId, cause: CauseRow, hold_until: Time) -> Result<(JobId, LeaseRow, Cause)> {
    let mut lease = batch.mirror.leases[&id].clone();
    let held_as = lease.taken.map_or(lease.fence, |(_, fence)| fence);
    lease.fence = batch.mirror.mint_fence();
    lease.timeout_ms = Some(hold_until.as_millis());
    lease.taken = Some((cause, held_as));
    batch.mirror.hold(id, lease.clone());
    batch.put(batch.tables.leases, id.as_bytes(), &lease)?;
    let cause = match cause {
        CauseRow::Crash => Cause::Crash,
        CauseRow::Timeout => Cause::Timeout,
    };
    Ok((id, lease, cause))
}

fn expire(batch: &mut Batch<'_>, now: Time, limit: usize) -> Result<(Vec<(JobId, QueueRef)>, bool)> {
    let last = tables::timed(now, JobId::MAX);
    let range = (Bound::Unbounded, Bound::Included(&last[..]));
    let rows = batch.tables.expiry.range(&batch.txn, &range).map_err(storage)?;
    let due: Vec<_> = rows
        .take(limit + 1)
        .map(|row| row.map(|(key, _)| tables::read_timed(key)).map_err(storage))
        .collect::<Result<_>>()?;
    let mut expired = Vec::new();
    for &(at, id) in due.iter().take(limit) {
        batch.delete(batch.tables.expiry, &tables::timed(at, id))?;
        if let Some(queue) = command::cancel_unstarted(batch, now, at, id, EXPIRED)? {
            expired.push((id, queue));
        }
    }
    Ok((expired, due.len() > limit))
}

/// Forgets silent workers that hold nothing any more.
fn write_off(batch: &mut Batch<'_>, now: Time, spare_silent: bool) -> Result<Vec<WorkerId>> {
    let workers = batch.mirror.workers.iter();
    let gone = workers.filter(|(_, worker)| worker.is_silent(now, spare_silent) && worker.held.is_empty());
    let mut gone: Vec<WorkerId> = gone.map(|(&id, _)| id).collect();
    gone.sort();
    for id in &gone {
        batch.mirror.workers.remove(id);
        batch.delete(batch.tables.workers, id.0.as_bytes())?;
    }
    Ok(gone)
}
