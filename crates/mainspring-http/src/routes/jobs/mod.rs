//! `/v1/jobs`: a job from its submit to its end, one file per verb.

mod attempt;
mod batch;
mod cancel;
mod command;
mod find;
mod get;
mod parents;
mod patch;
mod pause;
mod retry;
mod run;
mod submit;

pub(crate) use find::{cursor, filter, limit, page};
pub(crate) use submit::{accepted, duplicate};

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::Door;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new()
        .routes(routes!(submit::submit_job, find::find_jobs))
        .routes(routes!(batch::submit_batch))
        .routes(routes!(get::get_job, patch::patch_job, cancel::delete_job))
        .routes(routes!(get::get_executions))
        .routes(routes!(get::explain_job))
        .routes(routes!(parents::get_parents))
        .routes(routes!(cancel::cancel_job))
        .routes(routes!(pause::pause_job))
        .routes(routes!(pause::resume_job))
        .routes(routes!(retry::retry_job))
        .routes(routes!(run::run_job))
        .routes(routes!(attempt::start_job))
        .routes(routes!(attempt::checkpoint_job))
        .routes(routes!(attempt::complete_job))
        .routes(routes!(attempt::fail_job))
}
