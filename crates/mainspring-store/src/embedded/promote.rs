//! Moves due jobs to Ready: the one place where time becomes readiness. Never claims.

use std::collections::BTreeMap;
use std::ops::Bound;

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::segment::Segments;
use mainspring_core::store::{Promote, Promoted, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::cascade;
use super::rows::{self, Slip};
use super::storage;
use super::tables;

pub fn promote(batch: &mut Batch<'_>, now: Time, ask: Promote) -> Result<Promoted> {
    let cascading = cascade::advance(batch, now)?;
    if cascade::lags(batch, now) {
        return Ok(Promoted { more: true, ..Promoted::default() });
    }
    let Due { jobs, more } = due(batch, now, ask)?;
    let oldest = jobs.first().map(|job| job.ready_at);
    remove(batch, &jobs, ask.segments)?;
    let counts = make_ready(batch, jobs)?;
    let mut ready: Vec<_> =
        counts.into_iter().map(|(queue, count)| (batch.mirror.queues[queue as usize].name.clone(), count)).collect();
    ready.sort();
    let more = more || cascading;
    let upcoming = if more { Vec::new() } else { upcoming(batch, now, ask)? };
    Ok(Promoted { ready, oldest, upcoming, more })
}

struct Due {
    jobs: Vec<DueJob>,
    more: bool,
}

struct DueJob {
    ready_at: Time,
    id: JobId,
    slip: Slip,
}

fn due(batch: &Batch<'_>, now: Time, ask: Promote) -> Result<Due> {
    let last = tables::timed(now, JobId::MAX);
    let range = (Bound::Unbounded, Bound::Included(&last[..]));
    let mut jobs = Vec::new();
    for row in batch.tables.waiting.range(&batch.txn, &range).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        let (ready_at, id) = tables::read_timed(key);
        if !ask.segments.contains(id.segment()) {
            continue;
        }
        if jobs.len() == ask.limit {
            return Ok(Due { jobs, more: true });
        }
        jobs.push(DueJob { ready_at, id, slip: rows::decode("waiting", bytes)? });
    }
    Ok(Due { jobs, more: false })
}

fn remove(batch: &mut Batch<'_>, jobs: &[DueJob], segments: Segments) -> Result<()> {
    let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else { return Ok(()) };
    if segments == Segments::ALL {
        let (first, last) = (tables::timed(first.ready_at, first.id), tables::timed(last.ready_at, last.id));
        return batch.delete_through(batch.tables.waiting, &first, &last);
    }
    for job in jobs {
        batch.delete(batch.tables.waiting, &tables::timed(job.ready_at, job.id))?;
    }
    Ok(())
}

/// Counts by queue number.
fn make_ready(batch: &mut Batch<'_>, mut jobs: Vec<DueJob>) -> Result<BTreeMap<u32, u64>> {
    jobs.sort_unstable_by_key(|job| (job.slip.queue, job.slip.lane, job.ready_at, job.id));
    let mut counts = BTreeMap::new();
    for job in jobs {
        *counts.entry(job.slip.queue).or_default() += 1;
        batch.mirror.queue(job.slip.queue).counts.waiting -= 1;
        batch.place(job.id, State::Ready, job.ready_at, &job.slip)?;
    }
    Ok(counts)
}

/// The distinct instants that come next, found by leaping from one to the one after it.
fn upcoming(batch: &Batch<'_>, now: Time, ask: Promote) -> Result<Vec<Time>> {
    let until = ask.look_ahead_until.min(now.after(limits::LOOK_AHEAD_MAX));
    let mut instants = Vec::new();
    let mut from = tables::timed(now, JobId::MAX);
    while instants.len() < ask.look_ahead_limit {
        let next = batch.tables.waiting.get_greater_than(&batch.txn, &from).map_err(storage)?;
        let Some((key, _)) = next else { break };
        let (at, id) = tables::read_timed(key);
        if at > until {
            break;
        }
        from = if ask.segments.contains(id.segment()) {
            instants.push(at);
            tables::timed(at, JobId::MAX)
        } else {
            tables::timed(at, id)
        };
    }
    Ok(instants)
}
