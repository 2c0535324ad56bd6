//! Writes down what a running attempt says of itself. Prolongs nothing.
//!
//! Isolation. Read committed. Leases are locked by (job, fence); whoever settled or took one back before is seen, and then it is
//! stale.

use std::collections::{BTreeSet, HashMap};

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::{Json, Progress};
use mainspring_core::store::{Hold, Report, ReportKind};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::held::LeaseColumns;
use super::moves::{Moves, Note};
use super::numbers::{marks, ms, time};
use super::pipeline::{Step, ask};
use super::pool::{Transaction, transact};
use super::record;

pub(super) async fn report(store: &Postgres, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
    let holds = transact!(store.pool, |txn| report_in(&txn, now, &reports).await?);
    Ok(holds)
}

async fn report_in(txn: &Transaction<'_>, now: Time, reports: &[Report]) -> Result<Vec<Hold>, Fault> {
    let mut columns = LeaseColumns::default();
    for lease in reports.iter().map(|report| report.lease).collect::<BTreeSet<_>>() {
        columns.push(lease, false);
    }
    let rows = ask(txn, include_str!("sql/report_hold.sql"), &[&columns.jobs, &columns.fences]).await?;
    let mut attempts: HashMap<LeaseId, Attempt> = rows.iter().map(Attempt::read).collect();
    let holds = reports
        .iter()
        .map(|report| match attempts.get_mut(&report.lease) {
            Some(attempt) => attempt.says(now, &report.kind),
            None => Hold::Stale,
        })
        .collect();

    let mut moves = Moves::default();
    let (mut ids, mut started, mut marked) = (Vec::new(), Vec::new(), Vec::new());
    for (lease, attempt) in attempts {
        ids.push(lease.job.uuid());
        started.push(attempt.started_at.map(ms));
        marked.push(if attempt.note.is_empty() { attempt.marks } else { attempt.marks | marks::NOTED });
        if attempt.is_noted {
            moves.note(lease.job, &attempt.note);
        }
    }
    if !ids.is_empty() {
        let write = Step::new(include_str!("sql/report_leases.sql"), vec![&ids, &started, &marked]);
        moves.write(txn, vec![write]).await?;
    }
    Ok(holds)
}

/// A running attempt that says something.
struct Attempt {
    started_at: Option<Time>,
    cancel_asked: bool,
    marks: i16,
    note: Note,
    /// Said something that is to be kept.
    is_noted: bool,
}

impl Attempt {
    fn read(row: &Row) -> (LeaseId, Attempt) {
        let has_progress = row.get::<_, Option<bool>>(6).unwrap_or_default();
        let note = Note {
            checkpoint: row.get::<_, Option<String>>(5).map(|json| Json(json.into())),
            progress: has_progress.then(|| Progress { percent: row.get(7), note: row.get(8) }),
            last_error: record::failure(row, 9),
        };
        let lease = LeaseId { job: row.get::<_, Uuid>(0).into(), fence: Fence(row.get::<_, i64>(1) as u64) };
        let started_at = row.get::<_, Option<i64>>(2).map(time);
        (lease, Attempt { started_at, cancel_asked: row.get(3), marks: row.get(4), note, is_noted: false })
    }

    fn says(&mut self, now: Time, kind: &ReportKind) -> Hold {
        match kind {
            ReportKind::Started => {
                self.started_at.get_or_insert(now);
            }
            ReportKind::Checkpoint { data, progress } => {
                self.note.checkpoint = data.clone().or(self.note.checkpoint.take());
                self.note.progress = progress.clone().or(self.note.progress.take());
                self.is_noted = !self.note.is_empty();
            }
        }
        Hold::Held { cancel_asked: self.cancel_asked }
    }
}
