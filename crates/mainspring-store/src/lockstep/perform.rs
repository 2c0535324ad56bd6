//! Makes one call of a script on one store. Compares nothing.
//!
//! Calls that work in bounded steps (promote, reclaim, prune, find) are repeated while there is more, because a store
//! is free to do less than it was asked in one step. It is not free to do more, or to go on for ever.

use std::collections::BTreeMap;

use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::job::{Execution, JobView};
use mainspring_core::name::QueueRef;
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::concrete;
use super::script::Call;
use super::words::{Past, T};

/// What a store said to a call.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Nothing,
    Submitted(Vec<Submitted>),
    Promoted {
        ready: BTreeMap<QueueRef, u64>,
        oldest: Option<Time>,
        upcoming: Vec<Time>,
    },
    Claimed(Vec<ClaimAnswer>),
    Pulses(Vec<Pulse>),
    Holds(Vec<Hold>),
    Settled(Vec<Settled>),
    Reclaimed {
        leases: Vec<TakenBack>,
        expired: Vec<(JobId, QueueRef)>,
        silent: Vec<WorkerId>,
    },
    Commanded(Vec<Commanded>),
    Pruned {
        jobs: u64,
        keys: u64,
    },
    Views(Vec<Option<JobView>>),
    Found(Vec<JobView>),
    Executions(Vec<Execution>),
    Ahead(Option<u64>),
    Queues(Vec<QueueView>),
    Workers(Vec<WorkerView>),
    /// An error, by what the caller can do. The words are each store's own.
    Refused(&'static str),
    /// It broke a rule that holds whatever the other store says.
    Broke(String),
}

impl Past {
    /// Remembers what later calls may name.
    pub fn note(&mut self, call: &Call, answer: &Answer) {
        if let Call::Submit(jobs) = call {
            self.jobs.extend(jobs.iter().map(|job| job.id.id()));
        }
        self.leases.extend(answer.leases());
    }
}

impl Answer {
    /// The leases that this answer hands out.
    pub fn leases(&self) -> Vec<LeaseId> {
        match self {
            Answer::Claimed(answers) => answers
                .iter()
                .flat_map(|answer| match answer {
                    ClaimAnswer::Jobs(jobs) => jobs.as_slice(),
                    _ => &[],
                })
                .map(|claimed| claimed.lease_id())
                .collect(),
            Answer::Reclaimed { leases, .. } => leases.iter().map(|taken| taken.claimed.lease_id()).collect(),
            _ => Vec::new(),
        }
    }
}

/// More steps than any call of a script can need.
const STEPS_MAX: usize = 1000;

pub async fn perform(store: &dyn Store, now: Time, call: &Call, past: &Past) -> Answer {
    let answer = ask(store, now, call, past).await;
    answer.unwrap_or_else(|error| {
        Answer::Refused(match error {
            Error::Unavailable(_) => "unavailable",
            Error::Full(_) => "full",
            Error::Invalid(_) => "invalid",
            Error::Damaged(_) => "damaged",
        })
    })
}

