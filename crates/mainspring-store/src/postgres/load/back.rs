//! Reads everything back that was moved here, through what readers read with, and tallies it. Changes nothing.

use futures_util::{StreamExt, TryStreamExt, pin_mut};
use mainspring_core::id::{Fence, JobId, WorkflowId};
use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::store::{Counts, QueueView};
use tokio_postgres::Row;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result, damaged};
use super::super::executions::execution;
use super::super::ledger::ledger_row;
use super::super::limits::{read_gate, read_rules, read_state};
use super::super::numbers::{cause, on_failure, state, time};
use super::super::pool::{Connection, transact};
use super::super::schedules::schedule_view;
use super::super::submit::{key, sixteen, tenant};
use super::super::{queues, view, workers};
use crate::moving::{
    EdgeItem, GateItem, KeyItem, LedgerItem, Numbers, QueueItem, ReleaseItem, RuleItem, Taken, Tally, WorkflowItem,
};

/// Rows between two words about how far it is.
const SEEN_STEP: u64 = 5_000;

pub(super) async fn read(store: &Postgres, seen: &mut (dyn FnMut(u64) + Send)) -> Result<Tally> {
    let mut tally = Tally::default();
    for view in queues::queues(store, None).await? {
        let QueueView { queue, paused, aging, max_depth, counts, oldest_ready_at: _ } = view;
        tally.queue(&QueueItem { queue, paused, aging, max_depth, counts });
    }
    let rules = transact!(store.pool, |txn| read_rules(&txn).await?);
    for (tenant, reach, rule) in rules.iter() {
        tally.rule(&RuleItem { tenant: tenant.clone(), reach: reach.clone(), rule: *rule });
    }
    workers::workers(store).await?.iter().for_each(|worker| tally.worker(worker));

    let mut back = Back { connection: store.pool.get().await?, seen };
    let tally = &mut tally;
    back.each(include_str!("../sql/view.sql"), |row| {
        tally.job(&view::read(row)?.view);
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_attempts.sql"), |row| {
        tally.attempt(id(row, 9), &execution(row)?, row.get(10));
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_leases.sql"), |row| {
        tally.lease(id(row, 0), taken(row)?);
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_gates.sql"), |row| {
        let gate = read_gate(row.get(0), row.get(1))?;
        tally.gate(&GateItem { gate, state: read_state(row.get(2), row.get(3))? });
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_keys.sql"), |row| {
        tally.key(&KeyItem {
            tenant: tenant(row.get(0))?,
            key: key(row.get(1))?,
            job: id(row, 2),
            fingerprint: sixteen(row.get(3))?,
            until: time(row.get(4)),
        });
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_edges.sql"), |row| {
        tally.edge(&EdgeItem { parent: id(row, 0), child: id(row, 1), on_failure: on_failure(row.get(2))? });
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_releases.sql"), |row| {
        tally.release(&ReleaseItem { parent: id(row, 0), state: state(row.get(1))? });
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_workflows.sql"), |row| {
        tally.workflow(&workflow(row)?);
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_schedules.sql"), |row| {
        let mut view = schedule_view(row)?;
        // Turns compare this one; it must be the one in the standing.
        if row.get::<_, i64>(4).unsigned_abs() != view.version {
            view.version = u64::MAX;
        }
        tally.schedule(&view);
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_ledger.sql"), |row| {
        let (place, entry) = ledger_row(row)?;
        tally.ledger(&LedgerItem { schedule: schedule_ref(row)?, place, row: entry });
        Ok(())
    })
    .await?;
    back.each(include_str!("../sql/moving_back_numbers.sql"), |row| {
        let number = |at: usize| row.get::<_, i64>(at).unsigned_abs();
        tally.numbers(Numbers { fence: number(0), version: number(1) });
        Ok(())
    })
    .await?;
    Ok(tally.clone())
}

struct Back<'s> {
    connection: Connection,
    seen: &'s mut (dyn FnMut(u64) + Send),
}

impl Back<'_> {
    /// Reads the rows of a statement as they come: there may be more of them than fit in memory.
    async fn each(&mut self, sql: &str, mut read: impl FnMut(&Row) -> Result<()> + Send) -> Result<()> {
        let statement = self.connection.prepare(sql).await.map_err(Fault::from)?;
        let rows = self.connection.query_raw(&statement, std::iter::empty::<i64>()).await.map_err(Fault::from)?;
        let rows = rows.into_stream().fuse();
        pin_mut!(rows);
        let mut count = 0;
        while let Some(row) = rows.next().await {
            read(&row.map_err(Fault::from)?)?;
            count += 1;
            if count == SEEN_STEP {
                (self.seen)(std::mem::take(&mut count));
            }
        }
        (self.seen)(count);
        Ok(())
    }
}

fn id(row: &Row, at: usize) -> JobId {
    JobId::from(row.get::<_, Uuid>(at))
}

fn taken(row: &Row) -> Result<Option<Taken>> {
    let (why, fence): (Option<i16>, Option<i64>) = (row.get(1), row.get(2));
    let taken = |why, fence: i64| Ok(Taken { cause: cause(why)?, fence: Fence(fence.unsigned_abs()) });
    why.zip(fence).map(|(why, fence)| taken(why, fence)).transpose()
}

fn workflow(row: &Row) -> Result<WorkflowItem> {
    let count = |at: usize| u64::from(row.get::<_, i32>(at).unsigned_abs());
    Ok(WorkflowItem {
        tenant: tenant(row.get(0))?,
        id: WorkflowId(row.get(1)),
        submitted_at: time(row.get(2)),
        callback: row.get::<_, Option<Uuid>>(3).map(JobId::from),
        callback_waits: row.get(4),
        members: count(5),
        counts: Counts {
            blocked: count(6),
            waiting: count(7),
            ready: count(8),
            paused: count(9),
            running: count(10),
            succeeded: count(11),
            dead: count(12),
            cancelled: count(13),
        },
    })
}

fn schedule_ref(row: &Row) -> Result<ScheduleRef> {
    let (tenant, name): (&str, &str) = (row.get(4), row.get(5));
    let bad = |error| damaged(format!("the ledger of schedule {name:?} of tenant {tenant:?}: {error}"));
    Ok(ScheduleRef { tenant: TenantName::parse(tenant).map_err(bad)?, name: ScheduleName::parse(name).map_err(bad)? })
}
