//! The single-job calls, each with the fence: `POST /v1/jobs/{id}/{start,checkpoint,complete,fail}`. A lost hold is
//! [`Error::Stale`](crate::Error::Stale).

use mainspring_wire::{Checkpoint, Complete, Fail, Held, Settled, Start};
use uuid::Uuid;

use super::Client;
use super::call::Call;
use super::jobs::path;
use crate::error::Result;

impl Client {
    /// Says that the attempt begins.
    pub async fn start(&self, job_id: Uuid, start: &Start) -> Result<Held> {
        self.ask(Call::post(format!("{}/start", path(job_id))).body(start)).await
    }

    /// Saves how far the attempt is, and learns whether it should stop.
    pub async fn checkpoint(&self, job_id: Uuid, checkpoint: &Checkpoint) -> Result<Held> {
        self.ask(Call::post(format!("{}/checkpoint", path(job_id))).body(checkpoint)).await
    }

    /// Settles one attempt as done.
    pub async fn complete(&self, job_id: Uuid, complete: &Complete) -> Result<Settled> {
        self.ask(Call::post(format!("{}/complete", path(job_id))).body(complete)).await
    }

    /// Settles one attempt as failed.
    pub async fn fail(&self, job_id: Uuid, fail: &Fail) -> Result<Settled> {
        self.ask(Call::post(format!("{}/fail", path(job_id))).body(fail)).await
    }
}
