//! Limits: what is held back goes the moment it may, and nobody asks for it in between.

use mainspring_core::gate::{GateName, GateRef, Rate};
use mainspring_core::store::{Command, JobCommand};
use mainspring_store::memory::Together;

use super::lossy::Lossy;
use super::*;
use crate::{BadLimit, Error, Event, EventKind, LimitSet, Reason};

/// Two a second, one at a time.
fn every_500_ms() -> Rule {
    Rule { rate: Some(Rate { permits: 2, per: seconds(1), burst: 1 }), ..Rule::default() }
}

fn key(text: &str) -> GateRef {
    GateRef { tenant: tenant(), gate: GateName::Key(LimitKey::parse(text).unwrap()) }
}

fn heavy(draft: Draft, weight: u16) -> Draft {
    Draft { keys: Keys { weight, ..draft.keys.clone() }, ..draft }
}

/// A world that counts the calls to its store.
async fn counted() -> (World, Arc<Lossy>) {
    let store = Arc::new(Lossy::default());
    let world = World::on(Ground::with(store.clone(), store.inner.clone())).await;
    (world, store)
}

async fn heard(events: &mut crate::Events, kind: EventKind) -> Event {
    loop {
        let event = events.next().await.expect("the node runs");
        if event.kind == kind {
            return event;
        }
    }
}

#[tokio::test]
async fn the_next_behind_a_full_key_goes_the_moment_a_slot_frees() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:a", at_once(1)).await;
    let [first, second] = [world.submit(slot_of("a")).await, world.submit(slot_of("a")).await];
    let held = world.claim_now(worker).await;
    assert_eq!(ids(&held), [first]);
    let claim = world.waiting(ask(worker, seconds(30))).await;
    assert!(!claim.is_finished());
    world.settle(&held[0], done()).await;
    assert_eq!(ids(&claim.await.unwrap()), [second], "the clock stands still: nobody polled");
}

#[tokio::test]
async fn a_slot_that_holds_several_lets_them_all_go() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:a", at_once(3)).await;
    world.submit(heavy(slot_of("a"), 3)).await;
    let held = world.claim_now(worker).await;
    for _ in 0..3 {
        world.submit(slot_of("a")).await;
    }
    let mut claims = vec![];
    for _ in 0..3 {
        claims.push(world.waiting(ClaimAsk { max: 1, ..ask(worker, seconds(30)) }).await);
    }
    world.settle(&held[0], done()).await;
    for claim in claims {
        assert_eq!(claim.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_a_leaving_worker_held_frees_its_slots() {
    let world = World::running().await;
    let [leaving, staying] = [world.worker().await, world.worker().await];
    world.limit("type:*", at_once(1)).await;
    let other = Draft { queue: queue("other"), priority: Priority::new(9).unwrap(), ..draft() };
    world.submit(draft()).await;
    assert_eq!(world.claim_now(leaving).await.len(), 1);
    let next = world.submit(other).await;
    let elsewhere = ClaimAsk { queues: vec![queue("other")], ..ask(staying, seconds(30)) };
    let claim = world.waiting(elsewhere).await;
    assert!(!claim.is_finished());
    world.engine.leave(tenant(), leaving).await.unwrap();
    assert_eq!(ids(&claim.await.unwrap()), [next]);
}

#[tokio::test]
async fn every_permit_wakes_a_waiting_claim_at_its_time() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:api", every_500_ms()).await;
    world.engine.submit(vec![permit_of("api"); 6]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 1);
    for turn in 1..=5 {
        let claim = world.waiting(ask(worker, seconds(30))).await;
        world.ground.clock.advance(ms(499));
        settled_down().await;
        assert!(!claim.is_finished(), "permit {turn} is not due");
        world.ground.clock.advance(ms(1));
        let claimed = claim.await.unwrap();
        assert_eq!((claimed.len(), claimed[0].lease.claimed_at), (1, START.after(ms(500 * turn))));
    }
}

#[tokio::test]
async fn those_who_wait_together_get_one_permit_after_the_other() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("queue:default", every_500_ms()).await;
    let mut claims = vec![];
    for _ in 0..4 {
        claims.push(world.waiting(ClaimAsk { max: 1, ..ask(worker, seconds(30)) }).await);
    }
    world.engine.submit(vec![draft(); 4]).await.unwrap();
    for (turn, claim) in claims.into_iter().enumerate() {
        if turn > 0 {
            world.ground.clock.advance(ms(500));
        }
        assert_eq!(claim.await.unwrap()[0].lease.claimed_at, START.after(ms(500 * turn as u64)));
        settled_down().await;
    }
}

