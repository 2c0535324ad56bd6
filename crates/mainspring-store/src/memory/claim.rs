//! Hands out the best ready jobs that their gates let in, under new fences. Waits for nothing.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::gate::{GateName, GateRef};
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Claimed, Lease};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{Claim, ClaimAnswer, Order, Whose, WorkerView};
use mainspring_core::time::Time;

use super::book::Book;
use super::walk::Shut;

impl Book {
    pub(super) fn claim(&mut self, now: Time, claim: &Claim) -> ClaimAnswer {
        match self.workers.get_mut(&claim.worker) {
            Some(worker) if worker.tenant == claim.tenant && worker.expires_at != WorkerView::LEFT => {
                if worker.expires_at <= now {
                    worker.last_seen_at = now;
                    worker.expires_at = now.after(worker.lease);
                }
                if worker.order != Order::Work {
                    return ClaimAnswer::Quiet;
                }
            }
            _ => return ClaimAnswer::UnknownWorker,
        }
        ClaimAnswer::Jobs(match claim.whose {
            Whose::Own => self.claim_own(now, claim),
            Whose::All => self.claim_all(now, claim),
        })
    }

    fn claim_own(&mut self, now: Time, claim: &Claim) -> Vec<Claimed> {
        let (mut taken, mut shut) = (Vec::new(), Shut::default());
        let is_asked = |queue: &QueueRef| queue.tenant == claim.tenant && claim.queues.contains(&queue.queue);
        for id in self.line(now, is_asked) {
            if taken.len() == claim.max {
                break;
            }
            if self.could_go(now, id, &mut shut) {
                taken.push(self.lend(now, id, claim.worker));
            }
        }
        taken
    }

    /// One round for each job: every queue name offers one, and the best of them goes.
    fn claim_all(&mut self, now: Time, claim: &Claim) -> Vec<Claimed> {
        let (mut taken, mut shut) = (Vec::new(), Shut::default());
        let names: BTreeSet<&QueueName> = claim.queues.iter().collect();
        while taken.len() < claim.max {
            let offers = names.iter().filter_map(|name| Some((*name, self.offer(now, name, &mut shut)?)));
            let offers: Vec<(&QueueName, JobId)> = offers.collect();
            let best = offers.into_iter().min_by_key(|(_, id)| self.rank(&self.jobs[id]));
            let Some((name, id)) = best else { break };
            let job = &self.jobs[&id].job;
            let (tenant, cost) = (job.tenant.clone(), job.keys.weight);
            let weight = self.share_of(&tenant);
            self.lines.entry(name.clone()).or_default().charge(&tenant, weight, cost);
            taken.push(self.lend(now, id, claim.worker));
        }
        taken
    }

    /// The best job that could go, of the tenant whose turn it is.
    fn offer(&mut self, now: Time, name: &QueueName, shut: &mut Shut) -> Option<JobId> {
        let queues: Vec<QueueRef> = self.queues.keys().filter(|queue| queue.queue == *name).cloned().collect();
        let (mut offers, mut weights) = (BTreeMap::new(), BTreeMap::new());
        for asked in queues {
            let line = self.line(now, |queue| *queue == asked);
            if let Some(id) = line.into_iter().find(|&id| self.could_go(now, id, shut)) {
                offers.insert(asked.tenant.clone(), id);
                weights.insert(asked.tenant.clone(), self.share_of(&asked.tenant));
            }
        }
        let tenant = self.lines.entry(name.clone()).or_default().pick(&weights)?;
        offers.remove(&tenant)
    }

    /// The weight of a tenant in fair sharing.
    fn share_of(&self, tenant: &TenantName) -> u32 {
        let gate = GateRef { tenant: tenant.clone(), gate: GateName::Tenant };
        self.gates.rule(&gate).weight.unwrap_or(1)
    }

    fn lend(&mut self, now: Time, id: JobId, worker: WorkerId) -> Claimed {
        let fence = self.numbers.fence(id);
        let entry = self.jobs.get_mut(&id).expect("it was found ready");
        entry.stands = None;
        entry.standing.state = State::Running;
        entry.standing.tally.attempts += 1;
        entry.standing.lease = Some(Lease {
            fence,
            worker,
            claimed_at: now,
            started_at: None,
            timeout_at: entry.job.timeout.map(|timeout| now.after(timeout)),
            cancel_asked: None,
        });
        self.gates.enter(now, &entry.job);
        entry.claimed()
    }
}
