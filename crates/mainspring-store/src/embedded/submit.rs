//! Takes jobs in. Never hands any out.

use std::collections::BTreeSet;

use mainspring_core::job::{Idempotency, Job, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Result, Submitted};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::cascade;
use super::read;
use super::rows::{self, KeyRow, Record, Slip};
use super::storage;
use super::tables;

/// The inner result is the caller's mistake: it is found before anything is written, so the batch goes on.
pub fn submit(batch: &mut Batch<'_>, now: Time, jobs: Vec<Job>) -> Result<Result<Vec<Submitted>>> {
    let mut unknown = BTreeSet::new();
    let mut before: Option<&Job> = None;
    for job in &jobs {
        // A batch mostly goes to one queue.
        if before.is_none_or(|before| before.queue != job.queue || before.tenant != job.tenant) {
            let queue = job.queue_ref();
            if batch.mirror.number_of(&queue).is_none() {
                unknown.insert(queue);
            }
        }
        before = Some(job);
    }
    if let Err(refused) = batch.mirror.has_room_for(&unknown) {
        return Ok(Err(refused));
    }
    cascade::begin(batch, now);
    jobs.iter().map(|job| submit_one(batch, now, job)).collect::<Result<_>>().map(Ok)
}

fn submit_one(batch: &mut Batch<'_>, now: Time, job: &Job) -> Result<Submitted> {
    let is_new = batch.mirror.last_record.is_none_or(|last| last < job.id);
    if !is_new && let Some(known) = read::standing(&batch.txn, batch.tables, job.id)? {
        return Ok(Submitted::Accepted { state: known.state, ready_at: known.ready_at });
    }
    if let Some(asked) = &job.idempotency
        && let Some(answer) = seen_before(batch, now, job, asked)?
    {
        return Ok(answer);
    }
    let queue = batch.mirror.number(&job.queue_ref());
    let known = &batch.mirror.queues[queue as usize];
    if let Some(max_depth) = known.max_depth
        && known.counts.depth() >= max_depth
    {
        return Ok(Submitted::QueueFull { max_depth });
    }

    let record = Record::of(job, queue);
    if is_new {
        batch.append(batch.tables.records, job.id.as_bytes(), &record)?;
        batch.mirror.last_record = Some(job.id);
    } else {
        batch.put(batch.tables.records, job.id.as_bytes(), &record)?;
    }
    if let Some(asked) = &job.idempotency {
        remember_key(batch, job, asked)?;
    }
    batch.put_expiry(job, Tally::default())?;
    let state = if job.run_at <= now { State::Ready } else { State::Waiting };
    let slip = Slip::of(job, queue, job.run_at, Tally::default(), false);
    batch.place(job.id, state, job.run_at, &slip)?;
    Ok(Submitted::Accepted { state, ready_at: job.run_at })
}

fn seen_before(batch: &Batch<'_>, now: Time, job: &Job, asked: &Idempotency) -> Result<Option<Submitted>> {
    let key = key_of(job, asked);
    let Some(bytes) = batch.tables.keys.get(&batch.txn, &key).map_err(storage)? else { return Ok(None) };
    let row: KeyRow = rows::decode("keys", bytes)?;
    let id = tables::read_id(&row.id);
    Ok(if row.until_ms <= now.as_millis() {
        None
    } else if row.fingerprint == asked.fingerprint {
        Some(Submitted::Duplicate { id })
    } else {
        Some(Submitted::Mismatch { id })
    })
}

fn remember_key(batch: &mut Batch<'_>, job: &Job, asked: &Idempotency) -> Result<()> {
    let key = key_of(job, asked);
    if let Some(bytes) = batch.tables.keys.get(&batch.txn, &key).map_err(storage)? {
        let expired: KeyRow = rows::decode("keys", bytes)?;
        let order = expiry_key(Time::from_millis(expired.until_ms), &key);
        batch.delete(batch.tables.key_expiry, &order)?;
    }
    let row = KeyRow { id: *job.id.as_bytes(), fingerprint: asked.fingerprint, until_ms: asked.until.as_millis() };
    batch.put(batch.tables.key_expiry, &expiry_key(asked.until, &key), &())?;
    batch.put(batch.tables.keys, &key, &row)
}

/// Tenant names hold no zero byte, so it ends them.
fn key_of(job: &Job, asked: &Idempotency) -> Vec<u8> {
    [job.tenant.as_str().as_bytes(), b"\0", asked.key.as_str().as_bytes()].concat()
}

fn expiry_key(until: Time, key: &[u8]) -> Vec<u8> {
    [&tables::instant(until)[..], key].concat()
}
