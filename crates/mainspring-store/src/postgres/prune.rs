//! Forgets what is past its retention, oldest first. Touches nothing that is not final.
//!
//! Isolation: READ COMMITTED. Rows are held before they are forgotten, and rows that somebody else holds are left for the next
//! call, so nodes that prune at once share the work.

use mainspring_core::id::JobId;
use mainspring_core::store::{Prune, Pruned};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::buckets::{self, Tended};
use super::error::{Fault, Result};
use super::forget::{Leaving, forget};
use super::limits;
use super::moves::{Place, Who};
use super::numbers::{ms, state};
use super::pipeline;
use super::pool::{Transaction, execute, transact};
use super::warrant;

/// Rows of one transaction: a longer one would hold back the vacuum of the hot tables.
const STEP_ROWS: usize = 5_000;

pub(super) async fn prune(store: &Postgres, now: Time, ask: Prune) -> Result<Pruned> {
    if !transact!(store.pool, |txn| warrant::stands(&txn, ask.warrant).await?) {
        return Ok(Pruned { deposed: true, ..Pruned::default() });
    }
    // Whole buckets go beyond the limit: they cost no more than a row.
    let tended = match store.has_buckets {
        true => buckets::tend(store, now, &ask).await?,
        false => Tended::default(),
    };
    let limit = ask.limit.min(STEP_ROWS);
    let pruned = transact!(store.pool, |txn| {
        let mut left = limit;
        let jobs = prune_jobs(&txn, &ask, &mut left).await?;
        let keys = execute(&txn, include_str!("sql/prune_keys.sql"), &[&ms(now), &(left as i64)]).await?;
        left -= keys as usize;
        let before = ms(ask.ledger_before);
        let rows = execute(&txn, include_str!("sql/prune_ledger.sql"), &[&before, &(left as i64)]).await?;
        left -= rows as usize;
        let more = left == 0 && is_more(&txn, now, &ask).await?;
        Pruned { jobs, keys, rows, deposed: false, more }
    });
    // By itself, because nobody enters or leaves gates meanwhile.
    transact!(store.pool, |txn| limits::forget_what_rests(store, &txn, now).await?);
    Ok(Pruned { jobs: pruned.jobs + tended.jobs, rows: pruned.rows + tended.rows, ..pruned })
}

async fn prune_jobs(txn: &Transaction<'_>, ask: &Prune, left: &mut usize) -> Result<u64, Fault> {
    let mut count = 0;
    let asks = [
        (include_str!("sql/prune_ended.sql"), ask.ended_before),
        (include_str!("sql/prune_dead.sql"), ask.dead_before),
    ];
    for (sql, before) in asks {
        let rows = pipeline::ask(txn, sql, &[&ms(before), &(*left as i64)]).await?;
        let leaving: Vec<Leaving> = rows.iter().map(leaving).collect::<Result<_>>()?;
        forget(txn, &leaving).await?;
        *left -= leaving.len();
        count += leaving.len() as u64;
    }
    Ok(count)
}

pub(super) fn leaving(row: &Row) -> Result<Leaving> {
    let who = Who { id: JobId::from(row.get::<_, Uuid>(0)), queue: row.get(1), marks: row.get(2) };
    Ok(Leaving { who, from: Place::of(state(row.get(3))?) })
}

async fn is_more(txn: &Transaction<'_>, now: Time, ask: &Prune) -> Result<bool, Fault> {
    let sql = include_str!("sql/prune_more.sql");
    let times = [ask.ended_before, ask.dead_before, now, ask.ledger_before].map(ms);
    let rows = pipeline::ask(txn, sql, &[&times[0], &times[1], &times[2], &times[3]]).await?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}
