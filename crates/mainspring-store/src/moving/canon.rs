//! What of an item is summed: every field, as the bytes of the stored form, which both stores read back to the same core types.
//! A zero byte in what people and workers say freely is summed as PostgreSQL shows it.

use std::hash::Hasher;

use mainspring_core::id::JobId;
use mainspring_core::job::{Ended, Execution, Failure, JobView, Json, Lease, Progress, Standing};
use mainspring_core::schedule::ScheduleView;
use mainspring_core::store::{WorkerInfo, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;
use serde::Serialize;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::{EdgeItem, GateItem, KeyItem, LedgerItem, Numbers, QueueItem, ReleaseItem, RuleItem, Taken, WorkflowItem};
use crate::embedded::rows::{
    EdgeRow, ExecutionRow, FailureRow, GateRow, LedgerEntry, Record, RuleRow, ScheduleRow, StandingRow, StateRow,
    TallyRow, counts_row,
};

pub(super) fn queue(item: &QueueItem) -> u128 {
    let QueueItem { queue, paused, aging, max_depth, counts } = item;
    let name = (queue.tenant.as_str(), queue.queue.as_str());
    hash(&(name, paused, aging.point_ms(), max_depth, counts_row(counts)))
}

pub(super) fn rule(item: &RuleItem) -> u128 {
    let RuleItem { tenant, reach, rule } = item;
    hash(&(tenant.as_str(), reach.text(), RuleRow::of(rule)))
}

pub(super) fn gate(item: &GateItem) -> u128 {
    let GateItem { gate, state } = item;
    hash(&(gate.tenant.as_str(), gate.gate.text(), state.running, GateRow::of(state)))
}

pub(super) fn worker(item: &WorkerView) -> u128 {
    // What it holds is counted from the leases.
    let WorkerView { id, tenant, info, lease, registered_at, last_seen_at, expires_at, order, held: _ } = item;
    let WorkerInfo { name, host, pid, version, queues, concurrency } = info;
    let queues: Vec<&str> = queues.iter().map(|queue| queue.as_str()).collect();
    let said = (plain(name), plain(host), pid, plain(version), queues, concurrency);
    let times = [ms(*registered_at), ms(*last_seen_at), ms(*expires_at), lease.as_millis() as u64];
    hash(&(id.0.as_bytes(), tenant.as_str(), said, times, *order as u8))
}

pub(super) fn job(view: &JobView) -> u128 {
    let JobView { job, standing } = view;
    let Standing { state, paused, ready_at, tally, lease, checkpoint, progress, last_error, ended } = standing;
    let whose = (job.id.as_bytes(), job.tenant.as_str(), job.queue.as_str());
    // The number of its queue is each store's own.
    let record = Record::of(job, 0);
    let stands = (StateRow::from(*state), *paused, ms(*ready_at), TallyRow::from(*tally));
    let lease = lease.as_ref().map(|lease| {
        let Lease { fence, worker, claimed_at, started_at, timeout_at, cancel_asked } = lease;
        let times = (ms(*claimed_at), started_at.map(ms), timeout_at.map(ms));
        (fence.0, *worker.0.as_bytes(), times, plain(cancel_asked))
    });
    let progress = progress.as_ref().map(|Progress { percent, note }| (percent, plain(note)));
    let ended =
        ended.as_ref().map(|Ended { at, result, reason }| (ms(*at), result.as_ref().map(Json::as_str), plain(reason)));
    let checkpoint = checkpoint.as_ref().map(Json::as_str);
    hash(&(whose, record, stands, lease, checkpoint, progress, last_error.as_ref().map(failure), ended))
}

pub(super) fn attempt(job: JobId, execution: &Execution, is_last: bool) -> u128 {
    let Execution { attempt, fence, worker, started_at, ended_at, outcome, error } = execution;
    let row = ExecutionRow {
        attempt: *attempt,
        fence: fence.0,
        worker: *worker.0.as_bytes(),
        started_ms: ms(*started_at),
        ended_ms: ms(*ended_at),
        outcome: (*outcome).into(),
        error: error.as_ref().map(failure),
    };
    hash(&(job.as_bytes(), row, is_last))
}

pub(super) fn lease(job: JobId, taken: Option<Taken>) -> u128 {
    let taken = taken.map(|Taken { cause, fence }| (cause == Cause::Crash, fence.0));
    hash(&(job.as_bytes(), taken))
}

pub(super) fn key(item: &KeyItem) -> u128 {
    let KeyItem { tenant, key, job, fingerprint, until } = item;
    hash(&(tenant.as_str(), key.as_str(), job.as_bytes(), fingerprint, ms(*until)))
}

pub(super) fn edge(item: &EdgeItem) -> u128 {
    let EdgeItem { parent, child, on_failure } = item;
    hash(&(parent.as_bytes(), child.as_bytes(), EdgeRow::new(*on_failure)))
}

pub(super) fn release(item: &ReleaseItem) -> u128 {
    let ReleaseItem { parent, state } = item;
    hash(&(parent.as_bytes(), StateRow::from(*state)))
}

pub(super) fn workflow(item: &WorkflowItem) -> u128 {
    let WorkflowItem { tenant, id, submitted_at, callback, callback_waits, members, counts } = item;
    let callback = callback.as_ref().map(JobId::as_bytes);
    hash(&(tenant.as_str(), id.0.as_bytes(), ms(*submitted_at), callback, callback_waits, members, counts_row(counts)))
}

pub(super) fn schedule(item: &ScheduleView) -> u128 {
    let ScheduleView { schedule, standing, version } = item;
    let name = (schedule.tenant.as_str(), schedule.name.as_str());
    hash(&(name, ScheduleRow::of(schedule), StandingRow::of(*version, standing)))
}

pub(super) fn ledger(item: &LedgerItem) -> u128 {
    let LedgerItem { schedule, place, row } = item;
    let place = (ms(place.occurrence), place.version, place.index);
    hash(&(schedule.tenant.as_str(), schedule.name.as_str(), place, LedgerEntry::of(row)))
}

pub(super) fn numbers(Numbers { fence, version }: Numbers) -> u128 {
    hash(&(fence, version))
}

fn ms(at: Time) -> u64 {
    at.as_millis()
}

fn failure(said: &Failure) -> FailureRow {
    let Failure { message, kind, detail } = said;
    let shown = |text: &String| text.replace('\0', "␀");
    FailureRow::from(Failure { message: shown(message), kind: plain(kind), detail: plain(detail) })
}

fn plain(text: &Option<String>) -> Option<String> {
    text.as_ref().map(|text| text.replace('\0', "␀"))
}

/// SipHash-1-3 of 128 bits under the zero key: sums of a move that is gone on with by a later process are the same.
fn hash(item: &impl Serialize) -> u128 {
    let bytes = postcard::to_allocvec(item).expect("rows hold nothing that postcard refuses");
    let mut hasher = SipHasher13::new();
    hasher.write(&bytes);
    hasher.finish128().into()
}