#[tokio::test]
async fn a_node_that_starts_knows_the_limits_that_are_there() {
    let ground = Ground::new();
    let before = World::still_on(ground.clone());
    before.limit("key:api", every_500_ms()).await;
    before.submit(draft()).await;
    let world = World::on(ground).await;
    let worker = world.worker().await;
    assert_eq!(world.claim_now(worker).await.len(), 1);
    world.engine.submit(vec![permit_of("api"); 2]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 1);
    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(500));
    assert_eq!(claim.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_clock_that_people_move_stops_where_time_opens_a_gate() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:api", every_500_ms()).await;
    world.engine.submit(vec![permit_of("api"); 2]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 1);
    let claim = world.waiting(ask(worker, seconds(60))).await;
    world.engine.advance(START.after(seconds(20))).await.unwrap();
    assert_eq!(claim.await.unwrap()[0].lease.claimed_at, START.after(ms(500)));
}

#[tokio::test]
async fn a_rate_limited_worker_closes_its_key_until_then_and_no_other() {
    let world = World::running().await;
    let worker = world.worker().await;
    let mut events = world.engine.events();
    let first = world.submit(permit_of("api")).await;
    let held = world.claim_now(worker).await;
    let until = START.after(ms(300));
    let settled = world.settle(&held[0], Outcome::RateLimited { wait: ms(300) }).await;
    assert!(matches!(settled, Settled::Applied { state: State::Ready, .. }), "{settled:?}");
    assert_eq!(heard(&mut events, EventKind::RateLimited).await.job, Some(first));
    let closed = heard(&mut events, EventKind::KeyClosed).await;
    assert_eq!((closed.limit, closed.until), (Some(reach("key:api")), Some(until)));

    let second = world.submit(permit_of("api")).await;
    let free = world.submit(permit_of("other")).await;
    assert_eq!(ids(&world.claim_now(worker).await), [free]);
    let explained = world.engine.explain(&tenant(), second).await.unwrap().unwrap();
    assert_eq!(explained.reasons[0], Reason::Closed { gate: key("api"), until });
    assert_eq!(explained.eta, Some(until));

    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(299));
    settled_down().await;
    assert!(!claim.is_finished());
    world.ground.clock.advance(ms(1));
    let claimed = claim.await.unwrap();
    assert_eq!(ids(&claimed), [first, second], "in the place it had");
    assert_eq!(claimed[0].tally.attempts, 1, "and the attempt is not counted");
}

#[tokio::test]
async fn a_changed_limit_lets_go_at_once() {
    let world = World::running().await;
    let worker = world.worker().await;
    let one = || ClaimAsk { max: 1, ..ask(worker, seconds(30)) };
    world.limit("key:a", at_once(1)).await;
    world.engine.submit(vec![slot_of("a"); 4]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 1);

    let claim = world.waiting(one()).await;
    world.limit("key:a", at_once(2)).await;
    assert_eq!(claim.await.unwrap().len(), 1, "raised");

    let claim = world.waiting(one()).await;
    assert!(world.engine.clear_limit(tenant(), reach("key:a")).await.unwrap());
    let last = claim.await.unwrap();
    assert_eq!(last.len(), 1, "lifted");

    world.settle(&last[0], Outcome::Failed { error: Failure::new("boom"), retry: RetryWish::Never }).await;
    let last = world.claim_now(worker).await;
    world.settle(&last[0], Outcome::RateLimited { wait: seconds(3600) }).await;
    let claim = world.waiting(one()).await;
    assert!(!claim.is_finished());
    assert!(world.engine.reopen_limit(tenant(), reach("key:a")).await.unwrap());
    assert_eq!(ids(&claim.await.unwrap()), ids(&last), "reopened");
}

#[tokio::test]
async fn who_stood_first_and_is_paused_lets_the_next_one_pass() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:a", at_once(2)).await;
    world.submit(slot_of("a")).await;
    assert_eq!(world.claim_now(worker).await.len(), 1);
    let first = world.submit(heavy(slot_of("a"), 2)).await;
    let light = world.submit(slot_of("a")).await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    assert!(!claim.is_finished(), "nobody overtakes");
    let what = JobCommand::Pause;
    world.engine.command(vec![Command::Job { tenant: tenant(), id: first, what }]).await.unwrap();
    assert_eq!(ids(&claim.await.unwrap()), [light]);
}

