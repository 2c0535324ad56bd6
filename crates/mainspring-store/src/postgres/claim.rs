//! Hands out the best ready jobs under new fences. Waits for nothing, not even for a row that somebody else has locked.
//!
//! Isolation. Read committed. The offered rows are locked when they are chosen, so nobody else can take, pause or cancel
//! them before our commit; two claims at once never take the same row. A worker that is written off meanwhile leaves leases
//! behind that the next reclaim finds without a worker.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mainspring_core::id::WorkerId;
use mainspring_core::job::Claimed;
use mainspring_core::name::{QueueName, QueueRef};
use mainspring_core::store::{Claim, ClaimAnswer, Order, Whose, WorkerView};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::lend::{Taking, lend};
use super::limits::{self, Line};
use super::numbers::{self, ms, time};
use super::offers::Offers;
use super::pipeline::{Step, ask, ask_at_once, pipeline};
use super::pool::{Transaction, transact};
use super::slip::Slip;

pub(super) async fn claim(store: &Postgres, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
    if let Some(answers) = claim_at_once(store, now, &claims).await? {
        return Ok(answers);
    }
    let (answers, lines) = transact!(store.pool, |txn| claim_in(store, &txn, now, &claims).await?);
    if let Some(lines) = lines {
        *store.limits.lines.lock().expect("nobody panics with it") = lines;
    }
    let taken = answers.iter().map(|answer| if let ClaimAnswer::Jobs(jobs) = answer { jobs.len() } else { 0 }).sum();
    store.upkeep.wear(&store.pool, taken);
    Ok(answers)
}

/// Nearly always all who ask live and may have jobs, there are no limits, and no job is the step of a workflow: then one statement does
/// it. Nothing if it does not.
async fn claim_at_once(store: &Postgres, now: Time, claims: &[Claim]) -> Result<Option<Vec<ClaimAnswer>>> {
    let all: Vec<(usize, &Claim)> = claims.iter().enumerate().collect();
    if store.limits.last_version() != 0 || !ask_alike(&all) {
        return Ok(None);
    }
    let connection = store.turn_line.get(&store.pool, wanted(claims)).await?;
    let taking = Taking::of(store, &*connection, now, &all, false).await?;
    let Step { sql, params } = taking.step();
    let Some(rows) = ask_at_once(&connection, sql, &params).await? else { return Ok(None) };
    let handed = taking.hand_out(store, &*connection, rows, 0).await?;
    Ok(handed.map(|(claimed, _)| handed_over(store, claims, claimed)))
}

/// How many jobs they ask for.
pub(super) fn wanted(claims: &[Claim]) -> usize {
    claims.iter().map(|claim| claim.max).sum()
}

/// The answers to claims of which each may have jobs.
pub(super) fn handed_over(store: &Postgres, claims: &[Claim], claimed: Vec<(usize, Claimed)>) -> Vec<ClaimAnswer> {
    store.upkeep.wear(&store.pool, claimed.len());
    let mut answers = vec![ClaimAnswer::Jobs(Vec::new()); claims.len()];
    hand_over(claimed, &mut answers);
    answers
}

async fn claim_in(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    claims: &[Claim],
) -> Result<(Vec<ClaimAnswer>, Option<Lines>), Fault> {
    let workers: Vec<Uuid> = claims.iter().map(|claim| claim.worker.0).collect();
    let steps = [
        limits::share_step(),
        limits::version_step(),
        Step::new(include_str!("sql/claim_workers.sql"), vec![&workers]),
    ];
    let read = pipeline(txn, &steps).await?;
    let version: i64 = read[1][0].get(0);
    let mut callers = Callers::read(&read[2])?;
    let mut answers: Vec<ClaimAnswer> = claims.iter().map(|claim| callers.admit(now, claim)).collect();
    let admitted = claims.iter().enumerate().filter(|(place, _)| matches!(answers[*place], ClaimAnswer::Jobs(_)));
    let admitted: Vec<(usize, &Claim)> = admitted.collect();
    callers.write(txn, now).await?;
    if admitted.is_empty() {
        return Ok((answers, None));
    }
    let (claimed, lines) = choose(store, txn, now, version, &admitted).await?;
    hand_over(claimed, &mut answers);
    Ok((answers, lines))
}

fn hand_over(claimed: Vec<(usize, Claimed)>, answers: &mut [ClaimAnswer]) {
    for (place, claimed) in claimed {
        if let ClaimAnswer::Jobs(jobs) = &mut answers[place] {
            jobs.push(claimed);
        }
    }
}

