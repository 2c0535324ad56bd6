//! The rules of all tenants, and the gates that something is known of. Asks no jobs: who passes a gate is the caller's.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_core::gate::{Ask, BreakerChange, Entry, GateRef, GateState, Leave, Part, Reach, Rule, Rules, gates_of};
use mainspring_core::job::Job;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Commanded, GateCommand};
use mainspring_core::time::Time;

#[derive(Clone, Debug, Default)]
pub(super) struct Gates {
    pub rules: Rules,
    /// A gate that is not in here is at rest.
    pub states: BTreeMap<GateRef, GateState>,
}

/// The gates of a job, and which part of their rules it is under.
pub(super) fn passes(job: &Job) -> impl Iterator<Item = (GateRef, Part)> {
    let named = |gate| GateRef { tenant: job.tenant.clone(), gate };
    gates_of(&job.queue, &job.kind, &job.keys).map(move |pass| (named(pass.gate), pass.part))
}

impl Gates {
    /// What holds at a gate. Nothing set, nothing limited.
    pub fn rule(&self, gate: &GateRef) -> Rule {
        self.rules.at(gate).map(|(_, rule)| *rule).unwrap_or_default()
    }

    pub fn state(&self, gate: &GateRef) -> GateState {
        self.states.get(gate).copied().unwrap_or_default()
    }

    /// Why a gate does not let somebody in.
    pub fn reasons(&self, gate: &GateRef, ask: Ask) -> impl Iterator<Item = Entry> + use<> {
        self.state(gate).reasons(&self.rule(gate), ask)
    }

    pub fn is_open(&self, gate: &GateRef, ask: Ask) -> bool {
        self.reasons(gate, ask).next().is_none()
    }

    /// Whether all gates of a job would let it in, if nobody went before it.
    pub fn let_in(&self, now: Time, job: &Job) -> bool {
        passes(job).all(|(gate, part)| self.is_open(&gate, Ask { now, weight: job.keys.weight, part }))
    }

    /// Whether a gate may hold somebody back: a rule holds there, or it is closed.
    pub fn is_limited(&self, now: Time, gate: &GateRef) -> bool {
        self.rules.at(gate).is_some() || self.state(gate).closed_until.is_some_and(|until| now < until)
    }

    pub fn enter(&mut self, now: Time, job: &Job) {
        for (gate, part) in passes(job) {
            let rule = self.rule(&gate);
            self.states.entry(gate).or_default().enter(&rule, Ask { now, weight: job.keys.weight, part });
        }
    }

    /// Takes a job out of all its gates, as `how` says; answers the breakers that changed. Each gate is left by the part
    /// it was entered by.
    pub fn leave(&mut self, job: &Job, how: Leave) -> Vec<(GateRef, BreakerChange)> {
        let mut changes = Vec::new();
        for (gate, part) in passes(job) {
            let rule = self.rule(&gate);
            let change = self.states.entry(gate.clone()).or_default().leave(&rule, Leave { part, ..how });
            changes.extend(change.map(|change| (gate, change)));
        }
        changes
    }

    /// Closes a gate, rule or not; answers until when it is closed then.
    pub fn close(&mut self, now: Time, gate: &GateRef, wait: Duration) -> Option<Time> {
        let state = self.states.entry(gate.clone()).or_default();
        state.close(now, wait);
        state.closed_until
    }

    pub fn command(&mut self, now: Time, tenant: TenantName, reach: Reach, what: GateCommand) -> Commanded {
        let covered = self.states.keys().filter(|gate| gate.tenant == tenant && reach.covers(&gate.gate));
        let covered: Vec<(GateRef, Rule)> = covered.map(|gate| (gate.clone(), self.rule(gate))).collect();
        let found = match what {
            GateCommand::Set(rule) => {
                self.rules.set(tenant, reach, rule);
                true
            }
            GateCommand::Clear => self.rules.clear(&tenant, &reach).is_some(),
            GateCommand::Reopen => {
                let is_busy = |(gate, rule): &(GateRef, Rule)| !self.state(gate).is_at_rest(rule, now);
                let found = self.rules.get(&tenant, &reach).is_some() || covered.iter().any(is_busy);
                covered.iter().for_each(|(gate, _)| self.states.entry(gate.clone()).or_default().reopen());
                found
            }
        };
        for (gate, before) in covered {
            self.retune(now, gate, before);
        }
        if found { Commanded::Done } else { Commanded::Missing }
    }

    /// Fits a gate to the rule that holds there now, if that is another one. One that is at rest begins anew.
    fn retune(&mut self, now: Time, gate: GateRef, before: Rule) {
        let (rule, mut state) = (self.rule(&gate), self.state(&gate));
        if rule == before {
            return;
        }
        if state.is_at_rest(&before, now) {
            self.states.remove(&gate);
        } else {
            state.retune(now, &before, &rule);
            self.states.insert(gate, state);
        }
    }

    pub fn forget_what_rests(&mut self, now: Time) {
        let Gates { rules, states } = self;
        states.retain(|gate, state| {
            let rule = rules.at(gate).map(|(_, rule)| *rule).unwrap_or_default();
            !state.is_at_rest(&rule, now)
        });
    }
}
