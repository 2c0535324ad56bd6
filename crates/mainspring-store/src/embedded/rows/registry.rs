//! Queues and workers: few rows, read whole at start.

use mainspring_core::name::QueueName;
use mainspring_core::rank::Aging;
use mainspring_core::store::{Counts, Error, Order, Result, WorkerInfo};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueueRow {
    pub tenant: String,
    pub queue: String,
    pub paused: bool,
    pub aging_point_ms: u64,
    pub max_depth: Option<u64>,
    pub counts: [u64; 8],
}

impl QueueRow {
    pub fn aging(&self) -> Aging {
        Aging::from_point_ms(self.aging_point_ms)
    }
}

pub fn counts_row(counts: &Counts) -> [u64; 8] {
    let Counts { blocked, waiting, ready, paused, running, succeeded, dead, cancelled } = *counts;
    [blocked, waiting, ready, paused, running, succeeded, dead, cancelled]
}

pub fn read_counts([blocked, waiting, ready, paused, running, succeeded, dead, cancelled]: [u64; 8]) -> Counts {
    Counts { blocked, waiting, ready, paused, running, succeeded, dead, cancelled }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerRow {
    pub tenant: String,
    pub name: Option<String>,
    pub host: Option<String>,
    pub pid: Option<u32>,
    pub version: Option<String>,
    pub queues: Vec<String>,
    pub concurrency: u32,
    pub lease_ms: u64,
    pub registered_ms: u64,
    pub last_seen_ms: u64,
    pub expires_ms: u64,
    pub order: u8,
}

impl WorkerRow {
    pub fn order(&self) -> Order {
        match self.order {
            0 => Order::Work,
            1 => Order::Quiet,
            _ => Order::Terminate,
        }
    }

    pub fn set_order(&mut self, order: Order) {
        self.order = match order {
            Order::Work => 0,
            Order::Quiet => 1,
            Order::Terminate => 2,
        };
    }

    pub fn info(&self) -> Result<WorkerInfo> {
        let queues = self.queues.iter().map(|name| QueueName::parse(name));
        Ok(WorkerInfo {
            name: self.name.clone(),
            host: self.host.clone(),
            pid: self.pid,
            version: self.version.clone(),
            queues: queues.collect::<std::result::Result<_, _>>().map_err(|error| Error::Damaged(error.to_string()))?,
            concurrency: self.concurrency,
        })
    }
}