/// Chooses jobs for claims that may have some, and hands them out.
async fn choose(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    version: i64,
    claims: &[(usize, &Claim)],
) -> Result<(Vec<(usize, Claimed)>, Option<Lines>), Fault> {
    if version == 0 && ask_alike(claims) {
        let taking = Taking::of(store, txn, now, claims, true).await?;
        let rows = pipeline(txn, &[taking.step()]).await?.remove(0);
        let handed = taking.hand_out(store, txn, rows, 0).await?;
        let (claimed, moves) = handed.ok_or(Fault::Raced("limits were set while jobs were claimed"))?;
        moves.write(txn, Vec::new()).await?;
        return Ok((claimed, None));
    }
    let (picks, lines) = if version == 0 && claims.iter().all(|(_, claim)| claim.whose == Whose::Own) {
        (Asked::read(store, txn, claims).await?.pick(txn, now, claims).await?, None)
    } else {
        let walked = limits::walk(store, txn, now, version, claims).await?;
        (walked.picks, Some(walked.lines))
    };
    let workers: HashMap<usize, WorkerId> = claims.iter().map(|(place, claim)| (*place, claim.worker)).collect();
    let picks: Vec<(usize, WorkerId, Slip)> =
        picks.into_iter().map(|(place, slip)| (place, workers[&place], slip)).collect();
    Ok((lend(store, txn, now, &picks).await?, lines))
}

/// Whether all of them ask the same queues of their tenant, as the workers of one kind do.
pub(super) fn ask_alike(claims: &[(usize, &Claim)]) -> bool {
    let asked = |claim: &Claim| -> BTreeSet<QueueRef> { queues_of(claim).collect() };
    let Some((_, first)) = claims.first() else { return false };
    let (tenant, queues) = (&first.tenant, asked(first));
    claims.iter().all(|(_, claim)| claim.whose == Whose::Own && claim.tenant == *tenant && asked(claim) == queues)
}

/// Whose turn it is in queue names, if somebody asked for all tenants.
type Lines = HashMap<QueueName, Line>;

/// The queues that are asked, and how many jobs of each.
struct Asked {
    ids: HashMap<QueueRef, i32>,
    queues: Vec<i32>,
    counts: Vec<i64>,
}

impl Asked {
    async fn read(store: &Postgres, txn: &Transaction<'_>, claims: &[(usize, &Claim)]) -> Result<Asked, Fault> {
        let asked: BTreeSet<QueueRef> = claims.iter().flat_map(|(_, claim)| queues_of(claim)).collect();
        let ids = store.queues.find(txn, &asked).await?;
        let mut counts: BTreeMap<i32, i64> = BTreeMap::new();
        for (_, claim) in claims {
            for queue in queues_of(claim).collect::<BTreeSet<_>>() {
                if let Some(id) = ids.get(&queue) {
                    *counts.entry(*id).or_default() += claim.max as i64;
                }
            }
        }
        let (queues, counts) = counts.into_iter().unzip();
        Ok(Asked { ids, queues, counts })
    }

    /// The best offers for each claim, in their order.
    async fn pick(
        &self,
        txn: &Transaction<'_>,
        now: Time,
        claims: &[(usize, &Claim)],
    ) -> Result<Vec<(usize, Slip)>, Fault> {
        let offers = ask(txn, include_str!("sql/claim_offers.sql"), &[&self.queues, &self.counts, &ms(now)]).await?;
        let mut offers = Offers::read(&offers);
        let mut picks = Vec::new();
        for (place, claim) in claims {
            let queues: Vec<i32> = queues_of(claim).filter_map(|queue| self.ids.get(&queue).copied()).collect();
            let best = std::iter::from_fn(|| offers.best(&queues)).take(claim.max);
            picks.extend(best.map(|slip| (*place, slip)));
        }
        Ok(picks)
    }
}

pub(super) fn queues_of(claim: &Claim) -> impl Iterator<Item = QueueRef> {
    claim.queues.iter().map(|queue| QueueRef { tenant: claim.tenant.clone(), queue: queue.clone() })
}

/// The workers that claim.
#[derive(Debug)]
struct Callers {
    workers: HashMap<WorkerId, Caller>,
    /// Were silent, and live.
    alive: BTreeSet<Uuid>,
}

#[derive(Debug)]
struct Caller {
    tenant: String,
    expires_at: Time,
    order: Order,
}

impl Callers {
    fn read(rows: &[Row]) -> Result<Callers, Fault> {
        let mut workers = HashMap::new();
        for row in rows {
            let caller =
                Caller { tenant: row.get(1), expires_at: time(row.get(3)), order: numbers::order(row.get(4))? };
            workers.insert(WorkerId(row.get(0)), caller);
        }
        Ok(Callers { workers, alive: BTreeSet::new() })
    }

    /// No jobs yet, if it may have some.
    fn admit(&mut self, now: Time, claim: &Claim) -> ClaimAnswer {
        match self.workers.get_mut(&claim.worker) {
            Some(caller) if caller.tenant == claim.tenant.as_str() && caller.expires_at != WorkerView::LEFT => {
                if caller.expires_at <= now {
                    self.alive.insert(claim.worker.0);
                }
                if caller.order == Order::Work { ClaimAnswer::Jobs(Vec::new()) } else { ClaimAnswer::Quiet }
            }
            _ => ClaimAnswer::UnknownWorker,
        }
    }

    async fn write(&self, txn: &Transaction<'_>, now: Time) -> Result<(), Fault> {
        if !self.alive.is_empty() {
            let ids: Vec<Uuid> = self.alive.iter().copied().collect();
            ask(txn, include_str!("sql/claim_alive.sql"), &[&ids, &ms(now)]).await?;
        }
        Ok(())
    }
}
