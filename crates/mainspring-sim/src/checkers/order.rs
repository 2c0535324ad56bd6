//! Promise 4: order is fair. The bound, in closed form: a job of priority p that is due at t and could go is overtaken only by jobs of
//! better rank, that is by those of priority q > p that fell due before t + (q − p) / age_factor; whoever falls due later never is. A deadline
//! counts as the priority it lifts a job to.
//!
//! So it is enough that no single claim passes over a better job. Of what it was offered, a request is given the best that could go, and in
//! the order of rank. A job could go unless one of its gates does not let it in, or has turned away a better one in the same request. A
//! claim for all tenants asks queue by queue: it keeps that order within each queue of each tenant, and a gate that has turned away anybody
//! in the request is shut. Whose turn it is between tenants is `turns`' business.

use std::collections::BTreeSet;

use mainspring_core::gate::GateRef;
use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Job};
use mainspring_core::rank::{Rank, lane};
use mainspring_core::store::{Claim, ClaimAnswer, Whose};
use mainspring_core::time::Time;

use super::past::{Gates, passes};
use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "order is fair";

#[derive(Debug)]
pub struct Order;

/// A job that a claim may come upon.
#[derive(Debug)]
pub struct Offer<'a> {
    pub rank: Rank,
    pub job: &'a Job,
}

/// One request of a call, and what the requests before it left.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub claim: &'a Claim,
    /// What it was given.
    pub jobs: &'a [Claimed],
    /// What others were given before.
    pub taken: &'a BTreeSet<JobId>,
    /// Before it.
    pub gates_before: &'a Gates,
    /// After it.
    pub gates: &'a Gates,
}

/// Shows the requests of a call one after the other, if there is anything to judge them by.
pub fn each_request(deed: &Deed<'_>, past: &Past, mut look: impl FnMut(Request<'_>)) {
    let (Ask::Claim(claims), Reply::Claim(answers)) = (deed.ask, deed.reply) else { return };
    if deed.before.ready.is_empty() {
        return;
    }
    let (mut gates, mut taken) = (past.gates.clone(), BTreeSet::new());
    for (claim, answer) in claims.iter().zip(answers) {
        let ClaimAnswer::Jobs(jobs) = answer else { continue };
        let gates_before = gates.clone();
        let known = jobs.iter().filter_map(|claimed| past.get(claimed.job.id));
        known.for_each(|known| gates.enter(deed.now, &known.job));
        look(Request { claim, jobs, taken: &taken, gates_before: &gates_before, gates: &gates });
        taken.extend(jobs.iter().map(|claimed| claimed.job.id));
    }
}

/// What a request was offered: best rank first.
pub fn offers<'a>(deed: &Deed<'_>, request: Request<'_>, past: &'a Past) -> Vec<Offer<'a>> {
    let claim = request.claim;
    let offer = |(id, ready_at): &(JobId, Time)| {
        let known = past.get(*id)?;
        let job = &known.job;
        let is_asked = claim.queues.contains(&job.queue) && (claim.whose == Whose::All || job.tenant == claim.tenant);
        let is_expired = known.tally.attempts == 0 && job.expires_at.is_some_and(|at| at <= deed.now);
        if !is_asked || is_expired || known.paused {
            return None;
        }
        let queue = past.queue(&job.queue_ref());
        let lane = lane(job.priority, *ready_at, job.deadline);
        (!queue.paused).then(|| Offer { rank: Rank::new(lane, *ready_at, queue.aging, job.id), job })
    };
    let ready = deed.before.ready.iter().filter(|(id, _)| !request.taken.contains(id));
    let mut offers: Vec<Offer<'_>> = ready.filter_map(offer).collect();
    offers.sort_by_key(|offer| offer.rank);
    offers
}

/// Those of the offers that were not given although nothing was in their way, when the gates were so after the request.
pub fn free<'a, 'b>(now: Time, offers: &'b [Offer<'a>], request: Request<'_>) -> Vec<&'b Offer<'a>> {
    let Request { claim, jobs, gates, .. } = request;
    let is_left = |offer: &&Offer<'_>| jobs.iter().all(|claimed| claimed.job.id != offer.job.id);
    let left = offers.iter().filter(is_left);
    if gates.are_all_open() {
        return left.collect();
    }
    // A gate lets in no more at the end of a request than it did on the way.
    let left: Vec<(&Offer<'a>, Vec<GateRef>)> =
        left.map(|offer| (offer, gates.hurdles(now, offer.job).into_iter().map(|(gate, _)| gate).collect())).collect();
    let mut shut: BTreeSet<&GateRef> = match claim.whose {
        Whose::Own => BTreeSet::new(),
        Whose::All => left.iter().flat_map(|(_, hurdles)| hurdles).collect(),
    };
    let mut free = Vec::new();
    for (offer, hurdles) in &left {
        if hurdles.is_empty() && !passes(offer.job).any(|(gate, _)| shut.contains(&gate)) {
            free.push(*offer);
        }
        shut.extend(hurdles);
    }
    free
}

