//! Who holds a gate and who stands before it, read from a snapshot. The states of gates are the writer's to tell.

use std::collections::BTreeSet;

use mainspring_core::gate::{GateName, Part};
use mainspring_core::id::JobId;
use mainspring_core::limits;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{GateView, Hurdle, Result};

use super::gates::{HurdleAt, ViewAt};
use super::read::Reader;
use super::rows::{self, LeaseRow};
use super::storage;
use super::tables;

/// Jobs before one gate that are counted: `waiting` is a hint.
const WAITING_COUNTED_MAX: usize = 10_000;

impl Reader {
    /// Adds how many stand before each gate.
    pub fn gates(&self, views: Vec<ViewAt>) -> Result<Vec<GateView>> {
        let txn = self.txn()?;
        let mut seen = Vec::with_capacity(views.len());
        for ViewAt { mut view, hash, queues } in views {
            let mut left = WAITING_COUNTED_MAX;
            for queue in queues {
                let rows = self.disk.tables.lots.prefix_iter(&txn, &tables::lot_of(queue, hash)).map_err(storage)?;
                left -= rows.take(left).count();
            }
            view.waiting = (WAITING_COUNTED_MAX - left) as u64;
            seen.push(view);
        }
        Ok(seen)
    }

    /// Adds who holds what is full.
    pub fn hurdles(&self, tenant: &TenantName, hurdles: Vec<HurdleAt>) -> Result<Vec<Hurdle>> {
        let hurdle = |hurdle: HurdleAt| {
            let holders = if hurdle.is_full() { self.holders(tenant, &hurdle)? } else { Vec::new() };
            Ok(Hurdle { gate: hurdle.gate, reasons: hurdle.reasons, holders })
        };
        hurdles.into_iter().map(hurdle).collect()
    }

    /// Those with a slot, lowest ids first: the order of leases.
    fn holders(&self, tenant: &TenantName, hurdle: &HurdleAt) -> Result<Vec<JobId>> {
        let txn = self.txn()?;
        let queues = self.queues_behind(tenant, hurdle);
        let mut holders = Vec::new();
        for row in self.disk.tables.leases.iter(&txn).map_err(storage)? {
            let (key, bytes) = row.map_err(storage)?;
            let lease: LeaseRow = rows::decode("leases", bytes)?;
            let is_narrow = |(hash, part): (u64, Part)| hash == hurdle.hash && part.has_concurrency();
            if queues.contains(&lease.slip.queue) && (hurdle.is_wide() || lease.slip.ways.passes().any(is_narrow)) {
                holders.push(tables::read_id(key));
                if holders.len() == limits::HOLDERS_SHOWN_MAX {
                    break;
                }
            }
        }
        Ok(holders)
    }

    /// The queues whose jobs pass a gate, or may.
    fn queues_behind(&self, tenant: &TenantName, hurdle: &HurdleAt) -> BTreeSet<u32> {
        let names = self.disk.names.read().expect("nobody panics while naming a queue");
        let is_behind = |name: &QueueRef| {
            name.tenant == *tenant && !matches!(&hurdle.gate.gate, GateName::Queue(queue) if *queue != name.queue)
        };
        let behind = names.iter().enumerate().filter(|(_, name)| is_behind(name));
        behind.map(|(number, _)| number as u32).collect()
    }
}
