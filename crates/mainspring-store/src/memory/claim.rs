//! Hands out the best ready jobs under new fences. Knows no limits but `max`, and waits for nothing.

use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Lease};
use mainspring_core::lifecycle::State;
use mainspring_core::rank::Rank;
use mainspring_core::store::{Claim, ClaimAnswer, Order, WorkerView};
use mainspring_core::time::Time;

use super::book::{Book, Entry};

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
        let mut offers: Vec<(Rank, JobId)> = self
            .jobs
            .values()
            .filter(|entry| self.offers(entry, claim, now))
            .map(|entry| (self.rank(entry), entry.job.id))
            .collect();
        offers.sort();
        ClaimAnswer::Jobs(offers.into_iter().take(claim.max).map(|(_, id)| self.lend(now, id, claim)).collect())
    }

    fn offers(&self, entry: &Entry, claim: &Claim, now: Time) -> bool {
        entry.is_on_offer()
            && !entry.is_expired(now)
            && entry.job.tenant == claim.tenant
            && claim.queues.contains(&entry.job.queue)
            && !self.queues.get(&entry.job.queue_ref()).is_some_and(|queue| queue.paused)
    }

    fn lend(&mut self, now: Time, id: JobId, claim: &Claim) -> Claimed {
        let fence = self.next_fence();
        let entry = self.jobs.get_mut(&id).expect("it was found ready");
        entry.standing.state = State::Running;
        entry.standing.tally.attempts += 1;
        entry.standing.lease = Some(Lease {
            fence,
            worker: claim.worker,
            claimed_at: now,
            started_at: None,
            timeout_at: entry.job.timeout.map(|timeout| now.after(timeout)),
            cancel_asked: None,
        });
        entry.claimed()
    }
}
