//! History in buckets of time that are dropped whole, because deleting jobs one by one costs as much as taking them in.
//!
//! An id begins with the time it was made at, so a span of ids is a span of time. `jobs`, `ended` and `executions` are cut into the
//! same spans; `ledger` is cut by when a row was written, into longer ones. Buckets are made ahead of their time; what comes in a time that has none
//! lies in the default partitions, where [`super::prune`] forgets row by row. A bucket goes when its last id is as old as
//! the retention. A job in it that is not over, or not past its retention, is a *straggler*: it is put into the default
//! partition in the same transaction. A bucket with many of them stays, and loses its other rows one by one.
//!
//! So a job may be kept for up to [`WIDTH`] longer than was asked, and never for a shorter time.
//!
//! Isolation: making and dropping take locks that all statements on these tables wait for, for an instant; if they do not
//! get them soon, the next call tries again, so nobody is held up for long by somebody's long transaction.

use std::time::Duration;

use mainspring_core::store::Prune;
use mainspring_core::time::Time;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::forget::forget;
use super::numbers::ms;
use super::pipeline::ask;
use super::pool::{Transaction, transact};
use super::prune::leaving;

/// How much time a bucket of jobs holds. Every statement on these tables locks all of them, so there should be few.
pub const WIDTH: Duration = Duration::from_secs(6 * 3600);
/// The same of the ledger, which is kept for longer.
const LEDGER_WIDTH: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many there are beyond the present one.
const AHEAD: u64 = 2;
/// A bucket that is made in its own time begins so much later: what was submitted before it lies elsewhere.
const LEAD: Duration = Duration::from_secs(5);
/// A bucket with more stragglers is not dropped.
const STRAGGLERS_MAX: i64 = 10_000;
/// How many buckets one call drops.
const DROPS_MAX: usize = 4;
/// How long everybody may be made to wait while we wait for the last transaction that is in the way.
const LOCK_WAIT_MS: u64 = 1_000;

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tended {
    pub jobs: u64,
    pub rows: u64,
}

/// A span of time, by the instant it begins. It ends where the next begins, at a multiple of the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    start: u64,
    width: u64,
}

impl Bucket {
    fn of(at: Time, width: Duration) -> Bucket {
        let width = width.as_millis() as u64;
        Bucket { start: at.as_millis() / width * width, width }
    }

    fn end(self) -> Time {
        Time::from_millis((self.start / self.width + 1) * self.width)
    }

    fn next(self) -> Bucket {
        Bucket { start: self.end().as_millis(), ..self }
    }

    fn holds(self, at: Time) -> bool {
        self.start <= at.as_millis() && at < self.end()
    }

    /// The lowest id that is not before it.
    fn first_id(self) -> Uuid {
        Uuid::from_u128(u128::from(self.start) << 80)
    }

    /// Zeros in front, so that names sort as times do.
    fn suffix(self) -> String {
        format!("{:015}", self.start)
    }
}

/// Those that should be there and are not: the present one, or the rest of it if something lies beside the buckets already, and some
/// ahead. Without the first, what is submitted until the next begins would pile up in the default partition, which is read whole
/// whenever a bucket is made.
fn missing(now: Time, width: Duration, there: &[Bucket], is_fresh: bool) -> Vec<Bucket> {
    let present = Bucket::of(now, width);
    let mut wanted = Vec::new();
    let rest = if is_fresh { present } else { Bucket { start: now.after(LEAD).as_millis(), ..present } };
    if !there.iter().any(|bucket| bucket.end() == present.end()) && present.holds(Time::from_millis(rest.start)) {
        wanted.push(rest);
    }
    let ahead = std::iter::successors(Some(present.next()), |bucket| Some(bucket.next())).take(AHEAD as usize);
    wanted.extend(ahead.filter(|bucket| !there.contains(bucket)));
    wanted
}

pub(super) async fn tend(store: &Postgres, now: Time, ask: &Prune) -> Result<Tended> {
    match tend_now(store, now, ask).await {
        // Somebody holds a table. There is always a next time.
        Err(mainspring_core::store::Error::Unavailable(why)) => {
            tracing::debug!("buckets are left as they are for now: {why}");
            Ok(Tended::default())
        }
        tended => tended,
    }
}

async fn tend_now(store: &Postgres, now: Time, ask: &Prune) -> Result<Tended> {
    let (jobs, ledger) = (there(store, "jobs", WIDTH).await?, there(store, "ledger", LEDGER_WIDTH).await?);
    for bucket in missing(now, WIDTH, &jobs, is_fresh(store).await?) {
        make(store, make_jobs(bucket)).await?;
    }
    for bucket in missing(now, LEDGER_WIDTH, &ledger, false) {
        make(store, make_ledger(bucket)).await?;
    }
    let mut tended = Tended::default();
    for bucket in jobs.iter().filter(|bucket| bucket.end() <= ask.ended_before).take(DROPS_MAX) {
        tended.jobs += transact!(store.pool, |txn| {
            match begin(&txn).await? {
                true => drop_jobs(&txn, *bucket, ask).await?,
                false => 0,
            }
        });
    }
    for bucket in ledger.iter().filter(|bucket| bucket.end() <= ask.ledger_before).take(DROPS_MAX) {
        tended.rows += transact!(store.pool, |txn| {
            match begin(&txn).await? {
                true => drop_ledger(&txn, *bucket).await?,
                false => 0,
            }
        });
    }
    Ok(tended)
}

