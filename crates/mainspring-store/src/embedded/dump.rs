//! Everything a directory remembers, page by page, for moving house. Holds the directory's lock, so no server runs on it, and
//! changes nothing in it. Seats and nodes are left out: they are of processes that are gone.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use heed::RoTxn;
use mainspring_core::gate::GateState;
use mainspring_core::id::{Fence, JobId, WorkflowId};
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, TenantName};
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;
use uuid::Uuid;

use super::mirror::Mirror;
use super::open::{Disk, FORMAT, Lock, OpenError, Options};
use super::read::{self, Reader};
use super::rows::{
    self, CauseRow, EdgeRow, EndedRow, ExecutionRow, KeyRow, LeaseRow, LedgerEntry, RuleRow, StateRow, WorkflowRow,
};
use super::schedules;
use super::storage;
use super::tables::{self, Table};
use crate::moving::{
    EdgeItem, GateItem, Items, JobItem, KeyItem, LedgerItem, Numbers, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, Page, QueueItem,
    ReleaseItem, RuleItem, Stage, Taken, WorkflowItem,
};

/// A directory that is being read.
#[derive(Debug)]
pub struct Dump {
    reader: Reader,
    queues: Vec<QueueItem>,
    gates: Vec<GateItem>,
    numbers: Numbers,
    identity: String,
    page_items: usize,
    _lock: Lock,
}

impl Dump {
    /// Opens a directory that a store is in.
    pub fn open(dir: &Path) -> std::result::Result<Dump, OpenError> {
        // Before the lock, whose file would be made.
        if !dir.join("data.mdb").is_file() {
            return Err(OpenError::Missing { dir: dir.to_owned() });
        }
        let lock = Lock::take(dir)?;
        let (disk, mirror) = Disk::open_to_read(Options::new(dir))?;
        // The number of the last commit: whoever has written since is found out by it.
        let (commit, jobs) = (disk.env.info().last_txn_id, count(&disk, disk.tables.records, dir)?);
        let identity = format!("format {FORMAT}, commit {commit}, fence {}, {jobs} jobs", mirror.meta.last_fence);
        let numbers = Numbers { fence: mirror.meta.last_fence, version: mirror.last_version };
        let (queues, gates) = (queue_items(&mirror), gate_items(&mirror));
        let reader = Reader::new(Arc::new(disk));
        Ok(Dump { reader, queues, gates, numbers, identity, page_items: PAGE_ITEMS_MAX, _lock: lock })
    }

    /// Pages of at most so many items.
    #[must_use]
    pub fn with_page_items(self, page_items: usize) -> Dump {
        Dump { page_items: page_items.max(1), ..self }
    }

    /// Which state of which store this is: another one as soon as anything is written.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// How many items there are in all stages together, for whoever waits. Attempts and leases travel with their jobs.
    pub fn items(&self) -> Result<u64> {
        let txn = self.reader.txn()?;
        let tables = &self.reader.disk.tables;
        let counted = [
            tables.rules,
            tables.workers,
            tables.records,
            tables.keys,
            tables.children,
            tables.releases,
            tables.workflows,
            tables.schedules,
            tables.ledger,
        ];
        let few = self.queues.len() as u64 + self.gates.len() as u64 + 1;
        counted.iter().try_fold(few, |sum, table| Ok(sum + table.len(&txn).map_err(storage)?))
    }

