//! Who is there and who holds which seat, as the stores of one process keep it. Reads no clock, and keeps nothing by
//! itself: a store that is durable writes down what changed.

use std::collections::BTreeMap;

use mainspring_core::id::NodeId;
use mainspring_core::limits;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, NodeView, Roll, Seat, Term, Warrant};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::{Error, Promote, Result};
use mainspring_core::time::Time;

#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    nodes: BTreeMap<NodeId, NodeView>,
    terms: BTreeMap<Seat, Term>,
    assigned: BTreeMap<Segment, NodeId>,
}

/// What must outlive the process: whose a seat was last, at which epoch, and who is to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    pub held: Option<(NodeId, u64)>,
    pub assigned: Option<NodeId>,
}

impl Roster {
    /// What was kept, in a process of its own: no node is there, and every term is over.
    pub fn of(kept: impl IntoIterator<Item = (Seat, Kept)>) -> Roster {
        let mut roster = Roster::default();
        for (seat, Kept { held, assigned }) in kept {
            let term = held.map(|(holder, epoch)| Term { seat, holder, epoch, until: Term::GIVEN_UP });
            roster.terms.extend(term.map(|term| (seat, term)));
            roster.assigned.extend(seat.segment().zip(assigned));
        }
        roster
    }

    pub fn kept(&self) -> BTreeMap<Seat, Kept> {
        let kept = |seat: Seat| {
            let held = self.terms.get(&seat).map(|term| (term.holder, term.epoch));
            Kept { held, assigned: seat.segment().and_then(|segment| self.assigned.get(&segment).copied()) }
        };
        Seat::all().map(|seat| (seat, kept(seat))).collect()
    }

    pub fn renew(&mut self, now: Time, info: NodeInfo, until: Time) -> Result<Roll> {
        let id = info.id;
        if !self.nodes.contains_key(&id) && self.nodes.len() >= limits::NODES_MAX {
            return Err(Error::Invalid(format!(
                "there are {} nodes, which is the limit (NODES_MAX); stop some, or wait until those that are gone are \
                 forgotten",
                self.nodes.len()
            )));
        }
        self.nodes.insert(id, NodeView { info, seen_at: now, until });
        self.held_by(id).filter(|term| !term.is_given_up()).for_each(|term| term.until = until);
        Ok(self.roll())
    }

    pub fn take(&mut self, now: Time, node: NodeId, seat: Seat, until: Time) -> Term {
        let term = self.terms.entry(seat).or_insert(Term { seat, holder: node, epoch: 1, until });
        if term.holder == node {
            term.until = until;
        } else if term.until <= now {
            *term = Term { seat, holder: node, epoch: term.epoch + 1, until };
        }
        *term
    }

    /// The term stays, and is over: the next holder's epoch is counted from it. Over for every clock, not only for the giver's.
    pub fn give_up(&mut self, node: NodeId, seat: Seat) {
        if let Some(term) = self.terms.get_mut(&seat).filter(|term| term.holder == node) {
            term.until = Term::GIVEN_UP;
        }
    }

    pub fn leave(&mut self, node: NodeId) {
        self.held_by(node).for_each(|term| term.until = Term::GIVEN_UP);
        self.nodes.remove(&node);
    }

    pub fn assign(&mut self, assign: Assign) -> Assigned {
        if !self.stands(Some(assign.warrant)) {
            return Assigned::Deposed;
        }
        self.assigned.extend(assign.to);
        self.nodes.retain(|_, node| node.seen_at >= assign.forget_before);
        Assigned::Done
    }

    pub fn roll(&self) -> Roll {
        Roll {
            nodes: self.nodes.values().cloned().collect(),
            terms: self.terms.values().copied().collect(),
            assigned: self.assigned.iter().map(|(&segment, &node)| (segment, node)).collect(),
        }
    }

    /// Whether something may be done in this name.
    pub fn stands(&self, warrant: Option<Warrant>) -> bool {
        warrant.is_none_or(|warrant| warrant.epoch == self.epoch(warrant.seat))
    }

    /// Those of the segments that a promote asks for and may not have.
    pub fn refused(&self, ask: &Promote) -> Segments {
        ask.warrants.refused(ask.segments, |segment| self.epoch(Seat::Segment(segment)))
    }

    /// Zero if nobody ever took it.
    fn epoch(&self, seat: Seat) -> u64 {
        self.terms.get(&seat).map_or(0, |term| term.epoch)
    }

    fn held_by(&mut self, node: NodeId) -> impl Iterator<Item = &mut Term> {
        self.terms.values_mut().filter(move |term| term.holder == node)
    }
}
