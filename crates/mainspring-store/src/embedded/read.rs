//! Answers questions from a snapshot. Writes nothing, and never stands in the writer's way.

use std::ops::Bound;
use std::sync::Arc;

use heed::RoTxn;
use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Execution, Failure, Job, JobView, Standing};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::rank::{Rank, lane};
use mainspring_core::store::{ClaimAnswer, Error, Page, Query, QueueView, Reclaimed, Result, TakenBack, WorkerView};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::claim::{self, Picked};
use super::gates;
use super::history;
use super::open::Disk;
use super::reclaim::Taken;
use super::rows::{self, Change, EndedRow, ExecutionRow, LeaseRow, Marks, QueueRow, Record, WorkerRow};
use super::storage;
use super::tables::{self, Table, Tables};

/// Rows looked at for one page. A page that would need more ends early.
const SCAN_ROWS_MAX: usize = 20_000;

#[derive(Debug)]
pub struct Reader {
    pub(super) disk: Arc<Disk>,
}

impl Reader {
    pub fn new(disk: Arc<Disk>) -> Reader {
        Reader { disk }
    }

    #[cfg(test)]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    pub(super) fn txn(&self) -> Result<RoTxn<'_, heed::WithoutTls>> {
        self.disk.env.read_txn().map_err(storage)
    }

    pub(super) fn name(&self, queue: u32) -> Result<QueueRef> {
        let names = self.disk.names.read().expect("nobody panics while naming a queue");
        names.get(queue as usize).cloned().ok_or_else(|| Error::Damaged(format!("there is no queue number {queue}")))
    }

    pub(super) fn view(&self, txn: &RoTxn<'_>, id: JobId, bytes: &[u8]) -> Result<JobView> {
        let record: Record<'_> = rows::decode("records", bytes)?;
        let standing = standing_of(txn, &self.disk.tables, id, &record)?;
        let queue = self.name(record.queue)?;
        Ok(JobView { job: record.job(id, &queue)?, standing })
    }

    pub fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        let txn = self.txn()?;
        let get = |id: JobId| {
            let bytes = self.disk.tables.records.get(&txn, id.as_bytes()).map_err(storage)?;
            let view = bytes.map(|bytes| self.view(&txn, id, bytes)).transpose()?;
            Ok(view.filter(|view| view.job.tenant == *tenant))
        };
        ids.into_iter().map(get).collect()
    }

    pub fn find(&self, query: Query) -> Result<Page> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        // Every table here is in the order of ids, so each can lead the way.
        let (lead, is_records) = match (query.filter.workflow, &query.filter.statuses[..]) {
            (Some(_), _) => (tables.members, false),
            (None, [Status::Running]) => (tables.leases, false),
            (None, [Status::Failed]) => (tables.dead, false),
            (None, _) => (tables.records, true),
        };
        let key = |id: JobId| match query.filter.workflow {
            Some(workflow) => tables::member(&query.tenant, workflow, id),
            None => id.as_bytes().to_vec(),
        };
        let below = query.below.unwrap_or(JobId::MAX);
        let (first, end) = (key(JobId::MIN), key(below));
        let end = if query.below.is_some() { Bound::Excluded(&end[..]) } else { Bound::Included(&end[..]) };
        let mut page = Page::default();
        let mut last = below;
        let range = (Bound::Included(&first[..]), end);
        for (looked_at, row) in lead.rev_range(&txn, &range).map_err(storage)?.enumerate() {
            if page.jobs.len() == query.limit || looked_at == SCAN_ROWS_MAX {
                page.next = Some(last);
                break;
            }
            let (key, bytes) = row.map_err(storage)?;
            let id = tables::read_id(&key[key.len() - 16..]);
            last = id;
            let bytes = if is_records { bytes } else { record_bytes(&txn, tables.records, id)? };
            if let Some(view) = self.matching(&txn, id, bytes, &query)? {
                page.jobs.push(view);
            }
        }
        Ok(page)
    }

    /// The cheap conditions first: where a job stands takes several look-ups.
    fn matching(&self, txn: &RoTxn<'_>, id: JobId, bytes: &[u8], query: &Query) -> Result<Option<JobView>> {
        let record: Record<'_> = rows::decode("records", bytes)?;
        let name = self.name(record.queue)?;
        if name.tenant != query.tenant {
            return Ok(None);
        }
        let job = record.job(id, &name)?;
        if !query.filter.matches_job(&job) {
            return Ok(None);
        }
        let record: Record<'_> = rows::decode("records", bytes)?;
        let standing = standing_of(txn, &self.disk.tables, id, &record)?;
        let view = JobView { job, standing };
        Ok(query.filter.matches_status(view.status()).then_some(view))
    }

    pub fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let Some(bytes) = tables.records.get(&txn, id.as_bytes()).map_err(storage)? else { return Ok(Vec::new()) };
        let record: Record<'_> = rows::decode("records", bytes)?;
        if self.name(record.queue)?.tenant != *tenant {
            return Ok(Vec::new());
        }
        let mut executions = Vec::new();
        for row in tables.executions.prefix_iter(&txn, id.as_bytes()).map_err(storage)? {
            let row: ExecutionRow = rows::decode("executions", row.map_err(storage)?.1)?;
            executions.push(row.execution());
        }
        if tables.leases.get(&txn, id.as_bytes()).map_err(storage)?.is_none()
            && let Some(EndedRow { execution: Some(last), .. }) = ended_of(&txn, tables, id)?
        {
            executions.push(last.execution());
        }
        Ok(executions)
    }

    pub fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        let Some(view) = self.get(tenant, vec![id])?.pop().flatten() else { return Ok(None) };
        if view.standing.state != State::Ready || view.standing.paused {
            return Ok(None);
        }
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let Some((number, row)) = self.queue_row(&txn, &view.job.queue_ref())? else { return Ok(None) };
        let ready_at = view.standing.ready_at;
        let own = Rank::new(lane(view.job.priority, ready_at, view.job.deadline), ready_at, row.aging(), id);
        let mut ahead = 0;
        for lane in claim::lanes(&txn, tables, number)? {
            let prefix = tables::lane_prefix(number, lane);
            for row_of_lane in tables.ready.prefix_iter(&txn, &prefix).map_err(storage)? {
                let (_, lane, ready_at, id) = tables::read_ready(row_of_lane.map_err(storage)?.0);
                if ahead == limit {
                    return Ok(Some(ahead));
                }
                if Rank::new(lane, ready_at, row.aging(), id) >= own {
                    break;
                }
                ahead += 1;
            }
        }
        for ((_, gate), head) in gates::heads(&txn, tables, Some(number))? {
            let prefix = tables::lot_prefix(number, gate, head.lane);
            for row_of_lot in tables.lots.prefix_iter(&txn, &prefix).map_err(storage)? {
                let (_, spot) = tables::read_lot(row_of_lot.map_err(storage)?.0);
                if ahead == limit {
                    return Ok(Some(ahead));
                }
                if Rank::new(spot.lane, spot.ready_at, row.aging(), spot.id) >= own {
                    break;
                }
                ahead += 1;
            }
        }
        Ok(Some(ahead))
    }

    fn queue_row(&self, txn: &RoTxn<'_>, name: &QueueRef) -> Result<Option<(u32, QueueRow)>> {
        let number = {
            let names = self.disk.names.read().expect("nobody panics while naming a queue");
            names.iter().position(|known| known == name)
        };
        let Some(number) = number.map(|number| number as u32) else { return Ok(None) };
        let bytes = self.disk.tables.queues.get(txn, &number.to_be_bytes()).map_err(storage)?;
        bytes.map(|bytes| Ok((number, rows::decode("queues", bytes)?))).transpose()
    }

    pub fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let mut queues = Vec::new();
        for row in tables.queues.iter(&txn).map_err(storage)? {
            let (key, bytes) = row.map_err(storage)?;
            let number = u32::from_be_bytes(key.try_into().expect("queue numbers have four bytes"));
            let queue = self.name(number)?;
            if tenant.is_some_and(|tenant| *tenant != queue.tenant) {
                continue;
            }
            let row: QueueRow = rows::decode("queues", bytes)?;
            queues.push(QueueView {
                queue,
                paused: row.paused,
                aging: row.aging(),
                max_depth: row.max_depth,
                counts: rows::read_counts(row.counts),
                oldest_ready_at: oldest_ready(&txn, tables, number)?,
            });
        }
        queues.sort_by(|a, b| a.queue.cmp(&b.queue));
        Ok(queues)
    }

    pub fn workers(&self) -> Result<Vec<WorkerView>> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let mut held = std::collections::HashMap::<[u8; 16], u64>::new();
        for row in tables.leases.iter(&txn).map_err(storage)? {
            let lease: LeaseRow = rows::decode("leases", row.map_err(storage)?.1)?;
            if lease.taken.is_none() {
                *held.entry(lease.worker).or_default() += 1;
            }
        }
        let view = |row: heed::Result<(&[u8], &[u8])>| {
            let (key, bytes) = row.map_err(storage)?;
            let row: WorkerRow = rows::decode("workers", bytes)?;
            let id = tables::read_id(key);
            Ok(WorkerView {
                id: mainspring_core::id::WorkerId(id.uuid()),
                tenant: TenantName::parse(&row.tenant).map_err(|error| Error::Damaged(error.to_string()))?,
                info: row.info()?,
                lease: std::time::Duration::from_millis(row.lease_ms),
                registered_at: Time::from_millis(row.registered_ms),
                last_seen_at: Time::from_millis(row.last_seen_ms),
                expires_at: Time::from_millis(row.expires_ms),
                order: row.order(),
                held: held.get(id.as_bytes()).copied().unwrap_or(0),
            })
        };
        tables.workers.iter(&txn).map_err(storage)?.map(view).collect()
    }

    /// Adds the records to what a claim picked.
    pub fn fill(&self, picked: Vec<Picked>) -> Result<Vec<ClaimAnswer>> {
        let txn = self.txn()?;
        let fill = |picked| match picked {
            Picked::UnknownWorker => Ok(ClaimAnswer::UnknownWorker),
            Picked::Quiet => Ok(ClaimAnswer::Quiet),
            Picked::Leases(leases) => {
                let claimed = leases.into_iter().map(|(id, lease)| self.claimed(&txn, id, lease));
                claimed.collect::<Result<_>>().map(ClaimAnswer::Jobs)
            }
        };
        picked.into_iter().map(fill).collect()
    }

    pub fn fill_reclaimed(&self, taken: Taken) -> Result<Reclaimed> {
        let txn = self.txn()?;
        let fill = |(id, lease, cause)| Ok(TakenBack { claimed: self.claimed(&txn, id, lease)?, cause });
        let leases = taken.leases.into_iter().map(fill).collect::<Result<_>>()?;
        Ok(Reclaimed { leases, expired: taken.expired, silent: taken.silent, deposed: taken.deposed, more: taken.more })
    }

    fn claimed(&self, txn: &RoTxn<'_>, id: JobId, lease: LeaseRow) -> Result<Claimed> {
        let tables = &self.disk.tables;
        let record: Record<'_> = rows::decode("records", record_bytes(txn, tables.records, id)?)?;
        let change =
            if lease.slip.marks.has(Marks::CHANGED) { change_of(txn, tables, id)? } else { None }.unwrap_or_default();
        let queue = self.name(record.queue)?;
        Ok(Claimed {
            job: record.job(id, &queue)?,
            lease: lease.lease(),
            tally: lease.slip.tally.into(),
            checkpoint: change.checkpoint.map(rows::json),
            last_error: change.last_error.map(Failure::from),
        })
    }
}

