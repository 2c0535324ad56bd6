//! What a checker sees: one call with its answer, and at the end all that is left.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::Status;
use mainspring_core::name::QueueName;
use mainspring_core::rank::{Aging, Rank, lane};
use mainspring_core::schedule::{LedgerRow, ScheduleView};
use mainspring_core::seats::Roll;
use mainspring_core::store::{Claim, Filter, Query, Views};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use crate::hop::{Ask, Reply, at_once};

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
    /// The job that the first claim of the call must be given, if it is given any.
    pub best: Option<JobId>,
}

impl Before {
    pub fn of(ask: &Ask, now: Time, ground: &Memory) -> Before {
        match ask {
            Ask::Claim(claims) => Before { best: claims.first().and_then(|claim| best(claim, now, ground)) },
            _ => Before::default(),
        }
    }
}

/// Ready jobs that are looked at. A longer queue than that is judged by its newest part, which proves less and breaks nothing.
const READY_MAX: usize = 1_000;

fn best(claim: &Claim, now: Time, ground: &Memory) -> Option<JobId> {
    let filter = Filter { statuses: vec![Status::Pending], ..Filter::default() };
    let query = Query { tenant: claim.tenant.clone(), filter, below: None, limit: READY_MAX };
    let page = at_once(ground.find(query)).ok().filter(|page| page.next.is_none())?;
    let queues: BTreeMap<QueueName, (Aging, bool)> = at_once(ground.queues(Some(&claim.tenant)))
        .ok()?
        .into_iter()
        .map(|view| (view.queue.queue, (view.aging, view.paused)))
        .collect();
    let offered = page.jobs.iter().filter_map(|view| {
        let (aging, paused) = queues.get(&view.job.queue)?;
        let expired = view.job.expires_at.is_some_and(|at| at <= now) && view.standing.tally.attempts == 0;
        let asked = claim.queues.contains(&view.job.queue) && !paused && !expired;
        let ready_at = view.standing.ready_at;
        let lane = lane(view.job.priority, ready_at, view.job.deadline);
        asked.then(|| (Rank::new(lane, ready_at, *aging, view.job.id), view.job.id))
    });
    offered.min().map(|(_, id)| id)
}

/// What is left when the storm is over and everybody had time.
#[derive(Debug)]
pub struct Last {
    pub at: Time,
    pub jobs: BTreeMap<JobId, JobView>,
    pub schedules: Vec<(ScheduleView, Vec<LedgerRow>)>,
    /// When no schedule was to fire any more.
    pub schedules_end_at: Time,
    pub roll: Roll,
    pub nodes: usize,
    /// Queues that no worker serves: their jobs wait, and that is right.
    pub unserved: BTreeSet<QueueName>,
    pub acks: Acks,
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
