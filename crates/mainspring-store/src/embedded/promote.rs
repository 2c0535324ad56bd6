//! Moves due jobs to Ready: the one place where time becomes readiness. Never claims.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::segment::Segments;
use mainspring_core::store::{Promote, Promoted, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::cascade;
use super::gates::alarms;
use super::release::{self, Walk};
use super::rows::{self, Slip};
use super::schedules;
use super::storage;
use super::tables;

pub fn promote(batch: &mut Batch<'_>, now: Time, mut ask: Promote) -> Result<Promoted> {
    let refused = batch.mirror.roster.refused(&ask);
    ask.segments = ask.segments.without(refused);
    let Walk { ready: mut counts, cancelled, left, more } = release::release(batch, now, ask.segments, ask.limit)?;
    let cascading = cascade::advance(batch, now)?;
    let (mut oldest, mut more) = (None, more || cascading);
    if cascade::lags(batch, now) {
        more = true;
    } else {
        let due = due(batch, now, ask.segments, left)?;
        more |= due.more;
        oldest = due.jobs.first().map(|job| job.ready_at);
        remove(batch, &due.jobs, ask.segments)?;
        make_ready(batch, now, due.jobs, &mut counts)?;
    }
    let mut ready: Vec<_> =
        counts.into_iter().map(|(queue, count)| (batch.mirror.queues[queue as usize].name.clone(), count)).collect();
    ready.sort();
    let (due, more_due) = schedules::due(&batch.txn, batch.tables, now, ask.segments, ask.due_limit)?;
    more |= more_due;
    let upcoming = if more { Vec::new() } else { upcoming(batch, now, &ask)? };
    let (opened, gates_at) = alarms::tell(batch.mirror, now);
    Ok(Promoted { ready, oldest, cancelled, due, upcoming, opened, gates_at, refused, more })
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

fn due(batch: &Batch<'_>, now: Time, segments: Segments, limit: usize) -> Result<Due> {
    let last = tables::timed(now, JobId::MAX);
    let range = (Bound::Unbounded, Bound::Included(&last[..]));
    let mut jobs = Vec::new();
    for row in batch.tables.waiting.range(&batch.txn, &range).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        let (ready_at, id) = tables::read_timed(key);
        if !segments.contains(id.segment()) {
            continue;
        }
        if jobs.len() == limit {
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

/// Adds to the counts by queue number.
fn make_ready(batch: &mut Batch<'_>, now: Time, mut jobs: Vec<DueJob>, counts: &mut BTreeMap<u32, u64>) -> Result<()> {
    jobs.sort_unstable_by_key(|job| (job.slip.queue, job.slip.lane, job.ready_at, job.id));
    for job in jobs {
        *counts.entry(job.slip.queue).or_default() += 1;
        batch.leave(job.slip.who(job.id), State::Waiting, false)?;
        batch.place(now, job.id, State::Ready, job.ready_at, &job.slip)?;
    }
    Ok(())
}

/// The distinct instants at which a job or a schedule is due next.
fn upcoming(batch: &Batch<'_>, now: Time, ask: &Promote) -> Result<Vec<Time>> {
    let until = ask.look_ahead_until.min(now.after(limits::LOOK_AHEAD_MAX));
    let jobs = upcoming_jobs(batch, now, until, ask)?;
    let wakes = schedules::upcoming(&batch.txn, batch.tables, now, until, ask.segments, ask.look_ahead_limit)?;
    let instants: BTreeSet<Time> = jobs.into_iter().chain(wakes).collect();
    Ok(instants.into_iter().take(ask.look_ahead_limit).collect())
}

/// Found by leaping from one instant to the one after it.
fn upcoming_jobs(batch: &Batch<'_>, now: Time, until: Time, ask: &Promote) -> Result<Vec<Time>> {
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
