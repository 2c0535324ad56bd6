//! What readers ask. Changes nothing.

use mainspring_core::id::JobId;
use mainspring_core::job::{Execution, JobView};
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Counts, Page, Query, QueueView, WorkerView};

use super::book::{Book, Entry, Settings};

impl Book {
    pub(super) fn get(&self, tenant: &TenantName, id: JobId) -> Option<JobView> {
        self.job_of(tenant, id).map(Entry::view)
    }

    pub(super) fn find(&self, query: &Query) -> Page {
        let mut found = self
            .jobs
            .values()
            .rev()
            .filter(|entry| entry.job.tenant == query.tenant)
            .filter(|entry| query.below.is_none_or(|below| entry.job.id < below))
            .map(Entry::view)
            .filter(|view| query.filter.matches(view));
        let jobs: Vec<JobView> = found.by_ref().take(query.limit).collect();
        let next = found.next().and(jobs.last()).map(|last| last.job.id);
        Page { jobs, next }
    }

    pub(super) fn executions(&self, tenant: &TenantName, id: JobId) -> Vec<Execution> {
        self.job_of(tenant, id).map(|entry| entry.executions.clone()).unwrap_or_default()
    }

    pub(super) fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Option<u64> {
        let this = self.job_of(tenant, id).filter(|entry| entry.is_on_offer())?;
        let (queue, rank) = (this.job.queue_ref(), self.rank(this));
        let before = self.in_queue(&queue).filter(|entry| entry.is_on_offer() && self.rank(entry) < rank);
        Some((before.count() as u64).min(limit))
    }

    pub(super) fn queues(&self, tenant: Option<&TenantName>) -> Vec<QueueView> {
        let asked = self.queues.iter().filter(|(queue, _)| tenant.is_none_or(|tenant| queue.tenant == *tenant));
        asked.map(|(queue, settings)| self.queue(queue, settings)).collect()
    }

    fn queue(&self, queue: &QueueRef, settings: &Settings) -> QueueView {
        let on_offer = self.in_queue(queue).filter(|entry| entry.is_on_offer());
        QueueView {
            queue: queue.clone(),
            paused: settings.paused,
            aging: settings.aging,
            max_depth: settings.max_depth,
            counts: self.counts(queue),
            oldest_ready_at: on_offer.map(|entry| entry.standing.ready_at).min(),
        }
    }

    pub(super) fn counts(&self, queue: &QueueRef) -> Counts {
        let mut counts = Counts::default();
        for entry in self.in_queue(queue) {
            *counts.of(entry.standing.state, entry.standing.paused) += 1;
        }
        counts
    }

    pub(super) fn workers(&self) -> Vec<WorkerView> {
        let held = |worker: &WorkerView| self.held_by(worker.id).count() as u64;
        self.workers.values().map(|worker| WorkerView { held: held(worker), ..worker.clone() }).collect()
    }

    fn in_queue(&self, queue: &QueueRef) -> impl Iterator<Item = &Entry> {
        self.jobs.values().filter(|entry| entry.job.tenant == queue.tenant && entry.job.queue == queue.queue)
    }
}
