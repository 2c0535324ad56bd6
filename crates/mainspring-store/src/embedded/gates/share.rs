//! Whose turn it is among the tenants of a queue name, and what each of them offers. Survives no reopen: all turns are equal
//! then.
//!
//! Gates belong to tenants, so what happens to one tenant changes nothing for the others: from one job to the next, only the
//! lines of those are asked again who were served, or found a gate shut.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::gate::{Share, Turn};
use mainspring_core::name::TenantName;
use mainspring_core::rank::Rank;
use mainspring_core::store::Result;

use super::walk::{self, Asked, Head, Request};

/// The tenants of one queue name.
#[derive(Debug, Default)]
pub struct Line {
    share: Share,
    turns: BTreeMap<TenantName, Turn>,
    /// Who had something that could go when it was last asked whose turn it is.
    had: BTreeSet<TenantName>,
}

impl Line {
    fn turn(&self, tenant: &TenantName) -> Turn {
        self.turns.get(tenant).copied().unwrap_or_default()
    }
}

/// What the tenants of one asked name offer.
struct Name<'t> {
    line: Line,
    /// In the order of tenants.
    offers: Vec<Offer<'t>>,
    /// Where in it each tenant is, by number.
    places: BTreeMap<u32, usize>,
    /// Those who have something that could go.
    order: BTreeSet<(Turn, usize)>,
}

struct Offer<'t> {
    tenant: TenantName,
    weight: u32,
    line: walk::Line<'t>,
    best: Option<(Rank, Head)>,
    /// The turn under which it is in the order.
    in_order: Option<Turn>,
}

/// The queues of one asked name, in the order of tenants, and the turns of these.
pub struct Shared {
    pub queues: Vec<u32>,
    pub line: Line,
}

/// The jobs that can go, each name's by turns and the best of the names first; they have entered their gates. The turns come
/// back in the order of names.
pub fn take<'t>(request: &mut Request<'t>, names: Vec<Shared>, max: usize) -> Result<(Vec<Head>, Vec<Line>)> {
    let mut names = names.into_iter().map(|shared| Name::new(request, shared)).collect::<Result<Vec<_>>>()?;
    let mut heads = Vec::new();
    let mut again: Option<BTreeSet<u32>> = None;
    while heads.len() < max {
        for name in &mut names {
            match &again {
                None => name.ask_all(request)?,
                Some(tenants) => tenants.iter().try_for_each(|tenant| name.ask_again(request, tenant))?,
            }
        }
        let offers = names.iter().enumerate().filter_map(|(at, name)| Some((name.offer()?, at)));
        let Some((_, at)) = offers.min() else { break };
        let head = names[at].serve();
        request.enter(&head);
        heads.push(head);
        let mut tenants = std::mem::take(&mut request.held_back);
        tenants.insert(request.queues[head.slip.queue as usize].tenant);
        again = Some(tenants);
    }
    if max > 0 {
        names.iter_mut().for_each(Name::note_who_had);
    }
    Ok((heads, names.into_iter().map(|name| name.line).collect()))
}

impl<'t> Name<'t> {
    fn new(request: &mut Request<'t>, shared: Shared) -> Result<Name<'t>> {
        let mut offers = Vec::with_capacity(shared.queues.len());
        let mut places = BTreeMap::new();
        for number in shared.queues {
            let line = walk::Line::new(request, &[number])?;
            let queue = &request.queues[number as usize];
            let tenant = queue.name.tenant.clone();
            places.insert(queue.tenant, offers.len());
            let weight = request.gates.weight_of(&tenant);
            offers.push(Offer { tenant, weight, line, best: None, in_order: None });
        }
        Ok(Name { line: shared.line, offers, places, order: BTreeSet::new() })
    }

    /// The first round: who had nothing last time joins.
    fn ask_all(&mut self, request: &mut Request<'t>) -> Result<()> {
        for (at, offer) in self.offers.iter_mut().enumerate() {
            offer.best = walk::next_to_go(request, &mut offer.line)?;
            if offer.best.is_none() {
                continue;
            }
            let turn = self.line.turn(&offer.tenant);
            let turn =
                if self.line.had.contains(&offer.tenant) { turn } else { self.line.share.join(turn, offer.weight) };
            self.line.turns.insert(offer.tenant.clone(), turn);
            offer.in_order = Some(turn);
            self.order.insert((turn, at));
        }
        Ok(())
    }

    /// Later rounds: what a tenant offers may have been taken, or not be let in any more.
    fn ask_again(&mut self, request: &mut Request<'t>, tenant: &u32) -> Result<()> {
        let Some(&at) = self.places.get(tenant) else { return Ok(()) };
        let offer = &mut self.offers[at];
        if let Some(turn) = offer.in_order.take() {
            self.order.remove(&(turn, at));
        }
        offer.best = match offer.best.take() {
            None => walk::next_to_go(request, &mut offer.line)?,
            Some((rank, head)) => match request.ask(&offer.line, rank, &head)? {
                Asked::CanGo => Some((rank, head)),
                Asked::Stays => walk::next_to_go(request, &mut offer.line)?,
                Asked::AllStay => {
                    offer.line.drop_source();
                    walk::next_to_go(request, &mut offer.line)?
                }
                Asked::Enough => None,
            },
        };
        if offer.best.is_some() {
            let turn = self.line.turn(&offer.tenant);
            offer.in_order = Some(turn);
            self.order.insert((turn, at));
        }
        Ok(())
    }

    fn note_who_had(&mut self) {
        self.line.had = self.order.iter().map(|&(_, at)| self.offers[at].tenant.clone()).collect();
    }

    /// The rank of what the tenant offers whose turn it is.
    fn offer(&self) -> Option<Rank> {
        let &(_, at) = self.order.first()?;
        self.offers[at].best.map(|(rank, _)| rank)
    }

    /// Gives it away, at the cost of its weight.
    fn serve(&mut self) -> Head {
        let &(turn, at) = self.order.first().expect("it made the best offer");
        let offer = &mut self.offers[at];
        let (_, head) = offer.best.take().expect("it made the best offer");
        let turn = self.line.share.charge(turn, offer.weight, head.slip.ways.weight);
        self.line.turns.insert(offer.tenant.clone(), turn);
        head
    }
}
