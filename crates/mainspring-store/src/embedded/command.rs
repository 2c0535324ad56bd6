//! What people ask of jobs, queues, workers and limits. Off the hot path: reads a job whole, and writes it back changed.

use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Standing, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Command, Commanded, JobCommand, QueueCommand, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::gates;
use super::heartbeat;
use super::history;
use super::prune;
use super::read;
use super::release;
use super::report;
use super::rows::{Change, EndedRow, Marks, Record, Slip};
use super::settle;
use super::tables;

/// The inner result is the caller's mistake, found before anything is written.
pub fn command(batch: &mut Batch<'_>, now: Time, commands: Vec<Command>) -> Result<Result<Vec<Commanded>>> {
    let unknown = commands.iter().filter_map(|command| match command {
        Command::Queue { queue, .. } if batch.mirror.number_of(queue).is_none() => Some(queue.clone()),
        _ => None,
    });
    let has_room = batch.mirror.has_room_for(&unknown.collect());
    if let Err(refused) = has_room.and_then(|()| gates::has_room_for(&batch.mirror.gates, &commands)) {
        return Ok(Err(refused));
    }
    gates::alarms::see(batch.mirror, now);
    let answers = commands.into_iter().map(|command| match command {
        Command::Job { tenant, id, what } => command_job(batch, now, &tenant, id, what),
        Command::Queue { queue, what } => command_queue(batch, &queue, what),
        Command::Gate { tenant, reach, what } => gates::command(batch, now, tenant, reach, what),
        Command::Worker { id, order } => match batch.mirror.workers.get_mut(&id) {
            None => Ok(Commanded::Missing),
            Some(worker) => {
                worker.row.set_order(order);
                heartbeat::write_worker(batch, id)?;
                Ok(Commanded::Done)
            }
        },
    });
    answers.collect::<Result<Vec<Commanded>>>().map(Ok)
}

fn command_queue(batch: &mut Batch<'_>, queue: &QueueRef, what: QueueCommand) -> Result<Commanded> {
    let number = batch.mirror.number(queue);
    let queue = batch.mirror.queue(number);
    match what {
        QueueCommand::Pause => queue.paused = true,
        QueueCommand::Resume => queue.paused = false,
        QueueCommand::SetAging(aging) => queue.aging = aging,
        QueueCommand::SetMaxDepth(max_depth) => queue.max_depth = max_depth,
    }
    let (row, aging) = (queue.row(), queue.aging);
    if let QueueCommand::SetAging(_) = what {
        batch.mirror.gates.lots.rerank(number, aging);
    }
    batch.put(batch.tables.queues, &number.to_be_bytes(), &row)?;
    Ok(Commanded::Done)
}

/// A job with all that a command may need.
struct Subject {
    job: Job,
    queue: u32,
    standing: Standing,
}

fn command_job(
    batch: &mut Batch<'_>,
    now: Time,
    tenant: &TenantName,
    id: JobId,
    what: JobCommand,
) -> Result<Commanded> {
    let Some(standing) = read::standing(&batch.txn, batch.tables, id)? else { return Ok(Commanded::Missing) };
    let (job, queue) = read::job(batch, id)?;
    if job.tenant != *tenant {
        return Ok(Commanded::Missing);
    }
    let subject = Subject { job, queue, standing };
    let Standing { state, paused, .. } = subject.standing;
    let unstarted = matches!(state, State::Blocked | State::Waiting | State::Ready);
    match what {
        JobCommand::RunNow if matches!(state, State::Waiting | State::Blocked) && !paused => {
            run_now(batch, now, subject)?
        }
        JobCommand::RunNow if state == State::Ready && !paused => {}
        JobCommand::Pause if unstarted && paused => {}
        JobCommand::Pause if unstarted => change(batch, now, subject, |standing, _| standing.paused = true)?,
        JobCommand::Resume if unstarted && !paused => {}
        JobCommand::Resume if unstarted => resume(batch, now, subject)?,
        JobCommand::Cancel { reason } if unstarted => cancel(batch, now, subject, reason).map(drop)?,
        JobCommand::Cancel { reason } if state == State::Running => {
            let lease = batch.mirror.leases.get_mut(&id).expect("a running job has a lease");
            lease.cancel_asked.get_or_insert(reason);
            report::write_lease(batch, id)?;
            return Ok(Commanded::Asked);
        }
        JobCommand::Revive { data } if state == State::Dead => revive(batch, now, subject, data)?,
        JobCommand::Delete if state.is_final() => delete(batch, subject)?,
        JobCommand::Update { data, priority, run_at } if unstarted => change(batch, now, subject, |standing, job| {
            job.data = data.unwrap_or_else(|| job.data.clone());
            job.priority = priority.unwrap_or(job.priority);
            if let Some(run_at) = run_at {
                job.run_at = run_at;
                standing.ready_at = run_at;
                if standing.state != State::Blocked {
                    standing.state = due(run_at, now);
                }
            }
        })?,
        _ => return Ok(Commanded::Refused { state, paused }),
    }
    Ok(Commanded::Done)
}