    /// The page of a stage that begins after this key; from the beginning if there is none.
    pub fn page(&self, stage: Stage, after: Option<&[u8]>) -> Result<Page> {
        let tables = &self.reader.disk.tables;
        match stage {
            Stage::Queues => self.part(&self.queues, after, Items::Queues),
            Stage::Gates => self.part(&self.gates, after, Items::Gates),
            Stage::Workers => Ok(Page { items: Items::Workers(self.reader.workers()?), after: None }),
            Stage::Numbers => Ok(Page { items: Items::Numbers(self.numbers), after: None }),
            Stage::Rules => self.rows(tables.rules, after, |_, key, row| rule(key, row), Items::Rules),
            Stage::Jobs => self.jobs(after),
            Stage::Keys => self.rows(tables.keys, after, |_, key, row| idempotency(key, row), Items::Keys),
            Stage::Edges => self.rows(tables.children, after, |_, key, row| edge(key, row), Items::Edges),
            Stage::Releases => self.rows(tables.releases, after, |_, key, row| release(key, row), Items::Releases),
            Stage::Workflows => {
                self.rows(tables.workflows, after, |txn, key, row| self.workflow(txn, key, row), Items::Workflows)
            }
            Stage::Schedules => {
                let view = |txn: &RoTxn<'_>, key: &[u8], row: &[u8]| {
                    schedules::view_of(txn, tables, &schedules::read_name(key)?, row)
                };
                self.rows(tables.schedules, after, view, Items::Schedules)
            }
            Stage::Ledger => self.rows(tables.ledger, after, |_, key, row| ledger(key, row), Items::Ledger),
        }
    }

    /// A page of what is in memory; the key is how many came before.
    fn part<T: Clone>(&self, all: &[T], after: Option<&[u8]>, items: impl FnOnce(Vec<T>) -> Items) -> Result<Page> {
        let before = match after {
            None => 0,
            Some(key) => u64::from_be_bytes(key.try_into().map_err(|_| bad("how far the move had come"))?) as usize,
        };
        let end = all.len().min(before.saturating_add(self.page_items));
        let part = all.get(before..end).unwrap_or_default().to_vec();
        let after = (end < all.len()).then(|| (end as u64).to_be_bytes().to_vec());
        Ok(Page { items: items(part), after })
    }

    /// A page of a table.
    fn rows<T>(
        &self,
        table: Table,
        after: Option<&[u8]>,
        read: impl Fn(&RoTxn<'_>, &[u8], &[u8]) -> Result<T>,
        items: impl FnOnce(Vec<T>) -> Items,
    ) -> Result<Page> {
        let (rows, after) = self.walk(table, after, |txn, key, row| Ok((read(txn, key, row)?, 0)))?;
        Ok(Page { items: items(rows), after })
    }

    fn jobs(&self, after: Option<&[u8]>) -> Result<Page> {
        let read = |txn: &RoTxn<'_>, key: &[u8], row: &[u8]| Ok((self.job(txn, tables::read_id(key), row)?, row.len()));
        let (jobs, after) = self.walk(self.reader.disk.tables.records, after, read)?;
        Ok(Page { items: Items::Jobs(jobs), after })
    }

    /// Reads rows, each with its weight, until a page is full; answers the last key if there are more.
    fn walk<T>(
        &self,
        table: Table,
        after: Option<&[u8]>,
        read: impl Fn(&RoTxn<'_>, &[u8], &[u8]) -> Result<(T, usize)>,
    ) -> Result<(Vec<T>, Option<Vec<u8>>)> {
        let txn = self.reader.txn()?;
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let (mut items, mut bytes, mut last) = (Vec::new(), 0, None::<Vec<u8>>);
        for row in table.range(&txn, &(start, Bound::Unbounded)).map_err(storage)? {
            let (key, row) = row.map_err(storage)?;
            if items.len() >= self.page_items || bytes >= PAGE_BYTES_MAX {
                return Ok((items, last));
            }
            let (item, weight) = read(&txn, key, row)?;
            items.push(item);
            bytes += weight;
            match &mut last {
                Some(last) => key.clone_into(last),
                None => last = Some(key.to_vec()),
            }
        }
        Ok((items, None))
    }

    fn job(&self, txn: &RoTxn<'_>, id: JobId, record: &[u8]) -> Result<JobItem> {
        let tables = &self.reader.disk.tables;
        let view: JobView = self.reader.view(txn, id, record)?;
        let standing = &view.standing;
        let mut attempts = Vec::new();
        for row in tables.executions.prefix_iter(txn, id.as_bytes()).map_err(storage)? {
            let row: ExecutionRow = rows::decode("executions", row.map_err(storage)?.1)?;
            attempts.push(row.execution());
        }
        let last = match standing.ended.is_some() {
            true => read::ended_of(txn, tables, id)?.and_then(|EndedRow { execution, .. }| execution),
            false => None,
        };
        let taken = match standing.lease.is_some() {
            true => taken(txn, tables.leases, id)?,
            false => None,
        };
        Ok(JobItem { view, attempts, last: last.map(ExecutionRow::execution), taken })
    }

    fn workflow(&self, txn: &RoTxn<'_>, key: &[u8], row: &[u8]) -> Result<WorkflowItem> {
        let (tenant, id) = key.split_at_checked(key.len().saturating_sub(16)).ok_or_else(|| bad("a workflow's key"))?;
        let row: WorkflowRow = rows::decode("workflows", row)?;
        let callback = row.callback();
        let standing = match callback {
            Some(callback) => read::standing(txn, &self.reader.disk.tables, callback)?,
            None => None,
        };
        Ok(WorkflowItem {
            tenant: tenant_of(tenant.strip_suffix(b"\0").unwrap_or(tenant))?,
            id: WorkflowId(Uuid::from_slice(id).map_err(|_| bad("a workflow's key"))?),
            submitted_at: row.submitted_at(),
            callback,
            callback_waits: standing.is_some_and(|standing| standing.state == State::Blocked),
            members: row.members,
            counts: row.counts(),
        })
    }
}

fn count(disk: &Disk, table: Table, dir: &Path) -> std::result::Result<u64, OpenError> {
    let failed = |error| OpenError::Store { dir: dir.to_owned(), source: storage(error) };
    let txn = disk.env.read_txn().map_err(failed)?;
    table.len(&txn).map_err(failed)
}

fn queue_items(mirror: &Mirror) -> Vec<QueueItem> {
    let item = |queue: &super::mirror::Queue| QueueItem {
        queue: queue.name.clone(),
        paused: queue.paused,
        aging: queue.aging,
        max_depth: queue.max_depth,
        counts: queue.counts,
    };
    mirror.queues.iter().map(item).collect()
}

fn gate_items(mirror: &Mirror) -> Vec<GateItem> {
    let item = |gate: &super::gates::Gate| {
        let name = gate.name.clone()?;
        let is_ruled = mirror.gates.rules.at(&name).is_some();
        let state = if is_ruled { gate.state } else { GateState { running: 0, ..gate.state } };
        let is_kept = if is_ruled { state != GateState::default() } else { state.closed_until.is_some() };
        is_kept.then_some(GateItem { gate: name, state })
    };
    let mut items: Vec<GateItem> = mirror.gates.live.values().filter_map(item).collect();
    items.sort_by(|one, other| one.gate.cmp(&other.gate));
    items
}

fn rule(key: &[u8], row: &[u8]) -> Result<RuleItem> {
    let (tenant, reach) = rows::read_rule(key)?;
    Ok(RuleItem { tenant, reach, rule: rows::decode::<RuleRow>("rules", row)?.rule() })
}

fn taken(txn: &RoTxn<'_>, leases: Table, id: JobId) -> Result<Option<Taken>> {
    let Some(bytes) = leases.get(txn, id.as_bytes()).map_err(storage)? else { return Ok(None) };
    let lease: LeaseRow = rows::decode("leases", bytes)?;
    let cause = |cause| match cause {
        CauseRow::Timeout => Cause::Timeout,
        CauseRow::Crash => Cause::Crash,
    };
    Ok(lease.taken.map(|(why, fence)| Taken { cause: cause(why), fence: Fence(fence) }))
}

fn idempotency(key: &[u8], row: &[u8]) -> Result<KeyItem> {
    let text = std::str::from_utf8(key).map_err(|_| bad("an idempotency key"))?;
    let (tenant, key) = text.split_once('\0').ok_or_else(|| bad("an idempotency key"))?;
    let row: KeyRow = rows::decode("keys", row)?;
    Ok(KeyItem {
        tenant: tenant_of(tenant.as_bytes())?,
        key: IdempotencyKey::parse(key).map_err(|_| bad("an idempotency key"))?,
        job: JobId::from_bytes(row.id),
        fingerprint: row.fingerprint,
        until: Time::from_millis(row.until_ms),
    })
}

fn edge(key: &[u8], row: &[u8]) -> Result<EdgeItem> {
    let (parent, child) = tables::read_edge(key);
    Ok(EdgeItem { parent, child, on_failure: rows::decode::<EdgeRow>("children", row)?.on_failure() })
}

fn release(key: &[u8], row: &[u8]) -> Result<ReleaseItem> {
    Ok(ReleaseItem { parent: tables::read_id(key), state: rows::decode::<StateRow>("releases", row)?.into() })
}

/// The key is (place, tenant, name, zero, where in the ledger).
fn ledger(key: &[u8], row: &[u8]) -> Result<LedgerItem> {
    const PLACE_BYTES: usize = 4;
    const REST_BYTES: usize = 19;
    let name = key.get(PLACE_BYTES..key.len().saturating_sub(REST_BYTES)).ok_or_else(|| bad("a key of the ledger"))?;
    let place = tables::read_ledger(key);
    let entry: LedgerEntry = rows::decode("ledger", row)?;
    Ok(LedgerItem { schedule: schedules::read_name(name)?, place, row: entry.row(place.occurrence) })
}

fn tenant_of(bytes: &[u8]) -> Result<TenantName> {
    let text = std::str::from_utf8(bytes).map_err(|_| bad("a tenant's name"))?;
    TenantName::parse(text).map_err(|_| bad("a tenant's name"))
}

fn bad(what: &str) -> Error {
    Error::Damaged(format!("{what} cannot be read"))
}
