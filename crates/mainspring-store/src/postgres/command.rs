//! What people ask of jobs, queues, workers and gates. Stops no running attempt by itself: its worker is asked to.
//!
//! Isolation: READ COMMITTED. Every job that is asked for is held where it is before anything is decided about it, so nobody
//! claims, settles or promotes it meanwhile. Commands are done in rounds: in one round, each job is asked for once.

mod job;

use std::collections::{BTreeSet, HashSet};

use mainspring_core::gate::Rules;
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Command, Commanded, Order, QueueCommand};
use mainspring_core::time::Time;

use super::Postgres;
use super::error::{Fault, Result};
use super::forget::forget;
use super::hold::hold;
use super::limits;
use super::numbers::of_order;
use super::pool::{Transaction, execute, transact};
use job::Changes;

pub(super) async fn command(store: &Postgres, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
    let queues: BTreeSet<QueueRef> = commands.iter().filter_map(queue_of).collect();
    let answers = transact!(store.pool, |txn| {
        let mut rules = limits::rules_for(&txn, &commands).await?;
        make_queues(store, &txn, &queues).await?;
        let mut answers = Vec::with_capacity(commands.len());
        let mut rest = commands.as_slice();
        while !rest.is_empty() {
            let (round, later) = rest.split_at(round_of(rest));
            answers.extend(play(store, &txn, now, round, &mut rules).await?);
            rest = later;
        }
        answers
    });
    Ok(answers)
}

fn queue_of(command: &Command) -> Option<QueueRef> {
    match command {
        Command::Queue { queue, .. } => Some(queue.clone()),
        _ => None,
    }
}

async fn make_queues(store: &Postgres, txn: &Transaction<'_>, queues: &BTreeSet<QueueRef>) -> Result<(), Fault> {
    if queues.is_empty() {
        return Ok(());
    }
    let known = store.queues.find(txn, queues).await?;
    let new: BTreeSet<QueueRef> = queues.iter().filter(|queue| !known.contains_key(queue)).cloned().collect();
    store.queues.has_room_for(txn, new.len(), store.queues_max).await?;
    if !new.is_empty() {
        store.queues.make(txn, &new).await?;
    }
    Ok(())
}

/// How many commands there are before one that asks again for a job that was asked for. What changes limits is a round of its
/// own: where jobs stand follows from what was set before.
fn round_of(commands: &[Command]) -> usize {
    let mut asked = HashSet::new();
    if let Some(Command::Gate { .. }) = commands.first() {
        return 1;
    }
    let is_new = |command: &Command| match command {
        Command::Job { id, .. } => asked.insert(*id),
        Command::Gate { .. } => false,
        _ => true,
    };
    commands.iter().map(is_new).position(|is_new| !is_new).unwrap_or(commands.len())
}

async fn play(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    commands: &[Command],
    rules: &mut Rules,
) -> Result<Vec<Commanded>, Fault> {
    let ids: Vec<JobId> = commands.iter().filter_map(job_of).collect();
    let held = hold(txn, &ids).await?;
    let mut changes = Changes::default();
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        answers.push(match command {
            Command::Job { tenant, id, what } => match held.get(id).filter(|seen| seen.view.job.tenant == *tenant) {
                Some(seen) => changes.command(now, seen, what),
                None => Commanded::Missing,
            },
            Command::Queue { queue, what } => command_queue(txn, queue, what).await?,
            Command::Worker { id, order } => command_worker(txn, *id, *order).await?,
            Command::Gate { tenant, reach, what } => {
                limits::command(store, txn, now, rules, (tenant, reach, what)).await?
            }
        });
    }
    let forgotten = changes.write(store, txn, now).await?;
    forget(txn, &forgotten).await?;
    Ok(answers)
}

fn job_of(command: &Command) -> Option<JobId> {
    match command {
        Command::Job { id, .. } => Some(*id),
        _ => None,
    }
}

async fn command_queue(txn: &Transaction<'_>, queue: &QueueRef, what: &QueueCommand) -> Result<Commanded, Fault> {
    let paused = match what {
        QueueCommand::Pause => Some(true),
        QueueCommand::Resume => Some(false),
        _ => None,
    };
    let point_ms = match what {
        QueueCommand::SetAging(aging) => Some(aging.point_ms() as i64),
        _ => None,
    };
    let (sets_depth, max_depth) = match what {
        QueueCommand::SetMaxDepth(max_depth) => (true, max_depth.map(|depth| i64::try_from(depth).unwrap_or(i64::MAX))),
        _ => (false, None),
    };
    let (tenant, name) = (queue.tenant.as_str(), queue.queue.as_str());
    let sql = include_str!("sql/command_queue.sql");
    execute(txn, sql, &[&tenant, &name, &paused, &point_ms, &max_depth, &sets_depth]).await?;
    Ok(Commanded::Done)
}

async fn command_worker(txn: &Transaction<'_>, id: WorkerId, order: Order) -> Result<Commanded, Fault> {
    let told = execute(txn, include_str!("sql/command_worker.sql"), &[&id.0, &of_order(order)]).await?;
    Ok(if told == 1 { Commanded::Done } else { Commanded::Missing })
}
