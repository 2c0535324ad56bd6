//! A page of jobs, newest id first. Changes nothing, and searches for a bounded while: a page may end early.
//!
//! The filter says which index is walked: that of a workflow, of a schedule, of dead jobs, the small tables of jobs that
//! have not ended, or all jobs. What is found there is then read whole and asked the whole filter.

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::Status;
use mainspring_core::name::{QueueName, ScheduleName, Tag, TypeName};
use mainspring_core::store::{Filter, Page, Query};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::pipeline;
use super::pool::Connection;
use super::view::views;

/// How many jobs one step looks at …
const STEP_JOBS: i64 = 2_000;
/// … and how many steps one page takes at most.
const STEPS_MAX: usize = 10;

pub(super) async fn find(store: &Postgres, ask: Query) -> Result<Page> {
    let connection = store.pool.get().await?;
    let source = Source::of(&ask.filter);
    let mut below = ask.below.unwrap_or(JobId::MAX);
    let mut jobs: Vec<JobView> = Vec::new();
    for _ in 0..STEPS_MAX {
        let seen = source.look(&connection, &ask, below).await?;
        let fitting: Vec<JobId> = seen.iter().filter(|(_, fits)| *fits).map(|(id, _)| *id).collect();
        // Few at a time: most callers want a short page of what may be large.
        for ids in fitting.chunks(ask.limit.max(1)) {
            let mut found = views(&connection, ids).await?;
            jobs.extend(ids.iter().filter_map(|id| found.remove(id)).filter(|view| ask.filter.matches(view)));
            if jobs.len() > ask.limit {
                jobs.truncate(ask.limit);
                return Ok(Page { next: jobs.last().map(|last| last.job.id), jobs });
            }
        }
        match seen.last() {
            Some((last, _)) if seen.len() as i64 == STEP_JOBS => below = *last,
            _ => return Ok(Page { jobs, next: None }),
        }
    }
    Ok(Page { jobs, next: Some(below) })
}

/// Which index is walked.
enum Source {
    All,
    Workflow(Uuid),
    Schedule(String),
    Dead,
    Unfinished { waiting: bool, ready: bool, leases: bool, aside: bool },
}

impl Source {
    fn of(filter: &Filter) -> Source {
        if let Some(workflow) = filter.workflow {
            return Source::Workflow(workflow.0);
        }
        let statuses = &filter.statuses;
        let is_over = |status: &Status| matches!(status, Status::Completed | Status::Cancelled | Status::Failed);
        if !statuses.is_empty() && !statuses.iter().any(is_over) {
            let any = |asked: &[Status]| statuses.iter().any(|status| asked.contains(status));
            return Source::Unfinished {
                waiting: any(&[Status::Scheduled, Status::Retrying]),
                ready: any(&[Status::Pending]),
                leases: any(&[Status::Running, Status::Dispatched]),
                aside: any(&[Status::Blocked, Status::Paused]),
            };
        }
        if !statuses.is_empty() && statuses.iter().all(|status| *status == Status::Failed) {
            return Source::Dead;
        }
        filter.schedule.as_ref().map_or(Source::All, |schedule| Source::Schedule(ScheduleName::as_str(schedule).into()))
    }

    /// The next jobs below an id, and whether each fits as far as its record tells.
    async fn look(&self, connection: &Connection, ask: &Query, below: JobId) -> Result<Vec<(JobId, bool)>, Fault> {
        let Filter { queue, kind, tag, .. } = &ask.filter;
        let (below, tenant) = (below.uuid(), ask.tenant.as_str());
        let (queue, kind, tag) =
            (queue.as_ref().map(QueueName::as_str), kind.as_ref().map(TypeName::as_str), tag.as_ref().map(Tag::as_str));
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&below, &STEP_JOBS, &tenant, &queue, &kind, &tag];
        let sql = match self {
            Source::All => include_str!("sql/find_jobs.sql"),
            Source::Workflow(workflow) => {
                parameters.push(workflow);
                include_str!("sql/find_workflow.sql")
            }
            Source::Schedule(schedule) => {
                parameters.push(schedule);
                include_str!("sql/find_schedule.sql")
            }
            Source::Dead => include_str!("sql/find_dead.sql"),
            Source::Unfinished { waiting, ready, leases, aside } => {
                let tables: [&(dyn ToSql + Sync); 4] = [waiting, ready, leases, aside];
                parameters.extend(tables);
                include_str!("sql/find_unfinished.sql")
            }
        };
        let rows = pipeline::ask(connection, sql, &parameters).await?;
        Ok(rows.iter().map(|row| (JobId::from(row.get::<_, Uuid>(0)), row.get(1))).collect())
    }
}
