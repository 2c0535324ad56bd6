//! Forgets jobs that have ended, with their attempts, and with its last job a workflow. Asks nobody whether it may.
//!
//! What waits for a forgotten job goes on waiting, and what is on the list of releases stays there: both are about its end,
//! which was.

use uuid::Uuid;

use super::error::{Fault, Result};
use super::moves::{Moves, Place, Who};
use super::numbers::marks;
use super::pipeline::{Step, pipeline};
use super::pool::Transaction;
use super::view::Seen;

/// A job that has ended, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub who: Who,
    pub from: Place,
}

impl Leaving {
    pub fn of(seen: &Seen) -> Leaving {
        let standing = &seen.view.standing;
        Leaving {
            who: Who { id: seen.view.job.id, queue: seen.queue, marks: seen.marks },
            from: Place { state: standing.state, paused: standing.paused },
        }
    }
}

/// Their rows in `ended` are held.
pub(super) async fn forget(txn: &Transaction<'_>, leaving: &[Leaving]) -> Result<(), Fault> {
    if leaving.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = leaving.iter().map(|job| job.who.id.uuid()).collect();
    let marked = |mark: i16| -> Vec<Uuid> {
        leaving.iter().filter(|job| job.who.marks & mark != 0).map(|job| job.who.id.uuid()).collect()
    };
    let (tried, members) = (marked(marks::TRIED), marked(marks::MEMBER));
    let count = ids.len() as i64;
    let mut moves = Moves::default();
    leaving.iter().for_each(|job| moves.gone(job.who, job.from));
    let mut first = vec![Step::new(include_str!("sql/forget_ended.sql"), vec![&ids, &count])];
    if !tried.is_empty() {
        first.push(Step::new(include_str!("sql/forget_executions.sql"), vec![&tried]));
    }
    moves.write(txn, first).await?;
    // After the steps are counted, which needs the jobs.
    let mut last = Vec::new();
    if !members.is_empty() {
        last.push(Step::new(include_str!("sql/forget_members.sql"), vec![&members]));
        last.push(Step::new(include_str!("sql/forget_workflows.sql"), vec![&members]));
    }
    last.push(Step::new(include_str!("sql/forget_jobs.sql"), vec![&ids]));
    pipeline(txn, &last).await?;
    Ok(())
}