/// The record of a job that must be there.
pub fn record<'t>(txn: &'t RoTxn<'_>, tables: &Tables, id: JobId) -> Result<Record<'t>> {
    rows::decode("records", record_bytes(txn, tables.records, id)?)
}

/// A job that must be there and the number of its queue, for the writer.
pub fn job(batch: &Batch<'_>, id: JobId) -> Result<(Job, u32)> {
    let record = record(&batch.txn, batch.tables, id)?;
    let queue = record.queue;
    Ok((record.job(id, &batch.mirror.queues[queue as usize].name)?, queue))
}

fn record_bytes<'t>(txn: &'t RoTxn<'_>, records: Table, id: JobId) -> Result<&'t [u8]> {
    let bytes = records.get(txn, id.as_bytes()).map_err(storage)?;
    bytes.ok_or_else(|| Error::Damaged(format!("job {id} has no record")))
}

/// Where a job stands, by which table it is in.
pub fn standing(txn: &RoTxn<'_>, tables: &Tables, id: JobId) -> Result<Option<Standing>> {
    let Some(bytes) = tables.records.get(txn, id.as_bytes()).map_err(storage)? else { return Ok(None) };
    let record: Record<'_> = rows::decode("records", bytes)?;
    standing_of(txn, tables, id, &record).map(Some)
}

