//! Hands out the best ready jobs under new fences. Reads no records: what it must know is on the slips.
//!
//! Within a lane (one priority of one queue) the order of keys is the order of rank, so the best job of all is at the
//! head of some lane: a claim merges the heads, and costs the same however many jobs wait behind them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use heed::RoTxn;
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::rank::{Priority, Rank};
use mainspring_core::store::{Claim, Order, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::heartbeat;
use super::rows::{self, LeaseRow, Slip};
use super::storage;
use super::tables::{self, ReadyKey, Tables};

/// The answer to a claim before the records are read, which the reader does ([`super::read::Reader::fill`]).
pub enum Picked {
    Leases(Vec<(JobId, LeaseRow)>),
    UnknownWorker,
    Quiet,
}

impl Picked {
    pub fn jobs(&self) -> usize {
        match self {
            Picked::Leases(leases) => leases.len(),
            Picked::UnknownWorker | Picked::Quiet => 0,
        }
    }
}

pub fn claim(batch: &mut Batch<'_>, now: Time, claims: Vec<Claim>) -> Result<Vec<Picked>> {
    claims.into_iter().map(|claim| claim_one(batch, now, claim)).collect()
}

fn claim_one(batch: &mut Batch<'_>, now: Time, claim: Claim) -> Result<Picked> {
    let Claim { worker, tenant, queues, max } = claim;
    let order = match batch.mirror.workers.get_mut(&worker) {
        Some(known) if !known.has_left() && known.row.tenant == tenant.as_str() => {
            let order = known.row.order();
            if known.is_silent(now, false) {
                known.row.last_seen_ms = now.as_millis();
                known.row.expires_ms = now.as_millis().saturating_add(known.row.lease_ms);
                heartbeat::write_worker(batch, worker)?;
            }
            order
        }
        _ => return Ok(Picked::UnknownWorker),
    };
    if order != Order::Work {
        return Ok(Picked::Quiet);
    }
    let heads = best(batch, now, &tenant, queues, max)?;
    let leases = heads.into_iter().map(|head| lease(batch, now, worker, head));
    leases.collect::<Result<_>>().map(Picked::Leases)
}

struct Head {
    key: ReadyKey,
    slip: Slip,
}

/// The best `max` jobs over all lanes of all asked queues, best first.
fn best(
    batch: &mut Batch<'_>,
    now: Time,
    tenant: &TenantName,
    queues: Vec<QueueName>,
    max: usize,
) -> Result<Vec<Head>> {
    let mut lanes = Vec::new();
    let asked: BTreeSet<u32> = queues
        .into_iter()
        .filter_map(|queue| batch.mirror.number_of(&QueueRef { tenant: tenant.clone(), queue }))
        .collect();
    let mut empty = Vec::new();
    for number in asked {
        let queue = &batch.mirror.queues[number as usize];
        if queue.paused {
            continue;
        }
        for &lane in &queue.lanes {
            let prefix = tables::lane_prefix(number, lane);
            let rows = batch.tables.ready.prefix_iter(&batch.txn, &prefix).map_err(storage)?;
            let mut rows = rows.map(move |row| row.map_err(storage).and_then(|(key, bytes)| head(key, bytes)));
            match rows.next().transpose()? {
                None => empty.push((number, lane)),
                Some(first) => lanes.push((queue.aging, first, rows)),
            }
        }
    }

    let mut order: BinaryHeap<Reverse<(Rank, usize)>> = BinaryHeap::with_capacity(lanes.len());
    for (at, (aging, first, _)) in lanes.iter().enumerate() {
        order.push(Reverse((rank(first, *aging), at)));
    }
    let mut heads = Vec::with_capacity(max.min(limits::CLAIM_JOBS_MAX));
    while heads.len() < max
        && let Some(Reverse((_, at))) = order.pop()
    {
        let (aging, current, rows) = &mut lanes[at];
        let taken = match rows.next().transpose()? {
            Some(next) => {
                order.push(Reverse((rank(&next, *aging), at)));
                std::mem::replace(current, next)
            }
            None => Head { key: current.key, slip: current.slip },
        };
        // A job past its expiry is left for the reclaim that cancels it.
        if !taken.slip.is_expired(now) {
            heads.push(taken);
        }
    }
    drop(lanes);
    for (number, lane) in empty {
        batch.mirror.queues[number as usize].lanes.remove(&lane);
    }
    Ok(heads)
}

fn head(key: &[u8], bytes: &[u8]) -> Result<Head> {
    Ok(Head { key: key.try_into().expect("keys of ready have one length"), slip: rows::decode("ready", bytes)? })
}

fn rank(head: &Head, aging: mainspring_core::rank::Aging) -> Rank {
    let (_, lane, ready_at, id) = tables::read_ready(&head.key);
    Rank::new(lane, ready_at, aging, id)
}

fn lease(batch: &mut Batch<'_>, now: Time, worker: WorkerId, head: Head) -> Result<(JobId, LeaseRow)> {
    let (_, _, ready_at, id) = tables::read_ready(&head.key);
    let mut slip = head.slip;
    slip.tally.0 += 1;
    let lease = LeaseRow {
        fence: batch.mirror.mint_fence(),
        worker: worker.0.into_bytes(),
        claimed_ms: now.as_millis(),
        started_ms: None,
        timeout_ms: (slip.timeout_ms != 0)
            .then(|| now.after(std::time::Duration::from_millis(slip.timeout_ms)).as_millis()),
        cancel_asked: None,
        taken: None,
        ready_ms: ready_at.as_millis(),
        slip,
    };
    batch.delete(batch.tables.ready, &head.key)?;
    batch.put(batch.tables.leases, id.as_bytes(), &lease)?;
    batch.leave(slip.who(id), State::Ready, false)?;
    batch.enter(slip.who(id), State::Running, false)?;
    batch.mirror.hold(id, lease.clone());
    Ok((id, lease))
}

/// The lanes of a queue that have jobs, found by leaping from one to the next.
pub fn lanes(txn: &RoTxn<'_>, tables: &Tables, queue: u32) -> Result<BTreeSet<Priority>> {
    let mut lanes = BTreeSet::new();
    let mut from = queue.to_be_bytes().to_vec();
    while let Some((key, _)) = tables.ready.get_greater_than_or_equal_to(txn, &from).map_err(storage)? {
        let (found, lane, _, _) = tables::read_ready(key);
        if found != queue {
            break;
        }
        lanes.insert(lane);
        from = tables::ready(queue, lane, Time::MAX, JobId::MAX).to_vec();
        from.push(0);
    }
    Ok(lanes)
}
