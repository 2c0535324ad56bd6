//! Ends leases with success, which is how most end: one statement from the lease to the history, without a look in between. Only
//! while there are no limits: then nobody has to be let out of a gate.

use std::collections::{BTreeMap, HashMap, HashSet};

use mainspring_core::id::{Fence, JobId, LeaseId};
use mainspring_core::job::Json;
use mainspring_core::lifecycle::State;
use mainspring_core::store::Settled;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use uuid::Uuid;

use super::Postgres;
use super::error::Fault;
use super::limits;
use super::moves::{Moves, Place, Who};
use super::numbers::{marks, ms, time};
use super::pipeline::{Step, pipeline};
use super::pool::Transaction;

/// Takes the successes out of `asked`; what became of those that held. What is left to be written is in `moves`.
pub(super) async fn succeed(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    asked: &mut BTreeMap<LeaseId, &Verdict>,
    moves: &mut Moves,
) -> Result<HashMap<LeaseId, Settled>, Fault> {
    let (mut jobs, mut fences, mut results) = (Vec::new(), Vec::new(), Vec::new());
    asked.retain(|lease, verdict| {
        let Verdict::Succeed { result } = verdict else { return true };
        jobs.push(lease.job.uuid());
        // What nobody can hold is no number of ours either.
        fences.push(i64::try_from(lease.fence.0).unwrap_or(-1));
        results.push(result.as_ref().map(Json::as_str));
        false
    });
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let at = ms(now);
    let end = Step::new(include_str!("sql/settle_succeed.sql"), vec![&jobs, &fences, &results, &at]);
    let release = Step::new(include_str!("sql/settle_release.sql"), vec![&jobs]);
    let answers = pipeline(txn, &[limits::share_step(), limits::version_step(), end, release]).await?;
    let version: i64 = answers[1][0].get(0);
    if version != 0 {
        // Remembered, so that the next try takes the long way.
        store.limits.rules(txn, version).await?;
        return Err(Fault::Raced("limits were set while jobs were settled"));
    }
    let names = store.queues.names(txn, answers[2].iter().map(|row| row.get(2))).await?;
    let awaited: HashSet<Uuid> = answers[3].iter().map(|row| row.get(0)).collect();
    let mut settled = HashMap::with_capacity(answers[2].len());
    for row in &answers[2] {
        let id = JobId::from(row.get::<_, Uuid>(0));
        let lease = LeaseId { job: id, fence: Fence(row.get::<_, i64>(1) as u64) };
        let who = Who { id, queue: row.get(2), marks: row.get::<_, i16>(3) & !marks::NOTED };
        moves.step_moved(who, Place::of(State::Running), Place::of(State::Succeeded));
        let settlement = Settled::Applied {
            state: State::Succeeded,
            ready_at: time(row.get(4)),
            queue: names[&who.queue].clone(),
            awaited: awaited.contains(&id.uuid()),
            gates: None,
        };
        settled.insert(lease, settlement);
    }
    Ok(settled)
}
