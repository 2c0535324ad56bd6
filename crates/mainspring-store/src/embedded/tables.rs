//! The tables on disk and the shape of their keys. Knows no verbs.
//!
//! There is no state row on the hot path: a job's state is *which table it is in*.
//!
//! | table | key | value | holds |
//! |---|---|---|---|
//! | records | id | [`super::rows::Record`] | every job, written once |
//! | changes | id | [`super::rows::Change`] | what a job has become since, only if it left the straight path |
//! | far | level, bucket, id | ready_at, slip | Waiting, a long way off: see [`super::cascade`] |
//! | waiting | ready_at, id | slip | Waiting, near |
//! | ready | queue, lane, ready_at, id | slip | Ready |
//! | lots | queue, gate, lane, ready_at, id | slip | Ready, and standing before a gate: see [`super::gates`] |
//! | leases | id | [`super::rows::LeaseRow`] | Running |
//! | ended | ended_at, id | [`super::rows::EndedRow`] | Succeeded and Cancelled, in order of completion |
//! | recent, runs | id / newest, number | ended_at / sorted ids | where in `ended` a job is: see [`super::history`] |
//! | dead, dead_order | id / ended_at, id | [`super::rows::EndedRow`] / | Dead |
//! | executions | id, fence | [`super::rows::ExecutionRow`] | attempts that were not the last |
//! | expiry | expires_at, id | | jobs that are cancelled if they do not start in time |
//! | keys, key_expiry | tenant, key / until, tenant, key | [`super::rows::KeyRow`] | idempotency keys |
//! | blocked | id | [`super::rows::BlockedRow`] | Blocked |
//! | children | parent, child | [`super::rows::EdgeRow`] | open edges: the child is Blocked |
//! | releases | parent | state | parents that ended while others waited: see [`super::release`] |
//! | workflows | tenant, workflow | [`super::rows::WorkflowRow`] | where the steps of a workflow are |
//! | members | tenant, workflow, id | | the jobs of a workflow |
//! | callbacks | tenant, workflow | id | callbacks that are Blocked though every step has ended |
//! | schedules | tenant, name | [`super::rows::ScheduleRow`] | what a person said, written when it is said |
//! | standings | tenant, name | [`super::rows::StandingRow`] | what has happened since, written at each turn |
//! | wakes | wake_at, tenant, name | | when a schedule wants to be turned |
//! | ledger | tenant, name, occurrence, version, index | [`super::rows::LedgerEntry`] | what became of occurrences |
//! | ledger_order | at, version, index | key in `ledger` | the same in the order of retention |
//! | rules | tenant, reach | [`super::rows::RuleRow`] | limits |
//! | gates | tenant, gate | [`super::rows::GateRow`] | what is remembered of gates that are not at rest |
//! | queues, workers, meta | | | settings and counters, registrations, fences and horizons |

use heed::types::Bytes;
use heed::{Database, Env, RoTxn, RwTxn, WithoutTls};
use mainspring_core::gate::{GateRef, Reach};
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::name::{IdempotencyKey, TenantName};
use mainspring_core::rank::Priority;
use mainspring_core::schedule::{ScheduleRef, place_of};
use mainspring_core::store::LedgerPlace;
use mainspring_core::time::Time;

use super::gates::Spot;

pub type Table = Database<Bytes, Bytes>;

#[derive(Clone, Copy, Debug)]
pub struct Tables {
    pub records: Table,
    pub changes: Table,
    pub far: Table,
    pub waiting: Table,
    pub ready: Table,
    pub lots: Table,
    pub leases: Table,
    pub ended: Table,
    pub recent: Table,
    pub runs: Table,
    pub dead: Table,
    pub dead_order: Table,
    pub executions: Table,
    pub expiry: Table,
    pub keys: Table,
    pub key_expiry: Table,
    pub blocked: Table,
    pub children: Table,
    pub releases: Table,
    pub workflows: Table,
    pub members: Table,
    pub callbacks: Table,
    pub schedules: Table,
    pub standings: Table,
    pub wakes: Table,
    pub ledger: Table,
    pub ledger_order: Table,
    pub rules: Table,
    pub gates: Table,
    pub queues: Table,
    pub workers: Table,
    pub seats: Table,
    pub meta: Table,
}

impl Tables {
    pub const COUNT: u32 = 33;

