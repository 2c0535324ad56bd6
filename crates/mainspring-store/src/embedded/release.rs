//! Goes on with those who waited for a job that ended. The end itself only writes down that somebody waits, whatever
//! their number, so a parent of ten thousand stalls nobody; promote walks the children in bounded steps.
//!
//! Of all that is to be done, the edge with the lowest parent and child is always the next, so that what comes of it does
//! not depend on how much is done in one call. An edge that holds after a failure is left open and passed by. Callbacks
//! whose steps have all ended come after the edges.

use std::collections::BTreeMap;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Job, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::segment::Segments;
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::batch::Batch;
use super::command::{self, Unblocked};
use super::rows::{self, BlockedRow, EdgeRow, StateRow};
use super::storage;
use super::tables;
use super::workflow;

/// Writes down what a job that is taken in waits for.
pub fn block(batch: &mut Batch<'_>, job: &Job, open: &[Dependency]) -> Result<()> {
    for dependency in open {
        let edge = EdgeRow::new(dependency.on_failure);
        batch.put(batch.tables.children, &tables::edge(dependency.parent, job.id), &edge)?;
    }
    batch.put(batch.tables.blocked, job.id.as_bytes(), &BlockedRow { edges: open.len() as u32 })
}

/// A Blocked job waits for nobody any more, for whatever reason.
pub fn unblock(batch: &mut Batch<'_>, job: &Job) -> Result<()> {
    let Some(row) = blocked(batch, job.id)? else { return Ok(()) };
    batch.delete(batch.tables.blocked, job.id.as_bytes())?;
    let mut open = row.edges;
    for dependency in &job.depends_on {
        if open == 0 {
            break;
        }
        open -= u32::from(batch.delete(batch.tables.children, &tables::edge(dependency.parent, job.id))?);
    }
    workflow::forget_callback(batch, job)
}

/// Writes down that a job has ended, if somebody waits for it; whether somebody does.
pub fn announce(batch: &mut Batch<'_>, id: JobId, outcome: State) -> Result<bool> {
    let first = batch.tables.children.get_greater_than_or_equal_to(&batch.txn, id.as_bytes()).map_err(storage)?;
    let awaited = first.is_some_and(|(key, _)| key.starts_with(id.as_bytes()));
    if awaited {
        batch.put(batch.tables.releases, id.as_bytes(), &StateRow::from(outcome))?;
    }
    Ok(awaited)
}

/// A job that had ended lives again: its children go on waiting for it.
pub fn withdraw(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    batch.delete(batch.tables.releases, id.as_bytes()).map(drop)
}

/// What a walk has done.
#[derive(Default)]
pub struct Walk {
    /// Jobs that became Ready, by queue number.
    pub ready: BTreeMap<u32, u64>,
    pub cancelled: Vec<(JobId, QueueRef)>,
    /// How much of the limit is left.
    pub left: usize,
    pub more: bool,
}

/// Works off what ends have left to do for children in these segments, at most `limit` edges and callbacks.
pub fn release(batch: &mut Batch<'_>, now: Time, segments: Segments, limit: usize) -> Result<Walk> {
    let mut walk = Walk { left: limit, ..Walk::default() };
    let mut after = None;
    while let Some((parent, outcome)) = next_parent(batch, after)? {
        after = match walk_children(batch, now, segments, (parent, outcome), &mut walk)? {
            Passed::All => Some(parent),
            Passed::SomeoneLower => None,
        };
        if walk.more {
            return Ok(walk);
        }
    }
    call_back(batch, now, segments, &mut walk)?;
    Ok(walk)
}

/// The next entry of the list above `after`.
fn next_parent(batch: &Batch<'_>, after: Option<JobId>) -> Result<Option<(JobId, State)>> {
    let next = match &after {
        None => batch.tables.releases.first(&batch.txn),
        Some(after) => batch.tables.releases.get_greater_than(&batch.txn, after.as_bytes()),
    };
    let Some((key, bytes)) = next.map_err(storage)? else { return Ok(None) };
    let outcome: StateRow = rows::decode("releases", bytes)?;
    Ok(Some((tables::read_id(key), outcome.into())))
}

enum Passed {
    All,
    /// A child with a lower id than its parent was cancelled and has children itself: they are next.
    SomeoneLower,
}

