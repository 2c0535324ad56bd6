//! Moves due jobs to Ready and lists due schedules. Never claims, and turns no schedule.
//!
//! Isolation. Read committed. Due jobs are locked as they are chosen and skipped if another node has them: two nodes that
//! promote the same segments waste work and break nothing.

use mainspring_core::lifecycle::State;
use mainspring_core::store::{Promote, Promoted};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::limits;
use super::moves::{Moves, Place, Who};
use super::numbers::{self, ms, time};
use super::pipeline::{Step, ask, pipeline};
use super::pool::{Transaction, transact};
use super::release::{Done, release};
use super::schedules::schedule_view;
use super::warrant;

pub(super) async fn promote(store: &Postgres, now: Time, ask: Promote) -> Result<Promoted> {
    let promoted = transact!(store.pool, |txn| promote_in(store, &txn, now, &ask).await?);
    let moved: u64 = promoted.ready.iter().map(|(_, count)| count).sum();
    if moved > 0 {
        store.upkeep.wear(&store.pool, moved as usize);
    }
    Ok(promoted)
}

async fn promote_in(store: &Postgres, txn: &Transaction<'_>, now: Time, asked: &Promote) -> Result<Promoted, Fault> {
    let refused = warrant::refused(txn, asked).await?;
    let segments = numbers::segments(asked.segments.without(refused));
    let mut done = Done::default();
    let (left, more_released) = release(store, txn, now, &segments, asked.limit, &mut done).await?;

    let (at, left) = (ms(now), i64::try_from(left).unwrap_or(i64::MAX));
    let schedules = i64::try_from(asked.due_limit).unwrap_or(i64::MAX - 1) + 1;
    let version: i64 = ask(txn, include_str!("sql/limits_version.sql"), &[]).await?[0].get(0);
    let has_limits = version != 0;
    let mut steps = vec![
        Step::new(include_str!("sql/promote_due.sql"), vec![&segments, &at, &left, &has_limits]),
        Step::new(include_str!("sql/promote_more.sql"), vec![&segments, &at]),
    ];
    if asked.due_limit > 0 {
        steps.push(Step::new(include_str!("sql/promote_schedules.sql"), vec![&segments, &at, &schedules]));
    }
    let answers = pipeline(txn, &steps).await?;
    let oldest = offer(store, txn, &answers[0], &mut done).await?;
    let named = answers[0].iter().filter_map(|row| row.get::<_, Option<Vec<Uuid>>>(5)).flatten();
    limits::place(store, txn, now, version, &named.collect::<Vec<Uuid>>()).await?;
    let (opened, gates_at) = limits::ring(store, txn, now, version).await?;
    let due = answers.get(2).map(Vec::as_slice).unwrap_or_default();
    let more = more_released || answers[1][0].get(0) || due.len() > asked.due_limit;
    let due = due.iter().take(asked.due_limit).map(schedule_view).collect::<Result<_>>()?;
    let upcoming = if more { Vec::new() } else { upcoming(txn, now, asked, &segments).await? };
    Ok(Promoted {
        ready: done.ready.into_iter().collect(),
        oldest,
        cancelled: done.cancelled,
        due,
        upcoming,
        opened,
        gates_at,
        refused,
        more,
    })
}

/// Counts jobs that were promoted; the `ready_at` of the most overdue.
async fn offer(store: &Postgres, txn: &Transaction<'_>, rows: &[Row], done: &mut Done) -> Result<Option<Time>, Fault> {
    let names = store.queues.names(txn, rows.iter().map(|row| row.get(0))).await?;
    let mut moves = Moves::default();
    for row in rows {
        let (queue, count): (i32, i64) = (row.get(0), row.get(1));
        moves.many_moved(queue, count, Place::of(State::Waiting), Place::of(State::Ready));
        *done.ready.entry(names[&queue].clone()).or_insert(0) += count.unsigned_abs();
        let members = row.get::<_, Option<Vec<Uuid>>>(3).unwrap_or_default();
        let marks = row.get::<_, Option<Vec<i16>>>(4).unwrap_or_default();
        for (id, marks) in members.into_iter().zip(marks) {
            let who = Who { id: id.into(), queue, marks };
            moves.step_moved(who, Place::of(State::Waiting), Place::of(State::Ready));
        }
    }
    moves.write(txn, Vec::new()).await?;
    Ok(rows.iter().map(|row| time(row.get(2))).min())
}

async fn upcoming(txn: &Transaction<'_>, now: Time, asked: &Promote, segments: &[i16]) -> Result<Vec<Time>, Fault> {
    let until = ms(asked.look_ahead_until.min(now.after(mainspring_core::limits::LOOK_AHEAD_MAX)));
    let limit = i64::try_from(asked.look_ahead_limit).unwrap_or(i64::MAX);
    if limit == 0 || until <= ms(now) {
        return Ok(Vec::new());
    }
    let rows = ask(txn, include_str!("sql/promote_upcoming.sql"), &[&segments, &ms(now), &until, &limit]).await?;
    Ok(rows.iter().map(|row| time(row.get(0))).collect())
}
