//! What the writer keeps in memory: queues, workers and leases, whose numbers do not grow with the backlog, and gates, which
//! grow with the limited keys that jobs wait for. Rebuilt from the tables at start and after a commit that failed; the
//! tables are the truth.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, RwLock};

use heed::RoTxn;
use mainspring_core::gate::{GateName, GateRef};
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::limits;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::store::{Counts, Error, Result, WorkerView};
use mainspring_core::time::Time;

use super::cascade::Horizons;
use super::gates::{self, GateKey, Gates};
use super::rows::{self, LeaseRow, QueueRow, TENANT_GATE, Ways, WorkerRow};
use super::tables::{self, Tables, TimedKey};
use crate::roster::Roster;

/// The names behind queue numbers, shared with the readers.
pub type Names = Arc<RwLock<Vec<QueueRef>>>;

#[derive(Debug)]
pub struct Mirror {
    pub queues: Vec<Queue>,
    /// Queues whose rows are not written yet.
    pub touched: Vec<u32>,
    numbers: HashMap<QueueRef, u32>,
    names: Names,
    /// Numbers of tenants, which are good until the store is closed.
    tenants: HashMap<TenantName, u32>,
    /// The queues of each name, in the order of tenants.
    by_name: HashMap<QueueName, BTreeMap<TenantName, u32>>,
    pub gates: Gates,
    pub leases: HashMap<JobId, LeaseRow>,
    pub workers: HashMap<WorkerId, Worker>,
    /// When leases run out by themselves: timeouts, and the holds of the reclaimer.
    pub alarms: BTreeSet<(Time, JobId)>,
    pub meta: Meta,
    /// Ids above this one are new, and are appended.
    pub last_record: Option<JobId>,
    pub last_ended: Option<TimedKey>,
    /// The last version that was given to a schedule. One counter for the whole store, so none is ever used twice.
    pub last_version: u64,
    pub queues_max: usize,
    pub roster: Roster,
}

#[derive(Debug)]
pub struct Queue {
    pub number: u32,
    pub name: QueueRef,
    /// The number of its tenant.
    pub tenant: u32,
    own_gate: u64,
    pub paused: bool,
    pub aging: Aging,
    pub max_depth: Option<u64>,
    pub counts: Counts,
    /// The lanes that may have ready jobs.
    pub lanes: BTreeSet<Priority>,
    /// It is among the mirror's `touched`.
    pub touched: bool,
}

#[derive(Debug)]
pub struct Worker {
    pub row: WorkerRow,
    pub held: BTreeSet<JobId>,
}

/// Written with every commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Meta {
    pub last_fence: u64,
    pub horizons: Horizons,
    /// Rows in `recent`.
    pub recent: u64,
    pub last_run: u64,
    /// The weight of the heaviest job that ever was ready.
    pub heaviest: u16,
}

pub const META_KEY: &[u8] = b"meta";
/// Apart from the rest, so that only a turn writes it.
pub const VERSION_KEY: &[u8] = b"version";

impl Mirror {
    pub fn load(txn: &RoTxn<'_>, tables: &Tables, names: Names, queues_max: usize) -> Result<Mirror> {
        let mut mirror = Mirror {
            queues: Vec::new(),
            touched: Vec::new(),
            numbers: HashMap::new(),
            names,
            tenants: HashMap::new(),
            by_name: HashMap::new(),
            gates: Gates::default(),
            leases: HashMap::new(),
            workers: HashMap::new(),
            alarms: BTreeSet::new(),
            meta: match tables.meta.get(txn, META_KEY).map_err(super::storage)? {
                Some(bytes) => rows::decode("meta", bytes)?,
                None => Meta::default(),
            },
            last_record: tables.records.last(txn).map_err(super::storage)?.map(|(key, _)| tables::read_id(key)),
            last_ended: match tables.ended.last(txn).map_err(super::storage)? {
                Some((key, _)) => key.try_into().ok(),
                None => None,
            },
            last_version: match tables.meta.get(txn, VERSION_KEY).map_err(super::storage)? {
                Some(bytes) => rows::decode("meta", bytes)?,
                None => 0,
            },
            queues_max,
            roster: super::seats::load(txn, tables)?,
        };
        mirror.load_queues(txn, tables)?;
        mirror.load_workers(txn, tables)?;
        mirror.load_leases(txn, tables)?;
        gates::load(&mut mirror, txn, tables)?;
        Ok(mirror)
    }

    fn load_queues(&mut self, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
        let damaged = |error: mainspring_core::name::BadName| Error::Damaged(error.to_string());
        for row in tables.queues.iter(txn).map_err(super::storage)? {
            let (_, bytes) = row.map_err(super::storage)?;
            let row: QueueRow = rows::decode("queues", bytes)?;
            let name = QueueRef {
                tenant: TenantName::parse(&row.tenant).map_err(damaged)?,
                queue: QueueName::parse(&row.queue).map_err(damaged)?,
            };
            let number = self.add_queue(name);
            let queue = &mut self.queues[number as usize];
            queue.paused = row.paused;
            queue.aging = row.aging();
            queue.max_depth = row.max_depth;
            queue.counts = rows::read_counts(row.counts);
            queue.lanes = super::claim::lanes(txn, tables, number)?;
        }
        let names = self.queues.iter().map(|queue| queue.name.clone()).collect();
        *self.names.write().expect("nobody panics while naming a queue") = names;
        Ok(())
    }

