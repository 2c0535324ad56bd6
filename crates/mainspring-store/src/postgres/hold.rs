//! Holds jobs where they are, whatever they are doing, so that somebody may move them. Moves nothing.
//!
//! A job can move between our looking into one table and the next. So it is looked for in every table first and read after:
//! where it is then, it must be held, or all begins anew.

use std::collections::{HashMap, HashSet};

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use uuid::Uuid;

use super::error::{Fault, Result};
use super::pipeline::{Step, pipeline};
use super::pool::Transaction;
use super::view::{Seen, seen};

/// In the direction that jobs mostly move, so that one that moves on meanwhile is still met.
const TABLES: [(Table, &str); 5] = [
    (Table::Aside, include_str!("sql/hold_aside.sql")),
    (Table::Waiting, include_str!("sql/hold_waiting.sql")),
    (Table::Ready, include_str!("sql/hold_ready.sql")),
    (Table::Leases, include_str!("sql/hold_leases.sql")),
    (Table::Ended, include_str!("sql/hold_ended.sql")),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Table {
    Aside,
    Waiting,
    Ready,
    Leases,
    Ended,
}

/// Those of these jobs that are here, each held until the transaction ends.
pub(super) async fn hold(txn: &Transaction<'_>, ids: &[JobId]) -> Result<HashMap<JobId, Seen>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let asked: Vec<Uuid> = ids.iter().map(JobId::uuid).collect();
    let steps: Vec<Step<'_>> = TABLES.iter().map(|(_, sql)| Step::new(sql, vec![&asked])).collect();
    let answers = pipeline(txn, &steps).await?;
    let mut held = HashSet::new();
    for ((table, _), rows) in TABLES.iter().zip(&answers) {
        held.extend(rows.iter().map(|row| (*table, JobId::from(row.get::<_, Uuid>(0)))));
    }
    let seen = seen(txn, ids).await?;
    match seen.iter().all(|(id, seen)| held.contains(&(table_of(seen), *id))) {
        true => Ok(seen),
        false => Err(Fault::Raced("a job moved while it was to be held")),
    }
}

fn table_of(seen: &Seen) -> Table {
    let standing = &seen.view.standing;
    match standing.state {
        State::Running => Table::Leases,
        State::Succeeded | State::Dead | State::Cancelled => Table::Ended,
        State::Blocked => Table::Aside,
        State::Waiting | State::Ready if standing.paused => Table::Aside,
        State::Waiting => Table::Waiting,
        State::Ready => Table::Ready,
    }
}
