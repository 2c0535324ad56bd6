//! The gates as the tables tell of them: rules, what is remembered, what runs, and the heads of the lots. Reads one row for each
//! lane of each lot, however many jobs are in it.

use heed::RoTxn;
use mainspring_core::gate::{GateRef, Reach};
use mainspring_core::id::JobId;
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::super::mirror::Mirror;
use super::super::rows::{self, GateRow, RuleRow, Ways};
use super::super::storage;
use super::super::tables::{self, Tables};
use super::lots::{LotName, Spot};
use super::place;
use super::{Gate, GateKey};

/// After queues and leases.
pub fn load(mirror: &mut Mirror, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
    mirror.gates.note_heaviest(mirror.meta.heaviest);
    load_rules(mirror, txn, tables)?;
    load_gates(mirror, txn, tables)?;
    load_lots(mirror, txn, tables)?;
    if mirror.gates.is_idle() {
        return Ok(());
    }
    let Mirror { queues, gates, leases, .. } = mirror;
    for (&id, lease) in leases.iter() {
        let queue = &queues[lease.slip.queue as usize];
        gates.know_all(txn, tables, queue, (id, &lease.slip))?;
    }
    gates.count(queues, leases.values());
    // What time has opened while nobody looked is not known: whoever waits is told to ask.
    gates.rung = queues.iter().filter(|queue| queue.has_ready()).map(|queue| queue.number).collect();
    gates.unsorted = queues.iter().filter(|queue| !queue.lanes.is_empty()).map(|queue| queue.number).collect();
    Ok(())
}

fn load_rules(mirror: &mut Mirror, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
    for row in tables.rules.iter(txn).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        let (tenant, reach) = rows::read_rule(key)?;
        let rule = rows::decode::<RuleRow>("rules", bytes)?.rule();
        let number = mirror.tenant_number(&tenant);
        match &reach {
            Reach::One(gate) => {
                let name = GateRef { tenant: tenant.clone(), gate: gate.clone() };
                let key = GateKey { tenant: number, hash: Ways::hash_of(gate) };
                mirror.gates.live.insert(key, Gate { name: Some(name), rule: Some(rule), ..Gate::default() });
            }
            Reach::Each { .. } => *mirror.gates.patterns.entry(number).or_default() += 1,
        }
        mirror.gates.rules.set(tenant, reach, rule);
    }
    Ok(())
}

fn load_gates(mirror: &mut Mirror, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
    for row in tables.gates.iter(txn).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        let name = rows::read_gate(key)?;
        let state = rows::decode::<GateRow>("gates", bytes)?.state();
        let key = GateKey { tenant: mirror.tenant_number(&name.tenant), hash: Ways::hash_of(&name.gate) };
        let gates = &mut mirror.gates;
        let rule = gates.rules.at(&name).map(|(_, rule)| *rule);
        gates.live.insert(key, Gate { name: Some(name), rule, state, ..Gate::default() });
    }
    Ok(())
}

fn load_lots(mirror: &mut Mirror, txn: &RoTxn<'_>, tables: &Tables) -> Result<()> {
    for ((number, hash), spot) in heads(txn, tables, None)? {
        let Mirror { queues, gates, .. } = &mut *mirror;
        let queue = &queues[number as usize];
        let key = queue.gate(hash);
        if gates.live.get(&key).is_none_or(|gate| gate.name.is_none()) {
            let name = place::name_of(txn, tables, queue, spot.id, hash)?;
            let rule = gates.rules.at(&name).map(|(_, rule)| *rule);
            let gate = gates.gate(key);
            (gate.name, gate.rule) = (Some(name), rule);
        }
        gates.lots.join((number, hash), spot, queue.aging);
        gates.gate(key).lots.insert(number);
    }
    Ok(())
}

/// The first of each lane of each lot, of one queue or of all, found by leaping from one to the next.
pub fn heads(txn: &RoTxn<'_>, tables: &Tables, queue: Option<u32>) -> Result<Vec<(LotName, Spot)>> {
    let mut heads = Vec::new();
    let mut from = queue.unwrap_or(0).to_be_bytes().to_vec();
    while let Some((key, _)) = tables.lots.get_greater_than_or_equal_to(txn, &from).map_err(storage)? {
        let (name, spot) = tables::read_lot(key);
        if queue.is_some_and(|queue| queue != name.0) {
            break;
        }
        heads.push((name, spot));
        from = tables::lot(name.0, name.1, spot.lane, Time::MAX, JobId::MAX).to_vec();
        from.push(0);
    }
    Ok(heads)
}
