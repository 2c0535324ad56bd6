//! What the leader does beside what every node does: it says who is to have which segment. Moves no seat itself.

use std::time::Duration;

use mainspring_core::id::NodeId;
use mainspring_core::seats::{self, Assign, Assigned, Assignment, NodeInfo, Roll, Seat, Term};
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeup;

use super::Ownership;
use crate::error::Result;

/// Nodes that were not seen for so long are forgotten. Until then people can see that there was one, and what it was.
const NODE_REMEMBERED: Duration = Duration::from_secs(3600);

impl Ownership {
    /// The leader's term, if that is this node: it was, or the seat is free.
    pub(super) async fn leader(&self, now: Time, until: Time, roll: &Roll) -> Result<Option<Term>> {
        let node = &self.node;
        match roll.term(Seat::Leader) {
            Some(term) if term.holder == node.id && !term.is_given_up() => return Ok(Some(*term)),
            Some(term) if term.until > now => return Ok(None),
            _ => {}
        }
        let taken = node.seats.take(now, node.id, vec![Seat::Leader], until).await?;
        let ours = taken.into_iter().find(|term| term.holder == node.id);
        if ours.is_some() {
            tracing::info!("this node leads");
            self.count_failovers(roll, &[Seat::Leader]);
        }
        Ok(ours)
    }

    /// Shares the segments out among those who are there. `None` if another leads by now.
    pub(super) async fn share_out(
        &self,
        now: Time,
        lead: Term,
        ours: &NodeInfo,
        roll: &Roll,
    ) -> Result<Option<Assignment>> {
        let node = &self.node;
        let before: Assignment = roll.assigned.iter().copied().collect();
        let takes_seats =
            |view: &&seats::NodeView| view.is_live(now) && view.info.willing && ours.mismatch(&view.info).is_none();
        let nodes: Vec<NodeId> = roll.nodes.iter().filter(takes_seats).map(|view| view.info.id).collect();
        let after = seats::assign(&before, &nodes);
        let forget_before = now.before(NODE_REMEMBERED);
        let is_old = roll.nodes.iter().any(|view| view.seen_at < forget_before);
        if after == before && !is_old {
            return Ok(Some(after));
        }
        let to: Vec<_> = after.iter().filter(|(segment, to)| before.get(segment) != Some(to)).collect();
        tracing::info!(nodes = nodes.len(), moves = to.len(), "shares the segments out");
        let to = to.into_iter().map(|(&segment, &to)| (segment, to)).collect();
        match node.seats.assign(now, Assign { warrant: lead.warrant(), to, forget_before }).await? {
            Assigned::Deposed => Ok(None),
            Assigned::Done => {
                // When the others are slow to hear, they find it when they renew.
                let _ = node.hints.try_send(vec![Wakeup::Seats]);
                Ok(Some(after))
            }
        }
    }
}
