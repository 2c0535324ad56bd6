//! What the facts of a node and its cluster mean. Pure: facts in, findings out, each with what to do.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_core::seats::{Roll, Seat};
use mainspring_core::segment::Segment;
use mainspring_core::store::{self, Agenda, Ailment, QueueView, Severity, WorkerView};
use mainspring_core::time::Time;

use crate::cluster::{ClusterNode, ClusterView};
use crate::health::Health;

/// A job that is due for longer and not ready is late.
pub(super) const OVERDUE: Duration = Duration::from_secs(5);
/// Names in one finding; more are counted.
const NAMES_SHOWN_MAX: usize = 10;

/// Where a finding of ours is.
const HERE: &str = "this node";
const CLUSTER: &str = "the cluster";

/// A fact that could not be had.
pub(super) fn unasked(name: &'static str, error: &store::Error) -> Ailment {
    Ailment {
        name,
        severity: Severity::Critical,
        what: format!("it could not be looked at: {error}"),
        place: "the store".into(),
        remedy: "see that the store is there and answers; then ask again".into(),
    }
}

pub(super) fn health(health: &Health) -> Ailment {
    let name = "store_answers";
    match &health.store_error {
        None => Ailment::well(name, "the store answers", HERE),
        Some(error) => Ailment {
            name,
            severity: Severity::Critical,
            what: format!("the store did not do what it was asked last: {error}"),
            place: HERE.into(),
            remedy: "do as the message says; the node goes on by itself once the store answers".into(),
        },
    }
}

pub(super) fn leader(view: &ClusterView) -> Ailment {
    let name = "leader";
    match view.leader {
        Some(term) => Ailment::well(name, format!("node {} leads", term.holder.0), CLUSTER),
        None => Ailment {
            name,
            severity: Severity::Critical,
            what: "nobody leads: segments of nodes that went are given to nobody".into(),
            place: CLUSTER.into(),
            remedy: "start a node with the role scheduler, and see that its clock is right (`mainspring cluster`)"
                .into(),
        },
    }
}

/// A segment changes hands within moments; one that nobody has held for a term is forgotten work.
pub(super) fn segments(roll: &Roll, now: Time, term: Duration) -> Ailment {
    let name = "vacant_segments";
    let until = |segment: Segment| roll.term(Seat::Segment(segment)).map(|term| term.until);
    let vacant: Vec<Segment> =
        Segment::all().filter(|segment| until(*segment).is_none_or(|until| until <= now)).collect();
    if vacant.is_empty() {
        return Ailment::well(name, "every segment has a node that acts for it", CLUSTER);
    }
    // One that was given up, or never held, does not tell since when; somebody takes it within a term.
    let is_old =
        |segment: &&Segment| until(**segment).is_some_and(|until| until > Time::ZERO && until.after(term) <= now);
    let old = vacant.iter().filter(is_old).count();
    let (severity, since) = match old {
        0 => (Severity::Notice, "at this moment".to_owned()),
        old => (Severity::Critical, format!("{old} of them for longer than a term ({term:?})")),
    };
    let names: Vec<String> = vacant.iter().map(|segment| segment.index().to_string()).collect();
    Ailment {
        name,
        severity,
        what: format!(
            "nobody acts for {} of {} segments, {since}: their jobs do not fall due",
            vacant.len(),
            Segment::COUNT
        ),
        place: format!("segments {}", listed(&names)),
        remedy:
            "ask again in some seconds; if it stays, start a node with the role scheduler, or mend the one that is \
                 assigned (`mainspring cluster`)"
                .into(),
    }
}

