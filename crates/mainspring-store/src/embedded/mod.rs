//! The default store: one process, one directory, LMDB, `fsync` before each answer.
//!
//! One writer thread applies whatever calls are waiting in one transaction, commits it durably, and answers
//! ([`writer`]). Readers work on LMDB's own snapshots and never stand in its way ([`read`]).
//!
//! Layout: [`tables`] and [`rows`] are the disk, [`mirror`] the writer's memory, [`batch`] one transaction; then one
//! file per verb, [`gates`] for limits and who stands before them, [`weigh`] for what is decided before a job is written, [`release`] for those who wait for others,
//! [`workflow`] for workflows as a whole, [`schedules`] for what is due of them, [`seats`] for nodes and their terms, [`cascade`] for the timing wheel on
//! disk, [`history`] for finding what has ended, [`open`] for locks and versions, [`dump`] for moving house.

mod agenda;
mod ailments;
mod batch;
mod cascade;
mod claim;
mod command;
mod dump;
mod gates;
mod heartbeat;
mod history;
mod hurdles;
mod mirror;
mod open;
mod promote;
mod prune;
mod read;
mod reclaim;
mod release;
mod report;
pub(crate) mod rows;
mod runway;
mod schedules;
mod seats;
mod settle;
mod submit;
mod tables;
mod turn;
mod weigh;
mod workflow;
mod writer;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use claim::Picked;
pub use dump::Dump;
pub use open::{FORMAT, OpenError, Options};
use read::Reader;
use writer::Writer;

/// Records of a claim that are read on the spot.
const READ_INLINE_JOBS_MAX: usize = 32;

/// A store in a directory of its own.
#[derive(Debug)]
pub struct Embedded {
    writer: Writer,
    reader: Arc<Reader>,
    _lock: open::Lock,
}

#[async_trait]
impl Store for Embedded {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        self.writer.with_room(move |batch| submit::submit(batch, now, jobs)).await?
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        self.writer.call(move |batch| promote::promote(batch, now, ask)).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let picked = self.writer.call(move |batch| claim::claim(batch, now, claims)).await?;
        // What was claimed by the few was mostly submitted a moment ago: not worth another thread.
        if picked.iter().map(Picked::jobs).sum::<usize>() <= READ_INLINE_JOBS_MAX {
            return self.reader.fill(picked);
        }
        self.read(move |reader| reader.fill(picked)).await
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        self.writer.call(move |batch| heartbeat::heartbeat(batch, now, beats)).await
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        self.writer.call(move |batch| report::report(batch, now, reports)).await
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        self.writer.call(move |batch| settle::settle(batch, now, settlements)).await
    }

    /// Both are there before either is done: they share a commit.
    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        tokio::join!(biased; self.settle(now, settlements), self.claim(now, claims))
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        let taken = self.writer.call(move |batch| reclaim::reclaim(batch, now, ask)).await?;
        self.read(move |reader| reader.fill_reclaimed(taken)).await
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.writer.call(move |batch| command::command(batch, now, commands)).await?
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        let needs_room = turn::needs_room(&turns);
        let work = move |batch: &mut batch::Batch<'_>| turn::turn(batch, now, turns);
        if needs_room { self.writer.with_room(work).await? } else { self.writer.call(work).await? }
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        self.writer.call(move |batch| prune::prune(batch, now, ask)).await
    }
}

#[async_trait]
impl Views for Embedded {
    fn describe(&self) -> String {
        "embedded (LMDB), fsync before each answer".into()
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        let tenant = tenant.clone();
        self.read(move |reader| reader.get(&tenant, ids)).await
    }

    async fn find(&self, query: Query) -> Result<Page> {
        self.read(move |reader| reader.find(query)).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        let tenant = tenant.clone();
        self.read(move |reader| reader.executions(&tenant, id)).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        let tenant = tenant.clone();
        self.read(move |reader| reader.ahead(&tenant, id, limit)).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        let tenant = tenant.cloned();
        self.read(move |reader| reader.queues(tenant.as_ref())).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.read(move |reader| reader.workers()).await
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        let schedule = schedule.clone();
        self.read(move |reader| reader.schedule(schedule)).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        self.read(move |reader| reader.schedules(query)).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        self.read(move |reader| reader.ledger(query)).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        let tenant = tenant.clone();
        self.read(move |reader| reader.workflow(&tenant, id)).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        let tenant = tenant.clone();
        let views = self.writer.call(move |batch| Ok(gates::gates(batch.mirror, &tenant, now))).await?;
        self.read(move |reader| reader.gates(views)).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        let view = self.get(tenant, vec![id]).await?.pop().flatten();
        let on_offer = |view: &JobView| view.standing.state == State::Ready && !view.standing.paused;
        let Some(JobView { job, .. }) = view.filter(on_offer) else { return Ok(None) };
        let hurdles = self.writer.call(move |batch| Ok(gates::hurdles(batch.mirror, &job, now))).await?;
        let tenant = tenant.clone();
        self.read(move |reader| reader.hurdles(&tenant, hurdles)).await.map(Some)
    }

    async fn ailments(&self, _now: Time) -> Result<Vec<Ailment>> {
        self.read(move |reader| ailments::ailments(&reader.disk)).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        self.read(move |reader| reader.agenda(ask)).await
    }
}

impl Embedded {
    /// Reads may touch pages that are not in memory, so they are kept off the async threads.
    async fn read<T: Send + 'static>(&self, read: impl FnOnce(&Reader) -> Result<T> + Send + 'static) -> Result<T> {
        let reader = Arc::clone(&self.reader);
        let task = tokio::task::spawn_blocking(move || read(&reader));
        task.await.map_err(|error| Error::Unavailable(format!("a read was cut off: {error}")))?
    }
}

/// Sorts what LMDB says by what the caller can do.
fn storage(error: heed::Error) -> Error {
    use heed::MdbError;
    match error {
        heed::Error::Mdb(MdbError::MapFull) => {
            Error::Full("its size limit is reached (store.max_size); raise it or let retention make room".into())
        }
        heed::Error::Mdb(MdbError::Corrupted | MdbError::PageNotFound | MdbError::Invalid) => {
            Error::Damaged(error.to_string())
        }
        // LMDB says EIO for a write that the disk took only part of, which is how most disks say that they are full.
        heed::Error::Io(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
            Error::Full(format!("the disk is full or failing: it took only part of a write ({error}); free some space"))
        }
        heed::Error::Io(error) if is_no_room(&error) => {
            Error::Full(format!("the disk takes no more ({error}); free some space"))
        }
        error => Error::Unavailable(error.to_string()),
    }
}

fn is_no_room(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
