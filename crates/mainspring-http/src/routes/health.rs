//! `/livez` and `/readyz`: whether the process lives, and whether it takes work.

use axum::extract::State;
use http::StatusCode;
use mainspring_wire::{Readiness, Ready};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(livez)).routes(routes!(readyz))
}

/// The process answers.
#[utoipa::path(
    get, path = "/livez", tag = "operations",
    responses((status = 200, description = "It lives", body = String, content_type = "text/plain"))
)]
pub(crate) async fn livez() -> &'static str {
    "ok\n"
}

/// Whether the server takes work.
#[utoipa::path(
    get, path = "/readyz", tag = "operations",
    responses(
        (status = 200, description = "It does", body = Ready),
        (status = 503, description = "Not now", body = Ready)
    )
)]
pub(crate) async fn readyz(State(door): State<Door>) -> Answer {
    let health = door.engine.health();
    let status = match (health.ready, &health.store_error) {
        (true, _) => Readiness::Ready,
        (false, Some(_)) => Readiness::Unavailable,
        (false, None) => Readiness::Stopping,
    };
    let ready = Ready {
        status,
        store: door.engine.store().describe(),
        version: door.options.version.clone(),
        detail: health.store_error,
    };
    let code = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(show::answer(code, &ready))
}
