//! Queues: `/v1/queues` and what is below it.

use http::Method;
use mainspring_wire::{QueuePatch, QueueView, Queues};

use super::Client;
use super::call::{Call, segment};
use crate::error::Result;

impl Client {
    /// Every queue with its counts.
    pub async fn queues(&self) -> Result<Queues> {
        self.ask(Call::get("/v1/queues")).await
    }

    /// One queue with its counts.
    pub async fn queue(&self, name: &str) -> Result<QueueView> {
        self.ask(Call::get(path(name))).await
    }

    /// Changes the settings of a queue.
    pub async fn patch_queue(&self, name: &str, patch: &QueuePatch) -> Result<QueueView> {
        self.ask(Call::new(Method::PATCH, path(name)).body(patch)).await
    }

    /// Nothing is claimed from the queue until it is resumed.
    pub async fn pause_queue(&self, name: &str) -> Result<QueueView> {
        self.ask(Call::post(format!("{}/pause", path(name)))).await
    }

    /// Lets a paused queue go on.
    pub async fn resume_queue(&self, name: &str) -> Result<QueueView> {
        self.ask(Call::post(format!("{}/resume", path(name)))).await
    }
}

fn path(name: &str) -> String {
    format!("/v1/queues/{}", segment(name))
}
