//! Workflows as a whole: where their steps are, counted as they move, and when the callback is free. A row that changes is
//! kept in the batch and written once, however many of its steps move in one commit.

use std::collections::HashMap;

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Job, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Error, Result, WorkflowView};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::read::{self, Reader};
use super::rows::{self, WorkflowRow};
use super::storage;
use super::tables;

type Key = (TenantName, WorkflowId);

/// The rows that this transaction has touched.
#[derive(Default)]
pub struct Workflows {
    rows: HashMap<Key, Option<WorkflowRow>>,
    /// Whose place was asked for last: most moves are counted out and in again, one after the other.
    last: Option<(JobId, Key, Role)>,
}

/// Writes the rows that changed.
pub fn write(batch: &mut Batch<'_>) -> Result<()> {
    for ((tenant, id), row) in std::mem::take(&mut batch.workflows.rows) {
        let key = tables::workflow(&tenant, id);
        match row {
            Some(row) => batch.put(batch.tables.workflows, &key, &row)?,
            None => drop(batch.delete(batch.tables.workflows, &key)?),
        }
    }
    Ok(())
}

/// Writes a job that is taken in into its workflow, which is made by its first job.
pub fn join(batch: &mut Batch<'_>, now: Time, job: &Job) -> Result<()> {
    let Some(place) = &job.workflow else { return Ok(()) };
    let key = (job.tenant.clone(), place.workflow);
    load(batch, &key)?;
    let row = batch.workflows.rows.get_mut(&key).expect("it was just loaded");
    let row = row.get_or_insert_with(|| WorkflowRow::new(now));
    row.members += 1;
    if place.role == Role::Callback {
        row.set_callback(job.id);
        batch.delete(batch.tables.callbacks, &tables::workflow(&key.0, key.1))?;
    }
    batch.put(batch.tables.members, &tables::member(&key.0, key.1, job.id), &())?;
    batch.workflows.last = Some((job.id, key, place.role));
    Ok(())
}

/// Whether a workflow has a step that has not ended.
pub fn has_unfinished_steps(batch: &mut Batch<'_>, tenant: &TenantName, id: WorkflowId) -> Result<bool> {
    let key = (tenant.clone(), id);
    load(batch, &key)?;
    Ok(batch.workflows.rows[&key].as_ref().is_some_and(WorkflowRow::has_unfinished_steps))
}

/// Counts a step into a state.
pub fn enter(batch: &mut Batch<'_>, id: JobId, state: State, paused: bool) -> Result<()> {
    let (key, Role::Step) = place_of(batch, id)? else { return Ok(()) };
    let row = row(batch, &key)?;
    let was_over = !row.has_unfinished_steps();
    let mut counts = row.counts();
    *counts.of(state, paused) += 1;
    row.set_counts(&counts);
    if was_over && !state.is_final() && row.callback().is_some() {
        batch.delete(batch.tables.callbacks, &tables::workflow(&key.0, key.1))?;
    }
    Ok(())
}

/// Counts a step out of a state.
pub fn leave(batch: &mut Batch<'_>, id: JobId, state: State, paused: bool) -> Result<()> {
    let (key, Role::Step) = place_of(batch, id)? else { return Ok(()) };
    let row = row(batch, &key)?;
    let mut counts = row.counts();
    *counts.of(state, paused) -= 1;
    row.set_counts(&counts);
    Ok(())
}

/// Notes that a member has ended. Whether it was the last step that the callback waited for.
pub fn ended(batch: &mut Batch<'_>, id: JobId) -> Result<bool> {
    let (key, Role::Step) = place_of(batch, id)? else { return Ok(false) };
    let row = row(batch, &key)?;
    let (Some(callback), false) = (row.callback(), row.has_unfinished_steps()) else { return Ok(false) };
    if !is_blocked_callback(batch, &key, callback)? {
        return Ok(false);
    }
    batch.put_bytes(batch.tables.callbacks, &tables::workflow(&key.0, key.1), callback.as_bytes())?;
    Ok(true)
}

/// Whether the callback of a workflow is still Blocked. Once it is forgotten, its id may belong to another job.
fn is_blocked_callback(batch: &Batch<'_>, (tenant, workflow): &Key, callback: JobId) -> Result<bool> {
    if batch.tables.blocked.get(&batch.txn, callback.as_bytes()).map_err(storage)?.is_none() {
        return Ok(false);
    }
    let record = read::record(&batch.txn, batch.tables, callback)?;
    let is_of_tenant = batch.mirror.queues[record.queue as usize].name.tenant == *tenant;
    Ok(is_of_tenant && record.membership() == Some((*workflow, Role::Callback)))
}

/// A callback waits no more: it runs, or has ended.
pub fn forget_callback(batch: &mut Batch<'_>, job: &Job) -> Result<()> {
    if let Some(place) = job.workflow.as_ref().filter(|place| place.role == Role::Callback) {
        batch.delete(batch.tables.callbacks, &tables::workflow(&job.tenant, place.workflow))?;
    }
    Ok(())
}

/// Forgets a member that is counted out already, and with the last one the workflow. Its record is still there.
pub fn forget(batch: &mut Batch<'_>, id: JobId) -> Result<()> {
    let (key, _) = place_of(batch, id)?;
    batch.workflows.last = None;
    let row = row(batch, &key)?;
    row.members -= 1;
    if row.members == 0 {
        batch.workflows.rows.insert(key.clone(), None);
    }
    batch.delete(batch.tables.members, &tables::member(&key.0, key.1, id))?;
    Ok(())
}

fn place_of(batch: &mut Batch<'_>, id: JobId) -> Result<(Key, Role)> {
    if let Some((last, key, role)) = &batch.workflows.last
        && *last == id
    {
        return Ok((key.clone(), *role));
    }
    let record = read::record(&batch.txn, batch.tables, id)?;
    let membership = record.membership();
    let (workflow, role) =
        membership.ok_or_else(|| Error::Damaged(format!("job {id} is marked as part of a workflow and names none")))?;
    let key = (batch.mirror.queues[record.queue as usize].name.tenant.clone(), workflow);
    batch.workflows.last = Some((id, key.clone(), role));
    Ok((key, role))
}

fn row<'b>(batch: &'b mut Batch<'_>, key: &Key) -> Result<&'b mut WorkflowRow> {
    load(batch, key)?;
    let row = batch.workflows.rows.get_mut(key).and_then(Option::as_mut);
    row.ok_or_else(|| Error::Damaged(format!("there is no row of workflow {}", key.1.0)))
}

fn load(batch: &mut Batch<'_>, key: &Key) -> Result<()> {
    if !batch.workflows.rows.contains_key(key) {
        let bytes = batch.tables.workflows.get(&batch.txn, &tables::workflow(&key.0, key.1)).map_err(storage)?;
        let row = bytes.map(|bytes| rows::decode("workflows", bytes)).transpose()?;
        batch.workflows.rows.insert(key.clone(), row);
    }
    Ok(())
}

impl Reader {
    pub fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        let txn = self.txn()?;
        let bytes = self.disk.tables.workflows.get(&txn, &tables::workflow(tenant, id)).map_err(storage)?;
        let row: Option<WorkflowRow> = bytes.map(|bytes| rows::decode("workflows", bytes)).transpose()?;
        Ok(row.map(|row| WorkflowView {
            id,
            submitted_at: row.submitted_at(),
            counts: row.counts(),
            callback: row.callback(),
        }))
    }
}
