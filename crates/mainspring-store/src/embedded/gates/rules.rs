//! What holds where, changed while jobs run and wait. Moves nobody: claims put jobs beside their gates as they meet them.

use std::collections::BTreeSet;

use mainspring_core::gate::{GateRef, GateState, Reach, Rule};
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, Error, GateCommand, Result};
use mainspring_core::time::Time;

use super::super::batch::Batch;
use super::super::mirror::Mirror;
use super::super::rows::{RuleRow, Ways};
use super::super::tables;
use super::place;
use super::{GateKey, Gates};

/// Whether the rules among these that are new would fit.
pub fn has_room_for(gates: &Gates, commands: &[Command]) -> Result<()> {
    let set = commands.iter().filter_map(|command| match command {
        Command::Gate { tenant, reach, what: GateCommand::Set(_) } => Some((tenant, reach)),
        _ => None,
    });
    let new: BTreeSet<_> = set.filter(|(tenant, reach)| gates.rules.get(tenant, reach).is_none()).collect();
    if gates.rules.len() + new.len() <= limits::RULES_MAX {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "there are {} limits already, {} more are asked for and there can be {} (RULES_MAX); clear some first",
        gates.rules.len(),
        new.len(),
        limits::RULES_MAX
    )))
}

pub fn command(
    batch: &mut Batch<'_>,
    now: Time,
    tenant: TenantName,
    reach: Reach,
    what: GateCommand,
) -> Result<Commanded> {
    let found = match what {
        GateCommand::Set(rule) => set(batch, now, tenant, reach, rule)?,
        GateCommand::Clear => clear(batch, now, &tenant, &reach)?,
        GateCommand::Reopen => reopen(batch, now, &tenant, &reach)?,
    };
    Ok(if found { Commanded::Done } else { Commanded::Missing })
}

fn set(batch: &mut Batch<'_>, now: Time, tenant: TenantName, reach: Reach, rule: Rule) -> Result<bool> {
    batch.put(batch.tables.rules, &tables::rule(&tenant, &reach), &RuleRow::of(&rule))?;
    let number = batch.mirror.tenant_number(&tenant);
    count_if_idle(batch.mirror);
    let gates = &mut batch.mirror.gates;
    let before = gates.rules.set(tenant.clone(), reach.clone(), rule);
    match &reach {
        Reach::One(gate) => {
            let key = GateKey { tenant: number, hash: Ways::hash_of(gate) };
            gates.gate(key).name = Some(GateRef { tenant, gate: gate.clone() });
        }
        Reach::Each { .. } => {
            if before.is_none() {
                *gates.patterns.entry(number).or_default() += 1;
            }
            name_running(batch, number)?;
        }
    }
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    gates.retune(now, number, &reach);
    gates.mark_unsorted(queues, number);
    Ok(true)
}

fn clear(batch: &mut Batch<'_>, now: Time, tenant: &TenantName, reach: &Reach) -> Result<bool> {
    let number = batch.mirror.tenant_number(tenant);
    let gates = &mut batch.mirror.gates;
    if gates.rules.clear(tenant, reach).is_none() {
        return Ok(false);
    }
    if let (Reach::Each { .. }, Some(patterns)) = (reach, gates.patterns.get_mut(&number)) {
        *patterns -= 1;
        if *patterns == 0 {
            gates.patterns.remove(&number);
        }
    }
    gates.retune(now, number, reach);
    gates.rest_soon();
    batch.delete(batch.tables.rules, &tables::rule(tenant, reach))?;
    Ok(true)
}

/// Whether there was anything to reopen.
fn reopen(batch: &mut Batch<'_>, now: Time, tenant: &TenantName, reach: &Reach) -> Result<bool> {
    let number = batch.mirror.tenant_number(tenant);
    count_if_idle(batch.mirror);
    if let Reach::Each { .. } = reach {
        name_running(batch, number)?;
    }
    let gates = &mut batch.mirror.gates;
    let mut found = gates.rules.get(tenant, reach).is_some();
    for key in gates.in_reach(number, reach) {
        let gate = gates.gate(key);
        let before = gate.state;
        found |= !before.is_at_rest(&gate.rule(), now);
        gate.state.reopen();
        if gate.state != before {
            gates.touch(key, now);
            gates.open_lots(key);
        }
    }
    gates.rest_soon();
    Ok(found)
}