    fn load_workers(&mut self, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
        for row in tables.workers.iter(txn).map_err(super::storage)? {
            let (key, bytes) = row.map_err(super::storage)?;
            let id = WorkerId(tables::read_id(key).uuid());
            self.workers.insert(id, Worker { row: rows::decode("workers", bytes)?, held: BTreeSet::new() });
        }
        Ok(())
    }

    fn load_leases(&mut self, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
        for row in tables.leases.iter(txn).map_err(super::storage)? {
            let (key, bytes) = row.map_err(super::storage)?;
            self.hold(tables::read_id(key), rows::decode("leases", bytes)?);
        }
        Ok(())
    }

    /// Remembers a lease, in place of the one before.
    pub fn hold(&mut self, id: JobId, lease: LeaseRow) {
        self.let_go(id);
        if let Some(at) = lease.timeout_ms {
            self.alarms.insert((Time::from_millis(at), id));
        }
        if lease.taken.is_none()
            && let Some(worker) = self.workers.get_mut(&lease.worker())
        {
            worker.held.insert(id);
        }
        self.leases.insert(id, lease);
    }

    pub fn let_go(&mut self, id: JobId) -> Option<LeaseRow> {
        let lease = self.leases.remove(&id)?;
        if let Some(at) = lease.timeout_ms {
            self.alarms.remove(&(Time::from_millis(at), id));
        }
        if let Some(worker) = self.workers.get_mut(&lease.worker()) {
            worker.held.remove(&id);
        }
        Some(lease)
    }

    pub fn number_of(&self, queue: &QueueRef) -> Option<u32> {
        self.numbers.get(queue).copied()
    }

    /// Whether the queues among these that are new would fit.
    pub fn has_room_for(&self, unknown: &BTreeSet<QueueRef>) -> Result<()> {
        if self.queues.len() + unknown.len() <= self.queues_max {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "there are {} queues already and there can be {} (queues_max); use one that exists",
            self.queues.len(),
            self.queues_max
        )))
    }

    /// The number of a queue, which is made if there is none.
    pub fn number(&mut self, queue: &QueueRef) -> u32 {
        if let Some(number) = self.number_of(queue) {
            return number;
        }
        let number = self.add_queue(queue.clone());
        self.names.write().expect("nobody panics while naming a queue").push(queue.clone());
        self.queues[number as usize].touched = true;
        self.touched.push(number);
        number
    }

    fn add_queue(&mut self, name: QueueRef) -> u32 {
        let number = self.queues.len() as u32;
        let tenant = self.tenant_number(&name.tenant);
        self.numbers.insert(name.clone(), number);
        self.by_name.entry(name.queue.clone()).or_default().insert(name.tenant.clone(), number);
        self.queues.push(Queue {
            number,
            tenant,
            own_gate: Ways::hash_of(&GateName::Queue(name.queue.clone())),
            name,
            paused: false,
            aging: Aging::DEFAULT,
            max_depth: None,
            counts: Counts::default(),
            lanes: BTreeSet::new(),
            touched: false,
        });
        number
    }

    /// The number of a tenant, which is given if it has none.
    pub fn tenant_number(&mut self, tenant: &TenantName) -> u32 {
        if let Some(&number) = self.tenants.get(tenant) {
            return number;
        }
        let number = self.tenants.len() as u32;
        self.tenants.insert(tenant.clone(), number);
        number
    }

    /// The queues of this name of all tenants, in the order of tenants.
    pub fn queues_named(&self, name: &QueueName) -> impl Iterator<Item = &Queue> {
        let numbers = self.by_name.get(name).into_iter().flat_map(|queues| queues.values());
        numbers.map(|&number| &self.queues[number as usize])
    }

    /// A queue that is about to change.
    pub fn queue(&mut self, number: u32) -> &mut Queue {
        let queue = &mut self.queues[number as usize];
        if !std::mem::replace(&mut queue.touched, true) {
            self.touched.push(number);
        }
        queue
    }

    pub fn mint_fence(&mut self) -> u64 {
        self.meta.last_fence += 1;
        self.meta.last_fence
    }
}

impl Queue {
    /// Whether it has jobs that could be asked for.
    pub fn has_ready(&self) -> bool {
        self.counts.ready > 0
    }

    /// A gate of its tenant.
    pub fn gate(&self, hash: u64) -> GateKey {
        GateKey { tenant: self.tenant, hash }
    }

    pub fn own_gate(&self) -> GateKey {
        self.gate(self.own_gate)
    }

    pub fn tenant_gate(&self) -> GateKey {
        self.gate(TENANT_GATE)
    }

    pub fn gate_ref(&self) -> GateRef {
        GateRef { tenant: self.name.tenant.clone(), gate: GateName::Queue(self.name.queue.clone()) }
    }

    pub fn row(&self) -> QueueRow {
        QueueRow {
            tenant: self.name.tenant.as_str().into(),
            queue: self.name.queue.as_str().into(),
            paused: self.paused,
            aging_point_ms: self.aging.point_ms(),
            max_depth: self.max_depth,
            counts: rows::counts_row(&self.counts),
        }
    }
}

impl Worker {
    pub fn has_left(&self) -> bool {
        self.row.expires_ms == WorkerView::LEFT.as_millis()
    }

    /// Whether it is to be written off.
    pub fn is_silent(&self, now: Time, spare_silent: bool) -> bool {
        let latest = if spare_silent { WorkerView::LEFT } else { now };
        self.row.expires_ms <= latest.as_millis()
    }
}

/// The bound on queues, unless a test lowers it.
pub const QUEUES_MAX: usize = limits::QUEUES_MAX;
