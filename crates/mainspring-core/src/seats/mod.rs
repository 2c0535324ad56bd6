//! The seats seam: which node may act in whose name. One node holds a seat for a term; the epoch rises when the
//! holder changes. Decides nothing about time: clocks say when a term is over, epochs say whose it is.
//!
//! - [`Seats`]: what a store remembers of nodes, terms and the leader's assignment. The store that keeps them is the one
//!   that checks a [`Warrant`] at every write made in a seat's name.
//! - [`NodeInfo`] and [`Roll`] (`node`): who is there. [`assign`]: which node is to have which segment, decided purely.

mod assign;
mod node;
mod warrant;

use async_trait::async_trait;

use crate::id::NodeId;
use crate::segment::Segment;
use crate::store::Result;
use crate::time::Time;

pub use assign::{Assignment, assign};
pub use node::{Mismatch, NodeInfo, NodeView, PROTOCOL, Role, Roles, Roll, Unfit, UnknownRole};
pub use warrant::{Warrant, Warrants};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seat {
    Leader,
    Segment(Segment),
}

impl Seat {
    pub const COUNT: usize = 1 + Segment::COUNT as usize;

    pub fn all() -> impl Iterator<Item = Seat> {
        [Seat::Leader].into_iter().chain(Segment::all().map(Seat::Segment))
    }

    pub fn segment(self) -> Option<Segment> {
        match self {
            Seat::Leader => None,
            Seat::Segment(segment) => Some(segment),
        }
    }
}

/// A hold on a seat until an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub seat: Seat,
    pub holder: NodeId,
    /// The first is 1.
    pub epoch: u64,
    /// [`Term::GIVEN_UP`] if its holder gave it up and nobody has taken it since.
    pub until: Time,
}

impl Term {
    /// Over for every clock. A renewal does not bring it back: whoever wants it takes it.
    pub const GIVEN_UP: Time = Time::ZERO;

    pub fn is_given_up(&self) -> bool {
        self.until == Term::GIVEN_UP
    }

    pub fn warrant(&self) -> Warrant {
        Warrant { seat: self.seat, epoch: self.epoch }
    }
}

/// What the leader decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    /// Of the leader seat.
    pub warrant: Warrant,
    /// These are to have these segments; what is not named stays as it was.
    pub to: Vec<(Segment, NodeId)>,
    /// Nodes that were not seen since are forgotten.
    pub forget_before: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned {
    Done,
    /// Somebody else leads by now: nothing happened.
    Deposed,
}

#[async_trait]
pub trait Seats: Send + Sync + std::fmt::Debug {
    /// A node says that it lives, and what it is; every seat that it holds, and did not give up, is its own until `until`.
    /// Answers all that is known. One node more than [`crate::limits::NODES_MAX`] is refused.
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll>;

    /// Takes each seat that is free, past its term or already ours, until `until`; answers the term that now stands,
    /// whoever holds it, in the order asked.
    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>>;

    /// Gives up those of these seats that the node holds: their terms are over, and anybody may take them.
    async fn give_up(&self, now: Time, node: NodeId, seats: Vec<Seat>) -> Result<()>;

    /// Writes down who is to have which segment. Moves no seat: its holder gives it up, or its term ends.
    async fn assign(&self, now: Time, assign: Assign) -> Result<Assigned>;

    /// Gives up every seat of a node, and forgets that it was there.
    async fn leave(&self, now: Time, node: NodeId) -> Result<()>;

    /// All that is known. Changes nothing.
    async fn roll(&self) -> Result<Roll>;

    /// The store's own clock, if it has one: nodes measure theirs against it.
    async fn clock(&self) -> Result<Option<Time>>;
}
