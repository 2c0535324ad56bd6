//! Every route there is. Each group registers its own; nothing is routed that is not in the OpenAPI document.

use axum::Router;
use bytes::Bytes;
use http::{Method, StatusCode, Uri};
use mainspring_core::seats::Role;
use mainspring_engine::Engine;
use mainspring_wire::problem;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::door::{Door, Options};
use crate::openapi::Frame;
use crate::problem::Refusal;
use crate::routes;

/// The whole API over one engine. No layers: what every request needs is in its route.
pub fn router(engine: Engine, options: Options) -> Router {
    let answers_clients = engine.settings().roles.has(Role::Api);
    let (routes, document) = if answers_clients { table() } else { operations() }.split_for_parts();
    let document = Bytes::from(serde_json::to_vec(&document).expect("a document prints"));
    let routes = if answers_clients { routes.fallback(no_such_path) } else { routes.fallback(no_api) };
    routes.method_not_allowed_fallback(no_such_method).with_state(Door::new(engine, options, document))
}

/// The routes and, made together with them, the document.
pub(crate) fn table() -> OpenApiRouter<Door> {
    operations()
        .merge(routes::jobs::table())
        .merge(routes::schedules::table())
        .merge(routes::workflows::table())
        .merge(routes::claims::table())
        .merge(routes::settlements::table())
        .merge(routes::workers::table())
        .merge(routes::queues::table())
        .merge(routes::limits::table())
        .merge(routes::dead::table())
        .merge(routes::forecast::table())
        .merge(routes::clock::table())
        .merge(routes::events::table())
        .merge(routes::index::table())
}

/// What every node answers, whatever its roles.
fn operations() -> OpenApiRouter<Door> {
    OpenApiRouter::with_openapi(Frame::openapi())
        .merge(routes::cluster::table())
        .merge(routes::doctor::table())
        .merge(routes::health::table())
        .merge(routes::metrics::table())
        .merge(routes::openapi::table())
}

async fn no_api() -> Refusal {
    Refusal::from(mainspring_engine::Error::Elsewhere { role: Role::Api.as_str() })
}

async fn no_such_path(uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is no path {}; /openapi.json lists them all", uri.path()))
}

/// axum adds the `Allow` header.
async fn no_such_method(method: Method, uri: Uri) -> Refusal {
    let detail = format!("{} does not take {method}; the Allow header lists what it takes", uri.path());
    Refusal::new(problem::METHOD_NOT_ALLOWED, StatusCode::METHOD_NOT_ALLOWED, detail)
}