pub fn standing_of(txn: &RoTxn<'_>, tables: &Tables, id: JobId, record: &Record<'_>) -> Result<Standing> {
    let change = change_of(txn, tables, id)?;
    if let Some(bytes) = tables.leases.get(txn, id.as_bytes()).map_err(storage)? {
        let lease: LeaseRow = rows::decode("leases", bytes)?;
        let mut standing = pending(change.unwrap_or_default(), State::Running, false);
        standing.ready_at = Time::from_millis(lease.ready_ms);
        standing.tally = lease.slip.tally.into();
        standing.lease = Some(lease.lease());
        return Ok(standing);
    }
    let change = change.unwrap_or_else(|| Change { ready_ms: record.run_at().as_millis(), ..Change::default() });
    if let Some(state) = change.paused {
        return Ok(pending(change, state.into(), true));
    }
    if record.may_block() && tables.blocked.get(txn, id.as_bytes()).map_err(storage)?.is_some() {
        return Ok(pending(change, State::Blocked, false));
    }
    let ready_at = change.ready_at();
    let key = tables::ready(record.queue, lane(record.priority(), ready_at, record.deadline()), ready_at, id);
    if tables.ready.get(txn, &key).map_err(storage)?.is_some() {
        return Ok(pending(change, State::Ready, false));
    }
    if is_parked(txn, tables, id, record, ready_at)? {
        return Ok(pending(change, State::Ready, false));
    }
    if super::cascade::is_waiting(txn, tables, ready_at, id)? {
        return Ok(pending(change, State::Waiting, false));
    }
    let row = ended_of(txn, tables, id)?;
    row.map(finished).ok_or_else(|| Error::Damaged(format!("job {id} is in no table")))
}

