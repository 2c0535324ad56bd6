//! `/v1/limits`: what may run at once and how fast, how it stands, and letting go of what was closed.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use mainspring_core::gate::{GateState, Reach};
use mainspring_core::name::TenantName;
use mainspring_core::store::GateView;
use mainspring_engine::LimitSet;
use mainspring_wire::{LimitRule, LimitView, Limits};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::limit;
use crate::ask::{Pairs, ReachPath, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new()
        .routes(routes!(list_limits))
        .routes(routes!(get_limit, put_limit, delete_limit))
        .routes(routes!(reopen_limit))
}

/// Every rule, and every gate that a pattern holds at or a worker was told to keep away from, while something is held, spent
/// or closed there.
#[utoipa::path(
    get, path = "/v1/limits", tag = "limits",
    responses((status = 200, description = "The limits, by reach", body = Limits), Refused)
)]
pub(crate) async fn list_limits(State(door): State<Door>, Tenant(tenant): Tenant, pairs: Pairs) -> Answer {
    pairs.done()?;
    let now = door.engine.now();
    let views = door.engine.limits(&tenant).await?;
    let limits = views.iter().map(|view| show::limit(view, now)).collect();
    Ok(show::answer(StatusCode::OK, &Limits { limits }))
}

/// What holds in a reach, and how it stands. Of a single gate also if a pattern holds there.
#[utoipa::path(
    get, path = "/v1/limits/{reach}", tag = "limits",
    params(("reach" = String, Path, description = "queue:NAME, type:NAME, key:TEXT, each also as PREFIX*, or tenant")),
    responses((status = 200, description = "The limit", body = LimitView), Refused)
)]
pub(crate) async fn get_limit(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    ReachPath(reach): ReachPath,
    pairs: Pairs,
) -> Answer {
    pairs.done()?;
    let view = look(&door, &tenant, &reach).await?;
    if view.rule.is_none() && view.state == GateState::default() {
        return Err(no_limit(&reach));
    }
    Ok(shown(&door, StatusCode::OK, &view))
}

/// Sets what holds in a reach, in place of what held there before; at once, also for what waits and runs already.
#[utoipa::path(
    put, path = "/v1/limits/{reach}", tag = "limits",
    params(
        ("reach" = String, Path, description = "queue:NAME, type:NAME, key:TEXT, each also as PREFIX*, or tenant"),
        ("dry_run" = Option<bool>, Query, description = "Only say what is wrong with it, and show it with every default")
    ),
    request_body = LimitRule,
    responses(
        (status = 200, description = "It holds in place of the one before; or a dry run", body = LimitView),
        (status = 201, description = "It is new", body = LimitView),
        Refused
    )
)]
pub(crate) async fn put_limit(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    ReachPath(reach): ReachPath,
    mut pairs: Pairs,
    Said(said): Said<LimitRule>,
) -> Answer {
    let is_dry = pairs.parse("dry_run", |text| text.parse::<bool>().map_err(|_| "is neither true nor false"))?;
    pairs.done()?;
    let rule = limit(&said, &reach)?;
    if is_dry == Some(true) {
        let view = GateView { rule: Some((reach.clone(), rule)), ..look(&door, &tenant, &reach).await? };
        return Ok(shown(&door, StatusCode::OK, &view));
    }
    let status = match door.engine.set_limit(tenant.clone(), reach.clone(), rule).await? {
        LimitSet::Created => StatusCode::CREATED,
        LimitSet::Replaced | LimitSet::Unchanged => StatusCode::OK,
    };
    Ok(shown(&door, status, &look(&door, &tenant, &reach).await?))
}

/// Limits nothing by this rule any more. A pattern may hold there then.
#[utoipa::path(
    delete, path = "/v1/limits/{reach}", tag = "limits", params(("reach" = String, Path)),
    responses((status = 204, description = "It is gone"), Refused)
)]
pub(crate) async fn delete_limit(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    ReachPath(reach): ReachPath,
) -> Answer {
    match door.engine.clear_limit(tenant, reach.clone()).await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(no_limit(&reach)),
    }
}

/// Forgets what workers were told and closes the breaker, at every gate in reach.
#[utoipa::path(
    post, path = "/v1/limits/{reach}/reopen", tag = "limits", params(("reach" = String, Path)),
    responses((status = 200, description = "How it stands now", body = LimitView), Refused)
)]
pub(crate) async fn reopen_limit(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    ReachPath(reach): ReachPath,
) -> Answer {
    if !door.engine.reopen_limit(tenant.clone(), reach.clone()).await? {
        return Err(no_limit(&reach));
    }
    Ok(shown(&door, StatusCode::OK, &look(&door, &tenant, &reach).await?))
}

/// A gate that is not listed is at rest; a pattern may hold there all the same.
async fn look(door: &Door, tenant: &TenantName, reach: &Reach) -> Result<GateView, Refusal> {
    let views = door.engine.limits(tenant).await?;
    if let Some(view) = views.iter().find(|view| view.reach == *reach) {
        return Ok(view.clone());
    }
    let rule = match reach {
        Reach::One(gate) => {
            let covering = views.iter().filter(|view| view.reach.covers(gate));
            covering.filter_map(|view| view.rule.clone()).max_by_key(|(set_for, _)| prefix_bytes(set_for))
        }
        Reach::Each { .. } => None,
    };
    Ok(GateView { reach: reach.clone(), rule, state: GateState::default(), waiting: 0 })
}

/// Of two patterns the longer holds.
fn prefix_bytes(reach: &Reach) -> usize {
    match reach {
        Reach::One(_) => usize::MAX,
        Reach::Each { prefix, .. } => prefix.len(),
    }
}

fn shown(door: &Door, status: StatusCode, view: &GateView) -> axum::response::Response {
    show::answer(status, &show::limit(view, door.engine.now()))
}

fn no_limit(reach: &Reach) -> Refusal {
    let reach = reach.text();
    Refusal::not_found(format!(
        "nothing is limited by {reach}, and nothing is closed there. GET /v1/limits lists what is; set it with PUT \
         (mainspring limit set {reach})"
    ))
}
