//! What the worker's actors share: the client, the handlers, the places for running jobs, and what is held.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::{ClaimedJob, Tenants};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::handle::WorkerHandle;
use super::holds::Holds;
use super::outbox::Outbox;
use super::{Handlers, Settings, Worker};
use crate::client::Client;

/// As many as the server takes for one worker.
pub(super) const CONCURRENCY_MAX: usize = 100_000;

pub(super) struct Workplace {
    pub client: Client,
    pub handlers: Handlers,
    pub settings: Settings,
    pub handle: WorkerHandle,
    pub holds: Holds,
    pub outbox: Outbox,
    /// One permit per running handler.
    places: Arc<Semaphore>,
}

impl Workplace {
    pub fn new(worker: Worker) -> Arc<Workplace> {
        let Worker { client, handlers, settings, handle } = worker;
        let places = Arc::new(Semaphore::new(settings.concurrency));
        Arc::new(Workplace {
            client,
            handlers,
            settings,
            handle,
            holds: Holds::default(),
            outbox: Outbox::new(),
            places,
        })
    }

    /// Whom a settlement names: the job's tenant if it may be another than the client's.
    pub fn tenant_of(&self, job: &ClaimedJob) -> Option<String> {
        (self.settings.tenants == Tenants::All).then(|| job.tenant.clone())
    }

    /// The client for calls about a job, which are its tenant's.
    pub fn client_for(&self, job: &ClaimedJob) -> Client {
        let client = self.client.clone();
        match self.settings.tenants {
            Tenants::Own => client,
            // A server hands out no tenant that it would not take back.
            Tenants::All => client.clone().with_tenant(&job.tenant).unwrap_or(client),
        }
    }

    /// Waits for a free place, and takes all that are free, up to `max`. Only one may wait at a time, so what is seen free stays
    /// free until it is taken.
    pub async fn take_places(&self, max: usize) -> OwnedSemaphorePermit {
        let first = Arc::clone(&self.places).acquire_owned().await;
        let mut taken = first.expect("the places are never closed");
        let more = self.places.available_permits().min(max.saturating_sub(1));
        let more = u32::try_from(more).expect("there are at most CONCURRENCY_MAX places");
        if let Ok(others) = Arc::clone(&self.places).try_acquire_many_owned(more) {
            taken.merge(others);
        }
        taken
    }

    /// Waits until no handler runs, or this long. Whether none runs.
    pub async fn emptied_within(&self, wait: Duration) -> bool {
        let all = u32::try_from(self.settings.concurrency).expect("there are at most CONCURRENCY_MAX places");
        tokio::time::timeout(wait, self.places.acquire_many(all)).await.is_ok()
    }
}
