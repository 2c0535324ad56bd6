//! Hands out the best ready jobs that their gates let in, under new fences. Reads no records: what it must know is on the
//! slips.
//!
//! Within a lane (one priority of one queue, or of one lot) the order of keys is the order of rank, so the best job of all
//! is at the head of some lane: a claim merges the heads ([`super::gates::walk`]), and costs the same however many jobs
//! wait behind them.

use std::collections::BTreeSet;

use heed::RoTxn;
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueName, QueueRef};
use mainspring_core::rank::Priority;
use mainspring_core::store::{Claim, Order, Result, Whose};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::gates::walk::{self, Head, Request};
use super::gates::{self, LotName, Spot, alarms, share};
use super::heartbeat;
use super::mirror::Mirror;
use super::rows::LeaseRow;
use super::storage;
use super::tables::{self, Tables};

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
    alarms::see(batch.mirror, now);
    claims.into_iter().map(|claim| claim_one(batch, now, claim)).collect()
}

fn claim_one(batch: &mut Batch<'_>, now: Time, claim: Claim) -> Result<Picked> {
    let worker = claim.worker;
    let order = match batch.mirror.workers.get_mut(&worker) {
        Some(known) if !known.has_left() && known.row.tenant == claim.tenant.as_str() => {
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
    let Walked { heads, moved, empty } = walk(batch, now, claim)?;
    for (number, lane) in empty {
        let lanes = &mut batch.mirror.queues[number as usize].lanes;
        lanes.remove(&lane);
        if lanes.is_empty() {
            batch.mirror.gates.mark_sorted(number);
        }
    }
    let gone = heads.iter().chain(moved.iter().map(|(head, _)| head));
    let lots = gone.filter_map(|head| Some(((head.slip.queue, head.lot?), head.spot.lane)));
    let lots: BTreeSet<(LotName, Priority)> = lots.collect();
    for (head, gate) in moved {
        take_out(batch, &head)?;
        gates::place::park(batch, gate, head.spot, &head.slip)?;
    }
    let leases = heads.into_iter().map(|head| lease(batch, now, worker, head));
    let leases = leases.collect::<Result<_>>()?;
    lots.into_iter().try_for_each(|(lot, lane)| gates::place::refresh(batch, lot, lane))?;
    Ok(Picked::Leases(leases))
}

struct Walked {
    /// Who goes, best first.
    heads: Vec<Head>,
    /// Who is to stand before another gate than until now.
    moved: Vec<(Head, u64)>,
    /// Lanes that turned out to be empty.
    empty: Vec<(u32, Priority)>,
}

/// Finds the best jobs over all lanes and lots of the asked queues that can go.
fn walk(batch: &mut Batch<'_>, now: Time, claim: Claim) -> Result<Walked> {
    let Claim { tenant, whose, queues: names, max, .. } = claim;
    let mirror = &mut *batch.mirror;
    let asked: BTreeSet<u32> = names
        .iter()
        .filter(|_| whose == Whose::Own)
        .filter_map(|queue| mirror.number_of(&QueueRef { tenant: tenant.clone(), queue: queue.clone() }))
        .filter(|&number| !mirror.queues[number as usize].paused)
        .collect();
    let asked: Vec<u32> = asked.into_iter().collect();
    let shared = if whose == Whose::All { shared(mirror, &names) } else { Vec::new() };
    let Mirror { queues, gates, .. } = mirror;
    let mut request = Request::new((&batch.txn, batch.tables), queues, gates, now);
    let heads = match whose {
        Whose::Own => {
            let mut line = walk::Line::new(&mut request, &asked)?;
            walk::take(&mut request, &mut line, max)?
        }
        Whose::All => {
            let (names, shared): (Vec<QueueName>, Vec<share::Shared>) = shared.into_iter().unzip();
            let (heads, lines) = share::take(&mut request, shared, max)?;
            request.gates.shares.extend(names.into_iter().zip(lines));
            heads
        }
    };
    let Request { moved, empty, .. } = request;
    Ok(Walked { heads, moved, empty })
}

/// Each asked name once, in order, with its queues and the turns of their tenants.
fn shared(mirror: &mut Mirror, names: &[QueueName]) -> Vec<(QueueName, share::Shared)> {
    let names: BTreeSet<&QueueName> = names.iter().collect();
    let shared = names.into_iter().map(|name| {
        let open = mirror.queues_named(name).filter(|queue| !queue.paused && queue.has_ready());
        let queues = open.map(|queue| queue.number).collect();
        let line = mirror.gates.shares.remove(name).unwrap_or_default();
        (name.clone(), share::Shared { queues, line })
    });
    shared.collect()
}

/// Takes a job out of its lane or its lot, whose head is found anew when all have been taken.
fn take_out(batch: &mut Batch<'_>, head: &Head) -> Result<()> {
    let Spot { lane, ready_at, id } = head.spot;
    match head.lot {
        None => batch.delete(batch.tables.ready, &tables::ready(head.slip.queue, lane, ready_at, id)),
        Some(gate) => batch.delete(batch.tables.lots, &tables::lot(head.slip.queue, gate, lane, ready_at, id)),
    }
    .map(drop)
}

fn lease(batch: &mut Batch<'_>, now: Time, worker: WorkerId, head: Head) -> Result<(JobId, LeaseRow)> {
    let Spot { ready_at, id, .. } = head.spot;
    take_out(batch, &head)?;
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
