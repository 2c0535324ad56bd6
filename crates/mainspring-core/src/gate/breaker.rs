//! Stops a gate when too much fails behind it, and finds out when it is well again. Burns no attempts: jobs wait.
//!
//! ```text
//!              failures ≥ ratio, and enough ended
//!    ┌────────┐ ───────────── Opened ──────────────▶ ┌──────┐
//!    │ Closed │                                      │ Open │ ◀─────────┐
//!    └────────┘                                      └──────┘           │
//!         ▲                          cooldown over, first probe enters  │
//!         │                                       HalfOpen              │ Opened
//!         │ Closed                                    ▼                 │
//!         │   `closes_after` probes succeeded   ┌──────────┐            │
//!         └──────────────────────────────────── │ HalfOpen │ ───────────┘
//!                                               └──────────┘  a probe failed
//! ```
//!
//! | phase | lets in | what an ended attempt does |
//! |---|---|---|
//! | Closed | all | is counted; opens if the window says so |
//! | Open | nobody before `until`; the first after it is a probe | nothing: it began before |
//! | HalfOpen | `probes` at a time | a probe's success is counted, its failure opens; others do nothing |
//!
//! Failures, crashes and timeouts fail. Snoozes, releases, cancellations and `rate_limited` count neither way, but
//! free the probe's place. Every probe holds a lease, leases run out, and so no probe keeps its place for ever.

use std::time::Duration;

use super::rule::BreakerRule;
use super::state::Entry;
use crate::job::ExecutionOutcome;
use crate::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Breaker {
    pub phase: Phase,
    /// Kept while Closed only.
    pub window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Phase {
    #[default]
    Closed,
    Open {
        until: Time,
    },
    HalfOpen {
        /// Attempts claimed before this are not probes.
        since: Time,
        probing: u32,
        succeeded: u32,
    },
}

/// What just happened to a breaker, for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakerChange {
    Opened { until: Time },
    HalfOpen,
    Closed,
}

/// How an attempt ended, as a breaker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Succeeded,
    Failed,
    /// Says nothing about what lies behind the gate.
    Uncounted,
}

impl From<ExecutionOutcome> for Ending {
    fn from(outcome: ExecutionOutcome) -> Ending {
        match outcome {
            ExecutionOutcome::Succeeded => Ending::Succeeded,
            ExecutionOutcome::Failed | ExecutionOutcome::TimedOut | ExecutionOutcome::Crashed => Ending::Failed,
            // Whatever else an attempt can come to, it was not tried to its end.
            _ => Ending::Uncounted,
        }
    }
}

impl Breaker {
    /// [`Entry::Open`], [`Entry::BreakerOpen`] or [`Entry::Probing`].
    pub fn entry(&self, rule: &BreakerRule, now: Time) -> Entry {
        match self.phase {
            Phase::Open { until } if now < until => Entry::BreakerOpen { probe_at: until },
            Phase::HalfOpen { probing, .. } if probing >= rule.probes.max(1) => Entry::Probing,
            _ => Entry::Open,
        }
    }

    /// Somebody was let in.
    pub fn enter(&mut self, now: Time) -> Option<BreakerChange> {
        match &mut self.phase {
            Phase::Open { until } if *until <= now => {
                self.phase = Phase::HalfOpen { since: now, probing: 1, succeeded: 0 };
                Some(BreakerChange::HalfOpen)
            }
            Phase::HalfOpen { since, probing, .. } => {
                // A clock that steps back must not make this probe look older than the phase: its place
                // would never be freed.
                *since = (*since).min(now);
                *probing += 1;
                None
            }
            Phase::Closed | Phase::Open { .. } => None,
        }
    }

    /// An attempt that was claimed at `claimed_at` has ended.
    pub fn record(&mut self, rule: &BreakerRule, now: Time, claimed_at: Time, ending: Ending) -> Option<BreakerChange> {
        match &mut self.phase {
            Phase::Closed => {
                self.window.count(rule, now, ending);
                self.window.is_over(rule).then(|| self.open(rule, now))
            }
            Phase::HalfOpen { since, probing, succeeded } if claimed_at >= *since => {
                *probing = probing.saturating_sub(1);
                match ending {
                    Ending::Failed => Some(self.open(rule, now)),
                    Ending::Succeeded => {
                        *succeeded += 1;
                        (*succeeded >= rule.closes_after).then(|| self.close())
                    }
                    Ending::Uncounted => None,
                }
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => None,
        }
    }

    /// The rule has changed: a shorter cooldown holds for the one that runs.
    pub fn retune(&mut self, now: Time, rule: &BreakerRule) {
        if let Phase::Open { until } = &mut self.phase {
            *until = (*until).min(now.after(rule.cooldown));
        }
    }

    /// The same breaker, without what no longer matters if time never goes back.
    pub fn as_of(mut self, rule: &BreakerRule, now: Time) -> Breaker {
        self.window.turn(now, rule.window);
        if self.window.sum() == (0, 0) {
            self.window = Window::default();
        }
        self
    }

    fn open(&mut self, rule: &BreakerRule, now: Time) -> BreakerChange {
        let until = now.after(rule.cooldown);
        *self = Breaker { phase: Phase::Open { until }, window: Window::default() };
        BreakerChange::Opened { until }
    }

    fn close(&mut self) -> BreakerChange {
        *self = Breaker::default();
        BreakerChange::Closed
    }
}

/// What ended lately, in [`Window::SLOTS`] slots that are dropped one by one: nothing older than the rule's window is
/// in it, and nothing younger than seven eighths of it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Window {
    /// When the newest slot began.
    pub newest_at: Time,
    /// Newest first.
    pub slots: [Slot; Window::SLOTS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Slot {
    pub attempts: u32,
    pub failures: u32,
}

impl Window {
    pub const SLOTS: usize = 8;

    /// How many ended, and how many of them failed.
    pub fn sum(&self) -> (u64, u64) {
        self.slots.iter().fold((0, 0), |(attempts, failures), slot| {
            (attempts + u64::from(slot.attempts), failures + u64::from(slot.failures))
        })
    }

    fn count(&mut self, rule: &BreakerRule, now: Time, ending: Ending) {
        self.turn(now, rule.window);
        let newest = &mut self.slots[0];
        match ending {
            Ending::Succeeded => newest.attempts = newest.attempts.saturating_add(1),
            Ending::Failed => {
                newest.attempts = newest.attempts.saturating_add(1);
                newest.failures = newest.failures.saturating_add(1);
            }
            Ending::Uncounted => {}
        }
    }

    /// Begins as many new slots as time has passed for. A clock that stepped back goes on in the newest one.
    fn turn(&mut self, now: Time, window: Duration) {
        let slot_ms = (window.as_millis() as u64 / Self::SLOTS as u64).max(1);
        let passed = now.since(self.newest_at).as_millis() as u64 / slot_ms;
        if passed >= Self::SLOTS as u64 {
            *self = Window { newest_at: now, ..Window::default() };
            return;
        }
        self.newest_at = self.newest_at.after(Duration::from_millis(passed * slot_ms));
        self.slots.rotate_right(passed as usize);
        self.slots[..passed as usize].fill(Slot::default());
    }

    fn is_over(&self, rule: &BreakerRule) -> bool {
        let (attempts, failures) = self.sum();
        attempts >= u64::from(rule.min_attempts.max(1))
            && failures * 1000 >= attempts * u64::from(rule.failures_per_mille)
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
