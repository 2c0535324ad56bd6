//! What a store promises about writes that are made in the name of a seat.

use mainspring_core::job::Job;
use mainspring_core::lifecycle::State;
use mainspring_core::seats::{Seat, Term, Warrant, Warrants};
use mainspring_core::segment::Segments;
use mainspring_core::store::*;

use super::stage::*;

pub async fn no_two_holders_a_promote_leaves_alone_the_segments_that_are_anothers_by_now(stage: Stage) {
    let due = |number: u32| Job { run_at: at(100), ..job(number) };
    stage.accept(at(0), vec![due(1), due(2), due(3)]).await;
    let terms = hold(&stage, vec![seat_of(1), seat_of(2)]).await;
    stage.depose(2, vec![seat_of(2)]).await;
    let segments: Segments = [1, 2, 3].map(|number| id(number).segment()).into_iter().collect();
    let ask = Promote { segments, warrants: Warrants::of(&terms), ..everything(10) };
    let promoted = stage.store.promote(at(100), ask).await.expect("promote");
    assert_eq!(
        promoted.refused,
        [2, 3].map(|number| id(number).segment()).into_iter().collect(),
        "lost, and never held"
    );
    assert_eq!((promoted.ready, promoted.more), (vec![(queue_ref("mail"), 1)], false));
    let states = [stage.state(id(1)).await, stage.state(id(2)).await, stage.state(id(3)).await];
    assert_eq!(states, [State::Ready, State::Waiting, State::Waiting]);
}

pub async fn no_two_holders_what_is_anothers_by_now_is_not_listed_either(stage: Stage) {
    stage.turn(at(0), vec![put("a", None)]).await;
    let its_seat = Seat::Segment(stage.segment_of("a"));
    let terms = hold(&stage, vec![its_seat]).await;
    let ask = |look_ahead_limit| Promote {
        segments: Segments::ALL,
        warrants: Warrants::of(&terms),
        look_ahead_until: at(2000),
        look_ahead_limit,
        ..listing(9)
    };
    let listed = stage.store.promote(at(1000), ask(0)).await.expect("promote").due;
    assert_eq!(listed.len(), 1);
    stage.depose(2, vec![its_seat]).await;
    assert_eq!(stage.store.promote(at(1000), ask(0)).await.expect("promote").due, []);
    assert_eq!(stage.store.promote(at(500), ask(9)).await.expect("promote").upcoming, []);
}

pub async fn no_two_holders_a_child_is_not_let_go_in_the_name_of_a_lost_seat(stage: Stage) {
    let parent = stage.running(job(1)).await;
    stage.accept(at(0), vec![child(2, &[1])]).await;
    stage.end(at(1), parent.lease_id(), succeed()).await;
    let terms = hold(&stage, (0..100).map(seat).collect()).await;
    let ask = || Promote { warrants: Warrants::of(&terms), ..everything(10) };
    stage.depose(2, vec![seat_of(1), seat_of(2)]).await;
    stage.store.promote(at(2), ask()).await.expect("promote");
    assert_eq!(stage.state(id(2)).await, State::Blocked);
    stage.store.promote(at(2), everything(10)).await.expect("promote");
    assert_eq!(stage.state(id(2)).await, State::Ready);
}

pub async fn every_occurrence_once_a_turn_in_the_name_of_a_lost_seat_does_nothing(stage: Stage) {
    let version = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    let its_seat = Seat::Segment(stage.segment_of("a"));
    let warrant = hold(&stage, vec![its_seat]).await[0].warrant();
    let fire = |version, number| Turn {
        to: To::Move(standing(2000)),
        jobs: vec![fired("a", number, 1000)],
        rows: vec![row(1000)],
        warrant: Some(warrant),
        ..put("a", Some(version))
    };
    let version = done(&stage.turn(at(1000), vec![fire(version, 1)]).await[0]);
    stage.depose(2, vec![its_seat]).await;
    assert_eq!(stage.turn(at(1000), vec![fire(version, 2)]).await, [Turned::Deposed]);
    assert!(stage.look(id(2)).await.is_none());
    assert_eq!(
        (stage.schedule("a").await.map(|view| view.version), stage.ledger("a", 9).await.len()),
        (Some(version), 1)
    );
    let by_person = Turn { warrant: None, ..fire(version, 3) };
    done(&stage.turn(at(1000), vec![by_person]).await[0]);
}

pub async fn a_turn_that_is_refused_its_name_stops_no_other(stage: Stage) {
    let warrant = Some(Warrant { seat: Seat::Segment(stage.segment_of("a")), epoch: 1 });
    let answers = stage.turn(at(0), vec![Turn { warrant, ..put("a", None) }, put("b", None)]).await;
    assert_eq!(answers[0], Turned::Deposed);
    done(&answers[1]);
    assert_eq!(stage.names(9).await, ["b"]);
}

pub async fn no_two_holders_a_deposed_leader_takes_nothing_back(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let expiring = Job { expires_at: Some(at(10)), ..job(2) };
    stage.accept(at(0), vec![expiring]).await;
    let warrant = Some(hold(&stage, vec![Seat::Leader]).await[0].warrant());
    stage.depose(2, vec![Seat::Leader]).await;
    let ask = Reclaim { warrant, ..sweep(at(60_000)) };
    let nothing = Reclaimed { deposed: true, ..Reclaimed::default() };
    assert_eq!(stage.store.reclaim(at(60_000), ask).await.expect("reclaim"), nothing);
    assert_eq!(stage.state(id(2)).await, State::Ready);
    stage.end(at(60_001), claimed.lease_id(), succeed()).await;
}

pub async fn nothing_accepted_is_lost_a_deposed_leader_forgets_nothing(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    stage.end(at(1), claimed.lease_id(), succeed()).await;
    let leader = hold(&stage, vec![Seat::Leader]).await[0];
    stage.depose(2, vec![Seat::Leader]).await;
    let ask = Prune { ended_before: at(1000), warrant: Some(leader.warrant()), ..nothing() };
    let refused = Pruned { deposed: true, ..Pruned::default() };
    assert_eq!(stage.store.prune(at(2000), ask).await.expect("prune"), refused);
    let warrant = Some(Warrant { seat: Seat::Leader, epoch: leader.epoch + 1 });
    let pruned = stage.store.prune(at(2000), Prune { warrant, ..ask }).await.expect("prune");
    assert_eq!((pruned.jobs, pruned.deposed), (1, false), "the new leader does");
}

pub async fn a_seat_whose_term_is_over_is_good_until_somebody_takes_it(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let warrant = Some(hold(&stage, vec![Seat::Leader]).await[0].warrant());
    stage.seats().give_up(at(5), node(1), vec![Seat::Leader]).await.expect("give up");
    let reclaimed = stage.store.reclaim(at(60_000), Reclaim { warrant, ..sweep(at(60_000)) }).await.expect("reclaim");
    assert_eq!((reclaimed.leases.len(), reclaimed.deposed), (1, false));
    assert_eq!(reclaimed.leases[0].claimed.job.id, claimed.job.id);
}

/// The seat that the job of this number is acted for in.
fn seat_of(number: u32) -> Seat {
    Seat::Segment(id(number).segment())
}

/// The first node takes these seats.
async fn hold(stage: &Stage, seats: Vec<Seat>) -> Vec<Term> {
    stage.seats().take(at(0), node(1), seats, at(100)).await.expect("take")
}
