//! What readers see of gates. The writer tells their states, since only its memory has them all; who holds a gate and who
//! stands before it is read from a snapshot ([`super::super::read`]), which keeps nobody waiting.

use mainspring_core::gate::{Ask, Entry, GateName, GateRef, GateState, Reach, Rule, gates_of};
use mainspring_core::job::Job;
use mainspring_core::name::TenantName;
use mainspring_core::store::GateView;
use mainspring_core::time::Time;

use super::super::mirror::Mirror;
use super::super::rows::Ways;
use super::{Gate, GateKey};

/// A view, and the lots before its gate.
pub struct ViewAt {
    pub view: GateView,
    pub hash: u64,
    pub queues: Vec<u32>,
}

/// Every rule, and every gate without a rule of its own that is worth a look.
pub fn gates(mirror: &mut Mirror, tenant: &TenantName, now: Time) -> Vec<ViewAt> {
    let number = mirror.tenant_number(tenant);
    let gates = &mirror.gates;
    let rules = gates.rules.iter().filter(|(owner, ..)| *owner == tenant);
    let ruled = rules.map(|(_, reach, rule)| {
        let gate = match reach {
            Reach::One(gate) => gates.live.get(&GateKey { tenant: number, hash: Ways::hash_of(gate) }),
            Reach::Each { .. } => None,
        };
        view(reach.clone(), Some((reach.clone(), *rule)), gate, now)
    });
    let unruled = gates.live.iter().filter(|(key, _)| key.tenant == number).filter_map(|(_, gate)| {
        let name = gate.name.as_ref()?;
        let reach = Reach::One(name.gate.clone());
        let rule = gates.rules.at(name).map(|(reach, rule)| (reach.clone(), *rule));
        if rule.as_ref().is_some_and(|(set_for, _)| *set_for == reach) {
            return None;
        }
        let is_ruled = rule.is_some();
        let seen = view(reach, rule, Some(gate), now);
        let state = &seen.view.state;
        let is_shown = *state != GateState::default() && (is_ruled || state.closed_until.is_some());
        is_shown.then_some(seen)
    });
    let mut views: Vec<ViewAt> = ruled.chain(unruled).collect();
    views.sort_by(|one, other| one.view.reach.cmp(&other.view.reach));
    views
}

fn view(reach: Reach, rule: Option<(Reach, Rule)>, gate: Option<&Gate>, now: Time) -> ViewAt {
    let holds = rule.as_ref().map(|(_, rule)| *rule).unwrap_or_default();
    let hash = if let Reach::One(gate) = &reach { Ways::hash_of(gate) } else { 0 };
    ViewAt {
        hash,
        queues: gate.map(|gate| gate.lots.iter().copied().collect()).unwrap_or_default(),
        view: GateView {
            reach,
            rule,
            state: gate.map(|gate| gate.state.as_of(&holds, now)).unwrap_or_default(),
            waiting: 0,
        },
    }
}

/// A gate that does not let a job in.
pub struct HurdleAt {
    pub gate: GateRef,
    pub reasons: Vec<Entry>,
    pub hash: u64,
}

/// The gates that do not let a job in, in their order.
pub fn hurdles(mirror: &mut Mirror, job: &Job, now: Time) -> Vec<HurdleAt> {
    let tenant = mirror.tenant_number(&job.tenant);
    let passes = gates_of(&job.queue, &job.kind, &job.keys);
    let hurdles = passes.map(|pass| {
        let gate = GateRef { tenant: job.tenant.clone(), gate: pass.gate };
        let hash = Ways::hash_of(&gate.gate);
        let rule = mirror.gates.rules.at(&gate).map(|(_, rule)| *rule).unwrap_or_default();
        let state = mirror.gates.live.get(&GateKey { tenant, hash }).map(|gate| gate.state).unwrap_or_default();
        let ask = Ask { now, weight: job.keys.weight, part: pass.part };
        HurdleAt { reasons: state.reasons(&rule, ask).collect(), gate, hash }
    });
    hurdles.filter(|hurdle| !hurdle.reasons.is_empty()).collect()
}

impl HurdleAt {
    /// Whether all jobs of a queue pass it.
    pub fn is_wide(&self) -> bool {
        matches!(self.gate.gate, GateName::Tenant | GateName::Queue(_))
    }

    pub fn is_full(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Entry::Full { .. }))
    }
}
