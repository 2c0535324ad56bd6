//! Workers come, stay alive and go. Their jobs are not touched here: what a silent one held is the sweep's business.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::{LeaseId, WorkerId};
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::store::{self, Beat, BeatKind, Pulse, WorkerInfo};

use crate::announce::News;
use crate::error::Result;
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

/// A worker beats so often within its lease that one lost beat, and one late one, do no harm.
const BEATS_PER_LEASE: u32 = 3;
/// What a worker cannot have missed must have been claimed at least so long ago: its answer may still be on the way.
const ARRIVAL_MIN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    pub worker: WorkerId,
    /// How long it may be silent before its jobs are taken back.
    pub lease: Duration,
    pub heartbeat_every: Duration,
}

impl gather::Item for Beat {}

impl Node {
    pub(crate) async fn register(
        &self,
        tenant: TenantName,
        info: WorkerInfo,
        lease: Option<Duration>,
    ) -> Result<Registration> {
        let worker = self.mint.lock().worker();
        let lease = lease.unwrap_or(self.settings.lease_default).clamp(limits::LEASE_MIN, limits::LEASE_MAX);
        self.beat(tenant, worker, BeatKind::Register { info, lease }).await?;
        Ok(Registration { worker, lease, heartbeat_every: lease / BEATS_PER_LEASE })
    }

    pub(crate) async fn heartbeat(
        &self,
        tenant: TenantName,
        worker: WorkerId,
        holding: Option<Vec<LeaseId>>,
    ) -> Result<Pulse> {
        let arrival = (self.settings.lease_default / BEATS_PER_LEASE).max(ARRIVAL_MIN);
        let kind = match holding {
            None => BeatKind::Alive,
            Some(leases) => BeatKind::Holding { leases, claimed_before: self.clock.now().before(arrival) },
        };
        self.beat(tenant, worker, kind).await
    }

    pub(crate) async fn leave(&self, tenant: TenantName, worker: WorkerId) -> Result<Pulse> {
        let pulse = self.beat(tenant, worker, BeatKind::Leave).await?;
        self.sweep.notify_one();
        Ok(pulse)
    }

    async fn beat(&self, tenant: TenantName, worker: WorkerId, kind: BeatKind) -> Result<Pulse> {
        let mut pulses = self.beats.ask(vec![Beat { worker, tenant, kind }]).await?;
        Ok(pulses.pop().expect("one pulse for one beat"))
    }

    /// One gathered call.
    pub(crate) async fn apply_beats(self: Arc<Node>, beats: Vec<Beat>) -> store::Result<Vec<Pulse>> {
        let now = self.clock.now();
        let count = beats.len();
        let call = self.store.heartbeat(now, beats);
        let pulses = self.meters.time_gathered(Call::Heartbeat, count, call).await?;
        let mut news = News::default();
        for pulse in &pulses {
            let Pulse::Alive { released, gates, .. } = pulse else { continue };
            news.opened(released.iter().cloned());
            if let Some(gates) = gates {
                news.gates(gates);
                self.tell_gates(now, gates);
            }
        }
        self.announce(now, news);
        Ok(pulses)
    }
}