    /// Makes those that are not there.
    pub fn open(env: &Env<WithoutTls>, txn: &mut RwTxn<'_>) -> heed::Result<Tables> {
        Tables::each(|name| env.create_database(txn, Some(name)))
    }

    /// Makes nothing; `None` if one is missing.
    pub fn find(env: &Env<WithoutTls>, txn: &RoTxn<'_, WithoutTls>) -> heed::Result<Option<Tables>> {
        let mut is_whole = true;
        let found = Tables::each(|name| match env.open_database(txn, Some(name))? {
            Some(table) => Ok(table),
            None => {
                is_whole = false;
                Err(heed::Error::Io(std::io::ErrorKind::NotFound.into()))
            }
        });
        if is_whole { found.map(Some) } else { Ok(None) }
    }

    fn each(mut table: impl FnMut(&'static str) -> heed::Result<Table>) -> heed::Result<Tables> {
        Ok(Tables {
            records: table("records")?,
            changes: table("changes")?,
            far: table("far")?,
            waiting: table("waiting")?,
            ready: table("ready")?,
            lots: table("lots")?,
            leases: table("leases")?,
            ended: table("ended")?,
            recent: table("recent")?,
            runs: table("runs")?,
            dead: table("dead")?,
            dead_order: table("dead_order")?,
            executions: table("executions")?,
            expiry: table("expiry")?,
            keys: table("keys")?,
            key_expiry: table("key_expiry")?,
            blocked: table("blocked")?,
            children: table("children")?,
            releases: table("releases")?,
            workflows: table("workflows")?,
            members: table("members")?,
            callbacks: table("callbacks")?,
            schedules: table("schedules")?,
            standings: table("standings")?,
            wakes: table("wakes")?,
            ledger: table("ledger")?,
            ledger_order: table("ledger_order")?,
            rules: table("rules")?,
            gates: table("gates")?,
            queues: table("queues")?,
            workers: table("workers")?,
            seats: table("seats")?,
            meta: table("meta")?,
        })
    }

    /// How much the tables fill, without the pages that are free for reuse.
    pub fn bytes(&self, txn: &RoTxn<'_>) -> heed::Result<u64> {
        let all = [
            self.records,
            self.changes,
            self.far,
            self.waiting,
            self.ready,
            self.lots,
            self.leases,
            self.ended,
            self.recent,
            self.runs,
            self.dead,
            self.dead_order,
            self.executions,
            self.expiry,
            self.keys,
            self.key_expiry,
            self.blocked,
            self.children,
            self.releases,
            self.workflows,
            self.members,
            self.callbacks,
            self.schedules,
            self.standings,
            self.wakes,
            self.ledger,
            self.ledger_order,
            self.rules,
            self.gates,
            self.queues,
            self.workers,
            self.seats,
            self.meta,
        ];
        all.iter().try_fold(0, |bytes, table| {
            let stat = table.stat(txn)?;
            let pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
            Ok(bytes + pages as u64 * u64::from(stat.page_size))
        })
    }
}

/// (instant, id): `waiting`, `ended`, `expiry`.
pub type TimedKey = [u8; 22];

pub fn timed(at: Time, id: JobId) -> TimedKey {
    let mut key = [0; 22];
    key[..6].copy_from_slice(&instant(at));
    key[6..].copy_from_slice(id.as_bytes());
    key
}

pub fn read_timed(key: &[u8]) -> (Time, JobId) {
    (read_instant(&key[..6]), read_id(&key[6..]))
}

/// (queue, lane, ready_at, id): within a lane the order of keys is the order of rank.
pub type ReadyKey = [u8; 28];

pub fn ready(queue: u32, lane: Priority, ready_at: Time, id: JobId) -> ReadyKey {
    let mut key = [0; 28];
    key[..6].copy_from_slice(&lane_prefix(queue, lane));
    key[6..].copy_from_slice(&timed(ready_at, id));
    key
}

pub fn read_ready(key: &[u8]) -> (u32, Priority, Time, JobId) {
    let queue = u32::from_be_bytes(fixed(&key[..4]));
    let (ready_at, id) = read_timed(&key[6..]);
    (queue, read_lane(&key[4..6]), ready_at, id)
}

fn read_lane(bytes: &[u8]) -> Priority {
    let lane = u16::from_be_bytes(fixed(bytes)) ^ 0x8000;
    Priority::new(i64::from(lane as i16)).expect("only lanes in range are written")
}

pub fn lane_prefix(queue: u32, lane: Priority) -> [u8; 6] {
    let mut prefix = [0; 6];
    prefix[..4].copy_from_slice(&queue.to_be_bytes());
    prefix[4..].copy_from_slice(&(lane.value() as u16 ^ 0x8000).to_be_bytes());
    prefix
}

/// (queue, hash of the gate, lane, ready_at, id): `lots`. Within a lane the order of keys is the order of rank.
pub type LotKey = [u8; 36];

pub fn lot(queue: u32, hash: u64, lane: Priority, ready_at: Time, id: JobId) -> LotKey {
    let mut key = [0; 36];
    key[..14].copy_from_slice(&lot_prefix(queue, hash, lane));
    key[14..].copy_from_slice(&timed(ready_at, id));
    key
}

pub fn read_lot(key: &[u8]) -> ((u32, u64), Spot) {
    let name = (u32::from_be_bytes(fixed(&key[..4])), u64::from_be_bytes(fixed(&key[4..12])));
    let (ready_at, id) = read_timed(&key[14..]);
    (name, Spot { lane: read_lane(&key[12..14]), ready_at, id })
}

pub fn lot_prefix(queue: u32, hash: u64, lane: Priority) -> [u8; 14] {
    let mut prefix = [0; 14];
    prefix[..12].copy_from_slice(&lot_of(queue, hash));
    prefix[12..].copy_from_slice(&lane_prefix(queue, lane)[4..]);
    prefix
}

/// Where all keys of a lot begin.
pub fn lot_of(queue: u32, hash: u64) -> [u8; 12] {
    let mut prefix = [0; 12];
    prefix[..4].copy_from_slice(&queue.to_be_bytes());
    prefix[4..].copy_from_slice(&hash.to_be_bytes());
    prefix
}

/// (tenant, reach): `rules`.
pub fn rule(tenant: &TenantName, reach: &Reach) -> Vec<u8> {
    [tenant.as_str().as_bytes(), b"\0", reach.text().as_bytes()].concat()
}

/// (tenant, gate): `gates`.
pub fn gate(gate: &GateRef) -> Vec<u8> {
    [gate.tenant.as_str().as_bytes(), b"\0", gate.gate.text().as_bytes()].concat()
}

/// (level, bucket, id): `far`.
pub type FarKey = [u8; 23];

pub fn far(level: u8, bucket: Time, id: JobId) -> FarKey {
    let mut key = [level; 23];
    key[1..].copy_from_slice(&timed(bucket, id));
    key
}

/// (id, fence): `executions`.
pub fn execution(id: JobId, fence: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(id.as_bytes());
    key[16..].copy_from_slice(&fence.to_be_bytes());
    key
}

/// (parent, child): `children`.
pub fn edge(parent: JobId, child: JobId) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(parent.as_bytes());
    key[16..].copy_from_slice(child.as_bytes());
    key
}