#[tokio::test]
async fn behind_a_full_key_nothing_is_asked_again_and_again() {
    let (world, store) = counted().await;
    let worker = world.worker().await;
    world.limit("key:a", at_once(1)).await;
    world.engine.submit(vec![slot_of("a"); 5]).await.unwrap();
    assert_eq!(world.claim_now(worker).await.len(), 1);
    for _ in 0..3 {
        world.waiting(ask(worker, seconds(30))).await;
    }
    let before = store.calls.load(Ordering::Relaxed);
    for _ in 0..20 {
        settled_down().await;
    }
    assert_eq!(store.calls.load(Ordering::Relaxed), before);
}

#[tokio::test]
async fn a_hint_that_names_too_much_keeps_nobody_busy() {
    let (world, store) = counted().await;
    let worker = world.worker().await;
    // The light one could go, were it not for the heavy one before it: each look names its queue, and no claim gets it.
    world.limit("key:a", Rule { concurrency: Some(2), ..every_500_ms() }).await;
    world.limit("key:b", at_once(2)).await;
    world.submit(slot_of("b")).await;
    assert_eq!(world.claim_now(worker).await.len(), 1);
    world.submit(heavy(slot_of("b"), 2)).await;
    world.submit(slot_of("b")).await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    let before = store.calls.load(Ordering::Relaxed);
    for _ in 0..2_000 {
        world.ground.clock.advance(ms(1));
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }
    settled_down().await;
    assert!(!claim.is_finished());
    let calls = store.calls.load(Ordering::Relaxed) - before;
    assert!(calls <= 30, "{calls} calls in two seconds");
}

#[tokio::test]
async fn without_limits_a_claim_that_waits_asks_for_no_look() {
    let (world, store) = counted().await;
    let worker = world.worker().await;
    settled_down().await;
    let before = store.calls.load(Ordering::Relaxed);
    world.waiting(ask(worker, seconds(30))).await;
    assert_eq!(store.calls.load(Ordering::Relaxed), before + 1, "its own claim alone");
}

#[tokio::test]
async fn a_limit_is_set_shown_and_removed() {
    let world = World::running().await;
    let mut events = world.engine.events();
    let set = |rule| world.engine.set_limit(tenant(), reach("key:customer:*"), rule);
    assert_eq!(set(at_once(2)).await.unwrap(), LimitSet::Created);
    assert_eq!(heard(&mut events, EventKind::LimitChanged).await.limit, Some(reach("key:customer:*")));
    assert_eq!(set(at_once(2)).await.unwrap(), LimitSet::Unchanged);
    assert_eq!(set(at_once(3)).await.unwrap(), LimitSet::Replaced);
    world.submit(slot_of("customer:42")).await;
    world.claim_now(world.worker().await).await;
    let own = world.engine.set_limit(tenant(), reach("key:customer:42"), at_once(3)).await.unwrap();
    assert_eq!(own, LimitSet::Created, "a pattern that says the same is not it");
    let limits = world.engine.limits(&tenant()).await.unwrap();
    let seen: Vec<(String, u64)> = limits.iter().map(|view| (view.reach.text(), view.state.running)).collect();
    assert_eq!(seen, [("key:customer:42".to_owned(), 1), ("key:customer:*".to_owned(), 0)]);

    assert!(world.engine.clear_limit(tenant(), reach("key:customer:42")).await.unwrap());
    assert!(!world.engine.clear_limit(tenant(), reach("key:customer:42")).await.unwrap());
    assert!(!world.engine.reopen_limit(tenant(), reach("type:mail:*")).await.unwrap());
    assert_eq!(heard(&mut events, EventKind::LimitRemoved).await.limit, Some(reach("key:customer:42")));
    let pattern = world.engine.limit(&tenant(), &reach("key:customer:42")).await.unwrap().unwrap().rule.unwrap();
    assert_eq!(pattern, (reach("key:customer:*"), at_once(3)));
    assert_eq!(world.engine.limit(&tenant(), &reach("tenant")).await.unwrap(), None);
    let nothing = set(Rule::default()).await;
    assert!(matches!(nothing, Err(Error::Limit(BadLimit::Empty { .. }))), "{nothing:?}");
}

