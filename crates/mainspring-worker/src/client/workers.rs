//! Workers: `/v1/workers` and what is below it.

use http::Method;
use mainspring_wire::{Heartbeat, HeartbeatAnswer, Order, OrderRequest, Register, Registered, Workers};
use uuid::Uuid;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Introduces a worker; the answer's id is this incarnation's name.
    pub async fn register(&self, register: &Register) -> Result<Registered> {
        self.ask(Call::post("/v1/workers").body(register)).await
    }

    /// Says that a worker is alive, and hears what it should do.
    pub async fn heartbeat(&self, worker_id: Uuid, heartbeat: &Heartbeat) -> Result<HeartbeatAnswer> {
        self.ask(Call::post(format!("{}/heartbeat", path(worker_id))).body(heartbeat)).await
    }

    /// A worker goes for good. What it still holds is given to others.
    pub async fn leave(&self, worker_id: Uuid) -> Result<()> {
        self.tell(Call::new(Method::DELETE, path(worker_id))).await.map(drop)
    }

    /// The registered workers.
    pub async fn workers(&self) -> Result<Workers> {
        self.ask(Call::get("/v1/workers")).await
    }

    /// Tells a worker what to do; it hears it with its next heartbeat.
    pub async fn order(&self, worker_id: Uuid, order: Order) -> Result<()> {
        let request = OrderRequest { order };
        self.tell(Call::post(format!("{}/order", path(worker_id))).body(&request)).await.map(drop)
    }
}

fn path(worker_id: Uuid) -> String {
    format!("/v1/workers/{worker_id}")
}
