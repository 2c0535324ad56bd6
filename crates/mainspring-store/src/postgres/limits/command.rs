//! What people set for gates, and what that does to those that are entered. Lets nobody in: the next claim does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_core::gate::{GateRef, GateState, Reach, Rule, Rules};
use mainspring_core::limits::RULES_MAX;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, Error, GateCommand};
use mainspring_core::time::Time;

use super::super::Postgres;
use super::super::error::{Fault, Result};
use super::super::packed::pack;
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::house::{read_gate, read_state};
use super::{Facts, House, LOCK, read_rules};
use crate::embedded::rows::RuleRow;

/// Whether there is room for all rules that are to be set, those that are here already included.
pub(in super::super) async fn has_room_for_rules(txn: &Transaction<'_>, commands: &[Command]) -> Result<(), Fault> {
    let set = commands.iter().filter_map(|command| match command {
        Command::Gate { tenant, reach, what: GateCommand::Set(_) } => Some((tenant, reach)),
        _ => None,
    });
    let set: BTreeSet<(&TenantName, &Reach)> = set.collect();
    if !commands.iter().any(|command| matches!(command, Command::Gate { .. })) {
        return Ok(());
    }
    // Before any row is locked: whoever ends leases holds this one and waits for rows.
    ask(txn, include_str!("../sql/limits_alone.sql"), &[&LOCK]).await?;
    let rules = read_rules(txn).await?;
    let new = set.into_iter().filter(|(tenant, reach)| rules.get(tenant, reach).is_none()).count();
    if rules.len() + new > RULES_MAX {
        return Err(Fault::Store(Error::Invalid(format!(
            "there are {} limits, {new} more would be past the bound of {RULES_MAX}; clear some first",
            rules.len()
        ))));
    }
    Ok(())
}

pub(in super::super) async fn command(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    tenant: &TenantName,
    reach: &Reach,
    what: &GateCommand,
) -> Result<Commanded, Fault> {
    ask(txn, include_str!("../sql/limits_alone.sql"), &[&LOCK]).await?;
    let before = read_rules(txn).await?;
    let mut after = before.clone();
    let (owner, text) = (tenant.as_str(), reach.text());
    let found = match what {
        GateCommand::Set(rule) => {
            after.set(tenant.clone(), reach.clone(), *rule);
            let packed = pack(&RuleRow::of(rule));
            ask(txn, include_str!("../sql/limits_put_rule.sql"), &[&owner, &text, &packed]).await?;
            true
        }
        GateCommand::Clear => {
            ask(txn, include_str!("../sql/limits_drop_rule.sql"), &[&owner, &text]).await?;
            after.clear(tenant, reach).is_some()
        }
        GateCommand::Reopen => before.get(tenant, reach).is_some(),
    };
    let mut gates = kept(store, txn, tenant, &before).await?;
    gates.retain(|gate, _| reach.covers(&gate.gate));
    let found = match what {
        GateCommand::Reopen => reopen(txn, now, Arc::new(before), gates, found).await?,
        _ => {
            retune(txn, now, &before, Arc::new(after), gates).await?;
            found
        }
    };
    if found {
        ask(txn, include_str!("../sql/limits_changed.sql"), &[]).await?;
    }
    Ok(if found { Commanded::Done } else { Commanded::Missing })
}

/// Every gate of a tenant that something is known of, who runs there counted whether a rule holds or not.
pub(super) async fn kept(
    store: &Postgres,
    txn: &Transaction<'_>,
    tenant: &TenantName,
    rules: &Rules,
) -> Result<BTreeMap<GateRef, GateState>, Fault> {
    let mut gates = BTreeMap::new();
    for row in ask(txn, include_str!("../sql/limits_gates_of.sql"), &[&tenant.as_str()]).await? {
        let gate = read_gate(row.get(0), row.get(1))?;
        let mut state = read_state(row.get(2), row.get(3))?;
        if rules.at(&gate).is_none() {
            state.running = 0;
        }
        gates.insert(gate, state);
    }
    let rows = ask(txn, include_str!("../sql/limits_holders.sql"), &[&tenant.as_str()]).await?;
    let names = store.queues.names_here(txn, rows.iter().map(|row| row.get(1))).await?;
    for row in &rows {
        let facts = Facts::read(row, 2, &names[&row.get::<_, i32>(1)])?;
        for (gate, part) in facts.passes.iter().filter(|(gate, _)| rules.at(gate).is_none()) {
            let state: &mut GateState = gates.entry(gate.clone()).or_default();
            if part.has_concurrency() {
                state.running += u64::from(facts.weight);
            }
        }
    }
    Ok(gates)
}

/// Whether there was anything to reopen.
async fn reopen(
    txn: &Transaction<'_>,
    now: Time,
    rules: Arc<Rules>,
    gates: BTreeMap<GateRef, GateState>,
    is_ruled: bool,
) -> Result<bool, Fault> {
    let mut house = House::new(now, rules);
    let mut found = is_ruled;
    for (gate, mut state) in gates {
        found |= !state.is_at_rest(&house.rule(&gate), now);
        state.reopen();
        house.put(gate, state);
    }
    house.write(txn).await?;
    Ok(found)
}

/// Fits every gate to the rule that holds there now, if that is another one. One that is at rest begins anew.
async fn retune(
    txn: &Transaction<'_>,
    now: Time,
    before: &Rules,
    after: Arc<Rules>,
    gates: BTreeMap<GateRef, GateState>,
) -> Result<(), Fault> {
    let at = |rules: &Rules, gate: &GateRef| -> Rule { rules.at(gate).map(|(_, rule)| *rule).unwrap_or_default() };
    let mut house = House::new(now, after.clone());
    for (gate, mut state) in gates {
        let (from, to) = (at(before, &gate), at(&after, &gate));
        let is_ruled_alike = before.at(&gate).is_some() == after.at(&gate).is_some();
        if from == to && is_ruled_alike {
            continue;
        }
        if from != to {
            let is_at_rest = state.is_at_rest(&from, now);
            state.retune(now, &from, &to);
            if is_at_rest {
                state = GateState::default();
            }
        }
        house.put(gate, state);
    }
    house.write(txn).await
}

/// Forgets every gate that is at rest.
pub(in super::super) async fn forget_what_rests(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
) -> Result<(), Fault> {
    let tenants = ask(txn, include_str!("../sql/limits_tenants.sql"), &[]).await?;
    if tenants.is_empty() {
        return Ok(());
    }
    // Alone, so that nobody enters what is being forgotten.
    ask(txn, include_str!("../sql/limits_alone.sql"), &[&LOCK]).await?;
    let rules = Arc::new(read_rules(txn).await?);
    for row in tenants {
        let tenant = super::tenant(row.get(0))?;
        let mut house = House::new(now, rules.clone());
        for (gate, state) in kept(store, txn, &tenant, &rules).await? {
            if state.is_at_rest(&house.rule(&gate), now) {
                house.put(gate, GateState::default());
            }
        }
        house.write(txn).await?;
    }
    Ok(())
}