fn run_now(batch: &mut Batch<'_>, now: Time, subject: Subject) -> Result<()> {
    release::unblock(batch, &subject.job)?;
    change(batch, now, subject, |standing, _| {
        standing.state = State::Ready;
        standing.ready_at = now;
    })
}

fn resume(batch: &mut Batch<'_>, now: Time, subject: Subject) -> Result<()> {
    change(batch, now, subject, |standing, _| {
        standing.paused = false;
        if standing.state == State::Waiting && standing.ready_at <= now {
            standing.state = State::Ready;
        }
    })
}

/// Takes an unstarted job from where it is and puts it where it belongs after `alter`.
fn change(
    batch: &mut Batch<'_>,
    now: Time,
    mut subject: Subject,
    alter: impl FnOnce(&mut Standing, &mut Job),
) -> Result<()> {
    take_out(batch, &subject)?;
    let before = subject.job.clone();
    alter(&mut subject.standing, &mut subject.job);
    if subject.job != before {
        batch.put(batch.tables.records, subject.job.id.as_bytes(), &Record::of(&subject.job, subject.queue))?;
    }
    put_in(batch, now, &subject)
}

fn take_out(batch: &mut Batch<'_>, subject: &Subject) -> Result<()> {
    let Subject { job, queue, standing } = subject;
    let slip = Slip::of(job, *queue, standing.ready_at, standing.tally, true);
    if standing.paused || standing.state == State::Blocked {
        return batch.leave(slip.who(job.id), standing.state, standing.paused);
    }
    batch.displace(job.id, standing.state, standing.ready_at, &slip)
}

fn put_in(batch: &mut Batch<'_>, now: Time, subject: &Subject) -> Result<()> {
    let Subject { job, queue, standing } = subject;
    let change = Change {
        paused: standing.paused.then(|| standing.state.into()),
        ready_ms: standing.ready_at.as_millis(),
        tally: standing.tally.into(),
        checkpoint: standing.checkpoint.as_ref().map(|json| json.as_str().into()),
        progress: None,
        last_error: standing.last_error.clone().map(Into::into),
    };
    batch.put(batch.tables.changes, job.id.as_bytes(), &change)?;
    batch.put_expiry(job, standing.tally)?;
    let slip = Slip::of(job, *queue, standing.ready_at, standing.tally, true);
    if standing.paused || standing.state == State::Blocked {
        return batch.enter(slip.who(job.id), standing.state, standing.paused);
    }
    batch.place(now, job.id, standing.state, standing.ready_at, &slip)
}

/// Whether others wait for it.
fn cancel(batch: &mut Batch<'_>, now: Time, subject: Subject, reason: String) -> Result<bool> {
    take_out(batch, &subject)?;
    if subject.standing.state == State::Blocked {
        release::unblock(batch, &subject.job)?;
    }
    let id = subject.job.id;
    let changed = batch.delete(batch.tables.changes, id.as_bytes())?;
    let row = EndedRow {
        queue: subject.queue,
        state: State::Cancelled.into(),
        ended_ms: now.as_millis(),
        ready_ms: subject.standing.ready_at.as_millis(),
        tally: subject.standing.tally.into(),
        result: None,
        reason: Some(reason),
        last_error: subject.standing.last_error.map(Into::into),
        checkpoint: None,
        execution: None,
        marks: Marks::of(&subject.job, changed),
    };
    settle::end(batch, id, row)
}

