//! Makes one call of a script on one store. Compares nothing.

use std::collections::BTreeMap;

use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::job::{Execution, JobView};
use mainspring_core::name::QueueRef;
use mainspring_core::schedule::{LedgerRow, ScheduleView};
use mainspring_core::seats::{Assigned, Roll, Seat, Seats, Term};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::past::Past;
use super::script::{Ask, Call, End};
use super::words::{T, Which};
use super::{concrete, seats, steps};

/// What a store said to a call.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Nothing,
    Submitted(Vec<Submitted>),
    Promoted {
        ready: BTreeMap<QueueRef, u64>,
        oldest: Option<Time>,
        cancelled: Vec<(JobId, QueueRef)>,
        due: Vec<ScheduleView>,
        /// There are more schedules than were asked for.
        more_due: bool,
        upcoming: Vec<Time>,
        refused: Segments,
    },
    Claimed(Vec<ClaimAnswer>),
    Pulses(Vec<Pulse>),
    Holds(Vec<Hold>),
    Settled(Vec<Settled>),
    SettledAndClaimed(Box<Answer>, Box<Answer>),
    Reclaimed {
        leases: Vec<TakenBack>,
        expired: Vec<(JobId, QueueRef)>,
        silent: Vec<WorkerId>,
        deposed: bool,
    },
    Commanded(Vec<Commanded>),
    Turned(Vec<Turned>),
    Pruned {
        jobs: u64,
        keys: u64,
        rows: u64,
        deposed: bool,
    },
    Terms(Vec<Term>),
    Assigned(Assigned),
    Rolled(Roll),
    Views(Vec<Option<JobView>>),
    Found(Vec<JobView>),
    Executions(Vec<Execution>),
    Ahead(Option<u64>),
    Queues(Vec<QueueView>),
    Workers(Vec<WorkerView>),
    Schedule(Option<Box<ScheduleView>>),
    Schedules(Vec<ScheduleView>),
    Ledger(Vec<LedgerRow>),
    Workflow(Option<WorkflowView>),
    Agenda(Vec<(Time, u64)>),
    Gates(Vec<GateView>),
    Hurdles(Option<Vec<Hurdle>>),
    /// An error, by what the caller can do. The words are each store's own.
    Refused(&'static str),
    /// It broke a rule that holds whatever the other store says.
    Broke(String),
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
            Answer::SettledAndClaimed(_, claimed) => claimed.leases(),
            _ => Vec::new(),
        }
    }
}

/// A store and the seats that it keeps, if it does.
#[derive(Clone, Copy)]
pub struct Player<'a> {
    pub store: &'a dyn Store,
    pub seats: Option<&'a dyn Seats>,
}

pub async fn perform(player: Player<'_>, now: Time, call: &Call, past: &Past) -> Answer {
    let answer = match (call, player.seats) {
        (Call::Seat(..) | Call::Assign { .. } | Call::Roll, Some(keeper)) => {
            seats::perform(keeper, now, call, past).await
        }
        _ => ask(player.store, now, call, past).await,
    };
    answer.unwrap_or_else(|error| {
        Answer::Refused(match error {
            Error::Unavailable(_) => "unavailable",
            Error::Full(_) => "full",
            Error::Invalid(_) => "invalid",
            Error::Damaged(_) => "damaged",
        })
    })
}

fn claims(asks: &[Ask]) -> Vec<Claim> {
    asks.iter().map(concrete::claim).collect()
}

fn settlements(ends: &[(Which, End)], now: Time, past: &Past) -> Vec<Settlement> {
    ends.iter().map(|(which, end)| concrete::settlement(*which, end, now, past)).collect()
}

fn settled(mut settled: Vec<Settled>) -> Answer {
    let news = settled.iter_mut().filter_map(|settled| match settled {
        Settled::Applied { gates, .. } => Some(gates),
        Settled::Stale => None,
    });
    steps::without_hints(news).unwrap_or(Answer::Settled(settled))
}