/// Counts what runs: until now, nobody needed to know.
pub fn count_if_idle(mirror: &mut Mirror) {
    let Mirror { queues, gates, leases, .. } = mirror;
    if gates.is_idle() {
        gates.count(queues, leases.values());
    }
}

/// Finds the names of gates of which only `running` is known: a pattern may be for them.
fn name_running(batch: &mut Batch<'_>, tenant: u32) -> Result<()> {
    let Mirror { queues, gates, leases, .. } = &mut *batch.mirror;
    for (&id, lease) in leases.iter() {
        let queue = &queues[lease.slip.queue as usize];
        if queue.tenant != tenant {
            continue;
        }
        let own = gates.gate(queue.own_gate());
        own.name.get_or_insert_with(|| queue.gate_ref());
        for (hash, _) in lease.slip.ways.passes() {
            let key = queue.gate(hash);
            if gates.live.get(&key).is_some_and(|gate| gate.name.is_none()) {
                let name = place::name_of(&batch.txn, batch.tables, queue, id, hash)?;
                gates.gate(key).name = Some(name);
            }
        }
    }
    Ok(())
}

impl Gates {
    /// The gates that something is known of and that a reach is for.
    fn in_reach(&self, tenant: u32, reach: &Reach) -> Vec<GateKey> {
        if let Reach::One(gate) = reach {
            let key = GateKey { tenant, hash: Ways::hash_of(gate) };
            return self.live.contains_key(&key).then_some(key).into_iter().collect();
        }
        let covered = self.live.iter().filter(|(key, gate)| {
            key.tenant == tenant && gate.name.as_ref().is_some_and(|name| reach.covers(&name.gate))
        });
        covered.map(|(&key, _)| key).collect()
    }

    /// Fits the gates in reach to the rule that holds there now, if that is another one. One that is at rest begins anew.
    fn retune(&mut self, now: Time, tenant: u32, reach: &Reach) {
        self.unruled.clear();
        for key in self.in_reach(tenant, reach) {
            let Gates { rules, live, .. } = self;
            let Some(gate) = live.get_mut(&key) else { continue };
            let after = gate.name.as_ref().and_then(|name| rules.at(name)).map(|(_, rule)| *rule);
            let (from, to) = (gate.rule(), after.unwrap_or_default());
            gate.rule = after;
            if from != to {
                if gate.state.is_at_rest(&from, now) {
                    gate.state = GateState::default();
                } else {
                    gate.state.retune(now, &from, &to);
                }
            }
            self.touch(key, now);
            self.open_lots(key);
        }
    }

    /// Forgets what is at rest.
    pub fn forget_what_rests(&mut self, now: Time) {
        if self.is_idle() {
            return;
        }
        let resting = self.live.iter().filter(|(_, gate)| gate.state.is_at_rest(&gate.rule(), now));
        for key in resting.map(|(&key, _)| key).collect::<Vec<_>>() {
            let gate = self.gate(key);
            if std::mem::take(&mut gate.state) != GateState::default() {
                self.touch(key, now);
            }
            self.drop_if_learned(key);
        }
        self.rest_soon();
    }

    /// Something is gone: there may be nothing left to count for, once that is written.
    fn rest_soon(&mut self) {
        if self.touched.is_empty() {
            self.rest_if_nothing();
        } else {
            self.may_rest = true;
        }
    }

    /// Forgets a gate at rest that is known by a pattern alone: it is learned again when somebody comes.
    fn drop_if_learned(&mut self, key: GateKey) {
        let gate = &self.live[&key];
        let is_busy = gate.is_touched || gate.alarm.is_some() || !gate.lots.is_empty();
        let has_own_rule = gate
            .name
            .as_ref()
            .is_none_or(|name| self.rules.get(&name.tenant, &Reach::One(name.gate.clone())).is_some());
        if !is_busy && !has_own_rule {
            self.live.remove(&key);
        }
    }

    /// Stops counting when nothing is limited any more and nobody stands anywhere.
    pub fn rest_if_nothing(&mut self) {
        let is_running_alone =
            |gate: &super::Gate| gate.lots.is_empty() && GateState { running: 0, ..gate.state } == GateState::default();
        if self.rules.is_empty() && self.live.values().all(is_running_alone) {
            self.live.clear();
            self.alarms.clear();
            self.unsorted.clear();
        }
        self.may_rest = false;
    }
}
