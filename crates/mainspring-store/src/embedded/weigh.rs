//! Whether a job can be taken in, and in which state. Writes nothing, so that jobs that are taken in together or not at all
//! can be weighed one after the other before the first is written: each sees those [`Ahead`] of it.

use std::collections::HashMap;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Idempotency, Job, OnFailure, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, TenantName};
use mainspring_core::store::{Result, Submitted};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::read;
use super::rows::{self, KeyRow, Record};
use super::storage;
use super::submit;
use super::tables;
use super::workflow;

pub enum Weighed {
    /// Its id was seen before.
    Known(Submitted),
    Refused(Submitted),
    New(Intake),
}

/// How a new job is taken in.
pub struct Intake {
    /// The number of its queue, if that has one yet.
    pub queue: Option<u32>,
    pub state: State,
    /// The parents it has to wait for.
    pub open: Vec<Dependency>,
}

/// Jobs that were weighed and are not written yet.
#[derive(Default)]
pub struct Ahead {
    jobs: HashMap<JobId, Waiting>,
    keys: HashMap<(TenantName, IdempotencyKey), (JobId, Idempotency)>,
    /// By queue number. A queue without one has no bound.
    depth: HashMap<u32, u64>,
    has_steps: bool,
}

struct Waiting {
    tenant: TenantName,
    answer: Submitted,
}

impl Ahead {
    pub fn add(&mut self, job: &Job, intake: &Intake) {
        let answer = Submitted::Accepted { state: intake.state, ready_at: job.run_at };
        self.jobs.insert(job.id, Waiting { tenant: job.tenant.clone(), answer });
        if let Some(said) = &job.idempotency {
            self.keys.insert((job.tenant.clone(), said.key.clone()), (job.id, said.clone()));
        }
        if let Some(queue) = intake.queue {
            *self.depth.entry(queue).or_default() += 1;
        }
        self.has_steps |= job.workflow.as_ref().is_some_and(|place| place.role == Role::Step);
    }
}

pub fn weigh(batch: &mut Batch<'_>, now: Time, job: &Job, ahead: &Ahead) -> Result<Weighed> {
    if let Some(before) = ahead.jobs.get(&job.id) {
        return Ok(Weighed::Known(before.answer.clone()));
    }
    if let Some(answer) = submit::known(batch, job)? {
        return Ok(Weighed::Known(answer));
    }
    if let Some(asked) = &job.idempotency
        && let Some(answer) = seen_before(batch, now, job, asked, ahead)?
    {
        return Ok(Weighed::Refused(answer));
    }
    let open = match open_edges(batch, job, ahead)? {
        Ok(open) => open,
        Err(refusal) => return Ok(Weighed::Refused(refusal)),
    };
    let queue = batch.mirror.number_of(&job.queue_ref());
    if let Some(max_depth) = queue.and_then(|queue| full(batch, queue, ahead)) {
        return Ok(Weighed::Refused(Submitted::QueueFull { max_depth }));
    }
    let is_blocked = !open.is_empty() || waits_for_steps(batch, job, ahead)?;
    let state = match is_blocked {
        true => State::Blocked,
        false if job.run_at <= now => State::Ready,
        false => State::Waiting,
    };
    Ok(Weighed::New(Intake { queue, state, open }))
}

fn seen_before(
    batch: &Batch<'_>,
    now: Time,
    job: &Job,
    asked: &Idempotency,
    ahead: &Ahead,
) -> Result<Option<Submitted>> {
    let (id, fingerprint, until) = match ahead.keys.get(&(job.tenant.clone(), asked.key.clone())) {
        Some((id, said)) => (*id, said.fingerprint, said.until),
        None => {
            let key = tables::idempotency(&job.tenant, &asked.key);
            let Some(bytes) = batch.tables.keys.get(&batch.txn, &key).map_err(storage)? else { return Ok(None) };
            let row: KeyRow = rows::decode("keys", bytes)?;
            (tables::read_id(&row.id), row.fingerprint, Time::from_millis(row.until_ms))
        }
    };
    Ok(if until <= now {
        None
    } else if fingerprint == asked.fingerprint {
        Some(Submitted::Duplicate { id })
    } else {
        Some(Submitted::Mismatch { id })
    })
}

/// The parents it has to wait for, or why it cannot.
fn open_edges(batch: &Batch<'_>, job: &Job, ahead: &Ahead) -> Result<std::result::Result<Vec<Dependency>, Submitted>> {
    let mut open = Vec::new();
    for &dependency in &job.depends_on {
        let Dependency { parent, on_failure } = dependency;
        let Some(state) = state_of(batch, &job.tenant, parent, ahead)? else {
            return Ok(Err(Submitted::UnknownParent { parent }));
        };
        match (state, on_failure) {
            (State::Succeeded, _) | (State::Dead | State::Cancelled, OnFailure::Run) => {}
            (State::Dead | State::Cancelled, OnFailure::Cancel) => {
                return Ok(Err(Submitted::FailedParent { parent, state }));
            }
            _ => open.push(dependency),
        }
    }
    Ok(Ok(open))
}

fn state_of(batch: &Batch<'_>, tenant: &TenantName, id: JobId, ahead: &Ahead) -> Result<Option<State>> {
    if let Some(before) = ahead.jobs.get(&id) {
        let Submitted::Accepted { state, .. } = before.answer else { return Ok(None) };
        return Ok((before.tenant == *tenant).then_some(state));
    }
    let Some(bytes) = batch.tables.records.get(&batch.txn, id.as_bytes()).map_err(storage)? else { return Ok(None) };
    let record: Record<'_> = rows::decode("records", bytes)?;
    if batch.mirror.queues[record.queue as usize].name.tenant != *tenant {
        return Ok(None);
    }
    Ok(Some(read::standing_of(&batch.txn, batch.tables, id, &record)?.state))
}

/// The bound of a queue, if that is reached.
fn full(batch: &Batch<'_>, number: u32, ahead: &Ahead) -> Option<u64> {
    let queue = &batch.mirror.queues[number as usize];
    let depth = queue.counts.depth() + ahead.depth.get(&number).copied().unwrap_or(0);
    queue.max_depth.filter(|&max_depth| depth >= max_depth)
}

/// Whether it is a callback and a step of its workflow has not ended. The steps come before it.
fn waits_for_steps(batch: &mut Batch<'_>, job: &Job, ahead: &Ahead) -> Result<bool> {
    match &job.workflow {
        Some(place) if place.role == Role::Callback => {
            Ok(ahead.has_steps || workflow::has_unfinished_steps(batch, &job.tenant, place.workflow)?)
        }
        _ => Ok(false),
    }
}
