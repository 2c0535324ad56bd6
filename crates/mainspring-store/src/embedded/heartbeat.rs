//! Registers workers, keeps them alive, and tells them what to stop. Costs per worker, not per job.

use std::collections::{BTreeSet, HashSet};

use mainspring_core::id::{Fence, JobId, LeaseId, WorkerId};
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Beat, BeatKind, Pulse, Result, WorkerInfo, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict;

use super::batch::Batch;
use super::gates::{News, alarms};
use super::mirror::Worker;
use super::rows::WorkerRow;
use super::settle;

pub fn heartbeat(batch: &mut Batch<'_>, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
    alarms::see(batch.mirror, now);
    beats.into_iter().map(|beat| beat_one(batch, now, beat)).collect()
}

fn beat_one(batch: &mut Batch<'_>, now: Time, beat: Beat) -> Result<Pulse> {
    let Beat { worker, tenant, kind } = beat;
    if let BeatKind::Register { info, lease } = kind {
        if batch.mirror.workers.get(&worker).is_some_and(|known| known.row.tenant != tenant.as_str()) {
            return Ok(Pulse::Unknown);
        }
        register(batch, now, worker, tenant.as_str(), info, lease.as_millis() as u64);
        write_worker(batch, worker)?;
        return Ok(pulse(batch, worker, Vec::new(), GivenBack::default()));
    }
    match batch.mirror.workers.get_mut(&worker) {
        Some(known) if !known.has_left() && known.row.tenant == tenant.as_str() => {
            known.row.last_seen_ms = now.as_millis();
            let until = now.as_millis().saturating_add(known.row.lease_ms);
            known.row.expires_ms = known.row.expires_ms.max(until);
        }
        _ => return Ok(Pulse::Unknown),
    }
    let mut lost = Vec::new();
    let mut given_back = GivenBack::default();
    match kind {
        BeatKind::Register { .. } | BeatKind::Alive => {}
        BeatKind::Holding { leases, claimed_before } => {
            lost = leases.iter().copied().filter(|lease| !holds(batch, worker, *lease)).collect();
            for id in undelivered(batch, worker, &leases, claimed_before) {
                give_back(batch, now, id, &mut given_back)?;
            }
        }
        BeatKind::Leave => {
            let known = batch.mirror.workers.get_mut(&worker).expect("it was just found");
            known.row.expires_ms = WorkerView::LEFT.as_millis();
            for id in known.held.clone() {
                give_back(batch, now, id, &mut given_back)?;
            }
        }
    }
    write_worker(batch, worker)?;
    Ok(pulse(batch, worker, lost, given_back))
}

/// What came of giving leases back: the queues they went to, and what it did to the gates.
#[derive(Default)]
struct GivenBack {
    queues: BTreeSet<QueueRef>,
    news: News,
}

fn give_back(batch: &mut Batch<'_>, now: Time, id: JobId, given_back: &mut GivenBack) -> Result<()> {
    let verdict = verdict::given_back(batch.mirror.leases[&id].cancel_asked.as_deref());
    let applied = settle::apply(batch, now, id, verdict, &mut given_back.news)?;
    if applied.state == State::Ready {
        given_back.queues.insert(batch.mirror.queues[applied.queue as usize].name.clone());
    }
    Ok(())
}

fn register(batch: &mut Batch<'_>, now: Time, worker: WorkerId, tenant: &str, info: WorkerInfo, lease_ms: u64) {
    let before = batch.mirror.workers.remove(&worker);
    let row = WorkerRow {
        tenant: tenant.into(),
        name: info.name,
        host: info.host,
        pid: info.pid,
        version: info.version,
        queues: info.queues.iter().map(|queue| queue.as_str().to_owned()).collect(),
        concurrency: info.concurrency,
        lease_ms,
        registered_ms: before.as_ref().map_or(now.as_millis(), |before| before.row.registered_ms),
        last_seen_ms: now.as_millis(),
        expires_ms: now.as_millis().saturating_add(lease_ms),
        order: before.as_ref().map_or(0, |before| before.row.order),
    };
    let held = before.map(|before| before.held).unwrap_or_default();
    batch.mirror.workers.insert(worker, Worker { row, held });
}

pub fn write_worker(batch: &mut Batch<'_>, worker: WorkerId) -> Result<()> {
    let row = batch.mirror.workers[&worker].row.clone();
    batch.put(batch.tables.workers, worker.0.as_bytes(), &row)
}

fn holds(batch: &Batch<'_>, worker: WorkerId, lease: LeaseId) -> bool {
    batch
        .mirror
        .leases
        .get(&lease.job)
        .is_some_and(|known| known.fence == lease.fence.0 && known.worker() == worker && known.taken.is_none())
}

/// What it was given before `claimed_before` and does not list.
fn undelivered(batch: &Batch<'_>, worker: WorkerId, listed: &[LeaseId], claimed_before: Time) -> Vec<JobId> {
    let listed: HashSet<LeaseId> = listed.iter().copied().collect();
    let held = batch.mirror.workers[&worker].held.iter().copied();
    held.filter(|&job| {
        let lease = &batch.mirror.leases[&job];
        let name = LeaseId { job, fence: Fence(lease.fence) };
        lease.claimed_ms < claimed_before.as_millis() && !listed.contains(&name)
    })
    .collect()
}

fn pulse(batch: &Batch<'_>, worker: WorkerId, lost: Vec<LeaseId>, given_back: GivenBack) -> Pulse {
    let known = &batch.mirror.workers[&worker];
    let cancel = known.held.iter().filter_map(|&job| {
        let lease = &batch.mirror.leases[&job];
        lease.cancel_asked.is_some().then_some(LeaseId { job, fence: Fence(lease.fence) })
    });
    Pulse::Alive {
        order: known.row.order(),
        held: known.held.len() as u64,
        cancel: cancel.collect(),
        lost,
        released: given_back.queues.into_iter().collect(),
        gates: given_back.news.told(&batch.mirror.queues),
    }
}
