//! `/v1/workers`: register, stay alive, leave, and what operators tell them.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use mainspring_core::id::LeaseId;
use mainspring_core::store::{self, Command, Commanded, Pulse};
use mainspring_wire::{
    Heartbeat, HeartbeatAnswer, Holding, OrderRequest, Register, Registered, Span, WorkerView, Workers,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::{holding, register};
use crate::ask::{MaybeSaid, Pairs, Said, Tenant, WorkerPath};
use crate::convert::{order, order_said};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new()
        .routes(routes!(register_worker, list_workers))
        .routes(routes!(leave_worker))
        .routes(routes!(heartbeat_worker))
        .routes(routes!(order_worker))
}

/// Registers a worker process; the id is for as long as it lives.
#[utoipa::path(
    post, path = "/v1/workers", tag = "work", request_body = Register,
    responses((status = 201, description = "The worker's id and its lease", body = Registered), Refused)
)]
pub(crate) async fn register_worker(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    MaybeSaid(said): MaybeSaid<Register>,
) -> Answer {
    let (info, lease) = register(said)?;
    let registration = door.engine.register(tenant, info, lease).await?;
    let registered = Registered {
        worker_id: registration.worker.0,
        lease: Span::from(registration.lease),
        heartbeat_every: Span::from(registration.heartbeat_every),
    };
    Ok(show::answer(StatusCode::CREATED, &registered))
}

/// The registered workers; one whose `expires_at` is past was not heard from in time and may still hold jobs.
#[utoipa::path(
    get, path = "/v1/workers", tag = "operations",
    responses((status = 200, description = "Every worker", body = Workers), Refused)
)]
pub(crate) async fn list_workers(State(door): State<Door>, Tenant(tenant): Tenant, pairs: Pairs) -> Answer {
    pairs.done()?;
    let workers = door.engine.store().workers().await?;
    // One that left is there until the next sweep. One that is silent is shown: it may be spared, with all it holds.
    let mine = workers.iter().filter(|worker| worker.tenant == tenant && worker.expires_at != store::WorkerView::LEFT);
    let workers: Vec<WorkerView> = mine.map(show::worker).collect();
    Ok(show::answer(StatusCode::OK, &Workers { workers }))
}

/// The worker is alive; the answer says what to stop.
#[utoipa::path(
    post, path = "/v1/workers/{id}/heartbeat", tag = "work", params(("id" = Uuid, Path)),
    request_body = Option<Heartbeat>,
    responses((status = 200, description = "What to do now", body = HeartbeatAnswer), Refused)
)]
pub(crate) async fn heartbeat_worker(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    WorkerPath(worker): WorkerPath,
    MaybeSaid(said): MaybeSaid<Heartbeat>,
) -> Answer {
    let counted = said.held.filter(|_| said.holding.is_none());
    let holding = holding(said.holding)?;
    let Pulse::Alive { order: told, held, cancel, lost, .. } = door.engine.heartbeat(tenant, worker, holding).await?
    else {
        return Err(Refusal::unknown_worker().at("id"));
    };
    let answer = HeartbeatAnswer {
        order: order(told),
        cancel: cancel.into_iter().map(held_by).collect(),
        lost: lost.into_iter().map(held_by).collect(),
        recount: counted.is_some_and(|counted| u64::from(counted) != held),
    };
    Ok(show::answer(StatusCode::OK, &answer))
}

/// The worker leaves for good; what it still holds is given to others.
#[utoipa::path(
    delete, path = "/v1/workers/{id}", tag = "work", params(("id" = Uuid, Path)),
    responses((status = 204, description = "It is gone"), Refused)
)]
pub(crate) async fn leave_worker(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    WorkerPath(worker): WorkerPath,
) -> Answer {
    match door.engine.leave(tenant, worker).await? {
        Pulse::Alive { .. } => Ok(StatusCode::NO_CONTENT.into_response()),
        Pulse::Unknown => Err(Refusal::unknown_worker().at("id")),
    }
}

/// Tells a worker to work, to go quiet or to terminate; it hears it with its next heartbeat.
#[utoipa::path(
    post, path = "/v1/workers/{id}/order", tag = "operations", params(("id" = Uuid, Path)),
    request_body = OrderRequest,
    responses((status = 200, description = "The order that stands", body = OrderRequest), Refused)
)]
pub(crate) async fn order_worker(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    WorkerPath(id): WorkerPath,
    Said(said): Said<OrderRequest>,
) -> Answer {
    let workers = door.engine.store().workers().await?;
    if !workers.iter().any(|worker| worker.id == id && worker.tenant == tenant) {
        return Err(Refusal::unknown_worker().at("id"));
    }
    let command = Command::Worker { id, order: order_said(said.order) };
    match door.engine.command(vec![command]).await?.pop() {
        Some(Commanded::Missing) => Err(Refusal::unknown_worker().at("id")),
        _ => Ok(show::answer(StatusCode::OK, &said)),
    }
}

fn held_by(lease: LeaseId) -> Holding {
    Holding { job_id: lease.job.uuid(), fence: lease.fence.0 }
}