async fn ask(store: &dyn Store, now: Time, call: &Call, past: &Past) -> Result<Answer> {
    Ok(match call {
        Call::Clock(_) | Call::Reopen | Call::Seat(..) | Call::Assign { .. } | Call::Roll => Answer::Nothing,
        Call::Submit(lots) => Answer::Submitted(store.submit(now, concrete::jobs(lots, now, past)).await?),
        &Call::Promote { odd_segments, even_segments, limit, look_ahead, look_ahead_limit, due_limit, paper } => {
            let asked = |segment: &Segment| if segment.index() % 2 == 1 { odd_segments } else { even_segments };
            let segments: Segments = Segment::all().filter(asked).collect();
            let look_ahead_until = look_ahead.from(now);
            let warrants = paper.warrants(past);
            let ask = Promote { segments, warrants, limit, look_ahead_until, look_ahead_limit, due_limit };
            steps::promote(store, now, ask).await?
        }
        Call::Claim(asks) => Answer::Claimed(store.claim(now, claims(asks)).await?),
        Call::Heartbeat(beats) => {
            let beats = beats.iter().map(|said| concrete::beat(said, now, past)).collect();
            let mut pulses = store.heartbeat(now, beats).await?;
            let news = pulses.iter_mut().filter_map(|pulse| match pulse {
                Pulse::Alive { gates, .. } => Some(gates),
                Pulse::Unknown => None,
            });
            steps::without_hints(news).unwrap_or(Answer::Pulses(pulses))
        }
        Call::Report(reports) => {
            let report = |(which, words): &_| concrete::report(*which, words, past);
            Answer::Holds(store.report(now, reports.iter().map(report).collect()).await?)
        }
        Call::Settle(ends) => settled(store.settle(now, settlements(ends, now, past)).await?),
        Call::SettleAndClaim(ends, asks) => {
            let (ended, claimed) = store.settle_and_claim(now, settlements(ends, now, past), claims(asks)).await;
            Answer::SettledAndClaimed(Box::new(settled(ended?)), Box::new(Answer::Claimed(claimed?)))
        }
        &Call::Reclaim { limit, hold, spare_silent, paper } => {
            let warrant = paper.warrant(Seat::Leader, past);
            let ask = Reclaim { limit, hold_until: hold.from(now), spare_silent, warrant };
            steps::reclaim(store, now, ask).await?
        }
        Call::Command(wishes) => {
            let commands = wishes.iter().map(|wish| concrete::command(wish, now, past)).collect();
            Answer::Commanded(store.command(now, commands).await?)
        }
        Call::Turn(turns) => {
            let turns = turns.iter().map(|turn| concrete::turn(turn, now, past)).collect();
            Answer::Turned(store.turn(now, turns).await?)
        }
        &Call::Prune { ended, dead, ledger, limit, paper } => {
            let (ended_before, dead_before) = (ended.from(now), dead.from(now));
            let ledger_before = ledger.from(now);
            let warrant = paper.warrant(Seat::Leader, past);
            let ask = Prune { ended_before, dead_before, ledger_before, limit, warrant };
            steps::prune(store, now, ask).await?
        }
        Call::Get(tenant, jobs) => {
            Answer::Views(store.get(&tenant.name(), jobs.iter().map(|job| job.id(past)).collect()).await?)
        }
        Call::Find { tenant, statuses, queue, kind, tag, schedule, workflow, limit } => {
            let filter = Filter {
                statuses: statuses.clone(),
                queue: queue.map(|queue| queue.name()),
                kind: kind.map(|kind| kind.kind()),
                tag: tag.map(|tag| tag.tag()),
                schedule: schedule.map(|schedule| schedule.name()),
                workflow: workflow.map(|workflow| workflow.id(past)),
            };
            steps::find(store, Query { tenant: tenant.name(), filter, below: None, limit: *limit }).await?
        }
        Call::Executions(tenant, job) => Answer::Executions(store.executions(&tenant.name(), job.id(past)).await?),
        Call::Ahead(tenant, job, limit) => Answer::Ahead(store.ahead(&tenant.name(), job.id(past), *limit).await?),
        Call::Queues(tenant) => Answer::Queues(store.queues(tenant.map(T::name).as_ref()).await?),
        Call::Workers => Answer::Workers(store.workers().await?),
        Call::Schedule(tenant, schedule) => {
            Answer::Schedule(store.schedule(&schedule.of(*tenant)).await?.map(Box::new))
        }
        Call::Schedules { tenant, limit } => {
            steps::schedules(store, ScheduleQuery { tenant: tenant.name(), above: None, limit: *limit }).await?
        }
        Call::Ledger { tenant, schedule, limit } => {
            steps::ledger(store, LedgerQuery { schedule: schedule.of(*tenant), below: None, limit: *limit }).await?
        }
        Call::Workflow(tenant, which) => Answer::Workflow(store.workflow(&tenant.name(), which.id(past)).await?),
        Call::Gates(tenant) => {
            let views = store.gates(&tenant.name(), now).await?;
            Answer::Gates(views.into_iter().map(|view| GateView { waiting: 0, ..view }).collect())
        }
        Call::Hurdles(tenant, job) => Answer::Hurdles(store.hurdles(&tenant.name(), job.id(past), now).await?),
        &Call::Agenda { tenant, from, until, step, jobs_max } => {
            let (tenant, from, until) = (tenant.map(T::name), from.from(now), until.from(now));
            steps::agenda(store, AgendaAsk { tenant, from, until, step: step.length(), jobs_max }).await?
        }
    })
}
