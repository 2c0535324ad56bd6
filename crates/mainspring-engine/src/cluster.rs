//! What people see of the cluster: who is there, who leads, who has which segment. Reads the store and changes nothing.

use std::time::Duration;

use mainspring_core::id::NodeId;
use mainspring_core::placement::Placement;
use mainspring_core::seats::{NodeView, Roll, Seat, Term, Unfit};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::time::Time;

use crate::error::Result;
use crate::node::Node;
use crate::ownership::skew_max;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterView {
    /// The node that was asked.
    pub node: NodeId,
    pub now: Time,
    /// The leader's term, unless it is over.
    pub leader: Option<Term>,
    /// By id, those that are gone and not yet forgotten included.
    pub nodes: Vec<ClusterNode>,
    pub segments: Vec<ClusterSegment>,
    /// The most that a node's clock may be off.
    pub skew_max: Duration,
    /// Over how many databases tenants and segments are spread.
    pub placement: Placement,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterNode {
    pub view: NodeView,
    pub is_live: bool,
    pub leads: bool,
    /// What it holds now.
    pub holds: Segments,
    /// What the leader wants it to hold.
    pub assigned: Segments,
    /// Why it cannot work with the node that was asked, if so.
    pub unfit: Option<Unfit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterSegment {
    pub segment: Segment,
    pub assigned: Option<NodeId>,
    /// `None` if nobody holds it.
    pub term: Option<Term>,
}

impl ClusterView {
    /// Segments that nobody acts for.
    pub fn vacant(&self) -> usize {
        self.segments.iter().filter(|segment| segment.term.is_none()).count()
    }
}

impl Node {
    pub(crate) async fn cluster(&self) -> Result<ClusterView> {
        let roll = self.seats.roll().await?;
        Ok(view(self, roll))
    }
}

pub(crate) fn view(asked: &Node, roll: Roll) -> ClusterView {
    let (node, now, placement) = (asked.id, asked.clock.now(), asked.settings.placement);
    let skew_max = skew_max(asked.settings.term);
    let standing = |seat: Seat| roll.term(seat).filter(|term| term.until > now).copied();
    let leader = standing(Seat::Leader);
    let assigned = |segment: Segment| roll.assigned.iter().find(|(it, _)| *it == segment).map(|&(_, to)| to);
    let segments: Vec<ClusterSegment> = Segment::all()
        .map(|segment| {
            let term = standing(Seat::Segment(segment));
            ClusterSegment { segment, assigned: assigned(segment), term }
        })
        .collect();
    let of = |wanted: &dyn Fn(&ClusterSegment) -> bool| -> Segments {
        segments.iter().filter(|segment| wanted(segment)).map(|segment| segment.segment).collect()
    };
    let ours = roll.node(node).map(|ours| &ours.info);
    let nodes = roll.nodes.iter().map(|view| {
        let id = view.info.id;
        ClusterNode {
            view: view.clone(),
            is_live: view.is_live(now),
            leads: leader.is_some_and(|term| term.holder == id),
            holds: of(&|segment| segment.term.is_some_and(|term| term.holder == id)),
            assigned: of(&|segment| segment.assigned == Some(id)),
            unfit: ours.and_then(|ours| view.info.unfit_for(ours)),
        }
    });
    ClusterView { node, now, leader, nodes: nodes.collect(), segments, skew_max, placement }
}
