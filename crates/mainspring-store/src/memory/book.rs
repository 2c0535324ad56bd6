//! All that the memory store knows, and the questions that more than one verb asks of it. Changes nothing by itself.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::gate::GateName;
use mainspring_core::id::{Fence, JobId, LeaseId, WorkerId, WorkflowId};
use mainspring_core::job::{Claimed, Ended, Execution, Job, JobView, Lease, OnFailure, Standing};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueName, QueueRef, TenantName};
use mainspring_core::placement::Placement;
use mainspring_core::rank::{Aging, Rank, lane};
use mainspring_core::schedule::{LedgerRow, ScheduleRef, ScheduleView};
use mainspring_core::store::{Error, LedgerPlace, Result, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

use super::gates::Gates;
use super::numbers::Numbers;
use super::share::Line;
use super::workflow::Row;
use crate::roster::Roster;

#[derive(Clone, Debug)]
pub(super) struct Book {
    pub queues_max: usize,
    /// Which segments the schedules of a tenant have.
    pub placement: Placement,
    pub numbers: Numbers,
    pub jobs: BTreeMap<JobId, Entry>,
    pub queues: BTreeMap<QueueRef, Settings>,
    /// `held` in here is not kept: it is counted when somebody asks.
    pub workers: BTreeMap<WorkerId, WorkerView>,
    pub keys: BTreeMap<(TenantName, IdempotencyKey), Remembered>,
    /// Which child still waits for which parent: (parent, child).
    pub open: BTreeMap<(JobId, JobId), OnFailure>,
    /// Parents that ended while others waited for them, and how. Promote goes on with the children.
    pub releases: BTreeMap<JobId, State>,
    pub workflows: BTreeMap<(TenantName, WorkflowId), Row>,
    pub schedules: BTreeMap<ScheduleRef, ScheduleView>,
    pub ledger: BTreeMap<(ScheduleRef, LedgerPlace), LedgerRow>,
    pub gates: Gates,
    /// Whose turn it is in each queue name.
    pub lines: BTreeMap<QueueName, Line>,
    pub roster: Roster,
}

/// Why a lease was taken back, and the fence its worker knew it by.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenFrom {
    pub cause: Cause,
    pub fence: Fence,
}

/// A job and everything that is known of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub job: Job,
    pub standing: Standing,
    pub executions: Vec<Execution>,
    /// The lease ran out for this reason and is now held by whoever reclaimed it, no longer by its worker.
    pub taken_back: Option<TakenFrom>,
    /// While it is on offer: the gate that it asks first. See [`super::walk`].
    pub stands: Option<GateName>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub paused: bool,
    pub aging: Aging,
    pub max_depth: Option<u64>,
}

/// What an idempotency key made.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    pub id: JobId,
    pub fingerprint: [u8; 16],
    pub until: Time,
}

impl Book {
    pub fn new(queues_max: usize, placement: Placement, numbers: Numbers) -> Book {
        Book {
            queues_max,
            placement,
            numbers,
            jobs: BTreeMap::new(),
            queues: BTreeMap::new(),
            workers: BTreeMap::new(),
            keys: BTreeMap::new(),
            open: BTreeMap::new(),
            releases: BTreeMap::new(),
            workflows: BTreeMap::new(),
            schedules: BTreeMap::new(),
            ledger: BTreeMap::new(),
            gates: Gates::default(),
            lines: BTreeMap::new(),
            roster: Roster::default(),
        }
    }

    /// The job, if this tenant owns it.
    pub fn job_of(&self, tenant: &TenantName, id: JobId) -> Option<&Entry> {
        self.jobs.get(&id).filter(|entry| entry.job.tenant == *tenant)
    }

    /// The job, if this lease is the one that holds it.
    pub fn leased(&mut self, lease: LeaseId) -> Option<&mut Entry> {
        self.jobs
            .get_mut(&lease.job)
            .filter(|entry| entry.standing.lease.as_ref().is_some_and(|held| held.fence == lease.fence))
    }

    /// What a worker holds, by job. What was taken back from it is not among them.
    pub fn held_by(&self, worker: WorkerId) -> impl Iterator<Item = (JobId, &Lease)> {
        self.jobs.iter().filter_map(move |(&id, entry)| {
            let lease = entry.standing.lease.as_ref()?;
            (lease.worker == worker && entry.taken_back.is_none()).then_some((id, lease))
        })
    }

    /// Whether a worker is to be written off.
    pub fn is_silent(&self, worker: WorkerId, now: Time, spare_silent: bool) -> bool {
        let latest = if spare_silent { WorkerView::LEFT } else { now };
        self.workers.get(&worker).is_none_or(|worker| worker.expires_at <= latest)
    }

    pub fn rank(&self, entry: &Entry) -> Rank {
        let aging = self.queues.get(&entry.job.queue_ref()).map(|queue| queue.aging);
        let standing = &entry.standing;
        let lane = lane(entry.job.priority, standing.ready_at, entry.job.deadline);
        Rank::new(lane, standing.ready_at, aging.unwrap_or_default(), entry.job.id)
    }

    /// Whether there is room for all these queues, those that are here already included.
    pub fn has_room_for<'a>(&self, queues: impl Iterator<Item = QueueRef> + 'a) -> Result<()> {
        let new: BTreeSet<QueueRef> = queues.filter(|queue| !self.queues.contains_key(queue)).collect();
        if self.queues.len() + new.len() > self.queues_max {
            return Err(Error::Invalid(format!(
                "there are {} queues, {} more would be past the limit of {}",
                self.queues.len(),
                new.len(),
                self.queues_max
            )));
        }
        Ok(())
    }
}

impl Entry {
    /// Ready and free to be handed out.
    pub fn is_on_offer(&self) -> bool {
        self.standing.state == State::Ready && !self.standing.paused
    }

    /// Waiting for its time, and not passed over.
    pub fn is_waiting(&self) -> bool {
        self.standing.state == State::Waiting && !self.standing.paused
    }

    /// Waiting for others, and not passed over.
    pub fn is_blocked(&self) -> bool {
        self.standing.state == State::Blocked && !self.standing.paused
    }

    pub fn is_expired(&self, now: Time) -> bool {
        self.standing.tally.attempts == 0 && self.job.expires_at.is_some_and(|at| at <= now)
    }

    /// Ends the job. Only a dead one keeps its checkpoint, because it may be revived.
    pub fn end(&mut self, state: State, ended: Ended) {
        let standing = &mut self.standing;
        standing.state = state;
        standing.paused = false;
        standing.progress = None;
        standing.ended = Some(ended);
        if state != State::Dead {
            standing.checkpoint = None;
        }
    }

    pub fn view(&self) -> JobView {
        JobView { job: self.job.clone(), standing: self.standing.clone() }
    }

    pub fn claimed(&self) -> Claimed {
        let standing = &self.standing;
        Claimed {
            job: self.job.clone(),
            lease: standing.lease.clone().expect("a claimed job has a lease"),
            tally: standing.tally,
            checkpoint: standing.checkpoint.clone(),
            last_error: standing.last_error.clone(),
        }
    }
}
