//! Why a job is where it is. Reads and reasons; changes nothing.

use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{JobView, Standing};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Order, QueueView, WorkerView};
use mainspring_core::time::Time;

use crate::error::Result;
use crate::node::Node;

/// Jobs ahead of one are counted up to here.
pub const AHEAD_MAX: u64 = 10_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub view: JobView,
    pub reasons: Vec<Reason>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    WaitsUntil(Time),
    JobPaused,
    QueuePaused,
    /// Others of its queue go first. `at_least`: there may be more than that.
    Behind {
        ahead: u64,
        at_least: bool,
    },
    /// Nobody is registered for this queue.
    NoWorker,
    /// Until its worker has been silent for too long, or its own timeout, whichever comes first.
    HeldBy {
        worker: WorkerId,
        until: Time,
    },
    CancelAsked,
    AttemptsUsedUp {
        attempts: u32,
        max: u32,
    },
    CrashesUsedUp {
        crashes: u32,
        max: u32,
    },
    FailedForGood,
    Finished,
    Cancelled {
        reason: Option<String>,
    },
    /// The next claim of its queue gets it.
    NextUp,
}

impl Node {
    pub(crate) async fn explain(&self, tenant: &TenantName, id: JobId) -> Result<Option<Explanation>> {
        let mut views = self.store.get(tenant, vec![id]).await?;
        let Some(view) = views.pop().flatten() else { return Ok(None) };
        let queues = match view.standing.state {
            State::Waiting | State::Ready => self.store.queues(Some(tenant)).await?,
            _ => vec![],
        };
        let workers = match view.standing.state {
            State::Ready | State::Running => self.store.workers().await?,
            _ => vec![],
        };
        let ahead = match view.standing.state {
            State::Ready => self.store.ahead(tenant, id, AHEAD_MAX).await?,
            _ => None,
        };
        let queue = queues.iter().find(|queue| queue.queue.queue == view.job.queue);
        let reasons = reasons(&view, Around { now: self.clock.now(), queue, workers: &workers, ahead });
        Ok(Some(Explanation { view, reasons }))
    }
}

/// What else there is to know, beside the job itself.
#[derive(Clone, Copy, Debug)]
struct Around<'a> {
    now: Time,
    queue: Option<&'a QueueView>,
    workers: &'a [WorkerView],
    /// Counted up to [`AHEAD_MAX`].
    ahead: Option<u64>,
}

/// The most telling reason first.
fn reasons(view: &JobView, around: Around<'_>) -> Vec<Reason> {
    let standing = &view.standing;
    match standing.state {
        State::Blocked => held_back(standing, around),
        State::Waiting => [held_back(standing, around), vec![Reason::WaitsUntil(standing.ready_at)]].concat(),
        State::Ready => ready(view, around),
        State::Running => running(standing, around),
        State::Succeeded => vec![Reason::Finished],
        State::Dead => vec![buried(view)],
        State::Cancelled => {
            let reason = standing.ended.as_ref().and_then(|ended| ended.reason.clone());
            vec![Reason::Cancelled { reason }]
        }
    }
}

/// What somebody has stopped.
fn held_back(standing: &Standing, around: Around<'_>) -> Vec<Reason> {
    let queue_paused = around.queue.is_some_and(|queue| queue.paused);
    let job = standing.paused.then_some(Reason::JobPaused);
    job.into_iter().chain(queue_paused.then_some(Reason::QueuePaused)).collect()
}

fn ready(view: &JobView, around: Around<'_>) -> Vec<Reason> {
    let mut reasons = held_back(&view.standing, around);
    if !around.workers.iter().any(|worker| serves(worker, view, around.now)) {
        reasons.push(Reason::NoWorker);
    }
    if let Some(ahead) = around.ahead.filter(|&ahead| ahead > 0) {
        reasons.push(Reason::Behind { ahead, at_least: ahead >= AHEAD_MAX });
    }
    if reasons.is_empty() {
        reasons.push(Reason::NextUp);
    }
    reasons
}

/// A worker that named no queues may ask for any.
fn serves(worker: &WorkerView, view: &JobView, now: Time) -> bool {
    worker.tenant == view.job.tenant
        && worker.order == Order::Work
        && worker.expires_at > now
        && (worker.info.queues.is_empty() || worker.info.queues.contains(&view.job.queue))
}

fn running(standing: &Standing, around: Around<'_>) -> Vec<Reason> {
    let Some(lease) = &standing.lease else { return vec![] };
    let silent_at = around.workers.iter().find(|worker| worker.id == lease.worker).map(|worker| worker.expires_at);
    // A worker that is not registered any more holds it until the next sweep.
    let until = silent_at.into_iter().chain(lease.timeout_at).min().unwrap_or(around.now);
    let held = Reason::HeldBy { worker: lease.worker, until };
    [Some(held), lease.cancel_asked.as_ref().map(|_| Reason::CancelAsked)].into_iter().flatten().collect()
}

fn buried(view: &JobView) -> Reason {
    let (job, tally) = (&view.job, view.standing.tally);
    if tally.failures >= job.max_attempts {
        Reason::AttemptsUsedUp { attempts: tally.failures, max: job.max_attempts }
    } else if tally.crashes > job.max_crashes {
        Reason::CrashesUsedUp { crashes: tally.crashes, max: job.max_crashes }
    } else {
        Reason::FailedForGood
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
