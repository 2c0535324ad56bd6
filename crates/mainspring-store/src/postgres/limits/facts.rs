//! Which gates a job passes, and what its place beside one is called. Knows no rules.

use std::collections::HashMap;

use mainspring_core::gate::{GateName, GateRef, Part, gates_of};
use mainspring_core::id::JobId;
use mainspring_core::job::Keys;
use mainspring_core::name::{LimitKey, QueueRef, TypeName};
use tokio_postgres::Row;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result, damaged};
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use crate::embedded::rows::Ways;

/// What a gate is asked about a job.
#[derive(Clone, Debug)]
pub(in super::super) struct Facts {
    pub queue: QueueRef,
    pub weight: u16,
    pub keys: Keys,
    /// In the order of [`gates_of`].
    pub passes: Vec<(GateRef, Part)>,
}

impl Facts {
    /// From columns `kind, concurrency_key, rate_key, weight` that begin at `first`.
    pub fn read(row: &Row, first: usize, queue: &QueueRef) -> Result<Facts> {
        let bad = |error| damaged(format!("a job that passes a gate of no name: {error}"));
        let key = |at: usize| row.get::<_, Option<&str>>(first + at).map(LimitKey::parse).transpose().map_err(bad);
        let kind = TypeName::parse(row.get(first)).map_err(bad)?;
        let weight = u16::try_from(row.get::<_, i32>(first + 3)).unwrap_or(u16::MAX);
        let keys = Keys { concurrency: key(1)?, rate: key(2)?, weight };
        let named = |gate| GateRef { tenant: queue.tenant.clone(), gate };
        let passes = gates_of(&queue.queue, &kind, &keys).map(|pass| (named(pass.gate), pass.part)).collect();
        Ok(Facts { queue: queue.clone(), weight, keys, passes })
    }

    /// Of these jobs.
    pub async fn of(store: &Postgres, txn: &Transaction<'_>, ids: &[Uuid]) -> Result<HashMap<JobId, Facts>, Fault> {
        let rows = ask(txn, include_str!("../sql/limits_facts.sql"), &[&ids]).await?;
        let names = store.queues.names_here(txn, rows.iter().map(|row| row.get(1))).await?;
        let facts = |row: &Row| {
            let queue = &names[&row.get::<_, i32>(1)];
            Ok((JobId::from(row.get::<_, Uuid>(0)), Facts::read(row, 2, queue)?))
        };
        rows.iter().map(facts).collect()
    }

    /// The gates of its type and keys.
    pub fn narrow(&self) -> impl Iterator<Item = &GateRef> {
        self.passes.iter().map(|(gate, _)| gate).filter(|gate| !is_wide(&gate.gate))
    }

    /// The gate that a lot is beside, if it is one of its own.
    pub fn gate_of(&self, lot: i64) -> Option<&GateRef> {
        if lot == 0 { None } else { self.narrow().find(|gate| lot_of(&gate.gate) == lot) }
    }
}

/// A gate of all jobs in a queue: who is held back there needs no place beside it.
pub(super) fn is_wide(gate: &GateName) -> bool {
    matches!(gate, GateName::Tenant | GateName::Queue(_))
}

/// What the place beside a gate is called in `ready`. Two gates of one name by accident would stand in each other's lot, and still
/// each be asked by its own name: nothing is exceeded.
pub(super) fn lot_of(gate: &GateName) -> i64 {
    // Zero is for those who stand nowhere.
    ((Ways::hash_of(gate) >> 1) as i64).max(1)
}
