//! `/v1/workflows`: whole graphs of jobs, taken in with one write, looked at and cancelled as one.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::WorkflowId;
use mainspring_core::name::StepName;
use mainspring_core::store::Submitted as Stored;
use mainspring_engine::{Error, WorkflowSubmission, WorkflowSubmitted as Taken};
use mainspring_wire::{
    CancelRequest, NewWorkflow, WorkflowCancelled, WorkflowQuery, WorkflowSubmitted, WorkflowView, problem,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::{Asking, Shape, cancel_reason, workflow};
use crate::ask::{HeaderKey, MaybeSaid, Pairs, Said, Tenant, WorkflowPath};
use crate::door::Door;
use crate::limits::PAGE_JOBS_DEFAULT;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::jobs::{cursor, limit};
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(submit_workflow)).routes(routes!(get_workflow)).routes(routes!(cancel_workflow))
}

/// Submits jobs that wait for each other, all of them or none.
///
/// The same idempotency key and body again answers the workflow it made first, with `duplicate`.
#[utoipa::path(
    post, path = "/v1/workflows", tag = "workflows", request_body = NewWorkflow,
    params(("Idempotency-Key" = Option<String>, Header, description = "Instead of the field `idempotency_key`")),
    responses((status = 202, description = "All of its jobs are durable", body = WorkflowSubmitted), Refused)
)]
pub(crate) async fn submit_workflow(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    HeaderKey(key): HeaderKey,
    Said(said): Said<NewWorkflow>,
) -> Answer {
    let draft = workflow(said, Asking { tenant, now: door.engine.now(), key })?;
    let shape = Shape::of(&draft);
    let taken = match door.engine.submit_workflow(draft).await {
        Err(Error::Graph(bad)) => return Err(shape.wrong(&bad).into()),
        taken => taken?,
    };
    match taken {
        Taken::Accepted(submission) => Ok(submitted(submission, false)),
        Taken::Duplicate(submission) => Ok(submitted(submission, true)),
        Taken::Mismatch { workflow } => Err(mismatch(workflow)),
        Taken::Refused { step, answer } => Err(refused(&shape, &step, answer)),
    }
}

/// A workflow as a whole, and a page of its jobs, newest first.
///
/// Its status follows from its jobs without the callback: `RUNNING` while one has not ended; then `FAILED` if one failed, else
/// `CANCELLED` if one was cancelled, else `COMPLETED`.
#[utoipa::path(
    get, path = "/v1/workflows/{id}", tag = "workflows", params(("id" = Uuid, Path), WorkflowQuery),
    responses((status = 200, description = "The workflow", body = WorkflowView), Refused)
)]
pub(crate) async fn get_workflow(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    WorkflowPath(id): WorkflowPath,
    mut pairs: Pairs,
) -> Answer {
    let limit = pairs.parse("limit", limit)?.unwrap_or(PAGE_JOBS_DEFAULT);
    let below = pairs.parse("cursor", cursor)?;
    pairs.done()?;
    let found = door.engine.workflow(&tenant, id, below, limit).await?.ok_or_else(|| no_such_workflow(id))?;
    Ok(show::answer(StatusCode::OK, &show::workflow(&found)))
}

/// Cancels every job of a workflow that has not ended; its callback then runs.
#[utoipa::path(
    post, path = "/v1/workflows/{id}/cancel", tag = "workflows", params(("id" = Uuid, Path)),
    request_body = Option<CancelRequest>,
    responses((status = 200, description = "How many were cancelled", body = WorkflowCancelled), Refused)
)]
pub(crate) async fn cancel_workflow(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    WorkflowPath(id): WorkflowPath,
    MaybeSaid(said): MaybeSaid<CancelRequest>,
) -> Answer {
    let reason = cancel_reason(said)?;
    let bulk = door.engine.cancel_workflow(&tenant, id, reason).await?.ok_or_else(|| no_such_workflow(id))?;
    Ok(show::answer(StatusCode::OK, &WorkflowCancelled { cancelled: bulk.done, more: bulk.more }))
}

fn submitted(submission: WorkflowSubmission, duplicate: bool) -> axum::response::Response {
    let jobs = submission.steps.iter().map(|(name, id, _)| (name.to_string(), id.uuid())).collect();
    let callback_id = submission.callback.map(|id| id.uuid());
    let answer = WorkflowSubmitted { workflow_id: submission.id.0, jobs, callback_id, duplicate };
    show::answer(StatusCode::ACCEPTED, &answer)
}

fn refused(shape: &Shape, step: &StepName, answer: Stored) -> Refusal {
    match answer {
        Stored::UnknownParent { parent } => Refusal::unknown_parent(parent).at(shape.outside(step, parent)),
        Stored::FailedParent { parent, state } => Refusal::failed_parent(parent, state).at(shape.outside(step, parent)),
        Stored::QueueFull { max_depth } => Refusal::queue_full(max_depth).at(format!("{}.queue", shape.at(step))),
        Stored::Duplicate { id } | Stored::Mismatch { id } => Refusal::idempotency_mismatch(id),
        Stored::Accepted { .. } => {
            let detail = format!("the job {step} was taken in and refused: this is a bug of the server");
            Refusal::new(problem::INTERNAL, StatusCode::INTERNAL_SERVER_ERROR, detail)
        }
    }
}

fn mismatch(workflow: WorkflowId) -> Refusal {
    let detail = format!(
        "this idempotency key made workflow {} from another body. Send the same body to get that workflow, or use a new \
         key",
        workflow.0
    );
    Refusal::new(problem::IDEMPOTENCY_MISMATCH, StatusCode::UNPROCESSABLE_ENTITY, detail).at("idempotency_key")
}

fn no_such_workflow(id: WorkflowId) -> Refusal {
    Refusal::not_found(format!("there is no workflow {}: it was never submitted, or its retention is over", id.0))
}