pub fn read_edge(key: &[u8]) -> (JobId, JobId) {
    (read_id(&key[..16]), read_id(&key[16..]))
}

/// (tenant, workflow): `workflows`, `callbacks`. Names hold no zero byte, so it ends them.
pub fn workflow(tenant: &TenantName, id: WorkflowId) -> Vec<u8> {
    [tenant.as_str().as_bytes(), b"\0", id.0.as_bytes()].concat()
}

/// (tenant, key): `keys`.
pub fn idempotency(tenant: &TenantName, key: &IdempotencyKey) -> Vec<u8> {
    [tenant.as_str().as_bytes(), b"\0", key.as_str().as_bytes()].concat()
}

/// (tenant, workflow, id): `members`.
pub fn member(tenant: &TenantName, workflow_id: WorkflowId, id: JobId) -> Vec<u8> {
    [&workflow(tenant, workflow_id)[..], id.as_bytes()].concat()
}

/// (tenant, name): `schedules`, which are listed by name.
pub fn schedule_name(schedule: &ScheduleRef) -> Vec<u8> {
    [schedule.tenant.as_str().as_bytes(), b"\0", schedule.name.as_str().as_bytes()].concat()
}

/// (place, tenant, name): `standings`. What a herd of schedules changes when it fires, these and the tables below and the
/// records of its jobs, is in the order of their places everywhere, so that it is written to dense pages.
pub fn schedule(schedule: &ScheduleRef) -> Vec<u8> {
    let place = place_of(schedule).to_be_bytes();
    [&place, schedule.tenant.as_str().as_bytes(), b"\0", schedule.name.as_str().as_bytes()].concat()
}

