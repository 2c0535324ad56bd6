//! Limits in the writer's memory: the rules, the gates that something is known of, and the lots before them.
//!
//! A *lot* is the ready jobs of one queue that stand before one gate: they are in the table `lots`, beside that gate,
//! and not in the lanes of their queue. A claim merges lanes and lots ([`walk`]) and passes a lot whose gate is shut by without
//! a look, however many jobs are in it. [`place`] says where a ready job belongs, [`lots`] keeps the heads of the lots,
//! [`pass`] lets jobs in and out, [`rules`] changes what holds, [`alarms`] tells what time opens, [`share`] whose turn it
//! is among tenants, [`load`] and [`write()`] are the way from and to the tables, [`views`] what readers see.
//!
//! While there is neither a rule nor a closed gate nor a lot, all of this is idle: nothing is counted, and a claim costs
//! one look at [`Gates::is_idle`]. The first rule counts what runs from the leases.

pub mod alarms;
mod key;
mod load;
mod lots;
mod pass;
pub mod place;
mod rules;
pub mod share;
mod views;
pub mod walk;
mod write;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mainspring_core::gate::{GateRef, GateState, Rule, Rules};
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::time::Time;

pub use key::{GateKey, PlainHash};
pub use load::{heads, load};
pub use lots::{LotName, Lots, Spot};
pub use pass::{News, close, leave};
pub use rules::{command, has_room_for};
pub use views::{HurdleAt, ViewAt, gates, hurdles};
pub use write::write;

/// Names that are known to be under no pattern. More are looked up again.
const UNRULED_KEPT_MAX: usize = 100_000;

/// Rebuilt from the tables at start and after a commit that failed, apart from whose turn it is.
#[derive(Debug, Default)]
pub struct Gates {
    pub rules: Rules,
    /// How many patterns each tenant has, by number.
    patterns: HashMap<u32, usize>,
    /// Gates with a rule of their own, gates that are not at rest, and gates with lots. What holds at each is known.
    pub live: HashMap<GateKey, Gate, PlainHash>,
    unruled: HashSet<GateKey, PlainHash>,
    pub lots: Lots,
    /// Queues that may have jobs in their lanes which pass a limited gate: they were there before it was limited.
    unsorted: BTreeSet<u32>,
    /// When time alone opens a gate, for those whom it does not let in now.
    alarms: BTreeSet<(Time, GateKey)>,
    /// All alarms have to be set anew.
    is_stale: bool,
    /// As [`super::mirror::Meta`] has it.
    heaviest: u16,
    /// Queues behind gates that time has opened since the last promote.
    rung: BTreeSet<u32>,
    /// Gates whose rows are not written yet.
    touched: Vec<GateKey>,
    /// A rule was cleared or a gate forgotten: there may be nothing left to count for.
    may_rest: bool,
    /// The last `now`.
    seen_at: Time,
    pub shares: BTreeMap<QueueName, share::Line>,
    /// Rows that walks have read.
    #[cfg(test)]
    looked_at: u64,
}

#[derive(Debug, Default)]
pub struct Gate {
    /// `None` while nothing holds there and only its `running` is counted.
    pub name: Option<GateRef>,
    /// What holds there.
    pub rule: Option<Rule>,
    pub state: GateState,
    /// Queues with a lot before it.
    lots: BTreeSet<u32>,
    alarm: Option<Time>,
    is_touched: bool,
}

impl Gates {
    /// Nothing is limited, and nobody stands anywhere.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty() && self.rules.is_empty()
    }

    /// What this tenant's share is in fair sharing.
    pub fn weight_of(&self, tenant: &TenantName) -> u32 {
        use mainspring_core::gate::{GateName, Reach};
        if self.rules.is_empty() {
            return 1;
        }
        self.rules.get(tenant, &Reach::One(GateName::Tenant)).and_then(|rule| rule.weight).unwrap_or(1)
    }

    /// Whether there is something to write.
    pub fn is_changed(&self) -> bool {
        !self.touched.is_empty()
    }

    fn gate(&mut self, key: GateKey) -> &mut Gate {
        self.live.entry(key).or_default()
    }

    /// To be called when more than `running` of a gate may have changed.
    fn touch(&mut self, key: GateKey, now: Time) {
        let gate = self.live.entry(key).or_default();
        if !std::mem::replace(&mut gate.is_touched, true) {
            self.touched.push(key);
        }
        self.set_alarm(key, now);
    }

    /// Forgets a gate of which nothing is left to know.
    fn drop_if_nothing(&mut self, key: GateKey) {
        let Some(gate) = self.live.get(&key) else { return };
        let is_kept = gate.rule.is_some() || gate.is_touched || gate.alarm.is_some();
        if !is_kept && gate.lots.is_empty() && gate.state == GateState::default() {
            self.live.remove(&key);
        }
    }
}

impl Gate {
    /// What holds there, or nothing.
    pub fn rule(&self) -> Rule {
        self.rule.unwrap_or_default()
    }

    /// Whether it may hold somebody back: a rule holds there, or it is closed.
    fn is_limited(&self, now: Time) -> bool {
        self.rule.is_some() || self.state.closed_until.is_some_and(|until| now < until)
    }

    /// Whether more than `running` can change when somebody passes it.
    fn has_memory(&self) -> bool {
        self.rule.is_some_and(|rule| rule.rate.is_some() || rule.breaker.is_some())
    }
}
