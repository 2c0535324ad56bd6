//! Applies verdicts to leases that still hold, lets their jobs out of their gates, and says who waited for what ended. Touches nobody
//! who waits: promote does.
//!
//! Isolation. Read committed. Leases are taken or locked by (job, fence), in order of jobs; of two that settle the same one, the
//! second waits and then finds it gone. Whether others wait for a job that ended is asked by a later statement than the one that took
//! its lease (see `put_releases.sql`). Gates: see [`super::limits`].

use std::collections::{BTreeMap, HashMap};

use mainspring_core::id::LeaseId;
use mainspring_core::store::{Settled, Settlement};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::Postgres;
use super::error::{Fault, Result};
use super::held::{Held, LeaseColumns, goes_back};
use super::leaving::Gatekeeper;
use super::limits;
use super::moves::Moves;
use super::pipeline::{Step, pipeline};
use super::pool::{Transaction, transact};
use super::succeed::{succeed, succeed_at_once};

pub(super) async fn settle(store: &Postgres, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
    let asked = asked_of(&settlements);
    let settled = succeed_at_once(store, now, &asked).await?;
    settle_rest(store, now, &settlements, asked, settled).await
}

/// Of two that name the same lease, the first is applied.
pub(super) fn asked_of(settlements: &[Settlement]) -> BTreeMap<LeaseId, &Verdict> {
    let mut asked = BTreeMap::new();
    for Settlement { lease, verdict } in settlements {
        asked.entry(*lease).or_insert(verdict);
    }
    asked
}

/// Settles what is not settled yet; what became of all of it.
pub(super) async fn settle_rest(
    store: &Postgres,
    now: Time,
    settlements: &[Settlement],
    mut asked: BTreeMap<LeaseId, &Verdict>,
    mut settled: HashMap<LeaseId, Settled>,
) -> Result<Vec<Settled>> {
    asked.retain(|lease, _| !settled.contains_key(lease));
    if !asked.is_empty() {
        settled.extend(transact!(store.pool, |txn| settle_in(store, &txn, now, settlements, asked.clone()).await?));
    }
    // Whoever comes second in the batch finds it gone.
    let answers: Vec<Settled> =
        settlements.iter().map(|said| settled.remove(&said.lease).unwrap_or(Settled::Stale)).collect();
    store.upkeep.wear(&store.pool, answers.len());
    Ok(answers)
}

/// What became of those that held, of those that are asked for.
async fn settle_in(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    settlements: &[Settlement],
    mut asked: BTreeMap<LeaseId, &Verdict>,
) -> Result<HashMap<LeaseId, Settled>, Fault> {
    let mut moves = Moves::default();
    let mut settled = match store.limits.last_version() {
        0 => succeed(store, txn, now, &mut asked, &mut moves).await?,
        _ => HashMap::new(),
    };
    let (version, mut held) = match asked.is_empty() {
        true => (0, HashMap::new()),
        false => hold(txn, &asked).await?,
    };
    let names = store.queues.names(txn, held.values().map(|held| held.slip.queue)).await?;
    let closes = asked.values().any(|verdict| matches!(verdict, Verdict::Close { .. }));
    let mut keeper = match version != 0 || closes {
        true => Some(Gatekeeper::read(store, txn, now, version, held.values()).await?),
        false => None,
    };
    // In the order given: gates are left in it.
    for Settlement { lease, .. } in settlements {
        let (Some(held), Some(verdict)) = (held.remove(lease), asked.get(lease)) else { continue };
        let queue = names[&held.slip.queue].clone();
        let (lot, gates) = keeper.as_mut().map_or((0, None), |keeper| keeper.let_out(&held, verdict));
        let (state, ready_at) = held.apply(now, (*verdict).clone(), lot, &mut moves);
        settled.insert(*lease, Settled::Applied { state, ready_at, queue, awaited: false, gates });
    }
    let (_, followed) = moves.write(txn, Vec::new()).await?;
    let opened = match &keeper {
        Some(keeper) => keeper.write(txn).await?,
        None => Vec::new(),
    };
    for (lease, settlement) in &mut settled {
        if let Settled::Applied { state, awaited, gates, queue, .. } = settlement {
            *awaited |= state.is_final() && followed.is_awaited(lease.job);
            if let Some(keeper) = &keeper {
                *gates = keeper.tell(lease.job, &queue.tenant, gates.take(), &opened);
            }
        }
    }
    Ok(settled)
}

/// Which limits hold, and the leases that still do, locked.
async fn hold(
    txn: &Transaction<'_>,
    asked: &BTreeMap<LeaseId, &Verdict>,
) -> Result<(i64, HashMap<LeaseId, Held>), Fault> {
    let mut columns = LeaseColumns::default();
    asked.iter().for_each(|(lease, verdict)| columns.push(*lease, goes_back(verdict)));
    let LeaseColumns { jobs, fences, again } = &columns;
    let hold = Step::new(include_str!("sql/settle_hold.sql"), vec![jobs, fences, again]);
    let answers = pipeline(txn, &[limits::share_step(), limits::version_step(), hold]).await?;
    let held = answers[2].iter().map(Held::read).map(|held| (held.lease(), held)).collect();
    Ok((answers[1][0].get(0), held))
}
