//! Submitting: `POST /v1/jobs` and `POST /v1/jobs/batch`.

use mainspring_wire::{Batch, BatchAnswer, NewJob, Submitted};

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Submits one job; it is durable when this answers. With an idempotency key the call may be repeated safely.
    pub async fn submit(&self, job: &NewJob) -> Result<Submitted> {
        self.ask(Call::post("/v1/jobs").body(job)).await
    }

    /// Submits many jobs in one write. One answer each, in their order; some may be refused while others are taken.
    pub async fn submit_batch(&self, batch: &Batch) -> Result<BatchAnswer> {
        self.ask(Call::post("/v1/jobs/batch").body(batch)).await
    }
}
