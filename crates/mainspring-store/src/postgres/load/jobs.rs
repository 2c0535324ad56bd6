//! Writes jobs that come from elsewhere, each into the table where it stands. Counts nothing: the counts of queues and workflows come
//! with those.

use std::collections::{BTreeSet, HashMap};

use mainspring_core::job::Lease;
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result, damaged};
use super::super::limits;
use super::super::moves::{EndedRow, Moves, Note, Place, Who};
use super::super::numbers::{marks, ms, text};
use super::super::pipeline::{Step, ask};
use super::super::pool::Transaction;
use super::super::record::Records;
use super::super::slip::{Slip, small};
use crate::moving::JobItem;

pub(super) async fn write(store: &Postgres, txn: &Transaction<'_>, now: Time, jobs: &[JobItem]) -> Result<(), Fault> {
    if jobs.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<QueueRef> = jobs.iter().map(|item| item.view.job.queue_ref()).collect();
    let queues = store.queues.find(txn, &names).await?;
    let (mut moves, mut records, mut leases) = (Moves::default(), Records::default(), Leases::default());
    let mut ready = Vec::new();
    for item in jobs {
        let slip = slip(item, &queues)?;
        records.push(&item.view.job, slip.queue);
        item.attempts.iter().for_each(|attempt| moves.execution(slip.id, attempt));
        stand(item, &slip, &mut moves, &mut leases);
        if item.view.standing.state == State::Ready && !item.view.standing.paused {
            ready.push(slip.id.uuid());
        }
    }
    let mut steps = Vec::new();
    records.insert().write(txn, &mut steps).await?;
    steps.extend(leases.step());
    moves.write(txn, steps).await?;
    let version: i64 = ask(txn, include_str!("../sql/limits_version.sql"), &[]).await?[0].get(0);
    limits::place(store, txn, now, version, &ready).await
}

fn slip(item: &JobItem, queues: &HashMap<QueueRef, i32>) -> Result<Slip, Fault> {
    let (job, standing) = (&item.view.job, &item.view.standing);
    let queue = queues.get(&job.queue_ref()).ok_or_else(|| damaged(format!("no queue for job {}", job.id)))?;
    let slip = Slip::again(job, *queue, standing.ready_at, standing.tally);
    let tried = if item.attempts.is_empty() { 0 } else { marks::TRIED };
    Ok(Slip { marks: slip.marks | tried, ..slip })
}

/// Puts a job where it stands.
fn stand(item: &JobItem, slip: &Slip, moves: &mut Moves, leases: &mut Leases) {
    let standing = &item.view.standing;
    if let Some(ended) = &standing.ended {
        return moves.end(&EndedRow {
            who: Who::from(slip),
            state: standing.state,
            ended_at: ended.at,
            ready_at: standing.ready_at,
            tally: standing.tally,
            execution: item.last.clone(),
            result: ended.result.clone(),
            reason: ended.reason.clone(),
            last_error: standing.last_error.clone(),
            checkpoint: standing.checkpoint.clone(),
        });
    }
    let note = Note {
        checkpoint: standing.checkpoint.clone(),
        progress: standing.progress.clone(),
        last_error: standing.last_error.clone(),
    };
    let mut slip = *slip;
    if !note.is_empty() {
        slip.marks |= marks::NOTED;
        moves.note(slip.id, &note);
    }
    match &standing.lease {
        Some(lease) => leases.push(&slip, lease, item),
        None => moves.put(&slip, Place { state: standing.state, paused: standing.paused }),
    }
}

/// Leases, by column.
#[derive(Debug, Default)]
struct Leases {
    ids: Vec<Uuid>,
    fences: Vec<i64>,
    workers: Vec<Uuid>,
    claimed: Vec<i64>,
    ready: Vec<i64>,
    timeouts: Vec<Option<i64>>,
    started: Vec<Option<i64>>,
    taken_fences: Vec<Option<i64>>,
    queues: Vec<i32>,
    lanes: Vec<i16>,
    attempts: Vec<i16>,
    failures: Vec<i16>,
    crashes: Vec<i16>,
    marks: Vec<i16>,
    taken_causes: Vec<Option<i16>>,
    cancels: Vec<Option<String>>,
}

impl Leases {
    fn push(&mut self, slip: &Slip, lease: &Lease, item: &JobItem) {
        self.ids.push(slip.id.uuid());
        self.fences.push(lease.fence.0 as i64);
        self.workers.push(lease.worker.0);
        self.claimed.push(ms(lease.claimed_at));
        self.ready.push(ms(slip.ready_at));
        self.timeouts.push(lease.timeout_at.map(ms));
        self.started.push(lease.started_at.map(ms));
        self.taken_fences.push(item.taken.map(|taken| taken.fence.0 as i64));
        self.queues.push(slip.queue);
        self.lanes.push(slip.lane);
        self.attempts.push(small(slip.tally.attempts));
        self.failures.push(small(slip.tally.failures));
        self.crashes.push(small(slip.tally.crashes));
        self.marks.push(slip.marks);
        self.taken_causes.push(item.taken.map(|taken| if taken.cause == Cause::Crash { 2 } else { 1 }));
        self.cancels.push(lease.cancel_asked.as_deref().map(text));
    }

    fn step(&self) -> Option<Step<'_>> {
        let params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![
            &self.ids,
            &self.fences,
            &self.workers,
            &self.claimed,
            &self.ready,
            &self.timeouts,
            &self.started,
            &self.taken_fences,
            &self.queues,
            &self.lanes,
            &self.attempts,
            &self.failures,
            &self.crashes,
            &self.marks,
            &self.taken_causes,
            &self.cancels,
        ];
        (!self.ids.is_empty()).then(|| Step::new(include_str!("../sql/moving_leases.sql"), params))
    }
}
