//! What a checker sees: one call with its answer, and at the end all that is left.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::schedule::{LedgerRow, ScheduleView};
use mainspring_core::seats::Roll;
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use crate::hop::{Ask, Reply};

/// One call at the store.
#[derive(Debug)]
pub struct Deed<'a> {
    /// By the world's clock.
    pub at: Time,
    /// By the caller's.
    pub now: Time,
    pub ask: &'a Ask,
    pub reply: &'a Reply,
    pub before: Before,
    pub ground: &'a Memory,
}

/// What was looked up before the call, because nobody can see it afterwards.
#[derive(Debug, Default)]
pub struct Before {
    /// Before a claim: what is ready and not paused, and since when it is due.
    pub ready: Vec<(JobId, Time)>,
}

impl Before {
    pub fn of(ask: &Ask, ground: &Memory) -> Before {
        let mut ready = Vec::new();
        if matches!(ask, Ask::Claim(_)) {
            ground.each_job(|job, standing| {
                if standing.state == State::Ready && !standing.paused {
                    ready.push((job.id, standing.ready_at));
                }
            });
        }
        Before { ready }
    }
}

/// What is left when the storm is over and everybody had time.
#[derive(Debug)]
pub struct Last {
    pub at: Time,
    pub jobs: BTreeMap<JobId, JobView>,
    /// Each with its ledger.
    pub schedules: Vec<(ScheduleView, Vec<LedgerRow>)>,
    /// When no schedule was to fire any more.
    pub schedules_end_at: Time,
    pub roll: Roll,
    pub nodes: usize,
    /// Queues that no worker serves: their jobs wait, and that is right.
    pub unserved: BTreeSet<QueueName>,
    /// Where everything goes wrong, in this world.
    pub poisoned: Poisoned,
    pub acks: Acks,
}

/// What fails in this world whatever anybody does; the rest must not suffer from it.
#[derive(Clone, Debug, Default)]
pub struct Poisoned {
    pub tenant: Option<TenantName>,
    pub queue: Option<QueueName>,
}

/// What those outside were told.
#[derive(Clone, Debug, Default)]
pub struct Acks {
    pub accepted: BTreeSet<JobId>,
    pub succeeded: BTreeSet<JobId>,
    pub cancelled: BTreeSet<JobId>,
}

impl Last {
    pub fn is_served(&self, view: &JobView) -> bool {
        !self.unserved.contains(&view.job.queue)
    }
}

impl Poisoned {
    pub fn has(&self, tenant: &TenantName, queue: &QueueName) -> bool {
        self.tenant.as_ref() == Some(tenant) || self.queue.as_ref() == Some(queue)
    }
}
