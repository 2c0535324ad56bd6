//! Takes back what ran out: leases, jobs past their expiry, silent workers. Decides no verdicts.
//!
//! Isolation. Read committed. Silent workers are locked first, so a beat either comes before and they are not silent, or waits and
//! finds them written off. Leases and expired jobs are locked one by one and skipped if somebody else is at them: two nodes
//! that reclaim at once take different ones.

use std::collections::HashMap;

use mainspring_core::id::{Fence, WorkerId};
use mainspring_core::job::{Claimed, Failure, Json, Lease};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Reclaim, Reclaimed, TakenBack, WorkerView};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::moves::{EndedRow, Moves, Place, Who};
use super::numbers::{self, marks, ms, time};
use super::pipeline::{Step, ask, pipeline};
use super::pool::{Transaction, transact};
use super::record;
use super::slip::{Slip, tally};
use super::warrant;

pub(super) async fn reclaim(store: &Postgres, now: Time, ask: Reclaim) -> Result<Reclaimed> {
    let reclaimed = transact!(store.pool, |txn| reclaim_in(store, &txn, now, ask).await?);
    Ok(reclaimed)
}

async fn reclaim_in(store: &Postgres, txn: &Transaction<'_>, now: Time, asked: Reclaim) -> Result<Reclaimed, Fault> {
    if !warrant::stands(txn, asked.warrant).await? {
        return Ok(Reclaimed { deposed: true, ..Reclaimed::default() });
    }
    let latest = ms(if asked.spare_silent { WorkerView::LEFT } else { now });
    let silent = ask(txn, include_str!("sql/reclaim_silent.sql"), &[&latest]).await?;
    let silent: Vec<Uuid> = silent.iter().map(|row| row.get(0)).collect();
    let limit = i64::try_from(asked.limit).unwrap_or(i64::MAX - 1) + 1;
    let at = ms(now);
    let found = pipeline(
        txn,
        &[
            Step::new(include_str!("sql/reclaim_leases.sql"), vec![&silent, &at, &limit]),
            Step::new(include_str!("sql/reclaim_expired_aside.sql"), vec![&at, &limit]),
            Step::new(include_str!("sql/reclaim_expired_waiting.sql"), vec![&at, &limit]),
            Step::new(include_str!("sql/reclaim_expired_ready.sql"), vec![&at, &limit]),
        ],
    )
    .await?;
    let mut late: Vec<Late> = found[1..].iter().flatten().map(Late::read).collect::<Result<_, _>>()?;
    late.sort_by_key(|late| (late.slip.expires_at, late.slip.id));
    let more = found[0].len() > asked.limit || late.len() > asked.limit;
    late.truncate(asked.limit);

    let leases = take_back(store, txn, now, asked, &found[0], &silent).await?;
    let expired = expire(store, txn, now, late).await?;
    let silent = ask(txn, include_str!("sql/reclaim_write_off.sql"), &[&silent]).await?;
    Ok(Reclaimed {
        leases,
        expired,
        silent: silent.iter().map(|row| WorkerId(row.get(0))).collect(),
        deposed: false,
        more,
    })
}

async fn take_back(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    asked: Reclaim,
    lost: &[Row],
    silent: &[Uuid],
) -> Result<Vec<TakenBack>, Fault> {
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = lost.iter().take(asked.limit).map(|row| row.get(0)).collect();
    let causes: Vec<i16> = lost.iter().take(asked.limit).map(|row| row.get(1)).collect();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&ids, &causes, &ms(asked.hold_until), &ms(now), &silent];
    let rows = ask(txn, include_str!("sql/reclaim_take.sql"), &params).await?;
    let names = store.queues.names(txn, rows.iter().map(|row| row.get(record::COLUMNS))).await?;
    rows.iter().map(|row| Ok(taken_back(row, &names, asked.hold_until)?)).collect()
}

fn taken_back(row: &Row, names: &HashMap<i32, QueueRef>, hold_until: Time) -> Result<TakenBack> {
    let after = |at: usize| record::COLUMNS + at;
    let queue: i32 = row.get(after(0));
    let lease = Lease {
        fence: Fence(row.get::<_, i64>(after(1)) as u64),
        worker: WorkerId(row.get(after(2))),
        claimed_at: time(row.get(after(3))),
        started_at: row.get::<_, Option<i64>>(after(4)).map(time),
        timeout_at: Some(hold_until),
        cancel_asked: row.get(after(5)),
    };
    let claimed = Claimed {
        job: record::job(row, 0, &names[&queue])?,
        lease,
        tally: tally(row, after(6)),
        checkpoint: row.get::<_, Option<String>>(after(10)).map(|json| Json(json.into())),
        last_error: record::failure(row, after(11)),
    };
    Ok(TakenBack { claimed, cause: numbers::cause(row.get(after(9)))? })
}

/// A job that did not start in time.
struct Late {
    slip: Slip,
    place: Place,
    last_error: Option<Failure>,
}

impl Late {
    fn read(row: &Row) -> Result<Late, Fault> {
        let place = Place { state: numbers::state(row.get(9))?, paused: row.get(10) };
        Ok(Late { slip: Slip::read(row), place, last_error: record::failure(row, 11) })
    }
}

async fn expire(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    late: Vec<Late>,
) -> Result<Vec<(mainspring_core::id::JobId, QueueRef)>, Fault> {
    let names = store.queues.names(txn, late.iter().map(|late| late.slip.queue)).await?;
    let mut moves = Moves::default();
    let mut expired = Vec::with_capacity(late.len());
    for Late { slip, place, last_error } in late {
        let reason = "expired before it started".to_owned();
        cancel(&mut moves, now, &slip, place, last_error, reason);
        expired.push((slip.id, names[&slip.queue].clone()));
    }
    moves.write(txn, Vec::new()).await?;
    Ok(expired)
}

/// Cancels a job that nobody holds and whose row is locked.
pub(super) fn cancel(
    moves: &mut Moves,
    now: Time,
    slip: &Slip,
    from: Place,
    last_error: Option<Failure>,
    reason: String,
) {
    let who = Who::from(slip);
    moves.take(slip.id, from);
    moves.moved(who, from, Place::of(State::Cancelled));
    moves.end(&EndedRow {
        who: Who { marks: slip.marks & !marks::NOTED, ..who },
        state: State::Cancelled,
        ended_at: now,
        ready_at: slip.ready_at,
        tally: slip.tally,
        execution: None,
        result: None,
        reason: Some(reason),
        last_error,
        checkpoint: None,
    });
    if slip.marks & marks::NOTED != 0 {
        moves.drop_note(slip.id);
    }
}
