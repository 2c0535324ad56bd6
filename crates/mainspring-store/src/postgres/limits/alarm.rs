//! What time opens, and who may want to know. Hints: they may name too many, and lets nobody in.

use std::collections::BTreeSet;

use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::time::Time;

use super::super::Postgres;
use super::super::error::{Fault, Result};
use super::super::numbers::{ms, time};
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::super::queue_ids::queue_ref;
use super::house::{opens_at, read_gate, read_state, texts};

/// Gates that one call of promote looks at.
const RING_MAX: i64 = 1_000;

/// Queues behind gates that time may have opened since the last look, and when it opens the next one.
pub(in super::super) async fn ring(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    version: i64,
) -> Result<(Vec<QueueRef>, Option<Time>), Fault> {
    if version == 0 {
        return Ok((Vec::new(), None));
    }
    let rules = store.limits.rules(txn, version).await?;
    let rows = ask(txn, include_str!("../sql/limits_ring.sql"), &[&ms(now), &RING_MAX]).await?;
    let mut gates = Vec::with_capacity(rows.len());
    let mut next = Vec::with_capacity(rows.len());
    for row in &rows {
        let gate = read_gate(row.get(0), row.get(1))?;
        let rule = rules.at(&gate).map(|(_, rule)| *rule).unwrap_or_default();
        next.push(opens_at(&read_state(row.get(2), row.get(3))?, &rule, now).map(ms));
        gates.push(gate);
    }
    if !gates.is_empty() {
        let (tenants, names) = texts(&gates.iter().collect::<Vec<_>>());
        ask(txn, include_str!("../sql/limits_rung.sql"), &[&tenants, &names, &next]).await?;
    }
    let opened = opened_in(txn, &gates.iter().map(|gate| gate.tenant.clone()).collect()).await?;
    let next = ask(txn, include_str!("../sql/limits_next.sql"), &[]).await?;
    let next = next[0].get::<_, Option<i64>>(0).map(time);
    Ok((opened, next))
}

/// Queues of these tenants that offer something: whoever leaves a limited gate may have opened any of them.
pub(in super::super) async fn opened_in(
    txn: &Transaction<'_>,
    tenants: &BTreeSet<TenantName>,
) -> Result<Vec<QueueRef>, Fault> {
    if tenants.is_empty() {
        return Ok(Vec::new());
    }
    let tenants: Vec<&str> = tenants.iter().map(TenantName::as_str).collect();
    let rows = ask(txn, include_str!("../sql/limits_opened.sql"), &[&tenants]).await?;
    rows.iter().map(|row| Ok(queue_ref(row.get(0), row.get(1))?)).collect()
}
