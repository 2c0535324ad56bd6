//! What readers ask of gates. Changes nothing.

use mainspring_core::gate::{Ask, Entry as Answer, GateRef, GateState, Part, Reach, Rule};
use mainspring_core::id::JobId;
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::store::{GateView, Hurdle};
use mainspring_core::time::Time;

use super::book::{Book, Entry};
use super::gates::passes;

impl Book {
    /// Every rule, and every gate without a rule of its own that is worth a look.
    pub(super) fn gates(&self, tenant: &TenantName, now: Time) -> Vec<GateView> {
        let rules = self.gates.rules.iter().filter(|(owner, ..)| *owner == tenant);
        let mut views: Vec<GateView> = rules.map(|(_, reach, rule)| self.ruled(now, tenant, reach, *rule)).collect();
        let gates = self.gates.states.keys().filter(|gate| gate.tenant == *tenant);
        views.extend(gates.filter_map(|gate| self.unruled(now, gate)));
        views.sort_by(|one, other| one.reach.cmp(&other.reach));
        views
    }

    fn ruled(&self, now: Time, tenant: &TenantName, reach: &Reach, rule: Rule) -> GateView {
        let (state, waiting) = match reach {
            Reach::One(gate) => {
                let gate = GateRef { tenant: tenant.clone(), gate: gate.clone() };
                (self.gates.state(&gate).as_of(&rule, now), self.waiting_at(now, &gate))
            }
            Reach::Each { .. } => (GateState::default(), 0),
        };
        GateView { reach: reach.clone(), rule: Some((reach.clone(), rule)), state, waiting }
    }

    /// A gate that a pattern holds at, or that is closed without any rule; if it is not at rest.
    fn unruled(&self, now: Time, gate: &GateRef) -> Option<GateView> {
        let reach = Reach::One(gate.gate.clone());
        let rule = self.gates.rules.at(gate).map(|(reach, rule)| (reach.clone(), *rule));
        if rule.as_ref().is_some_and(|(set_for, _)| *set_for == reach) {
            return None;
        }
        let state = self.gates.state(gate).as_of(&self.gates.rule(gate), now);
        let is_shown = state != GateState::default() && (rule.is_some() || state.closed_until.is_some());
        is_shown.then(|| GateView { reach, rule, state, waiting: self.waiting_at(now, gate) })
    }

    /// How many jobs on offer it does not let in.
    fn waiting_at(&self, now: Time, gate: &GateRef) -> u64 {
        let waits = |entry: &&Entry| {
            entry.is_on_offer()
                && part_at(entry, gate)
                    .is_some_and(|part| !self.gates.is_open(gate, Ask { now, weight: entry.job.keys.weight, part }))
        };
        self.jobs.values().filter(waits).count() as u64
    }

    pub(super) fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Option<Vec<Hurdle>> {
        let entry = self.job_of(tenant, id).filter(|entry| entry.is_on_offer())?;
        let hurdles = passes(&entry.job).map(|(gate, part)| {
            let reasons: Vec<Answer> =
                self.gates.reasons(&gate, Ask { now, weight: entry.job.keys.weight, part }).collect();
            let is_full = reasons.iter().any(|reason| matches!(reason, Answer::Full { .. }));
            let holders = if is_full { self.holders(&gate) } else { Vec::new() };
            Hurdle { gate, reasons, holders }
        });
        Some(hurdles.filter(|hurdle| !hurdle.reasons.is_empty()).collect())
    }

    /// Who holds a slot of a gate, also if the lease was taken back.
    fn holders(&self, gate: &GateRef) -> Vec<JobId> {
        let leased = self.jobs.values().filter(|entry| entry.standing.lease.is_some());
        let holders = leased.filter(|entry| part_at(entry, gate).is_some_and(Part::has_concurrency));
        holders.map(|entry| entry.job.id).take(limits::HOLDERS_SHOWN_MAX).collect()
    }
}

/// The part by which a job passes a gate, if it does.
fn part_at(entry: &Entry, gate: &GateRef) -> Option<Part> {
    passes(&entry.job).find(|(passed, _)| passed == gate).map(|(_, part)| part)
}
