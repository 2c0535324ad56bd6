//! What readers ask of gates. Changes nothing.
//!
//! Isolation. One transaction that changes nothing holds the rules still, so that what is counted from leases belongs to what is kept.

use mainspring_core::gate::{Ask, Entry, GateRef, GateState, Part, Reach, Rules};
use mainspring_core::id::JobId;
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::store::{GateView, Hurdle};
use mainspring_core::time::Time;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result};
use super::super::pipeline::ask;
use super::super::pool::{Transaction, transact};
use super::command::kept;
use super::{Facts, House, LOCK, read_rules};

/// Every rule, and every gate without a rule of its own that is worth a look.
pub(in super::super) async fn gates(store: &Postgres, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
    let views = transact!(store.pool, |txn| gates_in(store, &txn, tenant, now).await?);
    Ok(views)
}

async fn gates_in(
    store: &Postgres,
    txn: &Transaction<'_>,
    tenant: &TenantName,
    now: Time,
) -> Result<Vec<GateView>, Fault> {
    ask(txn, include_str!("../sql/limits_share.sql"), &[&LOCK]).await?;
    let rules = read_rules(txn).await?;
    let states = kept(store, txn, tenant, &rules).await?;
    let mut views = Vec::new();
    for (_, reach, rule) in rules.iter().filter(|(owner, ..)| *owner == tenant) {
        let state = match reach {
            Reach::One(gate) => {
                let gate = GateRef { tenant: tenant.clone(), gate: gate.clone() };
                states.get(&gate).copied().unwrap_or_default().as_of(rule, now)
            }
            Reach::Each { .. } => GateState::default(),
        };
        views.push(GateView { reach: reach.clone(), rule: Some((reach.clone(), *rule)), state, waiting: 0 });
    }
    views.extend(states.iter().filter_map(|(gate, state)| unruled(&rules, gate, state, now)));
    views.sort_by(|one, other| one.reach.cmp(&other.reach));
    for view in &mut views {
        view.waiting = waiting(txn, tenant, &view.reach).await?;
    }
    Ok(views)
}

/// A gate that a pattern holds at, or that is closed without any rule; if it is not at rest.
fn unruled(rules: &Rules, gate: &GateRef, state: &GateState, now: Time) -> Option<GateView> {
    let reach = Reach::One(gate.gate.clone());
    let rule = rules.at(gate).map(|(reach, rule)| (reach.clone(), *rule));
    if rule.as_ref().is_some_and(|(set_for, _)| *set_for == reach) {
        return None;
    }
    let state = state.as_of(&rule.as_ref().map(|(_, rule)| *rule).unwrap_or_default(), now);
    let is_shown = state != GateState::default() && (rule.is_some() || state.closed_until.is_some());
    is_shown.then_some(GateView { reach, rule, state, waiting: 0 })
}

/// How many jobs stand before it, counted up to a bound: a hint.
async fn waiting(txn: &Transaction<'_>, tenant: &TenantName, reach: &Reach) -> Result<u64, Fault> {
    let Reach::One(gate) = reach else { return Ok(0) };
    if super::facts::is_wide(gate) {
        return Ok(0);
    }
    let lot = super::facts::lot_of(gate);
    let rows =
        ask(txn, include_str!("../sql/limits_waiting.sql"), &[&tenant.as_str(), &lot, &WAITING_SHOWN_MAX]).await?;
    Ok(rows[0].get::<_, i64>(0).unsigned_abs())
}

/// How many jobs before a gate are counted, of each queue.
const WAITING_SHOWN_MAX: i64 = 10_000;

pub(in super::super) async fn hurdles(
    store: &Postgres,
    tenant: &TenantName,
    id: JobId,
    now: Time,
) -> Result<Option<Vec<Hurdle>>> {
    let hurdles = transact!(store.pool, |txn| hurdles_in(store, &txn, tenant, id, now).await?);
    Ok(hurdles)
}

async fn hurdles_in(
    store: &Postgres,
    txn: &Transaction<'_>,
    tenant: &TenantName,
    id: JobId,
    now: Time,
) -> Result<Option<Vec<Hurdle>>, Fault> {
    ask(txn, include_str!("../sql/limits_share.sql"), &[&LOCK]).await?;
    if ask(txn, include_str!("../sql/limits_is_ready.sql"), &[&id.uuid()]).await?.is_empty() {
        return Ok(None);
    }
    let Some(facts) = Facts::of(store, txn, &[id.uuid()]).await?.remove(&id) else { return Ok(None) };
    if facts.queue.tenant != *tenant {
        return Ok(None);
    }
    let mut house = House::new(now, std::sync::Arc::new(read_rules(txn).await?));
    house.look_at(txn, facts.passes.iter().map(|(gate, _)| gate)).await?;
    let mut hurdles = Vec::new();
    for (gate, part) in &facts.passes {
        let ask = Ask { now, weight: facts.weight, part: *part };
        let reasons: Vec<Entry> = house.state(gate).reasons(&house.rule(gate), ask).collect();
        let is_full = reasons.iter().any(|reason| matches!(reason, Entry::Full { .. }));
        let holders = if is_full { holders(store, txn, gate).await? } else { Vec::new() };
        if !reasons.is_empty() {
            hurdles.push(Hurdle { gate: gate.clone(), reasons, holders });
        }
    }
    Ok(Some(hurdles))
}

/// Who holds a slot of a gate, also if the lease was taken back.
async fn holders(store: &Postgres, txn: &Transaction<'_>, gate: &GateRef) -> Result<Vec<JobId>, Fault> {
    let rows = ask(txn, include_str!("../sql/limits_holders.sql"), &[&gate.tenant.as_str()]).await?;
    let names = store.queues.names(txn, rows.iter().map(|row| row.get(1))).await?;
    let mut holders = Vec::new();
    for row in &rows {
        let facts = Facts::read(row, 2, &names[&row.get::<_, i32>(1)])?;
        let part: Option<Part> = facts.passes.iter().find(|(passed, _)| passed == gate).map(|(_, part)| *part);
        if part.is_some_and(Part::has_concurrency) {
            holders.push(JobId::from(row.get::<_, Uuid>(0)));
        }
        if holders.len() == limits::HOLDERS_SHOWN_MAX {
            break;
        }
    }
    Ok(holders)
}