/// A node beyond the limit takes no seats; one beyond half of it is on its way there.
pub(super) fn clocks(view: &ClusterView) -> Vec<Ailment> {
    let name = "clock_skew";
    let off = |node: &ClusterNode| node.view.info.skew_ms.map(|ms| Duration::from_millis(ms.unsigned_abs()));
    let live = || view.nodes.iter().filter(|node| node.is_live);
    let found: Vec<Ailment> = live()
        .filter_map(|node| Some((node, off(node)?)))
        .filter(|(_, off)| *off > view.skew_max / 2)
        .map(|(node, off)| Ailment {
            name,
            severity: if off > view.skew_max { Severity::Critical } else { Severity::Warning },
            what: format!(
                "its clock is {off:?} {} the store's; beyond {:?} it takes no segments",
                if node.view.info.skew_ms.unwrap_or_default() > 0 { "ahead of" } else { "behind" },
                view.skew_max
            ),
            place: place(node),
            remedy: "set the clock of this machine by NTP (chrony, systemd-timesyncd)".into(),
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    let what = match live().filter_map(off).max() {
        Some(most) => format!("clocks are at most {most:?} off, {:?} are allowed", view.skew_max),
        None => "the store has no clock to compare with".to_owned(),
    };
    vec![Ailment::well(name, what, CLUSTER)]
}

/// Nodes may be replaced one by one; a mixture that stays is somebody's forgotten half.
pub(super) fn versions(view: &ClusterView) -> Ailment {
    let name = "versions";
    let live = || view.nodes.iter().filter(|node| node.is_live);
    let versions: BTreeSet<&str> = live().map(|node| node.view.info.version.as_str()).collect();
    if versions.len() <= 1 {
        return Ailment::well(name, "all nodes have one version", CLUSTER);
    }
    let names: Vec<String> = versions.iter().map(ToString::to_string).collect();
    Ailment {
        name,
        severity: Severity::Notice,
        what: format!("nodes of {} versions work together: {}", names.len(), listed(&names)),
        place: listed(&live().map(|node| format!("{} ({})", place(node), node.view.info.version)).collect::<Vec<_>>()),
        remedy: "finish the upgrade: restart the nodes of the older version with the newer one".into(),
    }
}

/// `agenda` is of jobs that should have been made ready [`OVERDUE`] ago.
pub(super) fn overdue(agenda: &Agenda, now: Time) -> Ailment {
    let name = "overdue_jobs";
    let count: u64 = agenda.due.iter().map(|(_, count)| count).sum();
    let Some((oldest, _)) = agenda.due.first().filter(|_| count > 0) else {
        return Ailment::well(name, format!("no job is due for longer than {OVERDUE:?} without being ready"), CLUSTER);
    };
    let more = if agenda.partial { "more than " } else { "" };
    Ailment {
        name,
        severity: Severity::Critical,
        what: format!("{more}{count} jobs are due and were not made ready, the first for {:?}", now.since(*oldest)),
        place: CLUSTER.into(),
        remedy: "see vacant_segments and store_answers; if both are well, add nodes with the role scheduler".into(),
    }
}

pub(super) fn paused(queues: &[QueueView]) -> Ailment {
    let name = "paused_queues";
    let held: Vec<&QueueView> = queues.iter().filter(|queue| queue.paused && queue.counts.ready > 0).collect();
    if held.is_empty() {
        return Ailment::well(name, "no queue with ready jobs is paused", CLUSTER);
    }
    let jobs: u64 = held.iter().map(|queue| queue.counts.ready).sum();
    Ailment {
        name,
        severity: Severity::Notice,
        what: format!("{} queues are paused with {jobs} ready jobs", held.len()),
        place: queue_names(&held),
        remedy: "if that is not meant: `mainspring queue resume NAME`".into(),
    }
}

pub(super) fn dead(queues: &[QueueView]) -> Ailment {
    let name = "dead_letters";
    let held: Vec<&QueueView> = queues.iter().filter(|queue| queue.counts.dead > 0).collect();
    if held.is_empty() {
        return Ailment::well(name, "there are no dead letters", CLUSTER);
    }
    let jobs: u64 = held.iter().map(|queue| queue.counts.dead).sum();
    Ailment {
        name,
        severity: Severity::Notice,
        what: format!("{jobs} jobs used up their attempts"),
        place: queue_names(&held),
        remedy: "look at them with `mainspring dead list`; then `mainspring dead replay` or `mainspring dead purge`"
            .into(),
    }
}

/// A worker that left is not silent.
pub(super) fn silent(workers: &[WorkerView], now: Time) -> Ailment {
    let name = "silent_workers";
    let is_silent = |worker: &&WorkerView| worker.expires_at != WorkerView::LEFT && worker.expires_at <= now;
    let silent: Vec<&WorkerView> = workers.iter().filter(is_silent).collect();
    if silent.is_empty() {
        return Ailment::well(name, "every worker was heard from within its lease", CLUSTER);
    }
    let jobs: u64 = silent.iter().map(|worker| worker.held).sum();
    let named = |worker: &&WorkerView| {
        let host = worker.info.host.as_deref().map(|host| format!(" on {host}")).unwrap_or_default();
        format!("{}{host}", worker.id.0)
    };
    Ailment {
        name,
        severity: Severity::Warning,
        what: format!("{} workers have not been heard from within their lease; they hold {jobs} jobs", silent.len()),
        place: listed(&silent.iter().map(named).collect::<Vec<_>>()),
        remedy: "see whether these processes and the network to them live; their jobs are given to others by the sweep"
            .into(),
    }
}

fn place(node: &ClusterNode) -> String {
    let info = &node.view.info;
    let address = info.address.as_deref().map(|address| format!(" at {address}")).unwrap_or_default();
    format!("node {}{address}", info.id.0)
}

fn queue_names(queues: &[&QueueView]) -> String {
    let names = queues.iter().map(|view| format!("{}/{}", view.queue.tenant, view.queue.queue));
    listed(&names.collect::<Vec<_>>())
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