async fn ask(store: &dyn Store, now: Time, call: &Call, past: &Past) -> Result<Answer> {
    Ok(match call {
        Call::Clock(_) | Call::Reopen => Answer::Nothing,
        Call::Submit(jobs) => {
            let jobs = jobs.iter().map(|job| concrete::job(job, now)).collect();
            Answer::Submitted(store.submit(now, jobs).await?)
        }
        &Call::Promote { odd_segments, even_segments, limit, look_ahead, look_ahead_limit } => {
            let asked = |segment: &Segment| if segment.index() % 2 == 1 { odd_segments } else { even_segments };
            let segments: Segments = Segment::all().filter(asked).collect();
            let look_ahead_until = look_ahead.from(now);
            promote(store, now, Promote { segments, limit, look_ahead_until, look_ahead_limit }).await?
        }
        Call::Claim(asks) => Answer::Claimed(store.claim(now, asks.iter().map(concrete::claim).collect()).await?),
        Call::Heartbeat(beats) => {
            let beats = beats.iter().map(|said| concrete::beat(said, now, past)).collect();
            Answer::Pulses(store.heartbeat(now, beats).await?)
        }
        Call::Report(reports) => {
            let report = |(which, words): &_| concrete::report(*which, words, past);
            Answer::Holds(store.report(now, reports.iter().map(report).collect()).await?)
        }
        Call::Settle(ends) => {
            let settlement = |(which, end): &_| concrete::settlement(*which, end, now, past);
            Answer::Settled(store.settle(now, ends.iter().map(settlement).collect()).await?)
        }
        &Call::Reclaim { limit, hold, spare_silent } => {
            reclaim(store, now, Reclaim { limit, hold_until: hold.from(now), spare_silent }).await?
        }
        Call::Command(wishes) => {
            let commands = wishes.iter().map(|wish| concrete::command(wish, now, past)).collect();
            Answer::Commanded(store.command(now, commands).await?)
        }
        &Call::Prune { ended, dead, limit } => {
            prune(store, now, Prune { ended_before: ended.from(now), dead_before: dead.from(now), limit }).await?
        }
        Call::Get(tenant, jobs) => {
            Answer::Views(store.get(&tenant.name(), jobs.iter().map(|job| job.id(past)).collect()).await?)
        }
        Call::Find { tenant, statuses, queue, kind, tag, limit } => {
            let filter = Filter {
                statuses: statuses.clone(),
                queue: queue.map(|queue| queue.name()),
                kind: kind.map(|kind| kind.kind()),
                tag: tag.map(|tag| tag.tag()),
            };
            find(store, Query { tenant: tenant.name(), filter, below: None, limit: *limit }).await?
        }
        Call::Executions(tenant, job) => Answer::Executions(store.executions(&tenant.name(), job.id(past)).await?),
        Call::Ahead(tenant, job, limit) => Answer::Ahead(store.ahead(&tenant.name(), job.id(past), *limit).await?),
        Call::Queues(tenant) => Answer::Queues(store.queues(tenant.map(T::name).as_ref()).await?),
        Call::Workers => Answer::Workers(store.workers().await?),
    })
}

async fn promote(store: &dyn Store, now: Time, ask: Promote) -> Result<Answer> {
    let (mut ready, mut oldest) = (BTreeMap::new(), None);
    for _ in 0..STEPS_MAX {
        let step = store.promote(now, ask).await?;
        let count: u64 = step.ready.iter().map(|(_, count)| count).sum();
        if count > ask.limit as u64 || !step.ready.is_sorted_by(|(one, _), (next, _)| one < next) {
            return Ok(Answer::Broke(format!("past its limit or not in the order of queues: {step:?}")));
        }
        if step.more && !step.upcoming.is_empty() {
            return Ok(Answer::Broke(format!("looks ahead while there is more: {step:?}")));
        }
        step.ready.into_iter().for_each(|(queue, count)| *ready.entry(queue).or_insert(0) += count);
        oldest = oldest.or(step.oldest);
        if !step.more {
            return Ok(Answer::Promoted { ready, oldest, upcoming: step.upcoming });
        }
    }
    Ok(endless("promote"))
}

async fn reclaim(store: &dyn Store, now: Time, ask: Reclaim) -> Result<Answer> {
    let (mut leases, mut expired, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STEPS_MAX {
        let step = store.reclaim(now, ask).await?;
        if step.leases.len() > ask.limit || step.expired.len() > ask.limit {
            return Ok(Answer::Broke(format!("past its limit: {step:?}")));
        }
        leases.extend(step.leases);
        expired.extend(step.expired);
        silent.extend(step.silent);
        if !step.more {
            silent.sort();
            return Ok(Answer::Reclaimed { leases, expired, silent });
        }
    }
    Ok(endless("reclaim"))
}

async fn prune(store: &dyn Store, now: Time, ask: Prune) -> Result<Answer> {
    let (mut jobs, mut keys) = (0, 0);
    for _ in 0..STEPS_MAX {
        let step = store.prune(now, ask).await?;
        if step.jobs + step.keys > ask.limit as u64 {
            return Ok(Answer::Broke(format!("past its limit: {step:?}")));
        }
        jobs += step.jobs;
        keys += step.keys;
        if !step.more {
            return Ok(Answer::Pruned { jobs, keys });
        }
    }
    Ok(endless("prune"))
}

async fn find(store: &dyn Store, mut query: Query) -> Result<Answer> {
    let mut found = Vec::new();
    for _ in 0..STEPS_MAX {
        let page = store.find(query.clone()).await?;
        if page.jobs.len() > query.limit {
            return Ok(Answer::Broke(format!("past its limit: {page:?}")));
        }
        found.extend(page.jobs);
        if page.next.is_none() {
            return Ok(Answer::Found(found));
        }
        query.below = page.next;
    }
    Ok(endless("find"))
}

fn endless(call: &str) -> Answer {
    Answer::Broke(format!("{call} says that there is more for ever"))
}