fn walk_children(
    batch: &mut Batch<'_>,
    now: Time,
    segments: Segments,
    (parent, outcome): (JobId, State),
    walk: &mut Walk,
) -> Result<Passed> {
    let ToDo { children, elsewhere } = to_do(batch, segments, (parent, outcome), walk.left)?;
    for (child, on_failure) in children {
        if walk.left == 0 {
            walk.more = true;
            return Ok(Passed::All);
        }
        walk.left -= 1;
        if outcome == State::Succeeded || on_failure == OnFailure::Run {
            satisfy(batch, now, parent, child, walk)?;
        } else if cancel(batch, now, (parent, outcome), child, walk)? && child < parent {
            return Ok(Passed::SomeoneLower);
        }
    }
    if !elsewhere {
        withdraw(batch, parent)?;
    }
    Ok(Passed::All)
}

struct ToDo {
    /// One more than the limit, if there are so many.
    children: Vec<(JobId, OnFailure)>,
    /// There is something to do in other segments.
    elsewhere: bool,
}

fn to_do(batch: &Batch<'_>, segments: Segments, (parent, outcome): (JobId, State), limit: usize) -> Result<ToDo> {
    let mut found = ToDo { children: Vec::new(), elsewhere: false };
    for row in batch.tables.children.prefix_iter(&batch.txn, parent.as_bytes()).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        let (_, child) = tables::read_edge(key);
        let on_failure = rows::decode::<EdgeRow>("children", bytes)?.on_failure();
        if outcome != State::Succeeded && on_failure == OnFailure::Hold {
            continue;
        }
        if !segments.contains(child.segment()) {
            found.elsewhere = true;
            continue;
        }
        found.children.push((child, on_failure));
        if found.children.len() > limit {
            break;
        }
    }
    Ok(found)
}

fn satisfy(batch: &mut Batch<'_>, now: Time, parent: JobId, child: JobId, walk: &mut Walk) -> Result<()> {
    batch.delete(batch.tables.children, &tables::edge(parent, child))?;
    match blocked(batch, child)? {
        Some(BlockedRow { edges }) if edges > 1 => {
            batch.put(batch.tables.blocked, child.as_bytes(), &BlockedRow { edges: edges - 1 })
        }
        Some(_) => set_free(batch, now, child, walk),
        None => Ok(()),
    }
}

fn set_free(batch: &mut Batch<'_>, now: Time, child: JobId, walk: &mut Walk) -> Result<()> {
    if let Unblocked::Ready { queue } = command::set_free(batch, now, child)? {
        *walk.ready.entry(queue).or_default() += 1;
    }
    Ok(())
}

/// Whether the child has children that wait for it.
fn cancel(
    batch: &mut Batch<'_>,
    now: Time,
    (parent, outcome): (JobId, State),
    child: JobId,
    walk: &mut Walk,
) -> Result<bool> {
    let how = if outcome == State::Dead { "failed" } else { "was cancelled" };
    let (queue, awaited) = command::cancel_blocked(batch, now, child, format!("its parent {parent} {how}"))?;
    walk.cancelled.push((child, queue));
    Ok(awaited)
}

fn call_back(batch: &mut Batch<'_>, now: Time, segments: Segments, walk: &mut Walk) -> Result<()> {
    let mut after = None;
    while let Some((key, callback)) = next_callback(batch, after.as_deref())? {
        after = Some(key);
        if !segments.contains(callback.segment()) {
            continue;
        }
        if walk.left == 0 {
            walk.more = true;
            return Ok(());
        }
        walk.left -= 1;
        set_free(batch, now, callback, walk)?;
    }
    Ok(())
}

fn next_callback(batch: &Batch<'_>, after: Option<&[u8]>) -> Result<Option<(Vec<u8>, JobId)>> {
    let next = match after {
        None => batch.tables.callbacks.first(&batch.txn),
        Some(after) => batch.tables.callbacks.get_greater_than(&batch.txn, after),
    };
    Ok(next.map_err(storage)?.map(|(key, id)| (key.to_vec(), tables::read_id(id))))
}

fn blocked(batch: &Batch<'_>, id: JobId) -> Result<Option<BlockedRow>> {
    let bytes = batch.tables.blocked.get(&batch.txn, id.as_bytes()).map_err(storage)?;
    bytes.map(|bytes| rows::decode("blocked", bytes)).transpose()
}
