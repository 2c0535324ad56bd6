//! Registers workers, keeps them alive, tells them what to stop. Writes nobody off: reclaim does.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Beat, BeatKind, Order, Pulse, WorkerInfo, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::{self, Verdict};

use super::book::Book;
use super::settle::News;

/// What came of giving leases back: the queues they went to, and what it did to the gates.
#[derive(Default)]
struct GivenBack {
    queues: BTreeSet<QueueRef>,
    news: News,
}

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
            BeatKind::Register { .. } | BeatKind::Alive => self.pulse(worker, Vec::new(), GivenBack::default()),
            BeatKind::Leave => {
                known.expires_at = WorkerView::LEFT;
                let given_back = self.give_back(now, worker, &[], Time::MAX);
                self.pulse(worker, Vec::new(), given_back)
            }
            BeatKind::Holding { leases, claimed_before } => {
                let held: BTreeSet<LeaseId> = self.leases_of(worker).map(|(lease, _)| lease).collect();
                let given_back = self.give_back(now, worker, &leases, claimed_before);
                let lost = leases.into_iter().filter(|lease| !held.contains(lease)).collect();
                self.pulse(worker, lost, given_back)
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
        self.pulse(id, Vec::new(), GivenBack::default())
    }

    /// Releases what was claimed before that instant and never arrived.
    fn give_back(&mut self, now: Time, worker: WorkerId, listed: &[LeaseId], claimed_before: Time) -> GivenBack {
        let missing: Vec<JobId> = self
            .leases_of(worker)
            .filter(|(lease, claimed_at)| *claimed_at < claimed_before && !listed.contains(lease))
            .map(|(lease, _)| lease.job)
            .collect();
        let mut given_back = GivenBack::default();
        for id in missing {
            let entry = self.jobs.get(&id).expect("it was found leased");
            let lease = entry.standing.lease.as_ref().expect("it was found leased");
            let verdict = verdict::given_back(lease.cancel_asked.as_deref());
            if verdict == Verdict::Release {
                given_back.queues.insert(entry.job.queue_ref());
            }
            given_back.news = given_back.news.and(self.end_lease(now, id, verdict));
            self.moved(id, State::Running);
        }
        given_back
    }

    fn leases_of(&self, worker: WorkerId) -> impl Iterator<Item = (LeaseId, Time)> {
        self.held_by(worker).map(|(job, lease)| (LeaseId { job, fence: lease.fence }, lease.claimed_at))
    }

    fn pulse(&self, worker: WorkerId, lost: Vec<LeaseId>, given_back: GivenBack) -> Pulse {
        let cancel = self.held_by(worker).filter(|(_, lease)| lease.cancel_asked.is_some());
        Pulse::Alive {
            order: self.workers[&worker].order,
            held: self.held_by(worker).count() as u64,
            cancel: cancel.map(|(job, lease)| LeaseId { job, fence: lease.fence }).collect(),
            lost,
            released: given_back.queues.into_iter().collect(),
            gates: given_back.news.told(),
        }
    }
}
