//! `GET /metrics`: everything that is counted, for Prometheus.

use axum::extract::State;
use axum::response::IntoResponse;
use http::header;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;
use crate::metrics;
use crate::openapi::Refused;
use crate::routes::Answer;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(show_metrics))
}

/// What is counted, in the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain"), Refused)
)]
pub(crate) async fn show_metrics(State(door): State<Door>) -> Answer {
    let queues = door.engine.store().queues(None).await?;
    let text = metrics::render(door.engine.now(), queues);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
