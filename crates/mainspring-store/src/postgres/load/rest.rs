//! Writes what is not a job: queues, limits, workers, keys, who waits for whom, schedules, and the numbers that must go on.

use std::collections::HashMap;

use mainspring_core::name::QueueRef;
use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, ScheduleView, place_of, segment_of};
use mainspring_core::store::WorkerView;
use mainspring_core::time::Time;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result, damaged};
use super::super::limits::House;
use super::super::numbers::{ms, of_on_failure, of_order, of_state, text};
use super::super::packed::pack;
use super::super::pipeline::{Step, ask, pipeline};
use super::super::pool::Transaction;
use super::super::queue_ids::queue_ref;
use super::super::schedules::{pack_spec, pack_standing};
use crate::embedded::rows::{LedgerEntry, RuleRow, counts_row};
use crate::moving::{EdgeItem, GateItem, KeyItem, LedgerItem, Numbers, QueueItem, ReleaseItem, RuleItem, WorkflowItem};

type Params<'a> = Vec<&'a (dyn ToSql + Sync)>;

pub(super) async fn queues(txn: &Transaction<'_>, items: &[QueueItem]) -> Result<(), Fault> {
    let tenants: Vec<&str> = items.iter().map(|item| item.queue.tenant.as_str()).collect();
    let names: Vec<&str> = items.iter().map(|item| item.queue.queue.as_str()).collect();
    let paused: Vec<bool> = items.iter().map(|item| item.paused).collect();
    let points: Vec<i64> = items.iter().map(|item| whole(item.aging.point_ms())).collect();
    let depths: Vec<Option<i64>> = items.iter().map(|item| item.max_depth.map(whole)).collect();
    let sql = include_str!("../sql/moving_queues.sql");
    let rows = ask(txn, sql, &[&tenants, &names, &paused, &points, &depths]).await?;
    let ids = rows.iter().map(|row| Ok((queue_ref(row.get(1), row.get(2))?, row.get(0))));
    let ids: HashMap<QueueRef, i32> = ids.collect::<Result<_>>()?;
    let number = |item: &QueueItem| {
        let number = ids.get(&item.queue).copied();
        number.ok_or_else(|| Fault::from(damaged(format!("no number for queue {}", item.queue.queue))))
    };
    let numbers: Vec<i32> = items.iter().map(number).collect::<Result<_, _>>()?;
    let mut columns: [Vec<i64>; 8] = Default::default();
    for item in items {
        let counts = counts_row(&item.counts);
        columns.iter_mut().zip(counts).for_each(|(column, count)| column.push(whole(count)));
    }
    let mut params: Params<'_> = vec![&numbers];
    columns.iter().for_each(|column| params.push(column));
    ask(txn, include_str!("../sql/put_counts.sql"), &params).await?;
    Ok(())
}

pub(super) async fn rules(txn: &Transaction<'_>, items: &[RuleItem]) -> Result<(), Fault> {
    if items.is_empty() {
        return Ok(());
    }
    let tenants: Vec<&str> = items.iter().map(|item| item.tenant.as_str()).collect();
    let reaches: Vec<String> = items.iter().map(|item| item.reach.text()).collect();
    let packed: Vec<Vec<u8>> = items.iter().map(|item| pack(&RuleRow::of(&item.rule))).collect();
    ask(txn, include_str!("../sql/moving_rules.sql"), &[&tenants, &reaches, &packed]).await?;
    ask(txn, include_str!("../sql/limits_changed.sql"), &[]).await?;
    Ok(())
}

pub(super) async fn gates(store: &Postgres, txn: &Transaction<'_>, now: Time, items: &[GateItem]) -> Result<(), Fault> {
    if items.is_empty() {
        return Ok(());
    }
    ask(txn, include_str!("../sql/limits_begin.sql"), &[]).await?;
    let version: i64 = ask(txn, include_str!("../sql/limits_version.sql"), &[]).await?[0].get(0);
    let mut house = House::new(now, store.limits.rules(txn, version).await?);
    items.iter().for_each(|item| house.put(item.gate.clone(), item.state));
    house.write(txn).await
}

/// One by one, each with a list of queues; there are few.
pub(super) async fn workers(txn: &Transaction<'_>, items: &[WorkerView]) -> Result<(), Fault> {
    for worker in items {
        let WorkerView { id, tenant, info, lease, registered_at, last_seen_at, expires_at, order, held: _ } = worker;
        let queues: Vec<&str> = info.queues.iter().map(|queue| queue.as_str()).collect();
        let said = |said: &Option<String>| said.as_deref().map(text);
        let (name, host, version) = (said(&info.name), said(&info.host), said(&info.version));
        let (tenant, lease_ms, order) = (tenant.as_str(), lease.as_millis() as i64, of_order(*order));
        let (registered, seen, expires) = (ms(*registered_at), ms(*last_seen_at), ms(*expires_at));
        let (concurrency, pid) = (i64::from(info.concurrency), info.pid.map(i64::from));
        let params: Params<'_> = vec![
            &id.0,
            &tenant,
            &lease_ms,
            &registered,
            &seen,
            &expires,
            &order,
            &concurrency,
            &pid,
            &name,
            &host,
            &version,
            &queues,
        ];
        ask(txn, include_str!("../sql/moving_workers.sql"), &params).await?;
    }
    Ok(())
}

