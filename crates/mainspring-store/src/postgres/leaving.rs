//! Lets jobs whose lease ends out of their gates, and gathers what there is to tell about it. Ends no lease itself.

use std::collections::{BTreeSet, HashMap, HashSet};

use mainspring_core::id::JobId;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::GateNews;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::held::Held;
use super::limits::{Facts, House, lock_tenants, opened_in};
use super::pool::Transaction;

/// The gates of all leases that a transaction may end.
#[derive(Debug)]
pub(super) struct Gatekeeper {
    facts: HashMap<JobId, Facts>,
    house: House,
    /// Jobs that left a gate where a rule holds.
    left: HashSet<JobId>,
}

impl Gatekeeper {
    /// The leases must be locked.
    pub async fn read(
        store: &Postgres,
        txn: &Transaction<'_>,
        now: Time,
        version: i64,
        held: impl Iterator<Item = &Held>,
    ) -> Result<Gatekeeper, Fault> {
        let ids: Vec<Uuid> = held.map(|held| held.id().uuid()).collect();
        let facts = Facts::of(store, txn, &ids).await?;
        let tenants: BTreeSet<TenantName> = facts.values().map(|facts| facts.queue.tenant.clone()).collect();
        lock_tenants(txn, &tenants).await?;
        let mut house = House::new(now, store.limits.rules(txn, version).await?);
        house.look_at(txn, facts.values().flat_map(|facts| &facts.passes).map(|(gate, _)| gate)).await?;
        Ok(Gatekeeper { facts, house, left: HashSet::new() })
    }

    /// Where it stands if it is on offer again, and what to tell.
    pub fn let_out(&mut self, held: &Held, verdict: &Verdict) -> (i64, Option<Box<GateNews>>) {
        let Some(facts) = self.facts.get(&held.id()) else { return (0, None) };
        if facts.passes.iter().any(|(gate, _)| self.house.rules.at(gate).is_some()) {
            self.left.insert(held.id());
        }
        let breakers = self.house.leave(facts, held.claimed_at, verdict.outcome().into());
        let closed = match verdict {
            Verdict::Close { wait } => self.house.close(facts, *wait),
            _ => None,
        };
        let news = GateNews { opened: Vec::new(), breakers, closed };
        (self.house.lot(facts), (news != GateNews::default()).then(|| Box::new(news)))
    }

    /// Writes the gates; where somebody may be able to go now.
    pub async fn write(&self, txn: &Transaction<'_>) -> Result<Vec<QueueRef>, Fault> {
        self.house.write(txn).await?;
        let left = self.left.iter().filter_map(|id| self.facts.get(id));
        opened_in(txn, &left.map(|facts| facts.queue.tenant.clone()).collect()).await
    }

    /// Adds to the news of a job where somebody of its tenant may be able to go now.
    pub fn tell(
        &self,
        id: JobId,
        tenant: &TenantName,
        news: Option<Box<GateNews>>,
        opened: &[QueueRef],
    ) -> Option<Box<GateNews>> {
        let opened: Vec<QueueRef> = match self.left.contains(&id) {
            true => opened.iter().filter(|queue| queue.tenant == *tenant).cloned().collect(),
            false => Vec::new(),
        };
        if opened.is_empty() {
            return news;
        }
        Some(Box::new(GateNews { opened, ..news.map(|news| *news).unwrap_or_default() }))
    }
}
