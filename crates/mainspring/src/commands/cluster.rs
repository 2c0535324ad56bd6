//! `mainspring cluster`: who is there, who leads, who has how many segments.

use clap::Args;
use comfy_table::Table;
use mainspring_wire::{Cluster, ClusterNode};
use mainspring_worker::Client;

use crate::output::{Format, or_dash, table};

#[derive(Args, Debug)]
pub struct ClusterArgs {}

impl ClusterArgs {
    pub async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let cluster = client.cluster().await?;
        format.print(&cluster, nodes)?;
        if let Some(databases) = cluster.databases.filter(|_| format == Format::Table) {
            eprintln!("tenants and segments are spread over {databases} databases");
        }
        if cluster.vacant > 0 && format == Format::Table {
            eprintln!("{} of {} segments have nobody who acts for them", cluster.vacant, cluster.segments.len());
        }
        for node in cluster.nodes.iter().filter(|node| node.live && format == Format::Table) {
            if let Some(why) = &node.unfit {
                eprintln!(
                    "node {} does not fit: {why}; stop it, or start it with the same program and stores",
                    node.node_id
                );
            }
        }
        Ok(())
    }
}

fn nodes(cluster: &Cluster) -> Table {
    let mut rows = table(["NODE", "ADDRESS", "ROLES", "VERSION", "STATE", "SEGMENTS", "SKEW", "LAST SEEN"]);
    for node in &cluster.nodes {
        rows.add_row([
            node.node_id.to_string(),
            or_dash(node.address.as_ref()),
            node.roles.join(","),
            node.version.clone(),
            state(node).to_owned(),
            share(node),
            or_dash(node.skew_ms.map(|ms| format!("{ms:+} ms"))),
            node.last_seen_at.to_string(),
        ]);
    }
    rows
}

fn state(node: &ClusterNode) -> &'static str {
    match (node.live, node.leader, node.willing) {
        (false, ..) => "gone",
        _ if node.unfit.is_some() => "does not fit",
        (true, true, _) => "leads",
        (true, false, true) => "live",
        (true, false, false) => "live, takes no seats",
    }
}

/// What it has, and what it is to have while that differs.
fn share(node: &ClusterNode) -> String {
    match (node.segments.len(), node.assigned.len()) {
        (has, _) if node.segments == node.assigned => has.to_string(),
        (has, wants) => format!("{has} of {wants}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_wire::Timestamp;

    fn node(live: bool, leader: bool, segments: Vec<u8>) -> ClusterNode {
        ClusterNode {
            node_id: uuid::Uuid::nil(),
            address: None,
            roles: vec!["api".into(), "scheduler".into()],
            version: "0.1.0".into(),
            started_at: Timestamp::from_millis(0),
            last_seen_at: Timestamp::from_millis(0),
            live,
            leader,
            willing: live,
            skew_ms: Some(-12),
            segments,
            assigned: vec![1, 2],
            unfit: None,
        }
    }

    #[test]
    fn a_node_is_one_line_with_its_state_and_its_share() {
        let cluster = Cluster {
            node_id: uuid::Uuid::nil(),
            now: Timestamp::from_millis(0),
            leader: None,
            leader_epoch: None,
            vacant: 0,
            skew_max: mainspring_wire::Span::from_millis(500),
            databases: None,
            nodes: vec![node(true, true, vec![1, 2]), node(false, false, vec![1])],
            segments: vec![],
        };
        let shown = nodes(&cluster).to_string();
        let lines: Vec<String> =
            shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(lines[1].contains("api,scheduler 0.1.0 leads 2 -12 ms"), "{shown}");
        assert!(lines[2].contains("gone 1 of 2"), "{shown}");
    }
}
