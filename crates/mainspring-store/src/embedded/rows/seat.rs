//! What is kept of a seat. At most as many rows as there are seats, read whole at start.

use mainspring_core::id::NodeId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::roster::Kept;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeatRow {
    /// Whose it was last, and at which epoch.
    pub held: Option<([u8; 16], u64)>,
    pub assigned: Option<[u8; 16]>,
}

impl SeatRow {
    pub fn of(kept: Kept) -> SeatRow {
        SeatRow {
            held: kept.held.map(|(holder, epoch)| (holder.0.into_bytes(), epoch)),
            assigned: kept.assigned.map(|node| node.0.into_bytes()),
        }
    }

    pub fn kept(&self) -> Kept {
        let node = |bytes| NodeId(Uuid::from_bytes(bytes));
        Kept { held: self.held.map(|(holder, epoch)| (node(holder), epoch)), assigned: self.assigned.map(node) }
    }
}
