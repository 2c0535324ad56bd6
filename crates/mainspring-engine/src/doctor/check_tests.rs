//! Each check says what is wrong, where, and what to do, from the right fact on and not before.

use mainspring_core::id::{NodeId, WorkerId};
use mainspring_core::name::QueueRef;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::placement::Placement;
use mainspring_core::rank::Aging;
use mainspring_core::seats::{NodeInfo, NodeView, PROTOCOL, Roles, Term};
use mainspring_core::segment::Segments;
use mainspring_core::store::{Counts, Order, WorkerInfo};
use uuid::Uuid;

use super::*;

const NOW: Time = Time::from_millis(1_000_000);
const TERM: Duration = Duration::from_secs(10);

/// Says what, where, and what to do unless all is well.
fn sound(finding: &Ailment, expected: Severity) {
    assert_eq!(finding.severity, expected, "{finding:?}");
    assert!(!finding.what.is_empty() && !finding.place.is_empty(), "{finding:?}");
    assert_eq!(finding.remedy.is_empty(), expected == Severity::Ok, "{finding:?}");
}

fn node(number: u128, skew_ms: Option<i64>, version: &str, is_live: bool) -> ClusterNode {
    let info = NodeInfo {
        id: NodeId(Uuid::from_u128(number)),
        address: Some(format!("10.0.0.{number}:7710")),
        roles: Roles::ALL,
        version: version.into(),
        protocol: PROTOCOL,
        segments: Segment::COUNT,
        shards: 0,
        started_at: Time::ZERO,
        skew_ms,
        willing: true,
    };
    let view = NodeView { info, seen_at: NOW, until: NOW };
    ClusterNode { view, is_live, leads: false, holds: Segments::default(), assigned: Segments::default(), unfit: None }
}

fn cluster(nodes: Vec<ClusterNode>, leader: Option<Term>) -> ClusterView {
    let skew_max = Duration::from_millis(500);
    ClusterView {
        node: NodeId(Uuid::nil()),
        now: NOW,
        leader,
        nodes,
        segments: Vec::new(),
        skew_max,
        placement: Placement::ONE,
    }
}

fn term(seat: Seat, until: Time) -> Term {
    Term { seat, holder: NodeId(Uuid::from_u128(1)), epoch: 1, until }
}

#[test]
fn a_cluster_that_nobody_leads_is_critical() {
    sound(&leader(&cluster(vec![], None)), Severity::Critical);
    sound(&leader(&cluster(vec![], Some(term(Seat::Leader, NOW)))), Severity::Ok);
}

#[test]
fn a_segment_that_nobody_held_for_a_term_is_critical_and_one_on_its_way_is_not() {
    let check = |first_until: Time, expected: Severity, named: &str| {
        let until = |segment: Segment| if segment.index() == 0 { first_until } else { NOW.after(TERM) };
        let terms = Segment::all().map(|segment| term(Seat::Segment(segment), until(segment))).collect();
        let finding = segments(&Roll { terms, ..Roll::default() }, NOW, TERM);
        sound(&finding, expected);
        assert_eq!(finding.place, named);
    };
    check(NOW.after(TERM), Severity::Ok, CLUSTER);
    check(NOW, Severity::Notice, "segments 0");
    check(Term::GIVEN_UP, Severity::Notice, "segments 0");
    check(NOW.before(TERM), Severity::Critical, "segments 0");
    sound(&segments(&Roll::default(), NOW, TERM), Severity::Notice);
}

#[test]
fn a_clock_is_told_of_before_it_is_too_far_off() {
    let check = |skew_ms: Option<i64>, is_live: bool, expected: Severity| {
        let found = clocks(&cluster(vec![node(1, skew_ms, "1", is_live)], None));
        assert_eq!(found.len(), 1);
        sound(&found[0], expected);
        assert_eq!(found[0].place.contains("10.0.0.1:7710"), expected > Severity::Ok, "{found:?}");
    };
    check(None, true, Severity::Ok);
    check(Some(250), true, Severity::Ok);
    check(Some(-251), true, Severity::Warning);
    check(Some(500), true, Severity::Warning);
    check(Some(501), true, Severity::Critical);
    check(Some(501), false, Severity::Ok);
}

#[test]
fn nodes_of_two_versions_are_worth_knowing_unless_one_is_gone() {
    let check = |is_live, expected| {
        let nodes = vec![node(1, None, "0.1.0", true), node(2, None, "0.2.0", is_live)];
        sound(&versions(&cluster(nodes, None)), expected);
    };
    check(true, Severity::Notice);
    check(false, Severity::Ok);
}

#[test]
fn jobs_that_were_not_made_ready_in_time_are_critical() {
    let agenda = |due: Vec<(Time, u64)>| Agenda { due, partial: false };
    sound(&overdue(&agenda(vec![]), NOW), Severity::Ok);
    let finding = overdue(&agenda(vec![(NOW.before(TERM), 3), (NOW, 2)]), NOW);
    sound(&finding, Severity::Critical);
    assert!(finding.what.contains("5 jobs") && finding.what.contains("for 10s"), "{finding:?}");
}

#[test]
fn paused_queues_and_dead_letters_are_worth_knowing() {
    let queue = |name: &str, paused, ready, dead| QueueView {
        queue: QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::parse(name).unwrap() },
        paused,
        aging: Aging::DEFAULT,
        max_depth: None,
        counts: Counts { ready, dead, ..Counts::default() },
        oldest_ready_at: None,
    };
    let well = [queue("a", true, 0, 0), queue("b", false, 9, 0)];
    sound(&paused(&well), Severity::Ok);
    sound(&dead(&well), Severity::Ok);
    let mut many: Vec<QueueView> = (0..12).map(|number| queue(&format!("q{number}"), true, 2, 3)).collect();
    many.push(queue("z", false, 5, 0));
    let held = paused(&many);
    sound(&held, Severity::Notice);
    assert!(held.what.contains("12 queues") && held.what.contains("24 ready"), "{held:?}");
    assert!(held.place.starts_with("default/q0, ") && held.place.ends_with(" and 2 more"), "{held:?}");
    let letters = dead(&many);
    sound(&letters, Severity::Notice);
    assert!(letters.what.contains("36 jobs"), "{letters:?}");
}

#[test]
fn a_worker_that_is_silent_is_told_of_and_one_that_left_is_not() {
    let worker = |expires_at| WorkerView {
        id: WorkerId(Uuid::from_u128(5)),
        tenant: TenantName::default_tenant(),
        info: WorkerInfo { host: Some("h1".into()), ..WorkerInfo::default() },
        lease: TERM,
        registered_at: NOW,
        last_seen_at: NOW,
        expires_at,
        order: Order::Work,
        held: 4,
    };
    sound(&silent(&[worker(NOW.after(TERM)), worker(WorkerView::LEFT)], NOW), Severity::Ok);
    let finding = silent(&[worker(NOW)], NOW);
    sound(&finding, Severity::Warning);
    assert!(finding.what.contains("hold 4 jobs") && finding.place.contains("on h1"), "{finding:?}");
}

#[test]
fn a_store_that_does_not_answer_is_critical() {
    let health_with =
        |store_error| Health { ready: true, since: NOW, last_promote_at: NOW, last_sweep_at: NOW, store_error };
    sound(&health(&health_with(None)), Severity::Ok);
    sound(&health(&health_with(Some("gone".into()))), Severity::Critical);
    sound(&unasked("queues", &store::Error::Unavailable("gone".into())), Severity::Critical);
}
