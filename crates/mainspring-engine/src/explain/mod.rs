//! Why a job is where it is. Reads and reasons; changes nothing. `bonds` speaks for its parents, `hurdle` for its gates.

mod bonds;
mod hurdle;

use mainspring_core::gate::GateRef;
use mainspring_core::id::{JobId, WorkerId, WorkflowId};
use mainspring_core::job::{JobView, Origin, Standing};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::store::{Hurdle, Order, QueueView, WorkerView};
use mainspring_core::time::Time;

use self::bonds::Bonds;
use crate::error::Result;
use crate::node::Node;

/// Jobs ahead of one are counted up to here.
pub const AHEAD_MAX: u64 = 10_000;
/// Parents that are named one by one; the rest are counted.
pub const PARENTS_SHOWN_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub view: JobView,
    /// The most telling first.
    pub reasons: Vec<Reason>,
    /// When it can start at the earliest, where that is known.
    pub eta: Option<Time>,
}

/// A job that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    pub id: JobId,
    /// `None` if it is forgotten already.
    pub status: Option<Status>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    WaitsUntil(Time),
    /// These have not ended. Named up to [`PARENTS_SHOWN_MAX`], counted in full.
    WaitsFor {
        parents: Vec<Parent>,
        count: u64,
    },
    /// These ended badly, or are forgotten, and it was to be held then: until each is revived and succeeds, or a person
    /// runs or cancels it. Named up to [`PARENTS_SHOWN_MAX`], counted in full.
    HeldFor {
        parents: Vec<Parent>,
        count: u64,
    },
    /// It is the callback, and so many steps have not ended.
    WaitsForSteps {
        workflow: WorkflowId,
        unfinished: u64,
    },
    JobPaused,
    QueuePaused,
    /// Others of its queue go first. `at_least`: there may be more than that.
    Behind {
        ahead: u64,
        at_least: bool,
    },
    /// Nobody is registered for this queue; so many of its tenant are for others.
    NoWorker {
        elsewhere: u64,
    },
    /// As many as may run at once do: these, the lowest ids of them.
    Full {
        gate: GateRef,
        running: u64,
        max: u32,
        holders: Vec<JobId>,
    },
    /// As many as may start have started lately; the next permit that is enough for it comes then.
    NoToken {
        gate: GateRef,
        next_at: Time,
    },
    /// A worker was told to come back later.
    Closed {
        gate: GateRef,
        until: Time,
    },
    /// Too many failed.
    BreakerOpen {
        gate: GateRef,
        probe_at: Time,
    },
    /// Too many failed, and others find out whether it is over.
    Probing {
        gate: GateRef,
    },
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
    /// Why it is there at all.
    MadeBy {
        schedule: ScheduleName,
        occurrence: Time,
    },
}

impl Node {
    pub(crate) async fn explain(&self, tenant: &TenantName, id: JobId) -> Result<Option<Explanation>> {
        let mut views = self.store.get(tenant, vec![id]).await?;
        let Some(view) = views.pop().flatten() else { return Ok(None) };
        let queues = match view.standing.state {
            State::Blocked | State::Waiting | State::Ready => self.store.queues(Some(tenant)).await?,
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
        let now = self.clock.now();
        let hurdles = match view.standing.state {
            State::Ready => self.store.hurdles(tenant, id, now).await?.unwrap_or_default(),
            _ => vec![],
        };
        let bonds = self.bonds_of(&view).await?;
        let served = self.poll.is_waited_for(&view.job.queue_ref());
        let queue = queues.iter().find(|queue| queue.queue.queue == view.job.queue);
        let around = Around { now, queue, workers: &workers, served, ahead, hurdles: &hurdles, bonds: &bonds };
        let reasons = reasons(&view, around);
        let eta = eta(&view, around);
        Ok(Some(Explanation { view, reasons, eta }))
    }
}

/// What else there is to know, beside the job itself.
#[derive(Clone, Copy, Debug)]
struct Around<'a> {
    now: Time,
    queue: Option<&'a QueueView>,
    workers: &'a [WorkerView],
    /// A claim waits for it just now, maybe one for every tenant.
    served: bool,
    /// Counted up to [`AHEAD_MAX`].
    ahead: Option<u64>,
    hurdles: &'a [Hurdle],
    bonds: &'a Bonds,
}

/// The most telling reason first.
fn reasons(view: &JobView, around: Around<'_>) -> Vec<Reason> {
    let mut reasons = reasons_of_state(view, around);
    let made_by = |origin: &Origin| Reason::MadeBy { schedule: origin.schedule.clone(), occurrence: origin.occurrence };
    reasons.extend(view.job.origin.as_deref().map(made_by));
    reasons
}

fn reasons_of_state(view: &JobView, around: Around<'_>) -> Vec<Reason> {
    let standing = &view.standing;
    match standing.state {
        State::Blocked => [held_back(standing, around), bonds::reasons(view, around.bonds)].concat(),
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

/// A job that waits for nothing but time: its own, or that of its gates.
fn eta(view: &JobView, around: Around<'_>) -> Option<Time> {
    if !held_back(&view.standing, around).is_empty() {
        return None;
    }
    match view.standing.state {
        State::Waiting => Some(view.standing.ready_at),
        State::Ready => hurdle::opens_at(around.hurdles),
        _ => None,
    }
}

fn ready(view: &JobView, around: Around<'_>) -> Vec<Reason> {
    let mut reasons = held_back(&view.standing, around);
    reasons.extend(around.hurdles.iter().flat_map(hurdle::reasons));
    let here = |worker: &&WorkerView| works_for(worker, view, around.now);
    if !around.served && !around.workers.iter().filter(here).any(|worker| serves(worker, view)) {
        reasons.push(Reason::NoWorker { elsewhere: around.workers.iter().filter(here).count() as u64 });
    }
    if let Some(ahead) = around.ahead.filter(|&ahead| ahead > 0) {
        reasons.push(Reason::Behind { ahead, at_least: ahead >= AHEAD_MAX });
    }
    if reasons.is_empty() {
        reasons.push(Reason::NextUp);
    }
    reasons
}

fn works_for(worker: &WorkerView, view: &JobView, now: Time) -> bool {
    worker.tenant == view.job.tenant && worker.order == Order::Work && worker.expires_at > now
}

/// A worker that named no queues may ask for any.
fn serves(worker: &WorkerView, view: &JobView) -> bool {
    worker.info.queues.is_empty() || worker.info.queues.contains(&view.job.queue)
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
mod tests;
