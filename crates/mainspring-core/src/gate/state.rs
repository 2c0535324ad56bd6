//! What a store keeps of a gate, and the question it asks at each claim. Parks nobody: it says why and until when.

use std::time::Duration;

use super::breaker::{Breaker, BreakerChange, Ending};
use super::bucket::Bucket;
use super::name::Part;
use super::rule::Rule;
use crate::limits;
use crate::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct GateState {
    /// The weights of the leases that are held through this gate and take a slot of it: counted whether there is a
    /// limit or not, so that one can be set while they run. A store that starts anew counts them from its leases.
    pub running: u64,
    pub bucket: Bucket,
    /// A worker was told by whoever it calls to come back later.
    pub closed_until: Option<Time>,
    pub breaker: Breaker,
}

/// Who asks to be let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub now: Time,
    pub weight: u16,
    pub part: Part,
}

/// Who leaves, with the weight and the part it entered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    pub now: Time,
    pub weight: u16,
    pub part: Part,
    pub claimed_at: Time,
    pub ending: Ending,
}

/// A gate's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    Open,
    /// Opens when somebody leaves, or the limit is raised.
    Full {
        running: u64,
        max: u32,
    },
    NoToken {
        next_at: Time,
    },
    ClosedUntil(Time),
    BreakerOpen {
        probe_at: Time,
    },
    /// As many as may are finding out whether the breaker can close. Opens when one of them ends.
    Probing,
}

impl Entry {
    /// When time alone will open it; `None` if somebody has to leave first.
    fn opens_at(self, now: Time) -> Option<Time> {
        match self {
            Entry::Open => Some(now),
            Entry::NoToken { next_at } => Some(next_at),
            Entry::ClosedUntil(until) => Some(until),
            Entry::BreakerOpen { probe_at } => Some(probe_at),
            Entry::Full { .. } | Entry::Probing => None,
        }
    }
}

impl GateState {
    /// May it enter now? If not, the first reason.
    pub fn entry(&self, rule: &Rule, ask: Ask) -> Entry {
        self.reasons(rule, ask).next().unwrap_or(Entry::Open)
    }

    /// Every reason why it may not enter now. None if it may.
    pub fn reasons(&self, rule: &Rule, ask: Ask) -> impl Iterator<Item = Entry> + use<> {
        [self.is_closed(ask), self.is_broken(rule, ask), self.is_full(rule, ask), self.is_spent(rule, ask)]
            .into_iter()
            .flatten()
    }

    /// The first instant at which it may enter if nobody else does: now, if it may already. `None` if it takes more
    /// than time: somebody has to leave, or a person to change the rule.
    pub fn opens_at(&self, rule: &Rule, ask: Ask) -> Option<Time> {
        self.reasons(rule, ask).try_fold(ask.now, |at, reason| Some(at.max(reason.opens_at(ask.now)?)))
    }

    /// Counts it in. Does not ask: it must pass all its gates or none, so the caller has asked them all.
    pub fn enter(&mut self, rule: &Rule, ask: Ask) -> Option<BreakerChange> {
        if ask.part.has_concurrency() {
            self.running += u64::from(ask.weight);
        }
        if let Some(rate) = rule.rate.as_ref().filter(|_| ask.part.has_rate()) {
            self.bucket.take(rate, ask.now, ask.weight);
        }
        rule.breaker.and_then(|_| self.breaker.enter(ask.now))
    }

    /// Counts it out. A permit does not come back: a rate counts starts, whatever became of them.
    pub fn leave(&mut self, rule: &Rule, leave: Leave) -> Option<BreakerChange> {
        if leave.part.has_concurrency() {
            self.running = self.running.saturating_sub(u64::from(leave.weight));
        }
        let breaker = rule.breaker.as_ref()?;
        self.breaker.record(breaker, leave.now, leave.claimed_at, leave.ending)
    }

    /// A worker was told to come back after `wait`, at most [`limits::GATE_CLOSED_MAX`]. Whoever says longer is
    /// believed: of two answers that cross, the shorter may be the older.
    pub fn close(&mut self, now: Time, wait: Duration) {
        let until = now.after(wait.min(limits::GATE_CLOSED_MAX));
        self.closed_until = self.closed_until.max(Some(until));
    }

    /// A person knows better: forgets what workers were told, and closes the breaker.
    pub fn reopen(&mut self) {
        self.closed_until = None;
        self.breaker = Breaker::default();
    }

    /// The rule has changed. Permits in use stay in use, and nothing waits by a rate or cooldown that is gone.
    pub fn retune(&mut self, now: Time, from: &Rule, to: &Rule) {
        match (&from.rate, &to.rate) {
            (Some(from), Some(to)) => self.bucket.retune(now, from, to),
            _ => self.bucket = Bucket::default(),
        }
        match &to.breaker {
            Some(rule) => self.breaker.retune(now, rule),
            None => self.breaker = Breaker::default(),
        }
    }

    /// The same gate, without what no longer matters if time never goes back. A store may forget a gate of which
    /// nothing is left so, and shows every gate so.
    pub fn as_of(&self, rule: &Rule, now: Time) -> GateState {
        GateState {
            running: self.running,
            bucket: self.bucket.as_of(now),
            closed_until: self.closed_until.filter(|&until| now < until),
            breaker: rule.breaker.map_or_else(Breaker::default, |rule| self.breaker.as_of(&rule, now)),
        }
    }

    /// Nothing is held, spent, closed or broken.
    pub fn is_at_rest(&self, rule: &Rule, now: Time) -> bool {
        self.as_of(rule, now) == GateState::default()
    }

    fn is_closed(&self, ask: Ask) -> Option<Entry> {
        self.closed_until.filter(|&until| ask.now < until).map(Entry::ClosedUntil)
    }

    fn is_broken(&self, rule: &Rule, ask: Ask) -> Option<Entry> {
        let entry = self.breaker.entry(rule.breaker.as_ref()?, ask.now);
        (entry != Entry::Open).then_some(entry)
    }

    fn is_full(&self, rule: &Rule, ask: Ask) -> Option<Entry> {
        let max = rule.concurrency.filter(|_| ask.part.has_concurrency())?;
        let fits = self.running + u64::from(ask.weight) <= u64::from(max);
        let is_alone = self.running == 0 && max > 0;
        (!fits && !is_alone).then_some(Entry::Full { running: self.running, max })
    }

    fn is_spent(&self, rule: &Rule, ask: Ask) -> Option<Entry> {
        let rate = rule.rate.as_ref().filter(|_| ask.part.has_rate())?;
        let next_at = self.bucket.next_at(rate, ask.now, ask.weight);
        (next_at > ask.now).then_some(Entry::NoToken { next_at })
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
