//! Who of those on offer could go: the walk that a claim makes over lots and lanes. Hands nothing out.
//!
//! A job that is held back *stands* before one gate, the one that last did not let it in, and asks that one first the next time.
//! While it is shut, nobody behind it in that lot is looked at, and the job stands in nobody's way at its other gates.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mainspring_core::gate::{Ask, GateName, GateRef};
use mainspring_core::id::JobId;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{Claim, Whose};
use mainspring_core::time::Time;
use uuid::Uuid;

use super::super::Postgres;
use super::super::error::{Fault, Result};
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::super::queue_ids::queue_ref;
use super::super::slip::Slip;
use super::facts::{is_wide, lot_of};
use super::streams::{Found, Offer, Streams};
use super::{House, Line, lock_tenants};

/// How many jobs one request moves to where they stand. Past it, the request answers with what it has; the next one goes on.
const PARK_STEP_MAX: usize = 1_000;

/// What was decided for a batch of claims.
#[derive(Debug, Default)]
pub(in super::super) struct Walked {
    /// Which claim, and what it gets.
    pub picks: Vec<(usize, Slip)>,
    pub lines: HashMap<QueueName, Line>,
}

/// Decides who goes, for those claims that may have something, in their order; writes the gates that were entered and where jobs
/// stand now.
pub(in super::super) async fn walk(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    version: i64,
    claims: &[(usize, &Claim)],
) -> Result<Walked, Fault> {
    let asked = Asked::read(store, txn, claims).await?;
    if version != 0 {
        lock_tenants(txn, &asked.names.values().map(|queue| queue.tenant.clone()).collect()).await?;
    }
    let mut house = House::new(now, store.limits.rules(txn, version).await?);
    let streams = Streams::open(txn, &mut house, asked.names.clone(), &asked.counts, version != 0).await?;
    let lines = store.limits.lines.lock().expect("nobody panics with it").clone();
    let mut walk = Walk { txn, house, streams, shut: HashSet::new(), stands: BTreeMap::new(), parked: 0 };
    let mut walked = Walked { lines, ..Walked::default() };
    for &(place, claim) in claims {
        walk.begin();
        let taken = match claim.whose {
            Whose::Own => walk.own(claim, &asked.own(claim)).await?,
            Whose::All => walk.all(claim, &asked, &mut walked.lines).await?,
        };
        walked.picks.extend(taken.into_iter().map(|slip| (place, slip)));
    }
    walk.write(&walked.picks).await?;
    Ok(walked)
}

/// The queues that are asked.
struct Asked {
    names: HashMap<i32, QueueRef>,
    ids: HashMap<QueueRef, i32>,
    counts: BTreeMap<i32, i64>,
}

impl Asked {
    async fn read(store: &Postgres, txn: &Transaction<'_>, claims: &[(usize, &Claim)]) -> Result<Asked, Fault> {
        let own = claims.iter().filter(|(_, claim)| claim.whose == Whose::Own);
        let own: BTreeSet<QueueRef> = own.flat_map(|(_, claim)| queues_of(claim)).collect();
        let mut ids = store.queues.find(txn, &own).await?;
        let of_all = claims.iter().filter(|(_, claim)| claim.whose == Whose::All);
        let names: BTreeSet<&str> = of_all.flat_map(|(_, claim)| &claim.queues).map(QueueName::as_str).collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
            for row in ask(txn, include_str!("../sql/limits_queues_named.sql"), &[&names]).await? {
                ids.insert(queue_ref(row.get(1), row.get(2))?, row.get(0));
            }
        }
        let mut asked = Asked { names: HashMap::new(), ids, counts: BTreeMap::new() };
        asked.names = asked.ids.iter().map(|(queue, id)| (*id, queue.clone())).collect();
        for (_, claim) in claims {
            let is_asked = |queue: &QueueRef| {
                (claim.whose == Whose::All || queue.tenant == claim.tenant) && claim.queues.contains(&queue.queue)
            };
            for (_, id) in asked.ids.iter().filter(|(queue, _)| is_asked(queue)) {
                *asked.counts.entry(*id).or_default() += claim.max as i64;
            }
        }
        Ok(asked)
    }

    fn own(&self, claim: &Claim) -> Vec<i32> {
        let ids: BTreeSet<i32> = queues_of(claim).filter_map(|queue| self.ids.get(&queue).copied()).collect();
        ids.into_iter().collect()
    }

    /// Every tenant's queue of this name, by tenant.
    fn named(&self, name: &QueueName) -> BTreeMap<TenantName, i32> {
        let named = self.ids.iter().filter(|(queue, _)| queue.queue == *name);
        named.map(|(queue, id)| (queue.tenant.clone(), *id)).collect()
    }
}

fn queues_of(claim: &Claim) -> impl Iterator<Item = QueueRef> {
    claim.queues.iter().map(|queue| QueueRef { tenant: claim.tenant.clone(), queue: queue.clone() })
}

struct Walk<'a, 't> {
    txn: &'a Transaction<'t>,
    house: House,
    streams: Streams,
    /// The gates that did not let somebody in, in one request: nobody overtakes there.
    shut: HashSet<GateRef>,
    /// Where jobs stand that were moved.
    stands: BTreeMap<JobId, i64>,
    parked: usize,
}

