//! The short words for nodes and their seats. Promises nothing itself.

use mainspring_core::id::{JobId, NodeId};
use mainspring_core::seats::{NodeInfo, PROTOCOL, Roles, Seat};
use mainspring_core::segment::Segment;

use super::{Stage, at};

/// Ids rise with the number.
pub fn node(number: u32) -> NodeId {
    NodeId(JobId::mint(at(0), number, Segment::wrap(0), 2).uuid())
}

pub fn info(number: u32) -> NodeInfo {
    NodeInfo {
        id: node(number),
        address: None,
        roles: Roles::ALL,
        version: "0.1.0".into(),
        protocol: PROTOCOL,
        segments: Segment::COUNT,
        shards: 0,
        started_at: at(0),
        skew_ms: None,
        willing: true,
    }
}

pub fn segment(index: u8) -> Segment {
    Segment::wrap(index)
}

pub fn seat(index: u8) -> Seat {
    Seat::Segment(segment(index))
}

impl Stage {
    /// This node takes these seats from whoever has them: their epochs rise.
    pub async fn depose(&self, number: u32, seats: Vec<Seat>) {
        let far = at(1_000_000_000);
        let terms = self.seats().take(far, node(number), seats, far).await.expect("take");
        assert!(terms.iter().all(|term| term.holder == node(number)), "{terms:?}");
    }
}
