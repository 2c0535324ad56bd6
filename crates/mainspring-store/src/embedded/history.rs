//! What has ended, in order of completion, so that retention is a range delete; and where in that order a job is.
//!
//! An index from id to place would cost a random page per settled job when a scattered backlog drains. Instead the
//! places of the last few thousand jobs are in a small table (`recent`); when it is full it is sorted into one *run*,
//! a block of (id, ended_at), and emptied. A look-up asks `recent`, then the runs, newest first. Runs of a queue that
//! is worked off in order hardly overlap, so a look-up opens one or two.

use heed::RoTxn;
use mainspring_core::id::JobId;
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::batch::Batch;
use super::rows::{self, EndedRow};
use super::storage;
use super::tables::{self, Tables};

/// Jobs in a run. A few in tests, so that lockstep closes, searches and drops runs.
const RUN_JOBS: u64 = if cfg!(test) { 3 } else { 32_768 };

/// An id and an instant.
const ENTRY_BYTES: usize = 22;

/// Appends a job that has ended.
pub fn push(batch: &mut Batch<'_>, id: JobId, row: &EndedRow) -> Result<()> {
    let ended_at = Time::from_millis(row.ended_ms);
    let key = tables::timed(ended_at, id);
    if batch.mirror.last_ended.is_none_or(|last| last < key) {
        batch.append(batch.tables.ended, &key, row)?;
        batch.mirror.last_ended = Some(key);
    } else {
        batch.put(batch.tables.ended, &key, row)?;
    }
    batch.put_bytes(batch.tables.recent, id.as_bytes(), &tables::instant(ended_at))?;
    batch.mirror.meta.recent += 1;
    if batch.mirror.meta.recent >= RUN_JOBS { close_run(batch) } else { Ok(()) }
}

/// Takes a job out again. Its entry in a run stays behind and leads nowhere.
pub fn remove(batch: &mut Batch<'_>, ended_at: Time, id: JobId) -> Result<()> {
    batch.delete(batch.tables.ended, &tables::timed(ended_at, id))?;
    forget_recent(batch, id)?;
    batch.mirror.last_ended = last(batch)?;
    Ok(())
}

/// Takes the place of a job out of `recent`, if it is still there.
pub fn forget_recent(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    if batch.mirror.meta.recent > 0 && batch.delete(batch.tables.recent, id.as_bytes())? {
        batch.mirror.meta.recent -= 1;
    }
    Ok(())
}

/// The newest key, after deletions.
pub fn last(batch: &Batch<'_>) -> Result<Option<tables::TimedKey>> {
    let last = batch.tables.ended.last(&batch.txn).map_err(storage)?;
    Ok(last.and_then(|(key, _)| key.try_into().ok()))
}

fn close_run(batch: &mut Batch<'_>) -> Result<()> {
    let mut run = Vec::with_capacity(RUN_JOBS as usize * ENTRY_BYTES);
    let mut newest = [0; 6];
    for row in batch.tables.recent.iter(&batch.txn).map_err(storage)? {
        let (id, at) = row.map_err(storage)?;
        run.extend_from_slice(id);
        run.extend_from_slice(at);
        newest = newest.max(at.try_into().expect("instants have one length"));
    }
    batch.mirror.meta.last_run += 1;
    let key = [&newest[..], &batch.mirror.meta.last_run.to_be_bytes()].concat();
    batch.put_bytes(batch.tables.runs, &key, &run)?;
    batch.tables.recent.clear(&mut batch.txn).map_err(storage)?;
    batch.mirror.meta.recent = 0;
    Ok(())
}

/// Where a job is, if it has ended and is not dead.
pub fn find(txn: &RoTxn<'_>, tables: &Tables, id: JobId) -> Result<Option<EndedRow>> {
    if let Some(at) = tables.recent.get(txn, id.as_bytes()).map_err(storage)? {
        return ended(txn, tables, tables::read_instant(at), id);
    }
    for run in tables.runs.rev_iter(txn).map_err(storage)? {
        let (_, run) = run.map_err(storage)?;
        if let Some(at) = search(run, id)
            && let Some(row) = ended(txn, tables, at, id)?
        {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn ended(txn: &RoTxn<'_>, tables: &Tables, at: Time, id: JobId) -> Result<Option<EndedRow>> {
    let bytes = tables.ended.get(txn, &tables::timed(at, id)).map_err(storage)?;
    bytes.map(|bytes| rows::decode("ended", bytes)).transpose()
}

/// Binary search in a run.
fn search(run: &[u8], id: JobId) -> Option<Time> {
    let (entries, _) = run.as_chunks::<ENTRY_BYTES>();
    let at = entries.binary_search_by(|entry| entry[..16].cmp(id.as_bytes())).ok()?;
    Some(tables::read_instant(&entries[at][16..]))
}

/// Drops runs whose jobs are all forgotten, at most `limit`.
pub fn drop_runs(batch: &mut Batch<'_>, limit: usize) -> Result<()> {
    let oldest = batch.tables.ended.first(&batch.txn).map_err(storage)?;
    let oldest = oldest.map_or(Time::MAX, |(key, _)| tables::read_timed(key).0);
    let mut spent = Vec::new();
    for run in batch.tables.runs.iter(&batch.txn).map_err(storage)?.take(limit) {
        let (key, _) = run.map_err(storage)?;
        if tables::read_instant(&key[..6]) >= oldest {
            break;
        }
        spent.push(key.to_vec());
    }
    for key in spent {
        batch.delete(batch.tables.runs, &key)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_finds_what_is_in_it_and_nothing_else(ids in prop::collection::btree_map(any::<[u8; 16]>(), 0u64..1 << 48, 0..50), other: [u8; 16]) {
            let run: Vec<u8> = ids.iter().flat_map(|(id, &at)| [&id[..], &tables::instant(Time::from_millis(at))].concat()).collect();
            for (&id, &at) in &ids {
                prop_assert_eq!(search(&run, JobId::from_bytes(id)), Some(Time::from_millis(at)));
            }
            prop_assert_eq!(search(&run, JobId::from_bytes(other)).is_some(), ids.contains_key(&other));
        }
    }
}