impl Walk<'_, '_> {
    fn begin(&mut self) {
        self.shut.clear();
        self.streams.rewind();
        self.parked = 0;
    }

    async fn own(&mut self, claim: &Claim, queues: &[i32]) -> Result<Vec<Slip>, Fault> {
        let mut taken = Vec::new();
        while taken.len() < claim.max {
            let Some((found, offer)) = self.next(queues).await? else { break };
            taken.push(self.take(found, &offer));
        }
        Ok(taken)
    }

    /// One round for each job: every queue name offers one, and the best of them goes.
    async fn all(
        &mut self,
        claim: &Claim,
        asked: &Asked,
        lines: &mut HashMap<QueueName, Line>,
    ) -> Result<Vec<Slip>, Fault> {
        let names: BTreeMap<&QueueName, BTreeMap<TenantName, i32>> =
            claim.queues.iter().map(|name| (name, asked.named(name))).collect();
        let mut taken = Vec::new();
        while taken.len() < claim.max {
            let mut best: Option<(&QueueName, Found, Offer)> = None;
            for (name, queues) in &names {
                let (mut offers, mut weights) = (BTreeMap::new(), BTreeMap::new());
                for (tenant, queue) in queues {
                    if let Some(offer) = self.next(&[*queue]).await? {
                        offers.insert(tenant.clone(), offer);
                        weights.insert(tenant.clone(), self.share_of(tenant));
                    }
                }
                let line = lines.entry((*name).clone()).or_default();
                let Some((found, offer)) = line.pick(&weights).and_then(|tenant| offers.remove(&tenant)) else {
                    continue;
                };
                if best.as_ref().is_none_or(|(_, _, other)| offer.rank < other.rank) {
                    best = Some((*name, found, offer));
                }
            }
            let Some((name, found, offer)) = best else { break };
            let tenant = &offer.facts.queue.tenant;
            let weight = self.share_of(tenant);
            lines.entry(name.clone()).or_default().charge(tenant, weight, offer.facts.weight);
            taken.push(self.take(found, &offer));
        }
        Ok(taken)
    }

    /// The weight of a tenant in fair sharing.
    fn share_of(&self, tenant: &TenantName) -> u32 {
        self.house.rule(&GateRef { tenant: tenant.clone(), gate: GateName::Tenant }).weight.unwrap_or(1)
    }

    fn take(&mut self, found: Found, offer: &Offer) -> Slip {
        self.streams.take(found);
        self.stands.remove(&offer.slip.id);
        self.house.enter(&offer.facts);
        offer.slip
    }

    /// The best offer of these queues that could go. Whoever could not is passed by for the rest of the request.
    async fn next(&mut self, queues: &[i32]) -> Result<Option<(Found, Offer)>, Fault> {
        while let Some((found, offer)) = self.streams.best(self.txn, &mut self.house, queues).await? {
            let Some(gate) = self.first_shut(&offer) else { return Ok(Some((found, offer))) };
            self.shut.insert(gate.clone());
            match &gate.gate {
                GateName::Tenant => self.streams.pass_queues(|queue| queue.tenant == gate.tenant),
                GateName::Queue(name) => {
                    self.streams.pass_queues(|queue| queue.tenant == gate.tenant && queue.queue == *name);
                }
                narrow if lot_of(narrow) == offer.slip.lot => self.streams.pass_lot(found),
                narrow => {
                    let lot = lot_of(narrow);
                    self.streams.move_to(found, lot);
                    self.stands.insert(offer.slip.id, lot);
                    self.parked += 1;
                    if self.parked >= PARK_STEP_MAX {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The first gate that does not let it in: what is shut as a whole, then where it stands, then all others in their order.
    fn first_shut(&self, offer: &Offer) -> Option<GateRef> {
        let facts = &offer.facts;
        let wide = facts.passes.iter().filter(|(gate, _)| is_wide(&gate.gate) && self.shut.contains(gate));
        let stands = facts.gate_of(offer.slip.lot);
        let here = facts.passes.iter().filter(|(gate, _)| Some(gate) == stands);
        let mut asked = wide.chain(here).chain(&facts.passes);
        let is_shut = |(gate, part): &&(GateRef, mainspring_core::gate::Part)| {
            let ask = Ask { now: self.house.now, weight: facts.weight, part: *part };
            self.shut.contains(gate) || !self.house.is_open(gate, ask)
        };
        asked.find(is_shut).map(|(gate, _)| gate.clone())
    }

    async fn write(&self, picks: &[(usize, Slip)]) -> Result<(), Fault> {
        let gone: HashSet<JobId> = picks.iter().map(|(_, slip)| slip.id).collect();
        let stands = self.stands.iter().filter(|(id, _)| !gone.contains(id));
        let (ids, lots): (Vec<Uuid>, Vec<i64>) = stands.map(|(id, lot)| (id.uuid(), *lot)).unzip();
        if !ids.is_empty() {
            ask(self.txn, include_str!("../sql/limits_lots.sql"), &[&ids, &lots]).await?;
        }
        self.house.write(self.txn).await
    }
}
