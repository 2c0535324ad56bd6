//! Holds this node's seats: takes what the leader assigned to it, renews, gives up the rest, and stops acting before a
//! term that it cannot renew ends. If nobody leads, it leads.
//!
//! - `holdings`: what the node may act for. `lead`: the leader's duty. `skew`: whether the clock is fit for it. `fit`: whether the node
//!   may work with those that are there.
//!
//! One tick is one look at the roll. A node that is alone leads, assigns everything to itself and takes it, in its first tick;
//! after that a tick is one renewal. Where another node's term is about to end, or something is still to be handed over, the
//! next tick comes sooner.

mod fit;
mod holdings;
mod lead;
mod skew;

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::NodeId;
use mainspring_core::seats::{Assignment, NodeInfo, PROTOCOL, Role, Roll, Seat, Term};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeup;

use crate::actor::Actor;
use crate::error::Result;
use crate::node::Node;

pub(crate) use holdings::Holdings;
use skew::Skew;
pub(crate) use skew::skew_max;

/// A term is renewed after this part of it …
const RENEW_PART: u32 = 3;
/// … and this part of it, at its end, is not used: the clocks of two nodes differ.
const MARGIN_PART: u32 = 10;
/// How soon a node looks again while seats are on their way from one node to another.
const HANDOVER_LOOK: Duration = Duration::from_millis(250);
/// Never sooner than this: do not ask in a circle.
const LOOK_MIN: Duration = Duration::from_millis(100);
/// The name under which trouble with the clock is shown.
const CLOCK: &str = "clock";

/// Whether the node still wants seats. Locked while it looks at them, so that whoever hands them over has the last word.
#[derive(Debug, Default)]
pub(crate) struct Post(tokio::sync::Mutex<Left>);

#[derive(Debug, Default)]
struct Left(bool);

#[derive(Debug)]
pub(crate) struct Ownership {
    pub(super) node: Arc<Node>,
}

impl Ownership {
    pub(crate) fn new(node: Arc<Node>) -> Ownership {
        Ownership { node }
    }

    /// What this node says of itself.
    fn info(&self, skew: Option<Skew>) -> NodeInfo {
        let settings = &self.node.settings;
        let too_far = skew.is_some_and(|skew| skew.exceeds(skew_max(settings.term)));
        NodeInfo {
            id: self.node.id,
            address: settings.address.clone(),
            roles: settings.roles,
            version: settings.version.clone(),
            protocol: PROTOCOL,
            segments: Segment::COUNT,
            shards: settings.shards,
            started_at: self.node.started_at,
            skew_ms: skew.map(|skew| skew.ahead_ms),
            willing: settings.roles.has(Role::Scheduler) && !too_far,
        }
    }

    /// Says it when the clock is too far off, and when it is right again.
    fn tell_skew(&self, skew: Option<Skew>) {
        let node = &self.node;
        let Some(skew) = skew else { return };
        node.meters.clock_skew.set(skew.ahead_ms as f64 / 1_000.0);
        let max = skew_max(node.settings.term);
        if !skew.exceeds(max) {
            if node.chart.fine(CLOCK) {
                tracing::info!("the clock is right again");
            }
            return;
        }
        let (ahead, off) = (skew.ahead_ms > 0, skew.ahead_ms.unsigned_abs());
        let side = if ahead { "ahead of" } else { "behind" };
        let why = format!(
            "the clock is {off} ms {side} the store's and may be {} ms off; this node takes no seats until it is set right",
            max.as_millis()
        );
        if node.chart.trouble(CLOCK, why.clone()) {
            tracing::warn!("{why}");
        }
    }

    /// Takes what is to be ours, gives up what is not, and acts for it from now on. Answers the terms of others on what is
    /// to be ours.
    async fn settle_in(&self, now: Time, wanted: Vec<Seat>, roll: &Roll) -> Result<Vec<Term>> {
        let node = &self.node;
        let until = now.after(node.settings.term);
        let (mut ours, surplus): (Vec<Term>, Vec<Term>) = roll
            .terms
            .iter()
            .filter(|term| term.holder == node.id && !term.is_given_up())
            .partition(|term| wanted.contains(&term.seat));
        if !surplus.is_empty() {
            // First of all: nothing is done any more for what is about to be another's.
            node.holdings.lose(surplus.iter().filter_map(|term| term.seat.segment()).collect());
            node.seats.give_up(now, node.id, surplus.iter().map(|term| term.seat).collect()).await?;
            let _ = node.hints.try_send(vec![Wakeup::Seats]);
        }
        let held: Vec<Seat> = ours.iter().map(|term| term.seat).collect();
        let missing: Vec<Seat> = wanted.into_iter().filter(|seat| !held.contains(seat)).collect();
        let mut others = Vec::new();
        if !missing.is_empty() {
            let taken = node.seats.take(now, node.id, missing, until).await?;
            let new: Vec<Term>;
            (new, others) = taken.into_iter().partition(|term| term.holder == node.id);
            self.count_failovers(roll, &new.iter().map(|term| term.seat).collect::<Vec<_>>());
            ours.extend(new);
        }
        self.act_for(now, &ours);
        Ok(others)
    }

