//! The gates that one transaction looks at: read once, asked in memory, written back at its end. Decides nothing: the core does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::gate::{Ask, BreakerChange, Ending, GateName, GateRef, GateState, Leave, Phase, Rule, Rules};
use mainspring_core::time::Time;

use super::super::error::{Fault, Result, damaged};
use super::super::numbers::ms;
use super::super::packed::{pack, unpack};
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::super::submit::tenant;
use super::facts::{Facts, lot_of};
use crate::embedded::rows::GateRow;

#[derive(Debug)]
pub(in super::super) struct House {
    pub now: Time,
    pub rules: Arc<Rules>,
    states: HashMap<GateRef, GateState>,
    changed: BTreeSet<GateRef>,
    closed: bool,
}

impl House {
    pub fn new(now: Time, rules: Arc<Rules>) -> House {
        House { now, rules, states: HashMap::new(), changed: BTreeSet::new(), closed: false }
    }

    /// Reads what is known of gates, unless it was read before. Our turn must have come (see [`super::lock_tenants`]).
    pub async fn look_at<'g>(
        &mut self,
        txn: &Transaction<'_>,
        gates: impl Iterator<Item = &'g GateRef>,
    ) -> Result<(), Fault> {
        let new: BTreeSet<&GateRef> = gates.filter(|gate| !self.states.contains_key(gate)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let tenants: Vec<&str> = new.iter().map(|gate| gate.tenant.as_str()).collect();
        let names: Vec<String> = new.iter().map(|gate| gate.gate.text()).collect();
        let rows = ask(txn, include_str!("../sql/limits_gates.sql"), &[&tenants, &names]).await?;
        self.states.extend(new.into_iter().map(|gate| (gate.clone(), GateState::default())));
        for row in rows {
            let gate = read_gate(row.get(0), row.get(1))?;
            self.states.insert(gate, read_state(row.get(2), row.get(3))?);
        }
        Ok(())
    }

    /// What holds at a gate. Nothing set, nothing limited.
    pub fn rule(&self, gate: &GateRef) -> Rule {
        self.rules.at(gate).map(|(_, rule)| *rule).unwrap_or_default()
    }

    pub fn state(&self, gate: &GateRef) -> GateState {
        self.states.get(gate).copied().unwrap_or_default()
    }

    pub fn is_open(&self, gate: &GateRef, ask: Ask) -> bool {
        self.state(gate).reasons(&self.rule(gate), ask).next().is_none()
    }

    /// Whether a gate may hold somebody back: a rule holds there, or it is closed.
    pub fn is_limited(&self, gate: &GateRef) -> bool {
        self.rules.at(gate).is_some() || self.state(gate).closed_until.is_some_and(|until| self.now < until)
    }

    /// Where a job stands that comes to be on offer: before the first limited gate of its type and keys.
    pub fn lot(&self, facts: &Facts) -> i64 {
        facts.narrow().find(|gate| self.is_limited(gate)).map_or(0, |gate| lot_of(&gate.gate))
    }

    /// Counts a job in at all its gates. Where no rule holds nothing is kept: who runs there is counted when one is set.
    pub fn enter(&mut self, facts: &Facts) {
        for (gate, part) in &facts.passes {
            let Some(rule) = self.rules.at(gate).map(|(_, rule)| *rule) else { continue };
            let ask = Ask { now: self.now, weight: facts.weight, part: *part };
            self.states.entry(gate.clone()).or_default().enter(&rule, ask);
            self.changed.insert(gate.clone());
        }
    }

    /// Counts a job out at all its gates; answers the breakers that changed.
    pub fn leave(&mut self, facts: &Facts, claimed_at: Time, ending: Ending) -> Vec<(GateRef, BreakerChange)> {
        let mut changes = Vec::new();
        for (gate, part) in &facts.passes {
            let Some(rule) = self.rules.at(gate).map(|(_, rule)| *rule) else { continue };
            let leave = Leave { now: self.now, weight: facts.weight, part: *part, claimed_at, ending };
            let change = self.states.entry(gate.clone()).or_default().leave(&rule, leave);
            changes.extend(change.map(|change| (gate.clone(), change)));
            self.changed.insert(gate.clone());
        }
        changes
    }

    /// Closes the gate of a job's key, rule or not; which, and until when it is closed then.
    pub fn close(&mut self, facts: &Facts, wait: Duration) -> Option<(GateRef, Time)> {
        let gate = GateRef { tenant: facts.queue.tenant.clone(), gate: GateName::Key(facts.keys.closing()?.clone()) };
        let state = self.states.entry(gate.clone()).or_default();
        state.close(self.now, wait);
        let until = state.closed_until;
        self.changed.insert(gate.clone());
        self.closed = true;
        until.map(|until| (gate, until))
    }

    /// Sets what is known of a gate.
    pub fn put(&mut self, gate: GateRef, state: GateState) {
        self.changed.insert(gate.clone());
        self.states.insert(gate, state);
    }

    pub async fn write(&self, txn: &Transaction<'_>) -> Result<(), Fault> {
        if self.closed {
            ask(txn, include_str!("../sql/limits_begin.sql"), &[]).await?;
        }
        let (kept, gone): (Vec<&GateRef>, Vec<&GateRef>) = self.changed.iter().partition(|gate| self.is_kept(gate));
        if !kept.is_empty() {
            let states: BTreeMap<&GateRef, GateState> = kept.iter().map(|gate| (*gate, self.state(gate))).collect();
            let (tenants, names) = texts(&kept);
            let running: Vec<i64> = states.values().map(|state| state.running as i64).collect();
            let opens: Vec<Option<i64>> =
                states.iter().map(|(gate, state)| opens_at(state, &self.rule(gate), self.now).map(ms)).collect();
            let packed: Vec<Vec<u8>> = states.values().map(|state| pack(&GateRow::of(state))).collect();
            let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] = [&tenants, &names, &running, &opens, &packed];
            ask(txn, include_str!("../sql/limits_put_gates.sql"), &params).await?;
        }
        if !gone.is_empty() {
            let (tenants, names) = texts(&gone);
            ask(txn, include_str!("../sql/limits_drop_gates.sql"), &[&tenants, &names]).await?;
        }
        Ok(())
    }

    /// Whether anything has to be kept of it: without a rule, who runs there has not.
    fn is_kept(&self, gate: &GateRef) -> bool {
        let state = self.state(gate);
        if self.rules.at(gate).is_some() { state != GateState::default() } else { state.closed_until.is_some() }
    }
}

