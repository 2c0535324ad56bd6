//! `GET /v1/jobs`: finds jobs, page by page, newest first.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::lifecycle::Status;
use mainspring_core::limits::PAGE_JOBS_MAX;
use mainspring_core::name::{QueueName, ScheduleName, Tag, TenantName, TypeName};
use mainspring_core::store::{Filter, Query};
use mainspring_wire::{JobPage, JobQuery};
use uuid::Uuid;

use crate::ask::{Pairs, Tenant};
use crate::door::Door;
use crate::limits::PAGE_JOBS_DEFAULT;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

/// Finds jobs, newest first.
#[utoipa::path(
    get, path = "/v1/jobs", tag = "jobs", params(JobQuery),
    responses((status = 200, description = "A page of jobs", body = JobPage), Refused)
)]
pub(crate) async fn find_jobs(State(door): State<Door>, Tenant(tenant): Tenant, mut pairs: Pairs) -> Answer {
    let statuses = pairs.parse("status", statuses)?.unwrap_or_default();
    let schedule = pairs.parse("schedule", ScheduleName::parse)?;
    let workflow = pairs.parse("workflow", workflow)?;
    let filter = Filter { statuses, schedule, workflow, ..filter(&mut pairs)? };
    page(&door, tenant, filter, pairs).await
}

/// The conditions on queue, type and tag.
pub(crate) fn filter(pairs: &mut Pairs) -> Result<Filter, Refusal> {
    let queue = pairs.parse("queue", QueueName::parse)?;
    let kind = pairs.parse("type", TypeName::parse)?;
    let tag = pairs.parse("tag", Tag::parse)?;
    Ok(Filter { queue, kind, tag, ..Filter::default() })
}

/// One page of what the filter finds. The cursor is the last id that was looked at.
pub(crate) async fn page(door: &Door, tenant: TenantName, filter: Filter, mut pairs: Pairs) -> Answer {
    let limit = pairs.parse("limit", limit)?.unwrap_or(PAGE_JOBS_DEFAULT);
    let below = pairs.parse("cursor", cursor)?;
    pairs.done()?;
    let page = door.engine.store().find(Query { tenant, filter, below, limit }).await?;
    let page =
        JobPage { jobs: page.jobs.iter().map(show::job).collect(), next_cursor: page.next.map(|id| id.to_string()) };
    Ok(show::answer(StatusCode::OK, &page))
}

fn statuses(text: &str) -> Result<Vec<Status>, String> {
    let read = |word: &str| {
        let known = || Status::ALL.map(Status::as_str).join(", ");
        Status::parse(word.trim()).ok_or_else(|| format!("{word:?} is not a status: expected one of {}", known()))
    };
    text.split(',').map(read).collect()
}

fn workflow(text: &str) -> Result<WorkflowId, String> {
    Uuid::try_parse(text).map(WorkflowId).map_err(|_| format!("{text:?} is not the id of a workflow: ids are UUIDs"))
}

pub(crate) fn limit(text: &str) -> Result<usize, String> {
    let read = text.parse().ok().filter(|limit| (1..=PAGE_JOBS_MAX).contains(limit));
    read.ok_or_else(|| format!("{text:?} is not a number from 1 to {PAGE_JOBS_MAX}"))
}

pub(crate) fn cursor(text: &str) -> Result<JobId, String> {
    text.parse().map_err(|_| format!("{text:?} is not a cursor: send the next_cursor of the page before"))
}
