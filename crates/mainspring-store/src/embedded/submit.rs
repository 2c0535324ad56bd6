//! Takes jobs in: one, or the jobs of a workflow together. First all of them are weighed, which writes nothing; then they
//! are written. Never hands any out.

use std::collections::BTreeSet;

use mainspring_core::job::{Idempotency, Job, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Result, Submitted};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::cascade;
use super::read;
use super::release;
use super::rows::{self, KeyRow, Record, Slip};
use super::storage;
use super::tables;
use super::weigh::{self, Ahead, Intake, Weighed};
use super::workflow;

/// The inner result is the caller's mistake: it is found before anything is written, so the batch goes on.
pub fn submit(batch: &mut Batch<'_>, now: Time, jobs: Vec<Job>) -> Result<Result<Vec<Submitted>>> {
    if let Err(refused) = has_room_for(batch, &jobs) {
        return Ok(Err(refused));
    }
    cascade::begin(batch, now);
    let mut answers = Vec::with_capacity(jobs.len());
    for together in jobs.chunk_by(are_together) {
        match together {
            [alone] => answers.push(submit_one(batch, now, alone)?),
            _ => answers.extend(submit_together(batch, now, together)?),
        }
    }
    Ok(Ok(answers))
}

/// Whether the queues of these jobs that are new would fit.
pub fn has_room_for<'j>(batch: &Batch<'_>, jobs: impl IntoIterator<Item = &'j Job>) -> Result<()> {
    let mut unknown = BTreeSet::new();
    let mut before: Option<&Job> = None;
    for job in jobs {
        // A batch mostly goes to one queue.
        if before.is_none_or(|before| before.queue != job.queue || before.tenant != job.tenant) {
            let queue = job.queue_ref();
            if batch.mirror.number_of(&queue).is_none() {
                unknown.insert(queue);
            }
        }
        before = Some(job);
    }
    batch.mirror.has_room_for(&unknown)
}

/// Whether two neighbours of a batch are jobs of one workflow.
fn are_together(one: &Job, next: &Job) -> bool {
    match (&one.workflow, &next.workflow) {
        (Some(this), Some(that)) => this.workflow == that.workflow && one.tenant == next.tenant,
        _ => false,
    }
}

fn submit_one(batch: &mut Batch<'_>, now: Time, job: &Job) -> Result<Submitted> {
    match weigh::weigh(batch, now, job, &Ahead::default())? {
        Weighed::Known(answer) | Weighed::Refused(answer) => Ok(answer),
        Weighed::New(intake) => take_in(batch, now, job, &intake),
    }
}

/// The jobs of one workflow: all of them, or none. Of a workflow that is here already, a job that is gone is answered as
/// the first one is.
fn submit_together(batch: &mut Batch<'_>, now: Time, jobs: &[Job]) -> Result<Vec<Submitted>> {
    if let Some(first) = known(batch, &jobs[0])? {
        return jobs.iter().map(|job| Ok(known(batch, job)?.unwrap_or_else(|| first.clone()))).collect();
    }
    let mut ahead = Ahead::default();
    let mut weighed = Vec::with_capacity(jobs.len());
    for job in jobs {
        match weigh::weigh(batch, now, job, &ahead)? {
            Weighed::Refused(refusal) => return Ok(vec![refusal; jobs.len()]),
            Weighed::Known(answer) => weighed.push(Err(answer)),
            Weighed::New(intake) => {
                ahead.add(job, &intake);
                weighed.push(Ok(intake));
            }
        }
    }
    let answer = |(job, weighed): (&Job, _)| match weighed {
        Ok(intake) => take_in(batch, now, job, &intake),
        Err(answer) => Ok(answer),
    };
    jobs.iter().zip(weighed).map(answer).collect()
}

/// The answer to a job whose id was seen before.
pub fn known(batch: &Batch<'_>, job: &Job) -> Result<Option<Submitted>> {
    // Ids mostly rise: one above all others needs no look-up.
    if batch.mirror.last_record.is_none_or(|last| last < job.id) {
        return Ok(None);
    }
    let known = read::standing(&batch.txn, batch.tables, job.id)?;
    Ok(known.map(|known| Submitted::Accepted { state: known.state, ready_at: known.ready_at }))
}

/// Writes a job that was weighed and found new.
pub fn take_in(batch: &mut Batch<'_>, now: Time, job: &Job, intake: &Intake) -> Result<Submitted> {
    let queue = intake.queue.unwrap_or_else(|| batch.mirror.number(&job.queue_ref()));
    let record = Record::of(job, queue);
    if batch.mirror.last_record.is_none_or(|last| last < job.id) {
        batch.append(batch.tables.records, job.id.as_bytes(), &record)?;
        batch.mirror.last_record = Some(job.id);
    } else {
        batch.put(batch.tables.records, job.id.as_bytes(), &record)?;
    }
    if let Some(asked) = &job.idempotency {
        remember_key(batch, job, asked)?;
    }
    batch.put_expiry(job, Tally::default())?;
    workflow::join(batch, now, job)?;
    let slip = Slip::of(job, queue, job.run_at, Tally::default(), false);
    let state = intake.state;
    if state == State::Blocked {
        release::block(batch, job, &intake.open)?;
        batch.enter(slip.who(job.id), state, false)?;
    } else {
        batch.place(now, job.id, state, job.run_at, &slip)?;
    }
    Ok(Submitted::Accepted { state, ready_at: job.run_at })
}

fn remember_key(batch: &mut Batch<'_>, job: &Job, asked: &Idempotency) -> Result<()> {
    let key = tables::idempotency(&job.tenant, &asked.key);
    if let Some(bytes) = batch.tables.keys.get(&batch.txn, &key).map_err(storage)? {
        let expired: KeyRow = rows::decode("keys", bytes)?;
        let order = expiry_key(Time::from_millis(expired.until_ms), &key);
        batch.delete(batch.tables.key_expiry, &order)?;
    }
    let row = KeyRow { id: *job.id.as_bytes(), fingerprint: asked.fingerprint, until_ms: asked.until.as_millis() };
    batch.put(batch.tables.key_expiry, &expiry_key(asked.until, &key), &())?;
    batch.put(batch.tables.keys, &key, &row)
}

fn expiry_key(until: Time, key: &[u8]) -> Vec<u8> {
    [&tables::instant(until)[..], key].concat()
}
