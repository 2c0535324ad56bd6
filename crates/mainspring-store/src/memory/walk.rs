//! Who of those in line could go: the walk that a claim makes. Hands nothing out, and enters no gate.
//!
//! A job that is held back *stands* before one gate, the one that last did not let it in, and asks that one first the
//! next time. While it is shut, the job asks nowhere else, so that it stands in nobody's way at its other gates; and a
//! store can put it beside that gate and pass it by without a look.

use std::collections::BTreeSet;

use mainspring_core::gate::{Ask, GateName, GateRef, Part};
use mainspring_core::id::JobId;
use mainspring_core::name::QueueRef;
use mainspring_core::rank::Rank;
use mainspring_core::time::Time;

use super::book::{Book, Entry};
use super::gates::passes;

/// The gates that did not let somebody in, in one claim request: nobody overtakes there.
#[derive(Debug, Default)]
pub(super) struct Shut(BTreeSet<GateRef>);

impl Book {
    /// What these queues offer, best rank first.
    pub(super) fn line(&self, now: Time, is_asked: impl Fn(&QueueRef) -> bool) -> Vec<JobId> {
        let offers = self.jobs.values().filter(|entry| self.is_offered(now, entry));
        let asked = offers.filter(|entry| is_asked(&entry.job.queue_ref()));
        let mut line: Vec<(Rank, JobId)> = asked.map(|entry| (self.rank(entry), entry.job.id)).collect();
        line.sort();
        line.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether a claim may come upon it.
    pub(super) fn is_offered(&self, now: Time, entry: &Entry) -> bool {
        // The queue last: it takes a search, and most jobs are not ready.
        let is_paused = || self.queues.get(&entry.job.queue_ref()).is_some_and(|queue| queue.paused);
        entry.is_on_offer() && !entry.is_expired(now) && !is_paused()
    }

    /// Whether a job could go. If not, the first gate that does not let it in is shut from now on, and if that is one of
    /// its type or key, the job stands there. Behind a queue or a tenant that is shut already, nobody is asked.
    pub(super) fn could_go(&mut self, now: Time, id: JobId, shut: &mut Shut) -> bool {
        let Some(gate) = self.first_shut(now, &self.jobs[&id], shut) else { return true };
        if !is_wide(&gate.gate) {
            self.jobs.get_mut(&id).expect("it is in line").stands = Some(gate.gate.clone());
        }
        shut.0.insert(gate);
        false
    }

    fn first_shut(&self, now: Time, entry: &Entry, shut: &Shut) -> Option<GateRef> {
        let mut asked: Vec<(GateRef, Part)> = passes(&entry.job).collect();
        // Stable: what is shut as a whole, then where it stands, then all others in their order.
        asked.sort_by_key(|(gate, _)| match &gate.gate {
            wide if is_wide(wide) && shut.0.contains(gate) => 0,
            name if entry.stands.as_ref() == Some(name) => 1,
            _ => 2,
        });
        let weight = entry.job.keys.weight;
        let is_shut = |(gate, part): &(GateRef, Part)| {
            shut.0.contains(gate) || !self.gates.is_open(gate, Ask { now, weight, part: *part })
        };
        asked.into_iter().find(is_shut).map(|(gate, _)| gate)
    }

    /// To be told of every job that came to be on offer, or was changed there. It stands before the first gate of its type
    /// and keys that is limited, so that a burst behind one key is in nobody's way from the beginning.
    pub(super) fn place(&mut self, now: Time, id: JobId) {
        let entry = &self.jobs[&id];
        let narrow = passes(&entry.job).filter(|(gate, _)| !is_wide(&gate.gate));
        let limited = narrow.map(|(gate, _)| gate).find(|gate| self.gates.is_limited(now, gate));
        let stands = limited.filter(|_| entry.is_on_offer()).map(|gate| gate.gate);
        self.jobs.get_mut(&id).expect("it was looked up").stands = stands;
    }
}

/// A gate of all jobs in a queue: who is held back there needs no place beside it.
fn is_wide(gate: &GateName) -> bool {
    matches!(gate, GateName::Tenant | GateName::Queue(_))
}
