//! What the path names: a job, a worker, a queue, a schedule, a workflow, what a limit is for. A name that cannot be one is refused here.

use axum::extract::{FromRequestParts, RawPathParams};
use http::StatusCode;
use http::request::Parts;
use mainspring_core::gate::Reach;
use mainspring_core::id::{JobId, WorkerId, WorkflowId};
use mainspring_core::name::{QueueName, ScheduleName};
use mainspring_wire::problem;
use uuid::Uuid;

use crate::door::Door;
use crate::problem::Refusal;

#[derive(Clone, Copy, Debug)]
pub(crate) struct JobPath(pub JobId);

#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerPath(pub WorkerId);

#[derive(Clone, Debug)]
pub(crate) struct QueuePath(pub QueueName);

#[derive(Clone, Debug)]
pub(crate) struct SchedulePath(pub ScheduleName);

#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkflowPath(pub WorkflowId);

#[derive(Clone, Debug)]
pub(crate) struct ReachPath(pub Reach);

impl FromRequestParts<Door> for JobPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<JobPath, Refusal> {
        let text = segment(parts, door).await?;
        Ok(JobPath(uuid(&text, "job")?.into()))
    }
}

impl FromRequestParts<Door> for WorkerPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<WorkerPath, Refusal> {
        let text = segment(parts, door).await?;
        Ok(WorkerPath(WorkerId(uuid(&text, "worker")?)))
    }
}

impl FromRequestParts<Door> for QueuePath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<QueuePath, Refusal> {
        let text = segment(parts, door).await?;
        let name = QueueName::parse(&text).map_err(|error| {
            Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, error.to_string()).at("name")
        })?;
        Ok(QueuePath(name))
    }
}

impl FromRequestParts<Door> for SchedulePath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<SchedulePath, Refusal> {
        let text = segment(parts, door).await?;
        let name = ScheduleName::parse(&text).map_err(|error| {
            Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, error.to_string()).at("id")
        })?;
        Ok(SchedulePath(name))
    }
}

impl FromRequestParts<Door> for WorkflowPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<WorkflowPath, Refusal> {
        let text = segment(parts, door).await?;
        Ok(WorkflowPath(WorkflowId(uuid(&text, "workflow")?)))
    }
}

impl FromRequestParts<Door> for ReachPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<ReachPath, Refusal> {
        let text = segment(parts, door).await?;
        let reach = Reach::parse(&text).map_err(|error| {
            let detail = format!("{error}; queues, types and keys also as a pattern, such as `key:customer:*`");
            Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail).at("reach")
        })?;
        Ok(ReachPath(reach))
    }
}

/// Every path of ours has at most one parameter.
async fn segment(parts: &mut Parts, door: &Door) -> Result<String, Refusal> {
    let params = RawPathParams::from_request_parts(parts, door).await.map_err(|error| {
        Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, format!("the path cannot be read: {error}"))
    })?;
    Ok(params.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default())
}

fn uuid(text: &str, noun: &str) -> Result<Uuid, Refusal> {
    Uuid::try_parse(text).map_err(|error| {
        let detail = format!(
            "{text:?} is not the id of a {noun}: ids are UUIDs such as 01980000-0000-7000-8000-000000000001 ({error})"
        );
        Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail).at("id")
    })
}
