//! `GET /`: a page of plain text for whoever comes by. The console will take its place.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;

const PAGE: &str = "\
Mainspring, a job scheduler.

  POST /v1/jobs            submit a job: {\"type\": \"mail\", \"data\": {…}, \"delay\": \"2h\"}
  GET  /v1/jobs/{id}       its status; /executions and /explain beside it
  GET  /v1/jobs            find jobs by status, queue, type, tag
  POST /v1/schedules       a rule that makes jobs: {\"cron\": \"0 3 * * *\", \"timezone\": \"Europe/Berlin\", \"job\": {…}}
  POST /v1/workflows       jobs that wait for each other
  GET  /v1/forecast        what will fire in the next 7 days
  POST /v1/workers         register a worker; POST /v1/claims and /v1/settlements to work
  GET  /v1/queues          queues and their counts
  GET  /v1/dead            dead letters; POST /v1/dead/replay to run them again
  GET  /v1/events          what happens, as it happens
  GET  /readyz  /metrics   for operators
  GET  /openapi.json       all of it, described
";

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(index))
}

/// The main routes, in plain text.
#[utoipa::path(
    get, path = "/", tag = "operations",
    responses((status = 200, description = "A page of text", body = String, content_type = "text/plain"))
)]
pub(crate) async fn index() -> &'static str {
    PAGE
}
