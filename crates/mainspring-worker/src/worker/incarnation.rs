//! What the server knows this worker as: registered, kept alive by heartbeats, perhaps forgotten. A forgotten one is never
//! revived; the worker registers as a new one.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::Order;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::heartbeat;
use super::workplace::Workplace;
use crate::backoff::Backoff;
use crate::clock;
use crate::error::{Result, with_causes};

pub(super) struct Incarnation {
    pub worker_id: Uuid,
    pub lease: Duration,
    pub standing: Standing,
    /// Beats for as long as this is kept.
    _heart: JoinSet<()>,
}

/// How the server sees the incarnation, as told by its answers.
#[derive(Clone)]
pub(super) struct Standing {
    pub worker_id: Uuid,
    order: watch::Sender<Order>,
    forgotten: CancellationToken,
}

impl Incarnation {
    /// Registers, and waits for a server that is not there. A refusal is an error: waiting does not mend it.
    pub async fn begin(workplace: &Arc<Workplace>) -> Result<Incarnation> {
        let mut backoff = Backoff::of_a_loop();
        let registered = loop {
            match workplace.client.register(&workplace.settings.register).await {
                Ok(registered) => break registered,
                Err(error) if error.is_passing() => {
                    let wait = backoff.next(clock::dice());
                    tracing::warn!(error = with_causes(&error), ?wait, "could not register; trying again");
                    clock::sleep(wait).await;
                }
                Err(error) => return Err(error),
            }
        };
        let worker_id = registered.worker_id;
        let lease = registered.lease.duration();
        tracing::info!(%worker_id, ?lease, queues = ?workplace.settings.register.queues, "registered");
        {
            let mut vitals = workplace.handle.vitals();
            vitals.worker_id = Some(worker_id);
            vitals.order = Order::Work;
            vitals.heard_at = Some(clock::now());
        }
        let standing =
            Standing { worker_id, order: watch::Sender::new(Order::Work), forgotten: CancellationToken::new() };
        let mut heart = JoinSet::new();
        let every = registered.heartbeat_every.duration();
        heart.spawn(heartbeat::beat(Arc::clone(workplace), standing.clone(), every));
        Ok(Incarnation { worker_id, lease, standing, _heart: heart })
    }
}

impl Standing {
    pub fn order(&self, workplace: &Workplace, order: Order) {
        let changed = self.order.send_replace(order) != order;
        if changed {
            tracing::info!(worker_id = %self.worker_id, %order, "was given an order");
            workplace.handle.vitals().order = order;
        }
    }

    /// Waits until the order is this one.
    pub async fn ordered(&self, order: Order) {
        let waited = self.order.subscribe().wait_for(|current| *current == order).await.map(drop);
        waited.expect("the sender is in self");
    }

    /// The server does not know this worker: whatever it held is somebody else's.
    pub fn forget(&self, workplace: &Workplace) {
        if !self.forgotten.is_cancelled() {
            tracing::warn!(worker_id = %self.worker_id, "the server forgot this worker; its jobs are given to others");
            self.forgotten.cancel();
            workplace.holds.lose_all();
        }
    }

    pub async fn forgotten(&self) {
        self.forgotten.cancelled().await;
    }
}