/// Whether it stands before one of its gates.
fn is_parked(txn: &RoTxn<'_>, tables: &Tables, id: JobId, record: &Record<'_>, ready_at: Time) -> Result<bool> {
    let lane = lane(record.priority(), ready_at, record.deadline());
    for (gate, _) in record.ways().passes() {
        let key = tables::lot(record.queue, gate, lane, ready_at, id);
        if tables.lots.get(txn, &key).map_err(storage)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn pending(change: Change, state: State, paused: bool) -> Standing {
    Standing {
        state,
        paused,
        ready_at: change.ready_at(),
        tally: change.tally.into(),
        lease: None,
        checkpoint: change.checkpoint.map(rows::json),
        progress: change.progress.map(rows::read_progress),
        last_error: change.last_error.map(Failure::from),
        ended: None,
    }
}

fn finished(row: EndedRow) -> Standing {
    Standing {
        state: row.state.into(),
        paused: false,
        ready_at: Time::from_millis(row.ready_ms),
        tally: row.tally.into(),
        lease: None,
        ended: Some(row.ended()),
        checkpoint: row.checkpoint.map(rows::json),
        progress: None,
        last_error: row.last_error.map(Failure::from),
    }
}

fn change_of(txn: &RoTxn<'_>, tables: &Tables, id: JobId) -> Result<Option<Change>> {
    let bytes = tables.changes.get(txn, id.as_bytes()).map_err(storage)?;
    bytes.map(|bytes| rows::decode("changes", bytes)).transpose()
}

pub fn ended_of(txn: &RoTxn<'_>, tables: &Tables, id: JobId) -> Result<Option<EndedRow>> {
    match tables.dead.get(txn, id.as_bytes()).map_err(storage)? {
        Some(bytes) => rows::decode("dead", bytes).map(Some),
        None => history::find(txn, tables, id),
    }
}

fn oldest_ready(txn: &RoTxn<'_>, tables: &Tables, queue: u32) -> Result<Option<Time>> {
    let mut oldest = None;
    for lane in claim::lanes(txn, tables, queue)? {
        let prefix = tables::lane_prefix(queue, lane);
        if let Some(first) = tables.ready.prefix_iter(txn, &prefix).map_err(storage)?.next() {
            let (_, _, ready_at, _) = tables::read_ready(first.map_err(storage)?.0);
            oldest = Some(oldest.map_or(ready_at, |before: Time| before.min(ready_at)));
        }
    }
    let parked = gates::heads(txn, tables, Some(queue))?.into_iter().map(|(_, head)| head.ready_at);
    Ok(oldest.into_iter().chain(parked).min())
}