/// The buckets of a table.
async fn there(store: &Postgres, table: &str, width: Duration) -> Result<Vec<Bucket>> {
    let connection = store.pool.get().await?;
    let rows = ask(&connection, include_str!("sql/buckets.sql"), &[&table]).await?;
    let start = |name: &str| name.strip_prefix(table)?.strip_prefix('_')?.parse().ok();
    let bucket = |start| Bucket { start, width: width.as_millis() as u64 };
    Ok(rows.iter().filter_map(|row| start(row.get(0)).map(bucket)).collect())
}

/// Whether no job lies beside the buckets.
async fn is_fresh(store: &Postgres) -> Result<bool> {
    let connection = store.pool.get().await?;
    let rows = ask(&connection, include_str!("sql/buckets_fresh.sql"), &[]).await?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

/// Makes a bucket, unless another node tends them.
async fn make(store: &Postgres, sql: String) -> Result<()> {
    transact!(store.pool, |txn| {
        if begin(&txn).await? {
            match txn.batch_execute(&sql).await {
                // By another node's clock its time has come already. What is there stays there.
                Err(error) if error.code() == Some(&SqlState::CHECK_VIOLATION) => return Ok(()),
                made => made?,
            }
        }
    });
    Ok(())
}

/// Whether it is ours to tend them.
async fn begin(txn: &Transaction<'_>) -> Result<bool, Fault> {
    // Scans of whole partitions, which the verbs never do.
    let settings = "SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on";
    txn.batch_execute(&format!("{settings}; SET LOCAL lock_timeout = {LOCK_WAIT_MS}")).await?;
    let rows = ask(txn, include_str!("sql/bucket_lock.sql"), &[]).await?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

fn make_jobs(bucket: Bucket) -> String {
    let (suffix, from, to) = (bucket.suffix(), bucket.first_id(), bucket.next().first_id());
    let make = |table| {
        format!(
            "CREATE TABLE IF NOT EXISTS {table}_{suffix} PARTITION OF {table} FOR VALUES FROM ('{from}') TO ('{to}');"
        )
    };
    ["jobs", "ended", "executions"].map(make).concat()
}

fn make_ledger(bucket: Bucket) -> String {
    let (suffix, from, to) = (bucket.suffix(), bucket.start, bucket.next().start);
    format!("CREATE TABLE IF NOT EXISTS ledger_{suffix} PARTITION OF ledger FOR VALUES FROM ({from}) TO ({to})")
}

/// A statement about one bucket: `{bucket}` in it is its suffix, which holds digits only.
fn about(bucket: Bucket, sql: &str) -> String {
    sql.replace("{bucket}", &bucket.suffix())
}

/// How many jobs went with it.
async fn drop_jobs(txn: &Transaction<'_>, bucket: Bucket, ask: &Prune) -> Result<u64, Fault> {
    let (from, to) = (bucket.first_id(), bucket.next().first_id());
    let (ended_before, dead_before) = (ms(ask.ended_before), ms(ask.dead_before));
    // From here on nobody revives or deletes a job in it.
    txn.batch_execute(&about(bucket, "LOCK TABLE ended_{bucket} IN SHARE ROW EXCLUSIVE MODE")).await?;
    let stragglers = about(bucket, include_str!("sql/bucket_stragglers.sql"));
    txn.execute(&stragglers, &[&from, &to, &ended_before, &dead_before, &STRAGGLERS_MAX]).await?;
    let count = txn.query_one("SELECT count(*) FROM stragglers", &[]).await?;
    if count.get::<_, i64>(0) > STRAGGLERS_MAX {
        return thin_out(txn, bucket, ask).await;
    }
    let counted = txn.query_one(&about(bucket, include_str!("sql/bucket_counts.sql")), &[]).await?;
    txn.execute(&about(bucket, include_str!("sql/bucket_workflows.sql")), &[]).await?;
    txn.batch_execute(include_str!("sql/bucket_workflows_gone.sql")).await?;
    txn.batch_execute(&about(bucket, include_str!("sql/bucket_drop.sql"))).await?;
    Ok(counted.get::<_, i64>(0).unsigned_abs())
}

/// Forgets some of a bucket that cannot be dropped.
async fn thin_out(txn: &Transaction<'_>, bucket: Bucket, ask: &Prune) -> Result<u64, Fault> {
    let limit = i64::try_from(ask.limit).unwrap_or(i64::MAX);
    let past = about(bucket, include_str!("sql/bucket_past.sql"));
    let rows = txn.query(&past, &[&ms(ask.ended_before), &ms(ask.dead_before), &limit]).await?;
    let leaving = rows.iter().map(leaving).collect::<Result<Vec<_>>>()?;
    forget(txn, &leaving).await?;
    Ok(leaving.len() as u64)
}

/// How many rows went with it: all of them are as old as the youngest it can hold.
async fn drop_ledger(txn: &Transaction<'_>, bucket: Bucket) -> Result<u64, Fault> {
    let counted = txn.query_one(&about(bucket, "SELECT count(*) FROM ledger_{bucket}"), &[]).await?;
    txn.batch_execute(&about(bucket, "DROP TABLE ledger_{bucket}")).await?;
    Ok(counted.get::<_, i64>(0).unsigned_abs())
}

#[cfg(test)]
#[path = "buckets_tests.rs"]
mod tests;