/// When time may let somebody in who is held back now, however light: the next instant at which anything changes by itself.
pub(super) fn opens_at(state: &GateState, rule: &Rule, now: Time) -> Option<Time> {
    let open = match state.breaker.phase {
        Phase::Open { until } if rule.breaker.is_some() => Some(until),
        _ => None,
    };
    let permit = rule.rate.as_ref().and_then(|rate| {
        let next = u16::try_from(state.bucket.free(rate, now) + 1).ok()?;
        Some(state.bucket.next_at(rate, now, next))
    });
    [state.closed_until, open, permit].into_iter().flatten().filter(|at| *at > now).min()
}

pub(super) fn texts<'g>(gates: &[&'g GateRef]) -> (Vec<&'g str>, Vec<String>) {
    gates.iter().map(|gate| (gate.tenant.as_str(), gate.gate.text())).unzip()
}

pub(in super::super) fn read_gate(of: &str, text: &str) -> Result<GateRef> {
    let gate = GateName::parse(text).map_err(|error| damaged(format!("the gate {text:?}: {error}")))?;
    Ok(GateRef { tenant: tenant(of)?, gate })
}

pub(in super::super) fn read_state(running: i64, bytes: &[u8]) -> Result<GateState> {
    let row: Option<GateRow> = unpack("gates", bytes)?;
    let running = u64::try_from(running).unwrap_or_default();
    Ok(GateState { running, ..row.map(|row| row.state()).unwrap_or_default() })
}
