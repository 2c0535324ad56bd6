//! Claimed jobs on their way to a worker. Whatever happens to the request meanwhile, they are handed over or given
//! back; an attempt that nobody received is not counted.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::LeaseId;
use mainspring_core::job::Claimed;
use mainspring_core::store::{ClaimAnswer, Settlement};
use mainspring_core::verdict::Verdict;
use tokio::sync::mpsc;

use super::parking::Line;
use crate::node::Node;
use crate::signal::Listener;
use crate::{lanes, settle};

/// How long to wait before a store that would not take jobs back is asked again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// An answer to a claim. Dropped before it is taken, it gives its jobs back.
#[derive(Debug)]
pub(crate) struct Handful {
    answer: Option<ClaimAnswer>,
    /// Not bounded by itself: all that goes in was claimed, and claims are bounded.
    back: mpsc::UnboundedSender<Vec<LeaseId>>,
}

impl Handful {
    pub(crate) fn new(answer: ClaimAnswer, back: mpsc::UnboundedSender<Vec<LeaseId>>) -> Handful {
        Handful { answer: Some(answer), back }
    }

    /// Hands it over: from here on the jobs are the receiver's.
    pub(crate) fn take(mut self) -> ClaimAnswer {
        self.answer.take().expect("is there until it is taken")
    }

    /// There was nothing to claim: worth waiting for.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.answer, Some(ClaimAnswer::Jobs(jobs)) if jobs.is_empty())
    }

    /// `None` if the worker is not one to give jobs to.
    pub(crate) fn jobs(&self) -> Option<&[Claimed]> {
        match &self.answer {
            Some(ClaimAnswer::Jobs(jobs)) => Some(jobs),
            _ => None,
        }
    }

    pub(super) fn count_of(&self, line: &Line) -> usize {
        let is_of = |claimed: &&Claimed| line.has(&claimed.job.tenant, &claimed.job.queue);
        self.jobs().unwrap_or_default().iter().filter(is_of).count()
    }
}

impl Drop for Handful {
    fn drop(&mut self) {
        if let Some(ClaimAnswer::Jobs(jobs)) = &self.answer
            && !jobs.is_empty()
        {
            // Without a receiver the node is gone; the leases then run out by themselves.
            let _ = self.back.send(jobs.iter().map(Claimed::lease_id).collect());
        }
    }
}

/// Gives back what was dropped, until all that could still be dropped has `ended`.
pub(crate) async fn give_back(
    node: Arc<Node>,
    mut dropped: mpsc::UnboundedReceiver<Vec<LeaseId>>,
    mut ended: Listener,
) {
    let mut leases: Vec<LeaseId> = Vec::new();
    loop {
        tokio::select! {
            biased;
            Some(more) = dropped.recv() => leases.extend(more),
            () = node.clock.patience(AGAIN_AFTER), if !leases.is_empty() => {}
            // What could not be given back runs out by itself.
            () = ended.raised() => return,
        }
        while let Ok(more) = dropped.try_recv() {
            leases.extend(more);
        }
        leases = release_all(&node, leases).await;
    }
}

/// Database by database. Answers those that could not be given back.
async fn release_all(node: &Arc<Node>, leases: Vec<LeaseId>) -> Vec<LeaseId> {
    let placement = node.settings.placement;
    let mut left = Vec::new();
    for leases in lanes::apart(placement, leases, |lease| placement.shard_of(lease.job.segment())) {
        if let Err(error) = settle::apply(node, leases.iter().copied().map(release).collect()).await {
            tracing::warn!(%error, jobs = leases.len(), "could not give back jobs that their worker did not receive");
            left.extend(leases);
        }
    }
    left
}

fn release(lease: LeaseId) -> Settlement {
    Settlement { lease, verdict: Verdict::Release }
}
