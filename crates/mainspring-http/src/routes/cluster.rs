//! `GET /v1/cluster`: who is there, who leads, who has which segment. Moves nothing.

use axum::extract::State;
use http::StatusCode;
use mainspring_wire::Cluster;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ask::Pairs;
use crate::door::Door;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(get_cluster))
}

/// The nodes, the leader, and who acts for which segment.
#[utoipa::path(
    get, path = "/v1/cluster", tag = "operations",
    responses((status = 200, description = "The cluster, as the store knows it", body = Cluster), Refused)
)]
pub(crate) async fn get_cluster(State(door): State<Door>, pairs: Pairs) -> Answer {
    pairs.done()?;
    Ok(show::answer(StatusCode::OK, &show::cluster(&door.engine.cluster().await?)))
}
