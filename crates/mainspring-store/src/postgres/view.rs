//! A job as a reader sees it, put together from the tables it is in. One statement sees one instant, so a job that moves
//! meanwhile is seen where it was or where it is, never nowhere. Changes nothing.

use std::collections::HashMap;

use deadpool_postgres::GenericClient;
use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Ended, JobView, Json, Lease, Progress, Standing, Tally};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::error::{Fault, Result, damaged};
use super::numbers::{state, time};
use super::pipeline::ask;
use super::queue_ids::queue_ref;
use super::record;

/// A job with what only the tables know of it.
#[derive(Debug)]
pub(super) struct Seen {
    pub view: JobView,
    pub queue: i32,
    pub marks: i16,
}

/// Those of these jobs that are here, whoever owns them.
pub(super) async fn views(client: &impl GenericClient, ids: &[JobId]) -> Result<HashMap<JobId, JobView>, Fault> {
    Ok(seen(client, ids).await?.into_iter().map(|(id, seen)| (id, seen.view)).collect())
}

/// The same, with what whoever moves them must know.
pub(super) async fn seen(client: &impl GenericClient, ids: &[JobId]) -> Result<HashMap<JobId, Seen>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<Uuid> = ids.iter().map(JobId::uuid).collect();
    let sql = concat!(include_str!("sql/view.sql"), "WHERE jobs.id = ANY ($1)");
    let rows = ask(client, sql, &[&ids]).await?;
    rows.iter().map(|row| read(row).map(|seen| (seen.view.job.id, seen)).map_err(Fault::from)).collect()
}

/// Reads a row of `sql/view.sql`.
pub(super) fn read(row: &Row) -> Result<Seen> {
    let queue = queue_ref(row.get(0), row.get(1))?;
    let job = record::job(row, QUEUE_COLUMNS, &queue)?;
    let mut columns = Columns { row, at: QUEUE_COLUMNS + record::COLUMNS };
    let Some(number) = columns.next::<Option<i16>>() else {
        return Err(damaged(format!("job {}, which is in no state", job.id)));
    };
    let standing = Standing {
        state: state(number)?,
        paused: columns.next(),
        ready_at: time(columns.next()),
        tally: Tally { attempts: columns.count(), failures: columns.count(), crashes: columns.count() },
        lease: columns.lease(),
        checkpoint: columns.json(),
        progress: columns.progress(),
        last_error: columns.failure(),
        ended: columns.ended(),
    };
    Ok(Seen { view: JobView { job, standing }, queue: columns.next(), marks: columns.next() })
}

/// Tenant and queue come first.
const QUEUE_COLUMNS: usize = 2;

/// Reads a row from left to right.
struct Columns<'r> {
    row: &'r Row,
    at: usize,
}

impl<'r> Columns<'r> {
    fn next<T: FromSql<'r>>(&mut self) -> T {
        self.at += 1;
        self.row.get(self.at - 1)
    }

    fn count(&mut self) -> u32 {
        self.next::<i16>().unsigned_abs().into()
    }

    fn json(&mut self) -> Option<Json> {
        self.next::<Option<&str>>().map(|text| Json(text.into()))
    }

    fn lease(&mut self) -> Option<Lease> {
        let fence: Option<i64> = self.next();
        let (worker, claimed_at): (Option<Uuid>, Option<i64>) = (self.next(), self.next());
        let (started_at, timeout_at): (Option<i64>, Option<i64>) = (self.next(), self.next());
        let cancel_asked = self.next();
        Some(Lease {
            fence: Fence(fence?.unsigned_abs()),
            worker: WorkerId(worker?),
            claimed_at: time(claimed_at?),
            started_at: started_at.map(time),
            timeout_at: timeout_at.map(time),
            cancel_asked,
        })
    }

    fn progress(&mut self) -> Option<Progress> {
        let is_there: bool = self.next();
        let progress = Progress { percent: self.next(), note: self.next() };
        is_there.then_some(progress)
    }

    fn failure(&mut self) -> Option<mainspring_core::job::Failure> {
        self.at += 3;
        record::failure(self.row, self.at - 3)
    }

    fn ended(&mut self) -> Option<Ended> {
        let at: Option<i64> = self.next();
        let (result, reason) = (self.json(), self.next());
        Some(Ended { at: time(at?), result, reason })
    }
}