impl Order {
    fn judge(&self, deed: &Deed<'_>, request: Request<'_>, past: &Past, findings: &mut Findings) {
        let Request { claim, jobs, .. } = request;
        let offers = offers(deed, request, past);
        let rank_of = |claimed: &Claimed| offers.iter().find(|offer| offer.job.id == claimed.job.id).map(|it| it.rank);
        if let Some(claimed) = jobs.iter().find(|claimed| rank_of(claimed).is_none()) {
            let id = claimed.job.id;
            findings.broken(deed.at, PROMISE, || format!("{id} was given, and was not on offer"));
            return;
        }
        for pair in jobs.windows(2) {
            if are_together(claim, &pair[0].job, &pair[1].job) && rank_of(&pair[0]) > rank_of(&pair[1]) {
                let [worse, better] = [pair[0].job.id, pair[1].job.id];
                findings.broken(deed.at, PROMISE, || format!("{worse} was given before {better}, which is better"));
            }
        }
        let passed_over = match claim.whose {
            Whose::Own => walk(deed.now, &offers, request),
            Whose::All => search(deed.now, &offers, request),
        };
        if let Some(offer) = passed_over {
            let (id, given) = (offer.job.id, jobs.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>());
            findings.broken(deed.at, PROMISE, || format!("{id} could have gone and was passed over, for {given:?}"));
        }
    }
}

/// Whether the order of rank holds between two jobs.
fn are_together(claim: &Claim, one: &Job, other: &Job) -> bool {
    claim.whose == Whose::Own || one.tenant == other.tenant && one.queue == other.queue
}

/// Goes through the line as a claim does, and finds the first that was passed over although it could have gone at that moment.
fn walk<'a, 'b>(now: Time, offers: &'b [Offer<'a>], request: Request<'_>) -> Option<&'b Offer<'a>> {
    let (mut gates, mut shut) = (request.gates_before.clone(), BTreeSet::new());
    let mut room = request.claim.max;
    for offer in offers {
        if room == 0 {
            break;
        }
        if request.jobs.iter().any(|claimed| claimed.job.id == offer.job.id) {
            gates.enter(now, offer.job);
            room -= 1;
            continue;
        }
        let hurdles = gates.hurdles(now, offer.job);
        if hurdles.is_empty() && !passes(offer.job).any(|(gate, _)| shut.contains(&gate)) {
            return Some(offer);
        }
        shut.extend(hurdles.into_iter().map(|(gate, _)| gate));
    }
    None
}

/// The same for a claim that asks queue by queue: who could have gone before a worse one of the same queue, or at the end.
fn search<'a, 'b>(now: Time, offers: &'b [Offer<'a>], request: Request<'_>) -> Option<&'b Offer<'a>> {
    let Request { claim, jobs, .. } = request;
    let free_at_end = free(now, offers, request);
    if jobs.len() < claim.max && !free_at_end.is_empty() {
        return free_at_end.into_iter().next();
    }
    let turned_away: BTreeSet<GateRef> = offers
        .iter()
        .filter(|offer| jobs.iter().all(|claimed| claimed.job.id != offer.job.id))
        .flat_map(|offer| request.gates.hurdles(now, offer.job))
        .map(|(gate, _)| gate)
        .collect();
    let mut gates = request.gates_before.clone();
    for (at, claimed) in jobs.iter().enumerate() {
        let better = offers.iter().take_while(|offer| offer.job.id != claimed.job.id);
        let passed_over = better
            .filter(|offer| are_together(claim, offer.job, &claimed.job))
            .filter(|offer| jobs[..at].iter().all(|before| before.job.id != offer.job.id))
            .filter(|offer| gates.hurdles(now, offer.job).is_empty())
            // Also one that only the worse job has filled was open to the better one.
            .find(|offer| {
                !passes(offer.job).any(|(gate, _)| {
                    turned_away.contains(&gate) && !passes(&claimed.job).any(|(entered, _)| entered == gate)
                })
            });
        if passed_over.is_some() {
            return passed_over;
        }
        gates.enter(now, &claimed.job);
    }
    None
}

impl Checker for Order {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        each_request(deed, past, |request| self.judge(deed, request, past, findings));
    }
}
