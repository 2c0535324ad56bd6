//! Ends leases with success, which is how most end: one statement from the lease to the history, without a look in between. Only
//! while there are no limits: then nobody has to be let out of a gate.

use std::collections::{BTreeMap, HashMap};

use deadpool_postgres::GenericClient;
use mainspring_core::id::{Fence, JobId, LeaseId};
use mainspring_core::job::Json;
use mainspring_core::lifecycle::State;
use mainspring_core::store::Settled;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::limits;
use super::moves::{Moves, Place, Who};
use super::numbers::{marks, ms, time};
use super::pipeline::{Step, ask_at_once, pipeline};
use super::pool::Transaction;

/// What ends leases so; it is followed by what it answers.
pub(super) const SUCCEED_WITH: &str = include_str!("sql/succeed_with.sql");
const SUCCEED: &str = concat!("WITH ", include_str!("sql/succeed_with.sql"), include_str!("sql/succeed_answer.sql"));

/// How many columns it answers.
pub(super) const ANSWER_COLUMNS: usize = 6;

/// The leases that are to end so.
#[derive(Debug)]
pub(super) struct Successes<'a> {
    jobs: Vec<Uuid>,
    fences: Vec<i64>,
    results: Vec<Option<&'a str>>,
    now: i64,
    /// Whether we count the steps of workflows.
    counts_steps: bool,
}

/// Ends those successes that are nothing but that, in a transaction of their own; what became of them.
pub(super) async fn succeed_at_once(
    store: &Postgres,
    now: Time,
    asked: &BTreeMap<LeaseId, &Verdict>,
) -> Result<HashMap<LeaseId, Settled>> {
    let successes = Successes::of(now, asked, false);
    if store.limits.last_version() != 0 || successes.jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let connection = store.turn_line.get(&store.pool, successes.jobs.len()).await?;
    let Step { sql, params } = successes.step();
    let Some(rows) = ask_at_once(&connection, sql, &params).await? else { return Ok(HashMap::new()) };
    Ok(settled(store, &*connection, &rows, &mut Moves::default()).await?)
}

/// Ends the successes of `asked` and takes them out; what became of those that held. What is left to be written is in `moves`.
pub(super) async fn succeed(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    asked: &mut BTreeMap<LeaseId, &Verdict>,
    moves: &mut Moves,
) -> Result<HashMap<LeaseId, Settled>, Fault> {
    let successes = Successes::of(now, asked, true);
    if successes.jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let answers = pipeline(txn, &[limits::share_step(), limits::version_step(), successes.step()]).await?;
    let version: i64 = answers[1][0].get(0);
    if version != 0 {
        // Remembered, so that the next try takes the long way.
        store.limits.rules(txn, version).await?;
        return Err(Fault::Raced("limits were set while jobs were settled"));
    }
    asked.retain(|_, verdict| !matches!(verdict, Verdict::Succeed { .. }));
    settled(store, txn, &answers[2], moves).await
}

impl<'a> Successes<'a> {
    /// How many parameters the statement has, and where the fence is in what it answers.
    pub const PARAMS: usize = 6;
    pub const FENCE: usize = 1;

    pub fn of(now: Time, asked: &BTreeMap<LeaseId, &'a Verdict>, counts_steps: bool) -> Successes<'a> {
        let (mut jobs, mut fences, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (lease, verdict) in asked {
            let Verdict::Succeed { result } = verdict else { continue };
            jobs.push(lease.job.uuid());
            // What nobody can hold is no number of ours either.
            fences.push(i64::try_from(lease.fence.0).unwrap_or(-1));
            results.push(result.as_ref().map(Json::as_str));
        }
        Successes { jobs, fences, results, now: ms(now), counts_steps }
    }

    pub fn step(&self) -> Step<'_> {
        let Successes { jobs, fences, results, now, counts_steps } = self;
        Step::new(SUCCEED, vec![jobs, fences, results, now, &limits::LOCK, counts_steps])
    }
}

/// What became of those that ended, from what the statement answered.
pub(super) async fn settled(
    store: &Postgres,
    client: &impl GenericClient,
    rows: &[Row],
    moves: &mut Moves,
) -> Result<HashMap<LeaseId, Settled>, Fault> {
    let names = store.queues.names(client, rows.iter().map(|row| row.get(2))).await?;
    let mut settled = HashMap::with_capacity(rows.len());
    for row in rows {
        let id = JobId::from(row.get::<_, Uuid>(0));
        let lease = LeaseId { job: id, fence: Fence(row.get::<_, i64>(1) as u64) };
        let who = Who { id, queue: row.get(2), marks: row.get::<_, i16>(3) & !marks::NOTED };
        moves.step_moved(who, Place::of(State::Running), Place::of(State::Succeeded));
        let settlement = Settled::Applied {
            state: State::Succeeded,
            ready_at: time(row.get(4)),
            queue: names[&who.queue].clone(),
            awaited: row.get(5),
            gates: None,
        };
        settled.insert(lease, settlement);
    }
    Ok(settled)
}
