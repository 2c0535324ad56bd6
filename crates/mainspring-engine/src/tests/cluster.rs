//! Several nodes on one store: who acts for what, and that nobody else does.

use mainspring_core::placement::Placement;
use mainspring_core::seats::{Role, Roles};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::Pulse;
use mainspring_core::wakeups::Wakeups;
use mainspring_store::memory::Together;

use super::*;
use crate::actor::Actor;
use crate::ownership::Ownership;
use crate::sweep::Sweep;
use crate::trigger::Trigger;
use crate::{ClusterView, Error};

const TERM: Duration = Duration::from_secs(10);

fn still_with(ground: &Ground, settings: Settings) -> World {
    let (node, ends) = Node::new(ground.parts(), settings);
    World { ground: ground.clone(), engine: Engine::of(Running::verbs_alone(node, ends)) }
}

fn still(ground: &Ground) -> World {
    World::still_on(ground.clone())
}

async fn look(world: &World) -> crate::Result<Time> {
    Ownership::new(world.node()).tick(world.now()).await
}

/// Everybody looks until nothing moves any more.
async fn settle_down(worlds: &[&World]) {
    for _ in 0..4 {
        for world in worlds {
            look(world).await.unwrap();
        }
    }
}

fn held(world: &World) -> Segments {
    world.node().holdings.segments(world.now())
}

fn counts(worlds: &[&World]) -> Vec<u32> {
    worlds.iter().map(|world| held(world).len()).collect()
}

/// No segment is held by two, and which ones are held by none.
fn vacant(worlds: &[&World]) -> Segments {
    let mut vacant = Segments::ALL;
    for world in worlds {
        assert!(held(world).without(vacant).is_empty(), "two nodes hold one segment");
        vacant = vacant.without(held(world));
    }
    vacant
}

#[tokio::test]
async fn a_node_that_is_alone_has_everything_at_once() {
    let world = World::running().await;
    assert_eq!(held(&world), Segments::ALL);
    assert!(world.node().holdings.leads(START).is_some());
}

#[tokio::test]
async fn nodes_share_the_segments_evenly_and_a_join_moves_few() {
    let ground = Ground::new();
    let [a, b, c] = [still(&ground), still(&ground), still(&ground)];
    settle_down(&[&a, &b]).await;
    assert_eq!(counts(&[&a, &b]), [50, 50]);
    assert_eq!(vacant(&[&a, &b]), Segments::NONE);
    let before = [held(&a), held(&b)];

    settle_down(&[&a, &b, &c]).await;
    let mut shares = counts(&[&a, &b, &c]);
    shares.sort_unstable();
    assert_eq!(shares, [33, 33, 34]);
    assert_eq!(vacant(&[&a, &b, &c]), Segments::NONE);
    assert!(
        held(&a).without(before[0]).is_empty() && held(&b).without(before[1]).is_empty(),
        "only the new one gained"
    );
}

#[tokio::test]
async fn the_segments_of_a_dead_node_are_taken_within_its_term_and_a_second() {
    let ground = Ground::new();
    let [a, b, c] = [still(&ground), still(&ground), still(&ground)];
    settle_down(&[&a, &b, &c]).await;
    // The one that leads dies.
    let overdue = a.submit(due_in(seconds(3))).await;
    let mut next: Vec<Time> = vec![look(&b).await.unwrap(), look(&c).await.unwrap()];
    let mut now = START;
    while vacant(&[&b, &c]) != Segments::NONE {
        assert!(now <= START.after(TERM).after(seconds(1)), "took until {now:?}");
        now = *next.iter().min().unwrap();
        ground.clock.set(now);
        for (world, next) in [&b, &c].into_iter().zip(&mut next) {
            if *next <= now {
                *next = look(world).await.unwrap();
            }
        }
    }
    assert_eq!(counts(&[&b, &c]), [50, 50]);
    for world in [&b, &c] {
        Trigger::new(world.node()).tick(now).await.unwrap();
    }
    assert_eq!(b.state(overdue).await, State::Ready, "what was overdue is found");
}

#[tokio::test]
async fn a_node_that_goes_hands_its_seats_over_first() {
    let ground = Ground::new();
    let mut wakeups = Together::nodes(2).into_iter().map(Arc::new);
    let mut start = async || {
        let parts = Parts { wakeups: wakeups.next().unwrap() as Arc<dyn Wakeups>, ..ground.parts() };
        World { ground: ground.clone(), engine: Engine::start(parts, Settings::default()).await.unwrap() }
    };
    let (first, second) = (start().await, start().await);
    while held(&second).len() < 50 {
        // It was told to take half, and the first one to give it up.
        ground.clock.advance(ms(250));
        tokio::task::yield_now().await;
    }
    first.engine.shutdown().await;
    // Nobody moves the clock any more: the second one hears of it.
    while held(&second) != Segments::ALL {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.engine.cluster().await.unwrap().nodes.len(), 1);
}

