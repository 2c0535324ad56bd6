//! What the calls that move one job share: the command, what the store said to it, and the job after it.

use axum::response::Response;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, JobCommand};

use crate::door::Door;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::jobs::get::{load, no_such_job};
use crate::show;

/// A call that moves one job.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub door: &'a Door,
    pub tenant: TenantName,
    pub id: JobId,
    /// Which jobs it is for, for the problem: `only a job that has not started can be paused`.
    pub only: &'static str,
}

impl Call<'_> {
    /// Gives the commands together and answers with the job as it is then. `is_so` says whether a job that refuses is
    /// what was asked for already: asking twice is no error.
    pub(super) async fn give(self, commands: Vec<JobCommand>, is_so: fn(&JobView) -> bool) -> Answer {
        let commands = commands.into_iter().map(|what| Command::Job { tenant: self.tenant.clone(), id: self.id, what });
        let answers = self.door.engine.command(commands.collect()).await?;
        if answers.contains(&Commanded::Missing) {
            return Err(no_such_job(self.id));
        }
        let view = load(self.door, &self.tenant, self.id).await?;
        if answers.iter().any(|answer| matches!(answer, Commanded::Refused { .. })) && !is_so(&view) {
            return Err(self.refused(&view));
        }
        let asked = answers.contains(&Commanded::Asked);
        Ok(moved(if asked { StatusCode::ACCEPTED } else { StatusCode::OK }, &view))
    }

    pub(super) fn refused(&self, view: &JobView) -> Refusal {
        Refusal::conflict(format!("the job is {}: {}", view.status(), self.only))
    }
}

fn moved(status: StatusCode, view: &JobView) -> Response {
    show::answer(status, &show::job(view))
}

/// For calls that have nothing to be already.
pub(super) fn never(_: &JobView) -> bool {
    false
}
