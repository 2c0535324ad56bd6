//! Workflows: `/v1/workflows` and what is below it. [`Workflow`](crate::Workflow) writes one down.

use mainspring_wire::{CancelRequest, NewWorkflow, WorkflowCancelled, WorkflowQuery, WorkflowSubmitted, WorkflowView};
use uuid::Uuid;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Submits jobs that wait for each other: all of them are durable when this answers, or none. With an idempotency key the
    /// call may be repeated safely.
    pub async fn submit_workflow(&self, workflow: &NewWorkflow) -> Result<WorkflowSubmitted> {
        self.ask(Call::post("/v1/workflows").body(workflow)).await
    }

    /// Where a workflow is, and a page of its jobs.
    pub async fn workflow(&self, workflow_id: Uuid, query: &WorkflowQuery) -> Result<WorkflowView> {
        self.ask(Call::get(path(workflow_id)).query(query)).await
    }

    /// Cancels every job that has not ended, in bounded steps: while the answer says `more`, call again.
    pub async fn cancel_workflow(&self, workflow_id: Uuid, request: &CancelRequest) -> Result<WorkflowCancelled> {
        self.ask(Call::post(format!("{}/cancel", path(workflow_id))).body(request)).await
    }
}

fn path(workflow_id: Uuid) -> String {
    format!("/v1/workflows/{workflow_id}")
}