#[tokio::test]
async fn no_two_holders_a_node_that_was_frozen_past_its_term_writes_nothing() {
    let ground = Ground::new();
    let [frozen, other] = [still(&ground), still(&ground)];
    look(&frozen).await.unwrap();
    let id = frozen.submit(due_in(seconds(5))).await;
    let worker = frozen.worker().await;
    let at = frozen.put(schedule("often", seconds(60))).await;
    let (segments, warrants) = frozen.node().holdings.mandate(START);
    let lead = frozen.node().holdings.leads(START);

    ground.clock.advance(TERM);
    look(&other).await.unwrap();
    assert_eq!(held(&other), Segments::ALL);
    // It wakes with a promote in its hands.
    let ask = store::Promote {
        segments,
        warrants,
        limit: 10,
        look_ahead_until: Time::ZERO,
        look_ahead_limit: 0,
        due_limit: 10,
    };
    let promoted = ground.store.promote(frozen.now(), ask).await.unwrap();
    assert_eq!(promoted.refused, Segments::ALL);
    assert_eq!(frozen.state(id).await, State::Waiting);

    ground.clock.advance(seconds(60));
    let sweep = store::Reclaim { limit: 10, hold_until: frozen.now(), spare_silent: false, warrant: lead };
    assert!(ground.store.reclaim(frozen.now(), sweep).await.unwrap().deposed);
    let pulse = frozen.engine.heartbeat(tenant(), worker, None).await.unwrap();
    assert_ne!(pulse, Pulse::Unknown, "nobody was written off");
    let view = frozen.schedule(&at).await;
    let warrant = Some(frozen.node().holdings.warrant(mainspring_core::schedule::segment_of(&at, Placement::ONE)));
    let to = store::To::Move(view.standing);
    let turn = store::Turn { schedule: at, expect: Some(view.version), to, jobs: vec![], rows: vec![], warrant };
    assert_eq!(ground.store.turn(frozen.now(), vec![turn]).await.unwrap(), [store::Turned::Deposed]);
}

#[tokio::test]
async fn a_node_that_was_deposed_learns_it_from_the_store_and_looks_at_its_seats() {
    let ground = Ground::new();
    let [first, second] = [still(&ground), still(&ground)];
    look(&first).await.unwrap();
    // Its clock is far ahead, so that it finds every term over.
    let ahead = Ground { clock: Arc::new(ManualClock::new(START.after(seconds(60)))), ..ground.clone() };
    let usurper = still(&ahead);
    look(&usurper).await.unwrap();
    assert_eq!((held(&first), held(&usurper)), (Segments::ALL, Segments::ALL), "both believe it");

    let id = second.submit(due_in(ms(10))).await;
    ground.clock.advance(ms(20));
    Trigger::new(first.node()).tick(first.now()).await.unwrap();
    assert_eq!(first.state(id).await, State::Waiting, "only one of them can");
    assert_eq!(held(&first), Segments::NONE);
    Sweep::new(first.node(), first.now()).tick(first.now()).await.unwrap();
    assert_eq!(first.node().holdings.leads(first.now()), None);
    assert!(first.node().ownership.asked() >= 2);
    Trigger::new(usurper.node()).tick(usurper.now()).await.unwrap();
    assert_eq!(first.state(id).await, State::Ready);
}

#[tokio::test]
async fn a_node_whose_clock_is_too_far_off_takes_no_seats_and_says_so() {
    let ground = Ground::new();
    // A manual clock is never measured: this one is as the machine's.
    let skewed = |ms_off| Arc::new(Unmoved(START.after(ms(ms_off))));
    ground.seats.set_clock(Some(START));
    let with_clock = |clock: Arc<Unmoved>| {
        let (node, ends) = Node::new(Parts { clock, ..ground.parts() }, Settings::default());
        World { ground: ground.clone(), engine: Engine::of(Running::verbs_alone(node, ends)) }
    };
    let off = with_clock(skewed(501));
    look(&off).await.unwrap();
    assert_eq!(held(&off), Segments::NONE);
    let health = off.engine.health();
    let why = health.store_error.unwrap();
    assert!(!health.ready && why.contains("501 ms ahead") && why.contains("500 ms"), "{why}");
    let cluster = off.engine.cluster().await.unwrap();
    assert_eq!((cluster.nodes[0].view.info.skew_ms, cluster.nodes[0].view.info.willing), (Some(501), false));

    let right = with_clock(skewed(500));
    look(&right).await.unwrap();
    assert_eq!(held(&right), Segments::ALL);
    assert!(right.engine.health().ready);
    ground.seats.set_clock(Some(START.after(ms(501))));
    look(&off).await.unwrap();
    assert!(off.engine.health().ready, "its clock was set right");
}