    fn act_for(&self, now: Time, ours: &[Term]) {
        let node = &self.node;
        let until = ours.iter().map(|term| term.until).min().unwrap_or(Time::ZERO);
        let gained = node.holdings.hold(now, ours, until.before(node.settings.term / MARGIN_PART));
        node.meters.seats_held.set(ours.len() as f64);
        node.meters.leads.set(f64::from(u8::from(node.holdings.leads(now).is_some())));
        if gained {
            tracing::debug!(seats = ours.len(), "took seats");
            // Whoever had them may have left much undone.
            node.plan.look_again();
        }
    }

    /// Counts the seats among these that were taken because their holder's term ran out.
    fn count_failovers(&self, roll: &Roll, taken: &[Seat]) {
        let ran_out =
            |seat: &&Seat| roll.term(**seat).is_some_and(|term| term.holder != self.node.id && !term.is_given_up());
        self.node.meters.failovers.increment(taken.iter().filter(ran_out).count() as u64);
    }

    async fn look(&self, now: Time) -> Result<Time> {
        let node = &self.node;
        let term = node.settings.term;
        let (until, renew_at) = (now.after(term), now.after(term / RENEW_PART));
        if node.clock.is_apart() {
            self.check_alone(now).await?;
        }
        let skew = Skew::measure(&*node.clock, &*node.seats).await?;
        self.tell_skew(skew);
        let info = self.info(skew);
        let roll = node.seats.renew(now, info.clone(), until).await?;
        self.check_fit(now, &info, &roll).await?;
        if !info.willing {
            self.settle_in(now, vec![], &roll).await?;
            return Ok(renew_at);
        }

        let mut assigned: Assignment = roll.assigned.iter().copied().collect();
        let mut lead = self.leader(now, until, &roll).await?;
        if let Some(ours) = lead {
            match self.share_out(now, ours, &info, &roll).await? {
                Some(shared) => assigned = shared,
                None => lead = None,
            }
        }
        let mut renewed = roll;
        if let Some(ours) = lead {
            renewed.terms.retain(|term| term.seat != Seat::Leader);
            renewed.terms.push(ours);
        }
        let others = self.settle_in(now, wanted(node.id, lead, &assigned), &renewed).await?;
        let is_gone = |node: &NodeId| renewed.node(*node).is_none_or(|view| !view.is_live(now));
        let unsettled =
            !others.is_empty() || assigned.len() < usize::from(Segment::COUNT) || assigned.values().any(is_gone);
        let soon = if unsettled { now.after(HANDOVER_LOOK) } else { Time::MAX };
        let living = renewed.nodes.iter().filter(|view| view.info.id != node.id && view.is_live(now));
        let next_end = living.map(|view| view.until).min().unwrap_or(Time::MAX);
        Ok(renew_at.min(next_end).min(soon).max(now.after(LOOK_MIN)))
    }
}

/// The seats that a node is to have.
fn wanted(id: NodeId, lead: Option<Term>, assigned: &Assignment) -> Vec<Seat> {
    let segments = assigned.iter().filter(|(_, to)| **to == id).map(|(&segment, _)| Seat::Segment(segment));
    lead.iter().map(|term| term.seat).chain(segments).collect()
}

impl Node {
    /// The store said that these segments are another's by now.
    pub(crate) fn deposed(&self, segments: Segments) {
        if !segments.is_empty() {
            self.meters.deposed.increment(u64::from(segments.len()));
            self.holdings.lose(segments);
            self.ownership.notify_one();
        }
    }

    pub(crate) fn deposed_as_leader(&self) {
        self.meters.deposed.increment(1);
        self.holdings.lose_lead();
        self.ownership.notify_one();
    }

    /// Gives its seats to others and takes none any more.
    pub(crate) async fn hand_over(&self) -> mainspring_core::store::Result<()> {
        let mut left = self.post.0.lock().await;
        left.0 = true;
        self.holdings.drop_all();
        self.seats.leave(self.clock.now(), self.id).await?;
        self.wakeups.wake(vec![Wakeup::Seats]).await;
        Ok(())
    }
}

impl Actor for Ownership {
    const NAME: &'static str = "ownership";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        let node = self.node.clone();
        let left = node.post.0.lock().await;
        if left.0 {
            return Ok(Time::MAX);
        }
        self.look(now).await
    }
}
