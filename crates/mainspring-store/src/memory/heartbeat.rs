//! Registers workers, keeps them alive, tells them what to stop. Writes nobody off: reclaim does.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Beat, BeatKind, Order, Pulse, WorkerInfo, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::{Verdict, given_back};

use super::book::Book;

impl Book {
    pub(super) fn heartbeat(&mut self, now: Time, beat: Beat) -> Pulse {
        let worker = beat.worker;
        if let BeatKind::Register { info, lease } = beat.kind {
            return self.register(now, worker, beat.tenant, info, lease);
        }
        let Some(known) = self.workers.get_mut(&worker) else { return Pulse::Unknown };
        if known.tenant != beat.tenant || known.expires_at == WorkerView::LEFT {
            return Pulse::Unknown;
        }
        known.last_seen_at = now;
        known.expires_at = known.expires_at.max(now.after(known.lease));
        match beat.kind {
            BeatKind::Register { .. } | BeatKind::Alive => self.pulse(worker, Vec::new(), Vec::new()),
            BeatKind::Leave => {
                known.expires_at = WorkerView::LEFT;
                let released = self.give_back(now, worker, &[], Time::MAX);
                self.pulse(worker, Vec::new(), released)
            }
            BeatKind::Holding { leases, claimed_before } => {
                let held: BTreeSet<LeaseId> = self.leases_of(worker).map(|(lease, _)| lease).collect();
                let released = self.give_back(now, worker, &leases, claimed_before);
                let lost = leases.into_iter().filter(|lease| !held.contains(lease)).collect();
                self.pulse(worker, lost, released)
            }
        }
    }

    /// The same worker again is refreshed and keeps its leases and its order; another tenant's is not ours to touch.
    fn register(&mut self, now: Time, id: WorkerId, tenant: TenantName, info: WorkerInfo, lease: Duration) -> Pulse {
        let known = self.workers.entry(id).or_insert_with(|| WorkerView {
            id,
            tenant: tenant.clone(),
            info: WorkerInfo::default(),
            lease,
            registered_at: now,
            last_seen_at: now,
            expires_at: now,
            order: Order::Work,
            held: 0,
        });
        if known.tenant != tenant {
            return Pulse::Unknown;
        }
        known.info = info;
        known.lease = lease;
        known.last_seen_at = now;
        known.expires_at = now.after(lease);
        self.pulse(id, Vec::new(), Vec::new())
    }

    /// Releases what was claimed before that instant and never arrived; answers the queues it went back to.
    fn give_back(&mut self, now: Time, worker: WorkerId, listed: &[LeaseId], claimed_before: Time) -> Vec<QueueRef> {
        let missing: Vec<JobId> = self
            .leases_of(worker)
            .filter(|(lease, claimed_at)| *claimed_at < claimed_before && !listed.contains(lease))
            .map(|(lease, _)| lease.job)
            .collect();
        let mut queues = BTreeSet::new();
        for id in missing {
            let entry = self.jobs.get_mut(&id).expect("it was found leased");
            let lease = entry.standing.lease.as_ref().expect("it was found leased");
            let verdict = given_back(lease.cancel_asked.as_deref());
            if verdict == Verdict::Release {
                queues.insert(entry.job.queue_ref());
            }
            entry.apply(now, verdict);
            self.moved(id, State::Running);
        }
        queues.into_iter().collect()
    }

    fn leases_of(&self, worker: WorkerId) -> impl Iterator<Item = (LeaseId, Time)> {
        self.held_by(worker).map(|(job, lease)| (LeaseId { job, fence: lease.fence }, lease.claimed_at))
    }

    fn pulse(&self, worker: WorkerId, lost: Vec<LeaseId>, released: Vec<QueueRef>) -> Pulse {
        let cancel = self.held_by(worker).filter(|(_, lease)| lease.cancel_asked.is_some());
        Pulse::Alive {
            order: self.workers[&worker].order,
            held: self.held_by(worker).count() as u64,
            cancel: cancel.map(|(job, lease)| LeaseId { job, fence: lease.fence }).collect(),
            lost,
            released,
        }
    }
}
