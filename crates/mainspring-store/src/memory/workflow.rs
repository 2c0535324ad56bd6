//! Workflows as a whole. Their jobs are jobs like all others: the counts are taken when somebody asks.

use std::collections::BTreeSet;

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Job, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Counts, WorkflowView};
use mainspring_core::time::Time;

use super::book::{Book, Entry};

/// A workflow of which at least one job is here.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub submitted_at: Time,
    pub callback: Option<JobId>,
    pub members: BTreeSet<JobId>,
}

impl Book {
    /// Writes a job that is taken in into its workflow, which is made by its first job.
    pub(super) fn join(&mut self, now: Time, job: &Job) {
        let Some(place) = &job.workflow else { return };
        let row = self.workflows.entry((job.tenant.clone(), place.workflow)).or_insert_with(|| Row {
            submitted_at: now,
            callback: None,
            members: BTreeSet::new(),
        });
        row.members.insert(job.id);
        if place.role == Role::Callback {
            row.callback = Some(job.id);
        }
    }

    /// Forgets a job, and with its last job a workflow.
    pub(super) fn forget(&mut self, id: JobId) {
        let Some(entry) = self.jobs.remove(&id) else { return };
        let Some(place) = entry.job.workflow else { return };
        let key = (entry.job.tenant, place.workflow);
        let row = self.workflows.get_mut(&key).expect("a member has a workflow");
        row.members.remove(&id);
        if row.members.is_empty() {
            self.workflows.remove(&key);
        }
    }

    pub(super) fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Option<WorkflowView> {
        let row = self.workflows.get(&(tenant.clone(), id))?;
        let mut counts = Counts::default();
        for step in self.steps(row) {
            *counts.of(step.standing.state, step.standing.paused) += 1;
        }
        Some(WorkflowView { id, submitted_at: row.submitted_at, counts, callback: row.callback })
    }

    /// The callback, if it is still Blocked though every step has ended. Once it is forgotten, its id may belong to another job.
    pub(super) fn free_callback(&self, row: &Row) -> Option<JobId> {
        let is_blocked = |id: &JobId| {
            let entry = row.members.get(id).map(|id| &self.jobs[id]);
            entry.is_some_and(|it| it.has_role(Role::Callback) && it.standing.state == State::Blocked)
        };
        row.callback.filter(is_blocked).filter(|_| !self.has_unfinished_steps(row))
    }

    pub(super) fn has_unfinished_steps(&self, row: &Row) -> bool {
        self.steps(row).any(|step| !step.standing.state.is_final())
    }

    fn steps<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Entry> {
        row.members.iter().map(|id| &self.jobs[id]).filter(|entry| entry.has_role(Role::Step))
    }
}

impl Entry {
    fn has_role(&self, role: Role) -> bool {
        self.job.workflow.as_ref().is_some_and(|place| place.role == role)
    }
}
