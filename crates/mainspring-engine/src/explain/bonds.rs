//! What a Blocked job waits for: its parents, and for a callback the steps of its workflow. Decides no edge: the core does.

use mainspring_core::graph::{Edge, decide_edge};
use mainspring_core::id::WorkflowId;
use mainspring_core::job::{Dependency, JobView, OnFailure, Role};
use mainspring_core::lifecycle::{State, Status};

use super::{PARENTS_SHOWN_MAX, Parent, Reason};
use crate::error::Result;
use crate::node::Node;

/// What a job waits for, as it is now.
#[derive(Clone, Debug, Default)]
pub(super) struct Bonds {
    parents: Vec<(Dependency, Option<Seen>)>,
    /// Its workflow, and how many of the steps have not ended.
    steps: Option<(WorkflowId, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    state: State,
    status: Status,
}

impl Seen {
    fn of(view: &JobView) -> Seen {
        Seen { state: view.standing.state, status: view.status() }
    }
}

impl Node {
    /// What a Blocked job waits for.
    pub(super) async fn bonds_of(&self, view: &JobView) -> Result<Bonds> {
        if view.standing.state != State::Blocked {
            return Ok(Bonds::default());
        }
        let (tenant, asked) = (&view.job.tenant, &view.job.depends_on);
        let found = self.store.get(tenant, asked.iter().map(|dependency| dependency.parent).collect()).await?;
        let parents = asked.iter().copied().zip(found.iter().map(|view| view.as_ref().map(Seen::of))).collect();
        let steps = match &view.job.workflow {
            Some(place) if place.role == Role::Callback => self.store.workflow(tenant, place.workflow).await?,
            _ => None,
        };
        Ok(Bonds { parents, steps: steps.map(|steps| (steps.id, steps.unfinished())) })
    }
}

pub(super) fn reasons(view: &JobView, bonds: &Bonds) -> Vec<Reason> {
    let how = |(dependency, seen): &(Dependency, Option<Seen>)| match seen {
        // It dies or is cancelled with its parent before long.
        Some(seen) if decide_edge(seen.state, dependency.on_failure) == Edge::Cancels => Edge::Open,
        Some(seen) => decide_edge(seen.state, dependency.on_failure),
        // A parent that is forgotten has ended; only an edge that holds can have outlived it.
        None if dependency.on_failure == OnFailure::Hold => Edge::Holds,
        None => Edge::Satisfied,
    };
    let those = |edge: Edge| {
        let found = || bonds.parents.iter().filter(move |bond| how(bond) == edge);
        let parent = |(dependency, seen): &(Dependency, Option<Seen>)| Parent {
            id: dependency.parent,
            status: seen.map(|seen| seen.status),
        };
        (found().take(PARENTS_SHOWN_MAX).map(parent).collect::<Vec<_>>(), found().count() as u64)
    };
    let mut reasons = vec![];
    let (parents, count) = those(Edge::Holds);
    if count > 0 {
        reasons.push(Reason::HeldFor { parents, count });
    }
    let (parents, count) = those(Edge::Open);
    if count > 0 {
        reasons.push(Reason::WaitsFor { parents, count });
    }
    if let Some((workflow, unfinished)) = bonds.steps.filter(|&(_, unfinished)| unfinished > 0) {
        reasons.push(Reason::WaitsForSteps { workflow, unfinished });
    }
    if view.standing.ready_at > view.job.submitted_at {
        reasons.push(Reason::WaitsUntil(view.standing.ready_at));
    }
    reasons
}
