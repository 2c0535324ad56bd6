//! `GET /openapi.json`: the API described, made from the routes.

use axum::extract::State;
use axum::response::IntoResponse;
use http::header;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;
use crate::routes::Answer;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(show_document))
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operations",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json"))
)]
pub(crate) async fn show_document(State(door): State<Door>) -> Answer {
    Ok(([(header::CONTENT_TYPE, "application/json")], door.document.clone()).into_response())
}
