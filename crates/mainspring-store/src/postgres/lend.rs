//! Hands ready jobs to workers: out of `ready`, into `leases`, under new fences. Chooses none but by rank: limits have had their say.

use std::collections::BTreeSet;

use deadpool_postgres::GenericClient;
use mainspring_core::id::{Fence, JobId, WorkerId};
use mainspring_core::job::{Claimed, Json, Lease, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::Claim;
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::claim::queues_of;
use super::error::{Fault, Result, damaged};
use super::limits;
use super::moves::{Moves, Place, Who};
use super::numbers::{ms, time};
use super::pipeline::{Params, Step};
use super::pool::Transaction;
use super::record;
use super::slip::{self, Slip, Slips};

/// The best jobs for claims that ask alike, taken in one statement: the first claim gets the first of them.
#[derive(Debug)]
pub(super) struct Taking {
    queues: Vec<i32>,
    count: i64,
    now: i64,
    /// Which claim each job is for, and its worker.
    claims: Vec<usize>,
    workers: Vec<Uuid>,
    /// Each of them once.
    askers: Vec<Uuid>,
    asker_count: i64,
    tenant: String,
    /// Whether the caller has seen to the workers, and counts the steps of workflows.
    is_seen_to: bool,
}

/// What takes; it is followed by what it answers.
pub(super) const TAKE_WITH: &str = include_str!("sql/take_with.sql");
const TAKE: &str = concat!("WITH ", include_str!("sql/take_with.sql"), include_str!("sql/take_answer.sql"));

/// Where the fence is in what [`Taking`] reads.
const FENCE: usize = record::COLUMNS + 4;

impl Taking {
    pub async fn of(
        store: &Postgres,
        client: &impl GenericClient,
        now: Time,
        claims: &[(usize, &Claim)],
        is_seen_to: bool,
    ) -> Result<Taking, Fault> {
        let asked: BTreeSet<QueueRef> = claims.iter().take(1).flat_map(|(_, claim)| queues_of(claim)).collect();
        let queues = store.queues.find(client, &asked).await?.into_values().collect();
        let takers = claims.iter().flat_map(|(place, claim)| std::iter::repeat_n((*place, claim.worker.0), claim.max));
        let (places, workers): (Vec<usize>, Vec<Uuid>) = takers.unzip();
        let askers: BTreeSet<Uuid> = claims.iter().map(|(_, claim)| claim.worker.0).collect();
        let tenant = claims.first().map(|(_, claim)| claim.tenant.as_str().to_owned()).unwrap_or_default();
        Ok(Taking {
            queues,
            count: workers.len() as i64,
            now: ms(now),
            claims: places,
            workers,
            asker_count: askers.len() as i64,
            askers: askers.into_iter().collect(),
            tenant,
            is_seen_to,
        })
    }

    pub fn step(&self) -> Step<'_> {
        let Taking { queues, count, now, workers, askers, asker_count, tenant, is_seen_to, .. } = self;
        let params: Params<'_> =
            vec![queues, count, now, workers, askers, asker_count, tenant, &limits::LOCK, is_seen_to];
        Step::new(TAKE, params)
    }

    /// What each claim is handed, from what the statement answered in columns `from` on, and what is to be written about it. Nothing if
    /// it decided nothing.
    pub async fn hand_out(
        &self,
        store: &Postgres,
        client: &impl GenericClient,
        mut rows: Vec<Row>,
        from: usize,
    ) -> Result<Option<(Vec<(usize, Claimed)>, Moves)>, Fault> {
        if rows.is_empty() {
            return Ok(None);
        }
        let fence_at = from + FENCE;
        rows.retain(|row| row.get::<_, Option<i64>>(fence_at).is_some());
        rows.sort_by_key(|row| row.get::<_, i64>(fence_at));
        let names = store.queues.names(client, rows.iter().map(|row| row.get(fence_at + 1))).await?;
        let mut claimed = Vec::with_capacity(rows.len());
        let mut moves = Moves::default();
        for (row, (claim, worker)) in rows.iter().zip(self.claims.iter().zip(&self.workers)) {
            let (fence, queue) = (row.get(fence_at), row.get(fence_at + 1));
            let before = slip::tally(row, fence_at + 2);
            let who = Who { id: JobId::from(row.get::<_, Uuid>(from)), queue, marks: row.get(fence_at + 5) };
            moves.counted(who, Place::of(State::Ready), Place::of(State::Running));
            let worker = WorkerId(*worker);
            claimed.push((*claim, claimed_by(worker, time(self.now), row, from, &names[&queue], fence, before)?));
        }
        Ok(Some((claimed, moves)))
    }
}

/// What a worker is handed: from a row with the job, checkpoint and error, in this order in columns `from` on, and its tally without
/// this attempt.
fn claimed_by(
    worker: WorkerId,
    now: Time,
    row: &Row,
    from: usize,
    queue: &QueueRef,
    fence: i64,
    before: Tally,
) -> Result<Claimed, Fault> {
    let job = record::job(row, from, queue)?;
    let lease = Lease {
        fence: Fence(fence as u64),
        worker,
        claimed_at: now,
        started_at: None,
        timeout_at: job.timeout.map(|timeout| now.after(timeout)),
        cancel_asked: None,
    };
    let tally = Tally { attempts: before.attempts + 1, ..before };
    let checkpoint = row.get::<_, Option<String>>(from + record::COLUMNS).map(|json| Json(json.into()));
    let last_error = record::failure(row, from + record::COLUMNS + 1);
    Ok(Claimed { job, lease, tally, checkpoint, last_error })
}

/// Hands these jobs out, in this order.
pub(super) async fn lend(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    picks: &[(usize, WorkerId, Slip)],
) -> Result<Vec<(usize, Claimed)>, Fault> {
    if picks.is_empty() {
        return Ok(Vec::new());
    }
    let mut moves = Moves::default();
    let mut slips = Slips::default();
    for (_, _, slip) in picks {
        moves.take(slip.id, Place::of(State::Ready));
        moves.moved(Who::from(slip), Place::of(State::Ready), Place::of(State::Running));
        slips.push(slip);
    }
    let workers: Vec<Uuid> = picks.iter().map(|(_, worker, _)| worker.0).collect();
    let at = ms(now);
    let Slips { ids, ready, queues, lanes, attempts, failures, crashes, marks, .. } = &slips;
    let params: Params<'_> = vec![ids, &workers, ready, queues, lanes, attempts, failures, crashes, marks, &at];
    let steps = vec![
        Step::new(include_str!("sql/claim_lend.sql"), params),
        Step::new(include_str!("sql/claim_jobs.sql"), vec![ids, marks]),
    ];
    let (lent, _) = moves.write(txn, steps).await?;
    if lent[1].len() != picks.len() {
        return Err(damaged("jobs that are on offer and have no record").into());
    }
    let names = store.queues.names(txn, picks.iter().map(|(_, _, slip)| slip.queue)).await?;
    let mut claimed = Vec::with_capacity(picks.len());
    for ((place, worker, slip), (fenced, row)) in picks.iter().zip(lent[0].iter().zip(&lent[1])) {
        let fence = fenced.get(0);
        claimed.push((*place, claimed_by(*worker, now, row, 0, &names[&slip.queue], fence, slip.tally)?));
    }
    Ok(claimed)
}
