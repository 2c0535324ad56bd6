//! How stores break what they promise about seats, to show that lockstep can fail. For tests alone.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::NodeId;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::flawed::{Flaw, Flawed};

/// The seats of a flawed store.
#[derive(Debug)]
pub struct FlawedSeats(pub Arc<Flawed>);

#[async_trait]
impl Seats for FlawedSeats {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        self.0.store.renew(now, node, until).await
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        self.0.store.take(now, node, seats, until).await
    }

    async fn give_up(&self, now: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        match self.0.has(Flaw::KeepsWhatIsGivenUp) {
            true => Ok(()),
            false => self.0.store.give_up(now, node, seats).await,
        }
    }

    async fn assign(&self, now: Time, mut assign: Assign) -> Result<Assigned> {
        let stands = self.0.store.roll().await?.term(assign.warrant.seat).map(Term::warrant);
        if let (true, Some(stands)) = (self.0.has(Flaw::AssignsForAnybody), stands) {
            assign.warrant = stands;
        }
        self.0.store.assign(now, assign).await
    }

    async fn leave(&self, now: Time, node: NodeId) -> Result<()> {
        self.0.store.leave(now, node).await
    }

    async fn roll(&self) -> Result<Roll> {
        self.0.store.roll().await
    }

    async fn clock(&self) -> Result<Option<Time>> {
        Ok(None)
    }
}