#[tokio::test]
async fn what_was_given_up_is_given_up_once() {
    let ground = Ground::new();
    ground.seats.set_clock(Some(START));
    let (node, ends) = Node::new(Parts { clock: Arc::new(Unmoved(START)), ..ground.parts() }, Settings::default());
    let world = World { ground: ground.clone(), engine: Engine::of(Running::verbs_alone(node, ends)) };
    look(&world).await.unwrap();
    assert_eq!(held(&world), Segments::ALL);
    // Its clock is wrong from now on. Others are told of what it gives up: told again and again, they would wake each other for ever.
    ground.seats.set_clock(Some(START.after(seconds(60))));
    for _ in 0..3 {
        look(&world).await.unwrap();
        assert_eq!((held(&world), ground.seats.given_up.load(Ordering::Relaxed)), (Segments::NONE, 1));
    }
    ground.seats.set_clock(Some(START));
    look(&world).await.unwrap();
    assert_eq!(held(&world), Segments::ALL, "what nobody took can be taken again");
}

/// A clock that nobody moves and that is measured like the machine's.
#[derive(Debug)]
struct Unmoved(Time);

impl Clock for Unmoved {
    fn now(&self) -> Time {
        self.0
    }

    fn sleep_until<'a>(&'a self, _: Time) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn nodes_that_do_not_fit_refuse_to_work_together_and_say_why() {
    let ground = Ground::new();
    let first = World::on(ground.clone()).await;
    ground.clock.advance(ms(1));
    let settings = Settings { shards: 7, address: Some("10.0.0.9:7070".into()), ..Settings::default() };
    let refused = Engine::start(ground.parts(), settings).await.unwrap_err();
    let Error::Mismatch(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("shard map is 7") && why.contains("is 0"), "{why}");
    assert_eq!(first.engine.cluster().await.unwrap().nodes.len(), 1, "it left no trace");
    assert_eq!(held(&first), Segments::ALL);
}

#[tokio::test]
async fn a_node_does_what_its_roles_say() {
    let ground = Ground::new();
    let roles = |roles: &str| Settings { roles: roles.parse::<Roles>().unwrap(), ..Settings::default() };
    let api = still_with(&ground, roles("api"));
    let scheduler = still_with(&ground, roles("scheduler"));
    settle_down(&[&api, &scheduler]).await;
    assert_eq!((held(&api), held(&scheduler)), (Segments::NONE, Segments::ALL));
    let worker = api.worker().await;
    let refused = api.engine.claim(ask(worker, Duration::ZERO)).await.unwrap_err();
    assert!(matches!(refused, Error::Elsewhere { role: "dispatcher" }), "{refused}");
    let id = api.submit(draft()).await;
    assert_eq!(still(&ground).claim_now(worker).await[0].job.id, id);
    assert!(Roles::ALL.has(Role::Dispatcher));
}

#[tokio::test]
async fn a_worker_may_speak_to_any_node() {
    let ground = Ground::new();
    let [a, b, c] = [still(&ground), still(&ground), still(&ground)];
    settle_down(&[&a, &b, &c]).await;
    let worker = a.worker().await;
    let id = c.submit(draft()).await;
    let claimed = b.claim_now(worker).await.remove(0);
    assert_eq!(claimed.job.id, id);
    for step in 1..=3 {
        ground.clock.advance(seconds(20));
        let beaten = [&c, &a, &b][step % 3].engine.heartbeat(tenant(), worker, None).await.unwrap();
        assert!(matches!(beaten, Pulse::Alive { held: 1, .. }), "{beaten:?}");
        for world in [&a, &b, &c] {
            look(world).await.unwrap();
            Sweep::new(world.node(), START).tick(world.now()).await.unwrap();
        }
    }
    assert!(matches!(c.settle(&claimed, Outcome::Succeeded { result: None }).await, Settled::Applied { .. }));
}

#[tokio::test]
async fn the_cluster_can_be_seen() {
    let ground = Ground::new();
    let [a, b] = [still(&ground), still(&ground)];
    settle_down(&[&a, &b]).await;
    let ClusterView { node, leader, nodes, segments, .. } = b.engine.cluster().await.unwrap();
    assert_eq!(node, b.engine.node());
    assert_eq!(leader.unwrap().holder, a.engine.node());
    let of = |world: &World| nodes.iter().find(|it| it.view.info.id == world.engine.node()).unwrap();
    assert!(of(&a).leads && !of(&b).leads && of(&b).is_live);
    assert_eq!((of(&b).holds, of(&b).assigned), (held(&b), held(&b)));
    assert_eq!(segments.len(), usize::from(Segment::COUNT));
    assert!(segments.iter().all(|segment| segment.term.unwrap().holder == segment.assigned.unwrap()));

    ground.clock.advance(TERM);
    let cluster = b.engine.cluster().await.unwrap();
    assert_eq!((cluster.leader, cluster.vacant()), (None, 100));
    assert!(cluster.nodes.iter().all(|node| !node.is_live));
}