#[tokio::test]
async fn explain_names_every_gate_with_who_holds_it_and_until_when() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.limit("key:a", at_once(1)).await;
    world.limit("tenant", every_500_ms()).await;
    let holder = world.submit(slot_of("a")).await;
    world.claim_now(worker).await;
    let [behind, spent] = [world.submit(slot_of("a")).await, world.submit(slot_of("b")).await];
    let explained = async |id| world.engine.explain(&tenant(), id).await.unwrap().unwrap();
    let no_token =
        Reason::NoToken { gate: GateRef { tenant: tenant(), gate: GateName::Tenant }, next_at: START.after(ms(500)) };
    let full = Reason::Full { gate: key("a"), running: 1, max: 1, holders: vec![holder] };
    let explanation = explained(behind).await;
    assert_eq!(explanation.reasons, [no_token.clone(), full]);
    assert_eq!(explanation.eta, None, "nobody knows when its holder ends");
    let explanation = explained(spent).await;
    assert_eq!(explanation.reasons, [no_token, Reason::Behind { ahead: 1, at_least: false }]);
    assert_eq!(explanation.eta, Some(START.after(ms(500))));
}

#[tokio::test]
async fn a_freed_slot_is_passed_on_by_whoever_is_filled_from_elsewhere() {
    let world = World::running().await;
    let worker = world.worker().await;
    let one = |queues: &[&str]| ClaimAsk {
        queues: queues.iter().map(|name| queue(name)).collect(),
        max: 1,
        ..ask(worker, seconds(30))
    };
    world.limit("queue:a", at_once(1)).await;
    let of = |name: &str| Draft { queue: queue(name), ..draft() };
    world.submit(of("a")).await;
    let held = jobs(world.engine.claim(one(&["a"])).await.unwrap());
    let behind = world.submit(of("a")).await;
    let both = world.waiting(one(&["a", "b"])).await;
    let only_a = world.waiting(one(&["a"])).await;
    // Another node stores a better one, and its hint is lost.
    let unheard = Draft { priority: Priority::new(9).unwrap(), ..of("b") };
    let better = World::still_on(world.ground.clone()).submit(unheard).await;
    world.settle(&held[0], done()).await;
    assert_eq!(ids(&both.await.unwrap()), [better]);
    assert_eq!(ids(&only_a.await.unwrap()), [behind]);
}

/// Two nodes on one store. All the seats are the first one's.
async fn pair() -> (World, World) {
    let ground = Ground::new();
    let mut worlds = vec![];
    for wakeups in Together::nodes(2) {
        let parts = Parts { wakeups: Arc::new(wakeups), ..ground.parts() };
        let engine = Engine::start(parts, Settings::default()).await.unwrap();
        worlds.push(World { ground: ground.clone(), engine });
    }
    let second = worlds.pop().unwrap();
    (worlds.pop().unwrap(), second)
}

#[tokio::test]
async fn slots_that_free_on_one_node_serve_all_who_wait_on_another() {
    let (first, second) = pair().await;
    let worker = first.worker().await;
    first.limit("key:a", at_once(3)).await;
    first.submit(heavy(slot_of("a"), 3)).await;
    let held = first.claim_now(worker).await;
    first.engine.submit(vec![slot_of("a"); 3]).await.unwrap();
    let mut claims = vec![];
    for _ in 0..3 {
        claims.push(second.waiting(ClaimAsk { max: 1, ..ask(worker, seconds(30)) }).await);
    }
    first.settle(&held[0], done()).await;
    for claim in claims {
        assert_eq!(claim.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_permit_wakes_a_claim_on_a_node_without_seats_at_its_time() {
    let (first, second) = pair().await;
    let worker = second.worker().await;
    second.limit("key:api", every_500_ms()).await;
    first.engine.submit(vec![permit_of("api"); 3]).await.unwrap();
    assert_eq!(second.claim_now(worker).await.len(), 1);
    for turn in 1..=2 {
        let claim = second.waiting(ask(worker, seconds(30))).await;
        assert!(!claim.is_finished());
        second.ground.clock.advance(ms(500));
        assert_eq!(claim.await.unwrap()[0].lease.claimed_at, START.after(ms(500 * turn)));
    }
}
