//! Where somebody may be able to go who could not before: hints for those who wait. Opens nothing.

use std::collections::BTreeSet;

use mainspring_core::gate::{Ask, GateRef, GateState, Rule};
use mainspring_core::job::Job;
use mainspring_core::name::QueueRef;
use mainspring_core::time::Time;

use super::book::{Book, Entry};
use super::gates::passes;

impl Book {
    /// Queues with a job that could go and passes a limited gate that this one has just left.
    pub(super) fn opened_by(&self, now: Time, left: &Job) -> Vec<QueueRef> {
        let is_ruled = |gate: &GateRef| self.gates.rules.at(gate).is_some();
        let left: BTreeSet<GateRef> = passes(left).map(|(gate, _)| gate).filter(is_ruled).collect();
        if left.is_empty() {
            return Vec::new();
        }
        self.open_to(now, |entry| passes(&entry.job).any(|(gate, _)| left.contains(&gate)))
    }

    /// Queues with a job that could go and may have waited for time to pass: it stands somewhere, or passes a gate with
    /// a rate or a breaker.
    pub(super) fn opened_by_time(&self, now: Time) -> Vec<QueueRef> {
        let is_timed = |rule: Rule| rule.rate.is_some() || rule.breaker.is_some();
        let has_timed = self.gates.rules.iter().any(|(_, _, rule)| is_timed(*rule));
        self.open_to(now, |entry| {
            entry.stands.is_some() || has_timed && passes(&entry.job).any(|(gate, _)| is_timed(self.gates.rule(&gate)))
        })
    }

    /// When time alone opens the next gate that a job on offer passes.
    pub(super) fn gates_at(&self, now: Time) -> Option<Time> {
        let is_closed = |state: &GateState| state.closed_until.is_some();
        if self.gates.rules.is_empty() && !self.gates.states.values().any(is_closed) {
            return None;
        }
        let offers = self.jobs.values().filter(|entry| entry.is_on_offer());
        let opens = offers.flat_map(|entry| {
            let weight = entry.job.keys.weight;
            let opens_at = move |(gate, part)| {
                self.gates.state(&gate).opens_at(&self.gates.rule(&gate), Ask { now, weight, part })
            };
            passes(&entry.job).filter_map(opens_at)
        });
        opens.filter(|&at| at > now).min()
    }

    fn open_to(&self, now: Time, is_meant: impl Fn(&Entry) -> bool) -> Vec<QueueRef> {
        let offers = self.jobs.values().filter(|entry| self.is_offered(now, entry) && is_meant(entry));
        let queues: BTreeSet<QueueRef> =
            offers.filter(|entry| self.gates.let_in(now, &entry.job)).map(|entry| entry.job.queue_ref()).collect();
        queues.into_iter().collect()
    }
}
