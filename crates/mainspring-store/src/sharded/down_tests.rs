//! A database that is down stops only its tenants.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mainspring_core::job::Job;
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::seats::{Seat, Seats};
use mainspring_core::store::*;
use tokio::time::timeout;

use super::cut::Cut;
use super::share_tests::{job_of, register, tenants};
use super::{PATIENCE_MAX, Part, SWEEP_PATIENCE_MAX, Sharded};
use crate::conformance::stage::{at, everything, info, node, nothing, queue, sweep, worker};

struct Set {
    parts: Vec<Arc<Cut>>,
    store: Sharded,
    tenants: Vec<TenantName>,
}

impl Set {
    /// Two databases with a tenant each.
    fn new() -> Set {
        let placement = Placement::new(2).expect("in range");
        let parts: Vec<Arc<Cut>> = placement.shards().map(|_| Arc::new(Cut::new(placement))).collect();
        let part = |part: &Arc<Cut>| Part { name: "memory".into(), store: part.clone(), seats: part.clone() };
        let store = Sharded::new(parts.iter().map(part).collect()).expect("in range");
        Set { parts, store, tenants: tenants(placement) }
    }

    fn cut(&self, at: usize, is_down: bool) {
        self.parts[at].is_down.store(is_down, Ordering::SeqCst);
    }

    fn job(&self, at: usize, number: u32) -> Job {
        job_of(&self.tenants[at], self.store.placement(), number)
    }

    /// Waits until a database that answers again is asked again.
    async fn until_up(&self, number: usize) {
        while self.store.databases[number].down().is_some() {
            tokio::task::yield_now().await;
        }
    }
}

fn is_unavailable<T: std::fmt::Debug>(answer: Result<T>) -> bool {
    matches!(answer, Err(Error::Unavailable(_)))
}

#[tokio::test]
async fn a_failure_stays_where_it_is_a_database_that_is_down_stops_only_its_tenants() {
    for (down, up) in [(0, 1), (1, 0)] {
        let set = Set::new();
        let store = &set.store;
        let waiting = |at_: usize, number| Job { run_at: at(100), ..set.job(at_, number) };
        store.submit(at(0), vec![waiting(0, 1), waiting(1, 2)]).await.unwrap();
        store.heartbeat(at(0), vec![register(&set.tenants[up])]).await.unwrap();
        set.cut(down, true);

        let promoted = store.promote(at(100), everything(10)).await.unwrap();
        assert_eq!(
            promoted.ready.iter().map(|(queue, count)| (&queue.tenant, *count)).collect::<Vec<_>>(),
            [(&set.tenants[up], 1)]
        );
        assert!(matches!(
            store.heartbeat(at(101), vec![Beat { kind: BeatKind::Alive, ..register(&set.tenants[up]) }]).await.unwrap()
                [0],
            Pulse::Alive { .. }
        ));
        let claim = |whose| Claim {
            worker: worker(1),
            tenant: set.tenants[up].clone(),
            whose,
            queues: vec![queue("mail")],
            max: 1,
        };
        for whose in [Whose::All, Whose::Own] {
            let answers = store.claim(at(102), vec![claim(whose)]).await.unwrap();
            assert!(matches!(&answers[0], ClaimAnswer::Jobs(jobs) if jobs.len() == usize::from(whose == Whose::All)));
        }
        store.submit(at(103), vec![set.job(up, 3)]).await.unwrap();
        assert!(is_unavailable(store.submit(at(103), vec![set.job(down, 4)]).await));
        assert!(!store.reclaim(at(104), sweep(at(104))).await.unwrap().more);
        store.prune(at(104), nothing()).await.unwrap();
        assert_eq!(store.queues(None).await.unwrap().len(), 1);
        assert_eq!(store.queues(Some(&set.tenants[up])).await.unwrap().len(), 1);
        assert!(is_unavailable(store.queues(Some(&set.tenants[down])).await));
        let step = std::time::Duration::from_secs(1);
        let agenda = AgendaAsk { tenant: None, from: at(0), until: at(9_999), step, jobs_max: 9 };
        assert!(store.agenda(agenda).await.unwrap().partial, "what is missing is said");
    }
}

#[tokio::test]
async fn a_database_that_is_down_is_not_waited_for_and_when_it_answers_its_tenants_go_on() {
    let set = Set::new();
    let store = &set.store;
    store.submit(at(0), vec![Job { run_at: at(100), ..set.job(1, 1) }]).await.unwrap();
    set.cut(1, true);
    store.promote(at(100), everything(10)).await.unwrap();
    let asked = set.parts[1].asked.load(Ordering::SeqCst);
    assert_eq!(asked, 1);
    store.promote(at(101), everything(10)).await.unwrap();
    assert_eq!(set.parts[1].asked.load(Ordering::SeqCst), asked, "only a look that nobody waits for goes there");

    set.cut(1, false);
    set.until_up(1).await;
    assert_eq!(store.promote(at(102), everything(10)).await.unwrap().ready.len(), 1);
}

#[tokio::test]
async fn if_no_database_answers_that_is_an_error() {
    let set = Set::new();
    set.cut(0, true);
    set.cut(1, true);
    assert!(is_unavailable(set.store.promote(at(0), everything(1)).await));
    assert!(is_unavailable(set.store.heartbeat(at(0), vec![register(&set.tenants[0])]).await));
    assert!(is_unavailable(set.store.workers().await));
    assert!(is_unavailable(Seats::renew(&set.store, at(0), info(1), at(10)).await));
    assert!(is_unavailable(set.store.take(at(0), node(1), vec![Seat::Leader], at(10)).await));
}

