//! `/v1/dead`: dead letters. Lists, replays and purges them, in bounded steps.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::lifecycle::{State as JobState, Status};
use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, Filter, JobCommand};
use mainspring_wire::{DeadQuery, JobPage, Purge, Purged, Replay, Replayed};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::accept::{Pick, pick};
use crate::ask::{Pairs, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::{Answer, jobs};
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(list_dead)).routes(routes!(replay_dead)).routes(routes!(purge_dead))
}

/// Dead letters, newest first.
#[utoipa::path(
    get, path = "/v1/dead", tag = "dead letters", params(DeadQuery),
    responses((status = 200, description = "A page of dead letters", body = JobPage), Refused)
)]
pub(crate) async fn list_dead(State(door): State<Door>, Tenant(tenant): Tenant, mut pairs: Pairs) -> Answer {
    let filter = Filter { statuses: vec![Status::Failed], ..jobs::filter(&mut pairs)? };
    jobs::page(&door, tenant, filter, pairs).await
}

/// Runs dead letters again from the start: by `ids`, or by filter.
#[utoipa::path(
    post, path = "/v1/dead/replay", tag = "dead letters", request_body = Replay,
    responses((status = 200, description = "What was replayed", body = Replayed), Refused)
)]
pub(crate) async fn replay_dead(State(door): State<Door>, Tenant(tenant): Tenant, Said(said): Said<Replay>) -> Answer {
    let Replay { ids, queue, kind, tag, max } = said;
    let step = take_step(&door, tenant, pick(ids, [queue, kind, tag], max)?, JobCommand::Revive { data: None }).await?;
    let replayed = Replayed { replayed: step.done, missing: step.missing, more: step.more };
    Ok(show::answer(StatusCode::OK, &replayed))
}

/// Forgets dead letters for good: by `ids`, or by filter.
#[utoipa::path(
    post, path = "/v1/dead/purge", tag = "dead letters", request_body = Purge,
    responses((status = 200, description = "What was purged", body = Purged), Refused)
)]
pub(crate) async fn purge_dead(State(door): State<Door>, Tenant(tenant): Tenant, Said(said): Said<Purge>) -> Answer {
    let Purge { ids, queue, kind, tag, max } = said;
    let step = take_step(&door, tenant, pick(ids, [queue, kind, tag], max)?, JobCommand::Delete).await?;
    let purged = Purged { purged: step.done, missing: step.missing, more: step.more };
    Ok(show::answer(StatusCode::OK, &purged))
}

#[derive(Debug)]
struct Step {
    done: u64,
    missing: Vec<Uuid>,
    more: bool,
}

async fn take_step(door: &Door, tenant: TenantName, pick: Pick, what: JobCommand) -> Result<Step, Refusal> {
    match pick {
        Pick::Found { filter, max } => {
            let bulk = door.engine.command_found(tenant, filter, what, max).await?;
            Ok(Step { done: bulk.done, missing: Vec::new(), more: bulk.more })
        }
        Pick::Named(ids) => named(door, tenant, ids, what).await,
    }
}

/// Only dead letters are touched: deleting would take any job that has ended.
async fn named(door: &Door, tenant: TenantName, ids: Vec<JobId>, what: JobCommand) -> Result<Step, Refusal> {
    let views = door.engine.store().get(&tenant, ids.clone()).await?;
    let is_dead = views.into_iter().map(|view| view.is_some_and(|view| view.standing.state == JobState::Dead));
    let (dead, rest): (Vec<_>, Vec<_>) = ids.into_iter().zip(is_dead).partition(|&(_, is_dead)| is_dead);

    let command = |&(id, _): &(JobId, bool)| Command::Job { tenant: tenant.clone(), id, what: what.clone() };
    let answers = match dead.is_empty() {
        true => Vec::new(),
        false => door.engine.command(dead.iter().map(command).collect()).await?,
    };
    let lost = dead.iter().zip(&answers).filter(|(_, answer)| **answer != Commanded::Done).map(|(one, _)| one);
    let missing: Vec<Uuid> = rest.iter().chain(lost).map(|(id, _)| id.uuid()).collect();
    let done = answers.iter().filter(|answer| **answer == Commanded::Done).count() as u64;
    Ok(Step { done, missing, more: false })
}
