//! Goes on with those who waited for a job that ended. Ends nothing but children whose parent failed.
//!
//! An edge is open from the submit of its child until it is satisfied or the child is no longer Blocked, so every open
//! edge has a Blocked child. The end of a job with open edges is an entry in the list of `releases`; reviving the job
//! takes it off again, forgetting the job does not. Of all the listed edges there is something to do for, the one with
//! the lowest parent, and of that the one with the lowest child, is always the next, so that what comes of it does not
//! depend on how many are done in one call. Nothing is to be done for an edge that holds after a failure: it stays
//! open. Callbacks whose steps have all ended come after the edges, by workflow.

use mainspring_core::id::JobId;
use mainspring_core::job::{Ended, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::segment::Segments;
use mainspring_core::store::Promote;
use mainspring_core::time::Time;

use super::book::Book;
use super::moved::edges_to;
use super::promote::Step;
use super::submit::due;

/// Something to be done on the list.
#[derive(Clone, Copy)]
pub(super) enum Release {
    Edge { parent: JobId, outcome: State, child: JobId },
    Callback(JobId),
}

impl Book {
    /// Works the list off; how much of the limit is left.
    pub(super) fn release(&mut self, now: Time, ask: &Promote, step: &mut Step) -> usize {
        for left in (1..=ask.limit).rev() {
            match self.next_release(ask.segments) {
                None => return left,
                Some(Release::Callback(id)) => self.unblock(now, id, step),
                Some(Release::Edge { parent, outcome, child }) => match self.open[&(parent, child)] {
                    OnFailure::Cancel if outcome != State::Succeeded => {
                        self.cancel_child(now, parent, outcome, child, step);
                    }
                    _ => self.satisfy(now, parent, child, step),
                },
            }
        }
        0
    }

    pub(super) fn next_release(&mut self, segments: Segments) -> Option<Release> {
        self.drop_what_is_done();
        let edges = self.releases.iter().flat_map(|(&parent, &outcome)| {
            self.to_do(parent, outcome).map(move |child| Release::Edge { parent, outcome, child })
        });
        let callbacks = self.workflows.values().filter_map(|row| self.free_callback(row)).map(Release::Callback);
        edges.chain(callbacks).find(|release| segments.contains(release.child().segment()))
    }

    /// The children of a parent that ended so for which something is to be done.
    fn to_do(&self, parent: JobId, outcome: State) -> impl Iterator<Item = JobId> {
        let holds = move |on_failure| outcome != State::Succeeded && on_failure == OnFailure::Hold;
        let edges = self.open.range(edges_to(parent)).filter(move |&(_, &on_failure)| !holds(on_failure));
        edges.map(|(&(_, child), _)| child)
    }

    fn drop_what_is_done(&mut self) {
        let is_done = |(parent, outcome): &(&JobId, &State)| self.to_do(**parent, **outcome).next().is_none();
        let done: Vec<JobId> = self.releases.iter().filter(is_done).map(|(&parent, _)| parent).collect();
        for parent in done {
            self.releases.remove(&parent);
        }
    }

    fn satisfy(&mut self, now: Time, parent: JobId, child: JobId, step: &mut Step) {
        self.open.remove(&(parent, child));
        let entry = &self.jobs[&child];
        if entry.job.depends_on.iter().all(|dependency| !self.open.contains_key(&(dependency.parent, child))) {
            self.unblock(now, child, step);
        }
    }

    /// It is due from now on, or from its own time if that is later: while it was Blocked, nobody was late.
    fn unblock(&mut self, now: Time, id: JobId, step: &mut Step) {
        let entry = self.jobs.get_mut(&id).expect("it was found blocked");
        entry.standing.state = due(entry.standing.ready_at, now);
        entry.standing.ready_at = entry.standing.ready_at.max(now);
        if entry.is_on_offer() {
            step.count(entry.job.queue_ref());
        }
        self.place(now, id);
    }

    fn cancel_child(&mut self, now: Time, parent: JobId, outcome: State, child: JobId, step: &mut Step) {
        let how = if outcome == State::Dead { "failed" } else { "was cancelled" };
        let entry = self.jobs.get_mut(&child).expect("an open edge has a child");
        let reason = Some(format!("its parent {parent} {how}"));
        entry.end(State::Cancelled, Ended { at: now, result: None, reason });
        step.cancelled.push((child, entry.job.queue_ref()));
        self.moved(child, State::Blocked);
    }
}

impl Release {
    fn child(&self) -> JobId {
        match *self {
            Release::Edge { child, .. } | Release::Callback(child) => child,
        }
    }
}