pub(super) async fn keys(txn: &Transaction<'_>, items: &[KeyItem]) -> Result<(), Fault> {
    let tenants: Vec<&str> = items.iter().map(|item| item.tenant.as_str()).collect();
    let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
    let jobs: Vec<Uuid> = items.iter().map(|item| item.job.uuid()).collect();
    let fingerprints: Vec<&[u8]> = items.iter().map(|item| &item.fingerprint[..]).collect();
    let until: Vec<i64> = items.iter().map(|item| ms(item.until)).collect();
    // Nothing is past its time: there is nothing there.
    let (count, now) = (items.len() as i64, 0i64);
    let params: Params<'_> = vec![&count, &tenants, &keys, &jobs, &fingerprints, &until, &now];
    ask(txn, include_str!("../sql/submit_put_keys.sql"), &params).await?;
    Ok(())
}

pub(super) async fn edges(txn: &Transaction<'_>, items: &[EdgeItem]) -> Result<(), Fault> {
    let parents: Vec<Uuid> = items.iter().map(|item| item.parent.uuid()).collect();
    let children: Vec<Uuid> = items.iter().map(|item| item.child.uuid()).collect();
    let on_failure: Vec<i16> = items.iter().map(|item| of_on_failure(item.on_failure)).collect();
    ask(txn, include_str!("../sql/submit_put_edges.sql"), &[&parents, &children, &on_failure]).await?;
    Ok(())
}

pub(super) async fn releases(txn: &Transaction<'_>, items: &[ReleaseItem]) -> Result<(), Fault> {
    let parents: Vec<Uuid> = items.iter().map(|item| item.parent.uuid()).collect();
    let states: Vec<i16> = items.iter().map(|item| of_state(item.state)).collect();
    ask(txn, include_str!("../sql/moving_releases.sql"), &[&parents, &states]).await?;
    Ok(())
}

pub(super) async fn workflows(txn: &Transaction<'_>, items: &[WorkflowItem]) -> Result<(), Fault> {
    let tenants: Vec<&str> = items.iter().map(|item| item.tenant.as_str()).collect();
    let ids: Vec<Uuid> = items.iter().map(|item| item.id.0).collect();
    let submitted: Vec<i64> = items.iter().map(|item| ms(item.submitted_at)).collect();
    let callbacks: Vec<Option<Uuid>> = items.iter().map(|item| item.callback.map(|id| id.uuid())).collect();
    let waits: Vec<bool> = items.iter().map(|item| item.callback_waits).collect();
    let members: Vec<i32> = items.iter().map(|item| item.members as i32).collect();
    let mut columns: [Vec<i32>; 8] = Default::default();
    for item in items {
        let counts = counts_row(&item.counts);
        columns.iter_mut().zip(counts).for_each(|(column, count)| column.push(count as i32));
    }
    let mut params: Params<'_> = vec![&tenants, &ids, &submitted, &callbacks, &waits, &members];
    columns.iter().for_each(|column| params.push(column));
    ask(txn, include_str!("../sql/moving_workflows.sql"), &params).await?;
    Ok(())
}

pub(super) async fn schedules(txn: &Transaction<'_>, items: &[ScheduleView]) -> Result<(), Fault> {
    let named =
        |view: &ScheduleView| ScheduleRef { tenant: view.schedule.tenant.clone(), name: view.schedule.name.clone() };
    let names: Vec<ScheduleRef> = items.iter().map(named).collect();
    let tenants: Vec<&str> = names.iter().map(|it| it.tenant.as_str()).collect();
    let texts: Vec<&str> = names.iter().map(|it| it.name.as_str()).collect();
    let versions: Vec<i64> = items.iter().map(|view| whole(view.version)).collect();
    let segments: Vec<i16> = names.iter().map(|it| i16::from(segment_of(it, Placement::ONE).index())).collect();
    let places: Vec<i32> = names.iter().map(|it| place_of(it) as i32).collect();
    let wakes: Vec<Option<i64>> = items.iter().map(|view| view.standing.wake_at.map(ms)).collect();
    let standings: Vec<Vec<u8>> = items.iter().map(|view| pack_standing(view.version, &view.standing)).collect();
    let specs: Vec<Vec<u8>> = items.iter().map(|view| pack_spec(&view.schedule)).collect();
    let count = items.len() as i64;
    let made: Params<'_> = vec![&count, &tenants, &texts, &versions, &segments, &places, &wakes, &standings];
    let steps = [
        Step::new(include_str!("../sql/turn_make.sql"), made),
        Step::new(include_str!("../sql/turn_specs.sql"), vec![&tenants, &texts, &specs]),
    ];
    pipeline(txn, &steps).await?;
    Ok(())
}

pub(super) async fn ledger(txn: &Transaction<'_>, items: &[LedgerItem]) -> Result<(), Fault> {
    let tenants: Vec<&str> = items.iter().map(|item| item.schedule.tenant.as_str()).collect();
    let names: Vec<&str> = items.iter().map(|item| item.schedule.name.as_str()).collect();
    let occurrences: Vec<i64> = items.iter().map(|item| ms(item.place.occurrence)).collect();
    let versions: Vec<i64> = items.iter().map(|item| whole(item.place.version)).collect();
    let indexes: Vec<i32> = items.iter().map(|item| item.place.index as i32).collect();
    let at: Vec<i64> = items.iter().map(|item| ms(item.row.at)).collect();
    let rows: Vec<Vec<u8>> = items.iter().map(|item| pack(&LedgerEntry::of(&item.row))).collect();
    let params: Params<'_> = vec![&tenants, &names, &occurrences, &versions, &indexes, &at, &rows];
    ask(txn, include_str!("../sql/turn_ledger.sql"), &params).await?;
    Ok(())
}

/// The next ones that are given out are above these.
pub(super) async fn numbers(txn: &Transaction<'_>, numbers: Numbers) -> Result<(), Fault> {
    let sql = include_str!("../sql/moving_numbers.sql");
    ask(txn, sql, &[&whole(numbers.fence), &whole(numbers.version)]).await?;
    Ok(())
}

/// A count as PostgreSQL keeps it.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