/// From the first key of a tenant's schedules to the first one after them.
pub fn schedules_of(tenant: &TenantName) -> (Vec<u8>, Vec<u8>) {
    ([tenant.as_str().as_bytes(), b"\0"].concat(), [tenant.as_str().as_bytes(), b"\x01"].concat())
}

/// (wake_at, place, tenant, name): `wakes`.
pub fn wake(at: Time, schedule: &[u8]) -> Vec<u8> {
    [&instant(at)[..], schedule].concat()
}

/// (place, tenant, name, occurrence, version, index): `ledger`.
pub fn ledger(schedule_ref: &ScheduleRef, place: LedgerPlace) -> Vec<u8> {
    let LedgerPlace { occurrence, version, index } = place;
    let place = [&instant(occurrence)[..], &version.to_be_bytes(), &index.to_be_bytes()].concat();
    [&schedule(schedule_ref)[..], b"\0", &place].concat()
}

/// From the first key of a schedule's ledger to the first one after it.
pub fn ledger_of(schedule_ref: &ScheduleRef) -> (Vec<u8>, Vec<u8>) {
    let key = schedule(schedule_ref);
    ([&key[..], b"\0"].concat(), [&key[..], b"\x01"].concat())
}

pub fn read_ledger(key: &[u8]) -> LedgerPlace {
    let place = &key[key.len() - 18..];
    LedgerPlace {
        occurrence: read_instant(&place[..6]),
        version: u64::from_be_bytes(fixed(&place[6..14])),
        index: u32::from_be_bytes(fixed(&place[14..])),
    }
}

/// (at, version, index): `ledger_order`. No two turns have one version.
pub fn ledger_order(at: Time, place: LedgerPlace) -> [u8; 18] {
    let mut key = [0; 18];
    key[..6].copy_from_slice(&instant(at));
    key[6..14].copy_from_slice(&place.version.to_be_bytes());
    key[14..].copy_from_slice(&place.index.to_be_bytes());
    key
}

/// The first key that begins with an instant after this one.
pub fn after(at: Time) -> [u8; 7] {
    let mut key = [0xff; 7];
    key[..6].copy_from_slice(&instant(at));
    key
}

/// 48 bits, big end first, so that keys sort by time.
pub fn instant(at: Time) -> [u8; 6] {
    fixed(&at.as_millis().to_be_bytes()[2..])
}

pub fn read_instant(bytes: &[u8]) -> Time {
    let mut wide = [0; 8];
    wide[2..].copy_from_slice(bytes);
    Time::from_millis(u64::from_be_bytes(wide))
}

pub fn read_id(bytes: &[u8]) -> JobId {
    JobId::from_bytes(fixed(bytes))
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("keys have the length their table gives them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_sort_as_what_they_stand_for(
            a in (0u32..9, -1000i64..=1000, 0u64..1 << 48, any::<[u8; 16]>()),
            b in (0u32..9, -1000i64..=1000, 0u64..1 << 48, any::<[u8; 16]>()),
        ) {
            let parts = |(queue, lane, at, id): (u32, i64, u64, [u8; 16])| (
                queue, Priority::new(lane).expect("in range"), Time::from_millis(at), JobId::from_bytes(id));
            let key = |(queue, lane, at, id)| ready(queue, lane, at, id);
            let (a, b) = (parts(a), parts(b));
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
            prop_assert_eq!(read_ready(&key(a)), a);
            let hash = |(_, lane, ..): (u32, Priority, Time, JobId)| lane.value() as u64 % 3;
            let lot_key = |parts: (u32, Priority, Time, JobId)| lot(parts.0, hash(parts), parts.1, parts.2, parts.3);
            prop_assert_eq!(lot_key(a).cmp(&lot_key(b)), (a.0, hash(a), a).cmp(&(b.0, hash(b), b)));
            let (_, lane, ready_at, id) = a;
            prop_assert_eq!(read_lot(&lot_key(a)), ((a.0, hash(a)), Spot { lane, ready_at, id }));
        }
    }
}
