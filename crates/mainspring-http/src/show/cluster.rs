//! The cluster as it is shown.

use mainspring_core::seats::{Role, Unfit};
use mainspring_core::segment::{Segment, Segments};
use mainspring_engine::{ClusterNode, ClusterSegment, ClusterView};
use mainspring_wire as wire;

use crate::convert::stamp;

pub(crate) fn cluster(view: &ClusterView) -> wire::Cluster {
    wire::Cluster {
        node_id: view.node.0,
        now: stamp(view.now),
        leader: view.leader.map(|term| term.holder.0),
        leader_epoch: view.leader.map(|term| term.epoch),
        vacant: view.vacant() as u32,
        skew_max: view.skew_max.into(),
        databases: Some(view.placement.count() as u32).filter(|&databases| databases > 1),
        nodes: view.nodes.iter().map(node).collect(),
        segments: view.segments.iter().map(segment).collect(),
    }
}

fn node(node: &ClusterNode) -> wire::ClusterNode {
    let info = &node.view.info;
    wire::ClusterNode {
        node_id: info.id.0,
        address: info.address.clone(),
        roles: info.roles.iter().map(Role::as_str).map(str::to_owned).collect(),
        version: info.version.clone(),
        started_at: stamp(info.started_at),
        last_seen_at: stamp(node.view.seen_at),
        live: node.is_live,
        leader: node.leads,
        willing: info.willing,
        skew_ms: info.skew_ms,
        segments: indexes(node.holds),
        assigned: indexes(node.assigned),
        unfit: node.unfit.map(unfit),
    }
}

fn unfit(unfit: Unfit) -> String {
    let Unfit { what, its, others } = unfit;
    format!("its {what} is {its}, that of the node that answers is {others}")
}

fn segment(segment: &ClusterSegment) -> wire::ClusterSegment {
    wire::ClusterSegment {
        segment: segment.segment.index(),
        node_id: segment.term.map(|term| term.holder.0),
        epoch: segment.term.map(|term| term.epoch),
        until: segment.term.map(|term| stamp(term.until)),
        assigned: segment.assigned.map(|node| node.0),
    }
}

fn indexes(segments: Segments) -> Vec<u8> {
    segments.iter().map(Segment::index).collect()
}
