//! Where a job stands that comes to be on offer: before the first gate of its type and keys that is limited, so that a burst behind one
//! key is in nobody's way from the beginning. Moves nobody who stands somewhere already.

use mainspring_core::time::Time;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result};
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::{Facts, House};

/// Places jobs that were just put into `ready`.
pub(in super::super) async fn place(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    version: i64,
    ids: &[Uuid],
) -> Result<(), Fault> {
    if version == 0 || ids.is_empty() {
        return Ok(());
    }
    let facts = Facts::of(store, txn, ids).await?;
    let mut house = House::new(now, store.limits.rules(txn, version).await?);
    house.look_at(txn, facts.values().flat_map(Facts::narrow)).await?;
    let lots = facts.iter().map(|(id, facts)| (id.uuid(), house.lot(facts)));
    let (ids, lots): (Vec<Uuid>, Vec<i64>) = lots.filter(|(_, lot)| *lot != 0).unzip();
    if !ids.is_empty() {
        ask(txn, include_str!("../sql/limits_lots.sql"), &[&ids, &lots]).await?;
    }
    Ok(())
}
