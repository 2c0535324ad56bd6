//! What the gates must be, from who entered and left them and what people set. The rules of a single gate are the core's; that every way
//! into a lease and out of one passes its gates is what is followed here.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_core::gate::{Ask, Entry, GateRef, GateState, Leave, Part, Reach, Rule, Rules, gates_of};
use mainspring_core::job::Job;
use mainspring_core::name::TenantName;
use mainspring_core::store::GateCommand;
use mainspring_core::time::Time;

#[derive(Clone, Debug, Default)]
pub struct Gates {
    pub rules: Rules,
    states: BTreeMap<GateRef, GateState>,
}

/// The gates of a job, and which part of their rules it is under.
pub fn passes(job: &Job) -> impl Iterator<Item = (GateRef, Part)> {
    let named = |gate| GateRef { tenant: job.tenant.clone(), gate };
    gates_of(&job.queue, &job.kind, &job.keys).map(move |pass| (named(pass.gate), pass.part))
}

impl Gates {
    pub fn rule(&self, gate: &GateRef) -> Rule {
        self.rules.at(gate).map(|(_, rule)| *rule).unwrap_or_default()
    }

    /// Whether nothing can be held back anywhere.
    pub fn are_all_open(&self) -> bool {
        self.rules.is_empty() && self.states.values().all(|state| state.closed_until.is_none())
    }

    /// The gates that do not let a job in, each with its first reason.
    pub fn hurdles(&self, now: Time, job: &Job) -> Vec<(GateRef, Entry)> {
        let weight = job.keys.weight;
        let hurdle = |(gate, part): (GateRef, Part)| {
            let state = self.states.get(&gate).copied().unwrap_or_default();
            let entry = state.entry(&self.rule(&gate), Ask { now, weight, part });
            (entry != Entry::Open).then_some((gate, entry))
        };
        passes(job).filter_map(hurdle).collect()
    }

    pub fn enter(&mut self, now: Time, job: &Job) {
        for (gate, part) in passes(job) {
            let rule = self.rule(&gate);
            self.states.entry(gate).or_default().enter(&rule, Ask { now, weight: job.keys.weight, part });
        }
    }

    pub fn leave(&mut self, job: &Job, how: Leave) {
        for (gate, part) in passes(job) {
            let rule = self.rule(&gate);
            self.states.entry(gate).or_default().leave(&rule, Leave { part, ..how });
        }
    }

    pub fn close(&mut self, now: Time, gate: GateRef, wait: Duration) {
        self.states.entry(gate).or_default().close(now, wait);
    }

    pub fn command(&mut self, now: Time, tenant: &TenantName, reach: &Reach, what: GateCommand) {
        let covered = self.states.keys().filter(|gate| gate.tenant == *tenant && reach.covers(&gate.gate));
        let covered: Vec<(GateRef, Rule)> = covered.map(|gate| (gate.clone(), self.rule(gate))).collect();
        match what {
            GateCommand::Set(rule) => drop(self.rules.set(tenant.clone(), reach.clone(), rule)),
            GateCommand::Clear => drop(self.rules.clear(tenant, reach)),
            GateCommand::Reopen => {
                covered.iter().for_each(|(gate, _)| self.states.entry(gate.clone()).or_default().reopen());
            }
        }
        for (gate, before) in covered {
            self.retune(now, gate, before);
        }
    }

    fn retune(&mut self, now: Time, gate: GateRef, before: Rule) {
        let rule = self.rule(&gate);
        let state = self.states.entry(gate.clone()).or_default();
        if rule == before {
            return;
        }
        if state.is_at_rest(&before, now) {
            self.states.remove(&gate);
        } else {
            state.retune(now, &before, &rule);
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
