//! What follows when a job has moved: what it no longer waits for is forgotten, and who waits for its end is written
//! down. Touches nobody who waits: promote does.

use std::ops::RangeInclusive;

use mainspring_core::id::JobId;
use mainspring_core::job::Role;
use mainspring_core::lifecycle::State;

use super::book::{Book, Entry};

impl Book {
    /// To be told of every job that may have left the state it was in. Whether it ended and others wait for it.
    pub(super) fn moved(&mut self, id: JobId, from: State) -> bool {
        let to = self.jobs[&id].standing.state;
        if from == State::Blocked && to != State::Blocked {
            self.forget_edges(id);
        }
        if from == State::Dead && to != State::Dead {
            self.releases.remove(&id);
        }
        !from.is_final() && to.is_final() && self.has_ended(id, to)
    }

    fn has_ended(&mut self, id: JobId, outcome: State) -> bool {
        let has_children = self.open.range(edges_to(id)).next().is_some();
        if has_children {
            self.releases.insert(id, outcome);
        }
        has_children || self.was_the_last_step(&self.jobs[&id])
    }

    /// Whether this was the last step that its workflow's callback waited for.
    fn was_the_last_step(&self, entry: &Entry) -> bool {
        let Some(place) = entry.job.workflow.as_ref().filter(|place| place.role == Role::Step) else { return false };
        let row = self.workflows.get(&(entry.job.tenant.clone(), place.workflow));
        row.and_then(|row| self.free_callback(row)).is_some()
    }

    fn forget_edges(&mut self, child: JobId) {
        for dependency in &self.jobs[&child].job.depends_on {
            self.open.remove(&(dependency.parent, child));
        }
    }
}

/// The places of a parent's open edges.
pub(super) fn edges_to(parent: JobId) -> RangeInclusive<(JobId, JobId)> {
    (parent, JobId::MIN)..=(parent, JobId::MAX)
}
