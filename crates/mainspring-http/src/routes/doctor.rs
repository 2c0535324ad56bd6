//! `GET /v1/doctor`: what is wrong, where, and what to do. Mends nothing.

use axum::extract::State;
use http::StatusCode;
use mainspring_wire::Doctor;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ask::Pairs;
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(get_doctor))
}

/// The server examines itself, the cluster and the store.
#[utoipa::path(
    get, path = "/v1/doctor", tag = "operations",
    responses((status = 200, description = "Everything that was looked at, the worst first", body = Doctor), Refused)
)]
pub(crate) async fn get_doctor(State(door): State<Door>, pairs: Pairs) -> Answer {
    pairs.done()?;
    Ok(show::answer(StatusCode::OK, &show::doctor(door.engine.doctor().await?)))
}
