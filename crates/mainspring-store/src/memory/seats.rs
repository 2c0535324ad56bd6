//! The seats of nodes within one process, beside the jobs: what is written in a seat's name is checked where it is
//! written. Assigns nothing.

use async_trait::async_trait;
use mainspring_core::id::NodeId;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::Memory;

#[async_trait]
impl Seats for Memory {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        self.book().roster.renew(now, node, until)
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        let roster = &mut self.book().roster;
        Ok(seats.into_iter().map(|seat| roster.take(now, node, seat, until)).collect())
    }

    async fn give_up(&self, _: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        let roster = &mut self.book().roster;
        seats.into_iter().for_each(|seat| roster.give_up(node, seat));
        Ok(())
    }

    async fn assign(&self, _: Time, assign: Assign) -> Result<Assigned> {
        Ok(self.book().roster.assign(assign))
    }

    async fn leave(&self, _: Time, node: NodeId) -> Result<()> {
        self.book().roster.leave(node);
        Ok(())
    }

    async fn roll(&self) -> Result<Roll> {
        Ok(self.book().roster.roll())
    }

    /// It reads no clock.
    async fn clock(&self) -> Result<Option<Time>> {
        Ok(None)
    }
}