/// Cancels a Blocked job; answers its queue, and whether others wait for it.
pub fn cancel_blocked(batch: &mut Batch<'_>, now: Time, id: JobId, reason: String) -> Result<(QueueRef, bool)> {
    let subject = subject(batch, id)?;
    let name = subject.job.queue_ref();
    Ok((name, cancel(batch, now, subject, reason)?))
}

/// What became of a Blocked job that waits for nobody any more.
pub enum Unblocked {
    Ready {
        queue: u32,
    },
    /// Its own time lies ahead, or it is paused.
    NotYet,
}

/// Lets a Blocked job go on: it is due from now on, or from its own time if that is later.
pub fn set_free(batch: &mut Batch<'_>, now: Time, id: JobId) -> Result<Unblocked> {
    let subject = subject(batch, id)?;
    release::unblock(batch, &subject.job)?;
    let (queue, paused) = (subject.queue, subject.standing.paused);
    let state = due(subject.standing.ready_at, now);
    change(batch, now, subject, |standing, _| {
        standing.state = state;
        standing.ready_at = standing.ready_at.max(now);
    })?;
    Ok(if state == State::Ready && !paused { Unblocked::Ready { queue } } else { Unblocked::NotYet })
}

fn subject(batch: &Batch<'_>, id: JobId) -> Result<Subject> {
    let record = read::record(&batch.txn, batch.tables, id)?;
    let standing = read::standing_of(&batch.txn, batch.tables, id, &record)?;
    let (job, queue) = read::job(batch, id)?;
    Ok(Subject { job, queue, standing })
}

/// Where a job goes that is due at `at`.
fn due(at: Time, now: Time) -> State {
    if at <= now { State::Ready } else { State::Waiting }
}

/// Cancels a job if it has not started and this is still its expiry; answers its queue if so.
pub fn cancel_unstarted(
    batch: &mut Batch<'_>,
    now: Time,
    expires_at: Time,
    id: JobId,
    reason: &str,
) -> Result<Option<QueueRef>> {
    let Some(standing) = read::standing(&batch.txn, batch.tables, id)? else { return Ok(None) };
    let (job, queue) = read::job(batch, id)?;
    let started = standing.state == State::Running || standing.tally.attempts > 0;
    if started || standing.state.is_final() || job.expires_at != Some(expires_at) {
        return Ok(None);
    }
    let name = job.queue_ref();
    cancel(batch, now, Subject { job, queue, standing }, reason.into())?;
    Ok(Some(name))
}

fn revive(
    batch: &mut Batch<'_>,
    now: Time,
    mut subject: Subject,
    data: Option<mainspring_core::job::Json>,
) -> Result<()> {
    let id = subject.job.id;
    let row = prune::take_dead(batch, id)?;
    batch.leave(row.who(id), State::Dead, false)?;
    release::withdraw(batch, id)?;
    if let Some(last) = row.execution {
        batch.put(batch.tables.executions, &tables::execution(id, last.fence), &last)?;
    }
    let has_expired = subject.job.expires_at.is_some_and(|at| at <= now);
    if data.is_some() || has_expired {
        subject.job.data = data.unwrap_or(subject.job.data);
        subject.job.expires_at = subject.job.expires_at.filter(|_| !has_expired);
        batch.put(batch.tables.records, id.as_bytes(), &Record::of(&subject.job, subject.queue))?;
    }
    let standing = &mut subject.standing;
    standing.state = State::Ready;
    standing.ready_at = now;
    standing.tally = Tally::default();
    put_in(batch, now, &subject)
}

fn delete(batch: &mut Batch<'_>, subject: Subject) -> Result<()> {
    let id = subject.job.id;
    if subject.standing.state == State::Dead {
        return prune::forget_dead(batch, id);
    }
    let row = history::find(&batch.txn, batch.tables, id)?.expect("its standing says that it ended");
    history::remove(batch, Time::from_millis(row.ended_ms), id)?;
    prune::forget(batch, id, &row)
}
