//! Forgets what is past its retention, in bounded steps, and gates at rest. Touches nothing that is not final.

use std::ops::Bound;

use mainspring_core::id::JobId;
use mainspring_core::store::{Prune, Pruned, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::gates::alarms;
use super::history;
use super::rows::{self, EndedRow, Marks};
use super::storage;
use super::tables::{self, Table};
use super::workflow;

/// Runs of history dropped in one call.
const RUNS_PER_STEP_MAX: usize = 8;

pub fn prune(batch: &mut Batch<'_>, now: Time, ask: Prune) -> Result<Pruned> {
    if !batch.mirror.roster.stands(ask.warrant) {
        return Ok(Pruned { deposed: true, ..Pruned::default() });
    }
    let mut budget = ask.limit;
    let mut more = prune_ended(batch, ask.ended_before, &mut budget)?;
    more |= prune_dead(batch, ask.dead_before, &mut budget)?;
    let jobs = (ask.limit - budget) as u64;
    more |= prune_keys(batch, now, &mut budget)?;
    let keys = (ask.limit - budget) as u64 - jobs;
    more |= prune_ledger(batch, ask.ledger_before, &mut budget)?;
    let rows = (ask.limit - budget) as u64 - jobs - keys;
    alarms::see(batch.mirror, now);
    batch.mirror.gates.forget_what_rests(now);
    Ok(Pruned { jobs, keys, rows, deposed: false, more })
}

fn prune_ended(batch: &mut Batch<'_>, before: Time, budget: &mut usize) -> Result<bool> {
    let (keys, more) = head(batch, batch.tables.ended, &tables::timed(before, JobId::MIN), *budget)?;
    for key in &keys {
        let (_, id) = tables::read_timed(key);
        let bytes = batch.tables.ended.get(&batch.txn, key).map_err(storage)?.expect("it was just read");
        let row: EndedRow = rows::decode("ended", bytes)?;
        history::forget_recent(batch, id)?;
        forget(batch, id, &row)?;
    }
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        batch.delete_through(batch.tables.ended, first, last)?;
        batch.mirror.last_ended = history::last(batch)?;
        history::drop_runs(batch, RUNS_PER_STEP_MAX)?;
    }
    *budget -= keys.len();
    Ok(more)
}

fn prune_dead(batch: &mut Batch<'_>, before: Time, budget: &mut usize) -> Result<bool> {
    let (keys, more) = head(batch, batch.tables.dead_order, &tables::timed(before, JobId::MIN), *budget)?;
    for key in &keys {
        let (_, id) = tables::read_timed(key);
        forget_dead(batch, id)?;
    }
    *budget -= keys.len();
    Ok(more)
}

fn prune_keys(batch: &mut Batch<'_>, now: Time, budget: &mut usize) -> Result<bool> {
    let end = tables::instant(Time::from_millis(now.as_millis() + 1));
    let (keys, more) = head(batch, batch.tables.key_expiry, &end, *budget)?;
    for key in &keys {
        batch.delete(batch.tables.key_expiry, key)?;
        batch.delete(batch.tables.keys, &key[6..])?;
    }
    *budget -= keys.len();
    Ok(more)
}

fn prune_ledger(batch: &mut Batch<'_>, before: Time, budget: &mut usize) -> Result<bool> {
    let (keys, more) = head(batch, batch.tables.ledger_order, &tables::instant(before), *budget)?;
    for key in &keys {
        let place =
            batch.tables.ledger_order.get(&batch.txn, key).map_err(storage)?.expect("it was just read").to_vec();
        batch.delete(batch.tables.ledger, &place)?;
    }
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        batch.delete_through(batch.tables.ledger_order, first, last)?;
    }
    *budget -= keys.len();
    Ok(more)
}

/// The first keys of a table below `end`, at most `limit`, and whether there are more.
fn head(batch: &Batch<'_>, table: Table, end: &[u8], limit: usize) -> Result<(Vec<Vec<u8>>, bool)> {
    let rows = table.range(&batch.txn, &(Bound::Unbounded, Bound::Excluded(end))).map_err(storage)?;
    let keys = rows.take(limit + 1).map(|row| row.map(|(key, _)| key.to_vec()).map_err(storage));
    let mut keys = keys.collect::<Result<Vec<_>>>()?;
    let more = keys.len() > limit;
    keys.truncate(limit);
    Ok((keys, more))
}

/// Forgets a dead letter.
pub fn forget_dead(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    let row = take_dead(batch, id)?;
    forget(batch, id, &row)
}

/// Takes a dead letter out of its tables, but not out of the count.
pub fn take_dead(batch: &mut Batch<'_>, id: JobId) -> Result<EndedRow> {
    let bytes = batch.tables.dead.get(&batch.txn, id.as_bytes()).map_err(storage)?.expect("its order led here");
    let row: EndedRow = rows::decode("dead", bytes)?;
    batch.delete(batch.tables.dead, id.as_bytes())?;
    batch.delete(batch.tables.dead_order, &tables::timed(Time::from_millis(row.ended_ms), id))?;
    Ok(row)
}

/// Takes away what is left of a final job, apart from its place in the history.
pub fn forget(batch: &mut Batch<'_>, id: JobId, row: &EndedRow) -> Result<()> {
    batch.leave(row.who(id), row.state.into(), false)?;
    if row.marks.has(Marks::MEMBER) {
        workflow::forget(batch, id)?;
    }
    batch.delete(batch.tables.records, id.as_bytes())?;
    if batch.mirror.last_record == Some(id) {
        let last = batch.tables.records.last(&batch.txn).map_err(storage)?;
        batch.mirror.last_record = last.map(|(key, _)| tables::read_id(key));
    }
    if row.marks.has(Marks::CHANGED) {
        let (first, last) = (tables::execution(id, 0), tables::execution(id, u64::MAX));
        batch.delete_through(batch.tables.executions, &first, &last)?;
    }
    Ok(())
}
