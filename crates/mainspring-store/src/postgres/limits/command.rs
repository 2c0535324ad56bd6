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

/// Every rule there is, for commands that ask about gates, if there is room for all that are to be set. Nobody takes or ends a
/// lease from now on until the transaction is over.
pub(in super::super) async fn rules_for(txn: &Transaction<'_>, commands: &[Command]) -> Result<Rules, Fault> {
    if !commands.iter().any(|command| matches!(command, Command::Gate { .. })) {
        return Ok(Rules::default());
    }
    // Before any row is locked: whoever ends leases holds this one and waits for rows.
    ask(txn, include_str!("../sql/limits_alone.sql"), &[&LOCK]).await?;
    let rules = read_rules(txn).await?;
    let set = commands.iter().filter_map(|command| match command {
        Command::Gate { tenant, reach, what: GateCommand::Set(_) } => Some((tenant, reach)),
        _ => None,
    });
    let new: BTreeSet<(&TenantName, &Reach)> =
        set.filter(|(tenant, reach)| rules.get(tenant, reach).is_none()).collect();
    if rules.len() + new.len() > RULES_MAX {
        return Err(Fault::Store(Error::Invalid(format!(
            "there are {} limits, {} more would be past the bound of {RULES_MAX}; clear some first",
            rules.len(),
            new.len()
        ))));
    }
    Ok(rules)
}

/// Does what is asked, and leaves `rules` as they are then.
pub(in super::super) async fn command(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    rules: &mut Rules,
    (tenant, reach, what): (&TenantName, &Reach, &GateCommand),
) -> Result<Commanded, Fault> {
    let mut gates = kept(store, txn, tenant, rules).await?;
    gates.retain(|gate, _| reach.covers(&gate.gate));
    let (owner, text) = (tenant.as_str(), reach.text());
    let before: Vec<(GateRef, Option<Rule>, GateState)> =
        gates.into_iter().map(|(gate, state)| (gate.clone(), rule_at(rules, &gate), state)).collect();
    let found = match what {
        GateCommand::Set(rule) => {
            rules.set(tenant.clone(), reach.clone(), *rule);
            let packed = pack(&RuleRow::of(rule));
            ask(txn, include_str!("../sql/limits_put_rule.sql"), &[&owner, &text, &packed]).await?;
            true
        }
        GateCommand::Clear => {
            ask(txn, include_str!("../sql/limits_drop_rule.sql"), &[&owner, &text]).await?;
            rules.clear(tenant, reach).is_some()
        }
        GateCommand::Reopen => {
            let is_live = |(_, rule, state): &(GateRef, Option<Rule>, GateState)| {
                !state.is_at_rest(&rule.unwrap_or_default(), now)
            };
            rules.get(tenant, reach).is_some() || before.iter().any(is_live)
        }
    };
    let after = before.into_iter().filter_map(|(gate, from, mut state)| {
        let to = rule_at(rules, &gate);
        match what {
            GateCommand::Reopen => state.reopen(),
            _ if from == to => return None,
            _ => retune(&mut state, now, &from.unwrap_or_default(), &to.unwrap_or_default()),
        }
        Some((gate, state))
    });
    let after: Vec<(GateRef, GateState)> = after.collect();
    if !after.is_empty() {
        let mut house = House::new(now, Arc::new(rules.clone()));
        after.into_iter().for_each(|(gate, state)| house.put(gate, state));
        house.write(txn).await?;
    }
    if found {
        ask(txn, include_str!("../sql/limits_changed.sql"), &[]).await?;
    }
    Ok(if found { Commanded::Done } else { Commanded::Missing })
}

fn rule_at(rules: &Rules, gate: &GateRef) -> Option<Rule> {
    rules.at(gate).map(|(_, rule)| *rule)
}

/// Fits a gate to the rule that holds there now. One that is at rest begins anew.
fn retune(state: &mut GateState, now: Time, from: &Rule, to: &Rule) {
    // A rule that says nothing is as good as none, and changes nothing.
    if from == to {
        return;
    }
    let is_at_rest = state.is_at_rest(from, now);
    state.retune(now, from, to);
    if is_at_rest {
        *state = GateState::default();
    }
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
