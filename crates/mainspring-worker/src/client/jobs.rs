//! Jobs as they are looked at and changed: `/v1/jobs/{id}` and what is below it.

use http::Method;
use mainspring_wire::{
    CancelRequest, Executions, Explanation, JobPage, JobPatch, JobQuery, JobView, Parents, ParentsQuery, RetryRequest,
};
use uuid::Uuid;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Everything there is to see of a job.
    pub async fn job(&self, job_id: Uuid) -> Result<JobView> {
        self.ask(Call::get(path(job_id))).await
    }

    /// The attempts at a job, oldest first.
    pub async fn executions(&self, job_id: Uuid) -> Result<Executions> {
        self.ask(Call::get(format!("{}/executions", path(job_id)))).await
    }

    /// Why a job is not running.
    pub async fn explain(&self, job_id: Uuid) -> Result<Explanation> {
        self.ask(Call::get(format!("{}/explain", path(job_id)))).await
    }

    /// A page of what a job waited for, with the results, in the order of its `depends_on`.
    pub async fn parents(&self, job_id: Uuid, query: &ParentsQuery) -> Result<Parents> {
        self.ask(Call::get(format!("{}/parents", path(job_id))).query(query)).await
    }

    /// A page of jobs, newest first. The page's `next_cursor`, put into the query, gives the next one.
    pub async fn jobs(&self, query: &JobQuery) -> Result<JobPage> {
        self.ask(Call::get("/v1/jobs").query(query)).await
    }

    /// Changes a job that has not started.
    pub async fn patch(&self, job_id: Uuid, patch: &JobPatch) -> Result<JobView> {
        self.ask(Call::new(Method::PATCH, path(job_id)).body(patch)).await
    }

    /// Cancels a job. A running one is told through its worker's next heartbeat, and is still `RUNNING` in the answer.
    pub async fn cancel(&self, job_id: Uuid, request: &CancelRequest) -> Result<JobView> {
        self.ask(Call::post(format!("{}/cancel", path(job_id))).body(request)).await
    }

    /// Sets a job aside until it is resumed.
    pub async fn pause(&self, job_id: Uuid) -> Result<JobView> {
        self.ask(Call::post(format!("{}/pause", path(job_id)))).await
    }

    /// Lets a paused job go on.
    pub async fn resume(&self, job_id: Uuid) -> Result<JobView> {
        self.ask(Call::post(format!("{}/resume", path(job_id)))).await
    }

    /// Tries a job again: a dead letter from the start, a retrying one at once.
    pub async fn retry(&self, job_id: Uuid, request: &RetryRequest) -> Result<JobView> {
        self.ask(Call::post(format!("{}/retry", path(job_id))).body(request)).await
    }

    /// Makes a waiting job ready now.
    pub async fn run(&self, job_id: Uuid) -> Result<JobView> {
        self.ask(Call::post(format!("{}/run", path(job_id)))).await
    }
}

pub(super) fn path(job_id: Uuid) -> String {
    format!("/v1/jobs/{job_id}")
}