#[tokio::test]
async fn a_worker_whose_own_database_is_down_is_not_told_that_it_is_unknown() {
    let set = Set::new();
    set.store.heartbeat(at(0), vec![register(&set.tenants[1])]).await.unwrap();
    set.cut(1, true);
    let alive = || vec![Beat { kind: BeatKind::Alive, ..register(&set.tenants[1]) }];
    assert!(matches!(set.store.heartbeat(at(1), alive()).await.unwrap()[0], Pulse::Alive { .. }));
    set.cut(1, false);
    set.until_up(1).await;
    assert!(matches!(set.store.heartbeat(at(2), alive()).await.unwrap()[0], Pulse::Alive { .. }));
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_loses_only_its_seats() {
    for (down, up) in [(0, 1), (1, 0)] {
        let set = Set::new();
        let store = &set.store;
        let all: Vec<Seat> = Seat::all().collect();
        store.take(at(0), node(1), all.clone(), at(100)).await.unwrap();
        set.cut(down, true);
        let roll = Seats::renew(store, at(50), info(1), at(150)).await.unwrap();
        assert_eq!(roll.nodes.len(), 1);
        let leader = roll.term(Seat::Leader).expect("somebody leads");
        assert_eq!((leader.holder, leader.until), (node(1), at(150)));
        let kept: Vec<_> = roll.terms.iter().filter_map(|term| term.seat.segment()).collect();
        let here = |segment| store.placement().shard_of(segment).index() == up;
        assert!(kept.len() == 50 && kept.into_iter().all(here), "{roll:?}");

        let taken = store.take(at(60), node(1), all, at(160)).await.unwrap();
        let ours = taken.iter().filter(|term| term.holder == node(1)).count();
        assert_eq!((taken.len(), ours), (101, 51), "nobody is told to hold what cannot be asked for");

        // It leads on in what is left, by the name that is known there.
        let warrant = Some(leader.warrant());
        let reclaimed = store.reclaim(at(70), Reclaim { warrant, ..sweep(at(70)) }).await.unwrap();
        assert!(!reclaimed.deposed);
    }
}

#[tokio::test]
async fn a_leader_acts_in_every_database_by_the_name_that_it_has_there() {
    let set = Set::new();
    let store = &set.store;
    // In the second database leaders have changed more often.
    for (number, ms) in [(7, 0), (8, 10), (9, 20)] {
        set.parts[1].take(at(ms), node(number), vec![Seat::Leader], at(ms + 10)).await.unwrap();
    }
    let term = store.take(at(40), node(1), vec![Seat::Leader], at(100)).await.unwrap()[0];
    assert_eq!(term.epoch, 1);
    let late = |at_: usize, number| Job { expires_at: Some(at(45)), ..set.job(at_, number) };
    store.submit(at(40), vec![late(0, 1), late(1, 2)]).await.unwrap();
    let sweep = Reclaim { warrant: Some(term.warrant()), ..sweep(at(50)) };
    let reclaimed = store.reclaim(at(50), sweep).await.unwrap();
    assert_eq!((reclaimed.expired.len(), reclaimed.deposed), (2, false));
}

#[tokio::test]
async fn a_database_where_the_leader_before_still_stands_is_left_out_until_its_term_ends() {
    let set = Set::new();
    let store = &set.store;
    set.parts[1].take(at(0), node(9), vec![Seat::Leader], at(100)).await.unwrap();
    let term = store.take(at(10), node(1), vec![Seat::Leader], at(60)).await.unwrap()[0];
    let late = |at_: usize, number| Job { expires_at: Some(at(20)), ..set.job(at_, number) };
    store.submit(at(10), vec![late(0, 1), late(1, 2)]).await.unwrap();
    let ask = |now| Reclaim { warrant: Some(term.warrant()), ..sweep(now) };
    let reclaimed = store.reclaim(at(30), ask(at(30))).await.unwrap();
    assert_eq!((reclaimed.expired.len(), reclaimed.deposed), (1, false));

    Seats::renew(store, at(100), info(1), at(200)).await.unwrap();
    let reclaimed = store.reclaim(at(100), ask(at(100))).await.unwrap();
    assert_eq!((reclaimed.expired.len(), reclaimed.deposed), (1, false), "taken with the next renewal");
}

#[tokio::test(start_paused = true)]
async fn limits_are_named_a_database_that_is_stuck_is_waited_for_so_long_and_then_no_more() {
    let second = Duration::from_secs(1);
    let set = Set::new();
    let store = &set.store;
    set.parts[1].is_stuck.store(true, Ordering::SeqCst);
    let sweep = || store.reclaim(at(0), sweep(at(0)));
    assert!(timeout(SWEEP_PATIENCE_MAX - second, sweep()).await.is_err(), "a sweep waits longer");
    let promote = || store.promote(at(0), everything(1));
    assert!(timeout(PATIENCE_MAX - second, promote()).await.is_err());
    assert!(timeout(PATIENCE_MAX + second, promote()).await.expect("in time").is_ok());
    assert!(timeout(second, promote()).await.expect("it is known to be stuck").is_ok());
    assert!(timeout(second, sweep()).await.expect("it is known to be stuck").is_ok());
}
