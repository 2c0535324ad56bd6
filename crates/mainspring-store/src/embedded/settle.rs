//! Applies verdicts to leases that still hold. Decides nothing: the verdict comes from the core.

use mainspring_core::id::JobId;
use mainspring_core::job::Failure;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Result, Settled, Settlement};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::batch::Batch;
use super::gates::{self, News, alarms};
use super::history;
use super::read;
use super::release;
use super::rows::{self, Change, EndedRow, ExecutionRow, LeaseRow, Marks, Slip};
use super::storage;
use super::tables;
use super::workflow;

pub fn settle(batch: &mut Batch<'_>, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
    alarms::see(batch.mirror, now);
    settlements.into_iter().map(|settlement| settle_one(batch, now, settlement)).collect()
}

fn settle_one(batch: &mut Batch<'_>, now: Time, settlement: Settlement) -> Result<Settled> {
    let id = settlement.lease.job;
    match batch.mirror.leases.get(&id) {
        Some(lease) if lease.fence == settlement.lease.fence.0 => {}
        _ => return Ok(Settled::Stale),
    }
    let mut news = News::default();
    let Applied { state, ready_at, queue, awaited } = apply(batch, now, id, settlement.verdict, &mut news)?;
    let queue = batch.mirror.queues[queue as usize].name.clone();
    Ok(Settled::Applied { state, ready_at, queue, awaited, gates: news.told(&batch.mirror.queues) })
}

/// What became of a job whose lease has ended.
pub struct Applied {
    pub state: State,
    pub ready_at: Time,
    pub queue: u32,
    /// Others wait for it.
    pub awaited: bool,
}

/// Ends the lease of a job as the verdict says: the one place where that happens, and so where gates are left.
pub fn apply(batch: &mut Batch<'_>, now: Time, id: JobId, verdict: Verdict, news: &mut News) -> Result<Applied> {
    let lease = batch.mirror.let_go(id).expect("the caller found the lease");
    batch.delete(batch.tables.leases, id.as_bytes())?;
    batch.leave(lease.slip.who(id), State::Running, false)?;
    gates::leave(batch, now, (id, &lease), verdict.outcome().into(), news)?;
    if let Verdict::Close { wait } = verdict {
        gates::close(batch, now, id, wait, news)?;
    }

    let queue = lease.slip.queue;
    let (state, ready_at) = verdict.destination(now, Time::from_millis(lease.ready_ms));
    let awaited = if state.is_final() {
        end_attempt(batch, now, id, lease, verdict, state)?
    } else {
        try_again(batch, now, id, lease, verdict, state, ready_at)?;
        false
    };
    Ok(Applied { state, ready_at, queue, awaited })
}

fn end_attempt(
    batch: &mut Batch<'_>,
    now: Time,
    id: JobId,
    lease: LeaseRow,
    verdict: Verdict,
    state: State,
) -> Result<bool> {
    let changed = lease.slip.marks.has(Marks::CHANGED);
    let change = change_of(batch, id, changed)?.unwrap_or_default();
    let execution = execution(&lease, now, &verdict);
    let tally = verdict.count(lease.slip.tally.into());
    let (result, reason, error) = match verdict {
        Verdict::Succeed { result } => (result, None, None),
        Verdict::Cancel { reason } => (None, Some(reason), None),
        Verdict::Bury { error, .. } => (None, None, Some(error)),
        Verdict::Retry { .. } | Verdict::Snooze { .. } | Verdict::Release | Verdict::Close { .. } => (None, None, None),
    };
    let row = EndedRow {
        queue: lease.slip.queue,
        state: state.into(),
        ended_ms: now.as_millis(),
        ready_ms: lease.ready_ms,
        tally: tally.into(),
        result: result.map(|json| json.0.into()),
        reason,
        last_error: error.map(Into::into).or(change.last_error),
        checkpoint: if state == State::Dead { change.checkpoint } else { None },
        execution: Some(execution),
        marks: lease.slip.marks,
    };
    if changed {
        batch.delete(batch.tables.changes, id.as_bytes())?;
    }
    end(batch, id, row)
}

/// Files a job under the final state its row says, and counts it there. Whether others wait for it: they are written
/// down for [`release`].
pub fn end(batch: &mut Batch<'_>, id: JobId, row: EndedRow) -> Result<bool> {
    let state = State::from(row.state);
    batch.enter(row.who(id), state, false)?;
    if state == State::Dead {
        let order = tables::timed(Time::from_millis(row.ended_ms), id);
        batch.put(batch.tables.dead_order, &order, &())?;
        batch.put(batch.tables.dead, id.as_bytes(), &row)?;
    } else {
        history::push(batch, id, &row)?;
    }
    let awaited = release::announce(batch, id, state)?;
    let was_last = row.marks.has(Marks::MEMBER) && workflow::ended(batch, id)?;
    Ok(awaited || was_last)
}

fn try_again(
    batch: &mut Batch<'_>,
    now: Time,
    id: JobId,
    lease: LeaseRow,
    verdict: Verdict,
    state: State,
    ready_at: Time,
) -> Result<()> {
    let before = change_of(batch, id, lease.slip.marks.has(Marks::CHANGED))?.unwrap_or_default();
    let row = execution(&lease, now, &verdict);
    batch.put(batch.tables.executions, &tables::execution(id, row.fence), &row)?;
    let tally = verdict.count(lease.slip.tally.into());
    let change = Change {
        paused: None,
        ready_ms: ready_at.as_millis(),
        tally: tally.into(),
        checkpoint: before.checkpoint,
        progress: None,
        last_error: verdict.error().cloned().map(Into::into).or(before.last_error),
    };
    batch.put(batch.tables.changes, id.as_bytes(), &change)?;
    let (job, queue) = read::job(batch, id)?;
    batch.put_expiry(&job, tally)?;
    batch.place(now, id, state, ready_at, &Slip::of(&job, queue, ready_at, tally, true))
}

fn change_of(batch: &Batch<'_>, id: JobId, changed: bool) -> Result<Option<Change>> {
    if !changed {
        return Ok(None);
    }
    let bytes = batch.tables.changes.get(&batch.txn, id.as_bytes()).map_err(storage)?;
    bytes.map(|bytes| rows::decode("changes", bytes)).transpose()
}

fn execution(lease: &LeaseRow, now: Time, verdict: &Verdict) -> ExecutionRow {
    ExecutionRow {
        attempt: lease.slip.tally.0,
        fence: lease.taken.map_or(lease.fence, |(_, fence)| fence),
        worker: lease.worker,
        started_ms: lease.started_ms.unwrap_or(lease.claimed_ms),
        ended_ms: now.as_millis(),
        outcome: verdict.outcome().into(),
        error: verdict.error().cloned().map(Failure::into),
    }
}
