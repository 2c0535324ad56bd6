//! Where a ready job belongs: in the lane of its priority, or in the lot before the first of its gates of type and keys that
//! is limited, so that a burst behind one key is in nobody's way from the beginning. Asks no gate.

use heed::RoTxn;
use mainspring_core::gate::{GateName, GateRef};
use mainspring_core::id::JobId;
use mainspring_core::rank::Priority;
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;

use super::super::batch::Batch;
use super::super::mirror::{Mirror, Queue};
use super::super::read;
use super::super::rows::{Slip, Ways};
use super::super::storage;
use super::super::tables::{self, Tables};
use super::lots::{LotName, Spot};
use super::{Gate, GateKey, Gates, UNRULED_KEPT_MAX};

/// The gate whose lot a job goes to that is ready from now on; none if it goes to its lane.
pub fn lot_of(batch: &mut Batch<'_>, now: Time, id: JobId, slip: &Slip) -> Result<Option<u64>> {
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    if gates.is_idle() {
        return Ok(None);
    }
    let queue = &queues[slip.queue as usize];
    for (hash, _) in slip.ways.passes() {
        gates.know(&batch.txn, batch.tables, queue, id, hash)?;
        if gates.live.get(&queue.gate(hash)).is_some_and(|gate| gate.is_limited(now)) {
            return Ok(Some(hash));
        }
    }
    Ok(None)
}

/// Puts a job into a lot.
pub fn park(batch: &mut Batch<'_>, hash: u64, spot: Spot, slip: &Slip) -> Result<()> {
    batch.put(batch.tables.lots, &tables::lot(slip.queue, hash, spot.lane, spot.ready_at, spot.id), slip)?;
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    let queue = &queues[slip.queue as usize];
    if gates.lots.join((slip.queue, hash), spot, queue.aging) {
        gates.gate(queue.gate(hash)).lots.insert(slip.queue);
    }
    Ok(())
}

/// Takes a job out of a lot, if it is there.
pub fn unpark(batch: &mut Batch<'_>, hash: u64, spot: Spot, queue: u32) -> Result<bool> {
    let found = batch.delete(batch.tables.lots, &tables::lot(queue, hash, spot.lane, spot.ready_at, spot.id))?;
    if found && batch.mirror.gates.lots.is_head((queue, hash), spot) {
        refresh(batch, (queue, hash), spot.lane)?;
    }
    Ok(found)
}

/// Finds the head of a lane that has lost its own.
pub fn refresh(batch: &mut Batch<'_>, (number, hash): LotName, lane: Priority) -> Result<()> {
    let prefix = tables::lot_prefix(number, hash, lane);
    let first = batch.tables.lots.get_greater_than(&batch.txn, &prefix).map_err(storage)?;
    let head = first.filter(|(key, _)| key.starts_with(&prefix)).map(|(key, _)| tables::read_lot(key).1);
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    let queue = &queues[number as usize];
    let head = head.map(|spot| (spot.ready_at, spot.id));
    if !gates.lots.set_head((number, hash), lane, head, queue.aging) {
        let key = queue.gate(hash);
        if let Some(gate) = gates.live.get_mut(&key) {
            gate.lots.remove(&number);
        }
        gates.drop_if_nothing(key);
    }
    Ok(())
}

impl Gates {
    /// Makes sure that what holds at a gate of a job is known. That needs its name, and so the record, if a pattern may be
    /// for it and it was not seen before.
    pub fn know(&mut self, txn: &RoTxn<'_>, tables: &Tables, queue: &Queue, id: JobId, hash: u64) -> Result<()> {
        let key = queue.gate(hash);
        if self.is_known(key) {
            return Ok(());
        }
        let name = name_of(txn, tables, queue, id, hash)?;
        self.learn(key, name);
        Ok(())
    }

    /// The same for all gates of a job that is to pass them.
    pub fn know_all(
        &mut self,
        txn: &RoTxn<'_>,
        tables: &Tables,
        queue: &Queue,
        (id, slip): (JobId, &Slip),
    ) -> Result<()> {
        if !self.patterns.contains_key(&queue.tenant) {
            return Ok(());
        }
        self.know_queue(queue);
        slip.ways.passes().try_for_each(|(hash, _)| self.know(txn, tables, queue, id, hash))
    }

    /// The same for the gate of a queue, whose name is no secret.
    pub fn know_queue(&mut self, queue: &Queue) {
        let key = queue.own_gate();
        if !self.is_known(key) {
            self.learn(key, queue.gate_ref());
        }
    }

    fn is_known(&self, key: GateKey) -> bool {
        !self.patterns.contains_key(&key.tenant) || self.live.contains_key(&key) || self.unruled.contains(&key)
    }

    fn learn(&mut self, key: GateKey, name: GateRef) {
        match self.rules.at(&name).map(|(_, rule)| *rule) {
            Some(rule) => {
                self.live.insert(key, Gate { name: Some(name), rule: Some(rule), ..Gate::default() });
            }
            None => {
                if self.unruled.len() >= UNRULED_KEPT_MAX {
                    self.unruled.clear();
                }
                self.unruled.insert(key);
            }
        }
    }
}

/// The gate of a job with this hash.
pub fn name_of(txn: &RoTxn<'_>, tables: &Tables, queue: &Queue, id: JobId, hash: u64) -> Result<GateRef> {
    let record = read::record(txn, tables, id)?;
    let job = record.job(id, &queue.name)?;
    let keys = [job.keys.concurrency, job.keys.rate].into_iter().flatten().map(GateName::Key);
    let gate = keys.chain([GateName::Type(job.kind)]).find(|gate| Ways::hash_of(gate) == hash);
    let gate = gate.ok_or_else(|| Error::Damaged(format!("job {id} stands before a gate that it does not pass")))?;
    Ok(GateRef { tenant: queue.name.tenant.clone(), gate })
}
