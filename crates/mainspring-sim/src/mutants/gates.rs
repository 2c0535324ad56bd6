//! Mutants whose gates go wrong: they are left too late, too early or never, forget, or never open again.

use std::collections::BTreeMap;

use mainspring_core::gate::{GateRef, GateState, Phase, gates_of};
use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::store::Settled;
use mainspring_core::time::Time;

use super::Mutant;
use super::store::Mutated;
use crate::hop::{Ask, Hop, Reply};

type Gates = BTreeMap<GateRef, GateState>;

impl Mutated {
    /// The gates as they are, for those who put them back.
    pub(super) fn gates(&self) -> Gates {
        let mut gates = Gates::new();
        if self.how == Mutant::SlotKeptAtRelease {
            self.ground().tamper(|states| gates.clone_from(states));
        }
        gates
    }

    /// What a call does to the gates beside what it should.
    pub(super) fn bend_gates(&self, now: Time, ask: &Ask, reply: &Reply, before: Gates) {
        let change_all = |change: &dyn Fn(&mut GateState)| {
            self.ground().tamper(|states| states.values_mut().for_each(change));
        };
        match (self.how, ask, reply) {
            (Mutant::SlotKeptAtReclaim | Mutant::SlotFreedAtReclaim, _, Reply::Reclaim(reclaimed)) => {
                for taken in &reclaimed.leases {
                    let first_time = self.notes().taken_back.insert(taken.claimed.job.id);
                    if first_time && self.how == Mutant::SlotFreedAtReclaim {
                        self.move_slots(&taken.claimed.job, false);
                    }
                }
            }
            (Mutant::SlotKeptAtReclaim | Mutant::SlotFreedAtReclaim, Ask::Settle(ends), Reply::Settle(answers)) => {
                let applied = |answer: &Settled| matches!(answer, Settled::Applied { .. });
                for (end, _) in ends.iter().zip(answers).filter(|(_, answer)| applied(answer)) {
                    self.settled(end.lease.job);
                }
            }
            (Mutant::SlotKeptAtRelease, Ask::Heartbeat(_), _) => self.ground().tamper(|states| {
                for (gate, state) in before {
                    let is = states.entry(gate).or_default();
                    is.running = is.running.max(state.running);
                }
            }),
            (Mutant::RefilledTwice, Ask::Claim(_), _) => change_all(&|state| {
                // Half of what is in use is back at once.
                let (ticks, full_at) = (now.as_millis() << 16, state.bucket.full_at);
                state.bucket.full_at = full_at.min(ticks + full_at.saturating_sub(ticks) / 2);
            }),
            (Mutant::GatesForgotten, Ask::Prune(_), _) => self.ground().tamper(BTreeMap::clear),
            (Mutant::BreakerNeverHalfOpens, Ask::Settle(_), _) => change_all(&|state| {
                if let Phase::Open { until } = &mut state.breaker.phase {
                    *until = Time::MAX;
                }
            }),
            (Mutant::BreakerNeverOpens, Ask::Settle(_), _) => change_all(&|state| state.breaker = Default::default()),
            (Mutant::ClosureForgotten, Ask::Settle(_), _) => change_all(&|state| state.closed_until = None),
            _ => {}
        }
    }

    fn settled(&self, id: JobId) {
        let was_taken_back = self.notes().taken_back.remove(&id);
        if was_taken_back && let Some(view) = self.view(id) {
            // Freed early, it must not be freed again; kept, it comes back.
            self.move_slots(&view.job, true);
        }
    }

    fn move_slots(&self, job: &Job, back: bool) {
        let weight = u64::from(job.keys.weight);
        self.ground().tamper(|states| {
            for pass in gates_of(&job.queue, &job.kind, &job.keys).filter(|pass| pass.part.has_concurrency()) {
                let state = states.entry(GateRef { tenant: job.tenant.clone(), gate: pass.gate }).or_default();
                state.running = if back { state.running + weight } else { state.running.saturating_sub(weight) };
            }
        });
    }
}
