//! `/v1/queues`: queues, their counts and settings, pause and resume.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{Command, Commanded, QueueCommand};
use mainspring_wire::{QueuePatch, QueueView, Queues};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::queue_commands;
use crate::ask::{Pairs, QueuePath, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new()
        .routes(routes!(list_queues))
        .routes(routes!(get_queue, patch_queue))
        .routes(routes!(pause_queue))
        .routes(routes!(resume_queue))
}

/// Every queue that has settings or ever had a job, by name.
#[utoipa::path(
    get, path = "/v1/queues", tag = "queues",
    responses((status = 200, description = "The queues", body = Queues), Refused)
)]
pub(crate) async fn list_queues(State(door): State<Door>, Tenant(tenant): Tenant, pairs: Pairs) -> Answer {
    pairs.done()?;
    let queues = door.engine.store().queues(Some(&tenant)).await?;
    Ok(show::answer(StatusCode::OK, &Queues { queues: queues.iter().map(show::queue).collect() }))
}

/// A queue, its settings and its counts.
#[utoipa::path(
    get, path = "/v1/queues/{name}", tag = "queues", params(("name" = String, Path)),
    responses((status = 200, description = "The queue", body = QueueView), Refused)
)]
pub(crate) async fn get_queue(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    QueuePath(name): QueuePath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    view(&door, &tenant, &name).await
}

/// Changes how a queue orders its jobs and how many it takes.
#[utoipa::path(
    patch, path = "/v1/queues/{name}", tag = "queues", params(("name" = String, Path)), request_body = QueuePatch,
    responses((status = 200, description = "The queue as it is now", body = QueueView), Refused)
)]
pub(crate) async fn patch_queue(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    QueuePath(name): QueuePath,
    Said(patch): Said<QueuePatch>,
) -> Answer {
    let commands = queue_commands(patch)?;
    command(&door, tenant, name, commands).await
}

/// Hands out nothing more of this queue; what runs, runs on.
#[utoipa::path(
    post, path = "/v1/queues/{name}/pause", tag = "queues", params(("name" = String, Path)),
    responses((status = 200, description = "It is paused", body = QueueView), Refused)
)]
pub(crate) async fn pause_queue(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    QueuePath(name): QueuePath,
) -> Answer {
    command(&door, tenant, name, vec![QueueCommand::Pause]).await
}

/// Hands out jobs of this queue again.
#[utoipa::path(
    post, path = "/v1/queues/{name}/resume", tag = "queues", params(("name" = String, Path)),
    responses((status = 200, description = "It goes on", body = QueueView), Refused)
)]
pub(crate) async fn resume_queue(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    QueuePath(name): QueuePath,
) -> Answer {
    command(&door, tenant, name, vec![QueueCommand::Resume]).await
}

async fn command(door: &Door, tenant: TenantName, name: QueueName, commands: Vec<QueueCommand>) -> Answer {
    let queue = QueueRef { tenant, queue: name };
    let commands = commands.into_iter().map(|what| Command::Queue { queue: queue.clone(), what });
    let answers = door.engine.command(commands.collect()).await?;
    if answers.contains(&Commanded::Missing) {
        return Err(no_such_queue(&queue.queue));
    }
    view(door, &queue.tenant, &queue.queue).await
}

async fn view(door: &Door, tenant: &TenantName, name: &QueueName) -> Answer {
    let queues = door.engine.store().queues(Some(tenant)).await?;
    let queue = queues.iter().find(|view| view.queue.queue == *name).ok_or_else(|| no_such_queue(name))?;
    Ok(show::answer(StatusCode::OK, &show::queue(queue)))
}

fn no_such_queue(name: &QueueName) -> Refusal {
    Refusal::not_found(format!("there is no queue {name}: no job was ever submitted to it, and it has no settings"))
}
