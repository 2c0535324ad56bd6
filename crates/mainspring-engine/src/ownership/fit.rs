//! Whether this node may work with those that are there. One that may not takes no seats, and says why; it never makes another go.

use mainspring_core::seats::{NodeInfo, NodeView, Roll};
use mainspring_core::time::Time;

use super::Ownership;
use crate::error::{Error, Result};

impl Ownership {
    /// Of two nodes that do not fit, the later one stays away. Whoever goes by the common time stays away from one that does not.
    pub(super) async fn check_fit(&self, now: Time, ours: &NodeInfo, roll: &Roll) -> Result<()> {
        let others = || roll.nodes.iter().filter(|view| view.info.id != ours.id && view.is_live(now));
        let mismatch = others().filter(|view| ours.came_after(&view.info)).find_map(|view| ours.mismatch(&view.info));
        // Every other node of a store that has a clock measures its own.
        let apart = others().find(|view| ours.skew_ms.is_some() && view.info.skew_ms.is_none());
        match mismatch.map(|mismatch| mismatch.to_string()).or_else(|| apart.map(beside_a_virtual_clock)) {
            None => Ok(()),
            Some(why) => self.stay_away(now, why).await,
        }
    }

    /// A clock that is moved in this process is nobody else's time, so nobody else may be there. Looked at before others can see
    /// this node, and by the store's clock too: by its own, everybody may be long gone.
    pub(super) async fn check_alone(&self, now: Time) -> Result<()> {
        let node = &self.node;
        let stores = node.seats.clock().await?.unwrap_or(now);
        let roll = node.seats.roll().await?;
        let other = roll.nodes.iter().find(|view| view.info.id != node.id && view.until > now.min(stores));
        match other {
            None => Ok(()),
            Some(other) => self.stay_away(now, with_a_virtual_clock(other)).await,
        }
    }

    async fn stay_away(&self, now: Time, why: String) -> Result<()> {
        self.node.holdings.drop_all();
        self.node.seats.leave(now, self.node.id).await?;
        Err(Error::Mismatch(why))
    }
}

/// Time is one for all who share a store: what is due for one node would be far away for another.
fn with_a_virtual_clock(other: &NodeView) -> String {
    format!(
        "this node goes by a virtual clock, which other nodes cannot see, and {} shares its store; stop that node, or start \
         this one without --virtual-clock",
        named(other)
    )
}

fn beside_a_virtual_clock(other: &NodeView) -> String {
    format!(
        "{} shares the store of this node and goes by a virtual clock, which other nodes cannot see; stop one of the two",
        named(other)
    )
}

fn named(node: &NodeView) -> String {
    let address = node.info.address.as_deref().unwrap_or("an unknown address");
    format!("node {} ({}, at {address})", node.info.id.0, node.info.version)
}
