//! The seats seam: which node may act in whose name. One node holds a seat for a term; the epoch rises when the
//! holder changes. Assigns nothing: the leader does that.

use async_trait::async_trait;

use crate::id::NodeId;
use crate::segment::Segment;
use crate::store::Result;
use crate::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seat {
    Leader,
    Segment(Segment),
}

/// A hold on a seat until an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub seat: Seat,
    pub holder: NodeId,
    pub epoch: u64,
    pub until: Time,
}

#[async_trait]
pub trait Seats: Send + Sync + std::fmt::Debug {
    /// Takes each seat that is free, past its term or already ours, until `until`; answers the term that now stands,
    /// whoever holds it, in the order asked.
    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>>;

    /// Gives up every seat of a node.
    async fn leave(&self, now: Time, node: NodeId) -> Result<()>;

    /// Every term that was ever taken, by seat; some may be over.
    async fn terms(&self) -> Result<Vec<Term>>;
}
