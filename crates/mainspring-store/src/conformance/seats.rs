//! What a store promises about nodes and their seats.

use mainspring_core::limits::NODES_MAX;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Seat, Term};
use mainspring_core::store::Error;
use mainspring_core::time::Time;

use super::stage::*;

pub async fn no_two_holders_a_seat_is_one_nodes_until_its_term_is_over(stage: Stage) {
    let seats = stage.seats();
    let asked = vec![seat(7), Seat::Leader];
    let taken = seats.take(at(0), node(1), asked.clone(), at(100)).await.expect("take");
    assert_eq!(taken, [term(seat(7), 1, 1, at(100)), term(Seat::Leader, 1, 1, at(100))]);

    let refused = seats.take(at(99), node(2), asked.clone(), at(200)).await.expect("take");
    assert_eq!(refused, taken, "the term that stands is answered");

    let renewed = seats.take(at(99), node(1), vec![seat(7)], at(150)).await.expect("take");
    assert_eq!(renewed, [term(seat(7), 1, 1, at(150))], "renewing is no new epoch");

    let after = seats.take(at(100), node(2), asked, at(200)).await.expect("take");
    assert_eq!(after, [term(seat(7), 1, 1, at(150)), term(Seat::Leader, 2, 2, at(200))]);
}

pub async fn a_renewal_prolongs_what_the_node_holds_and_nothing_else(stage: Stage) {
    let seats = stage.seats();
    seats.take(at(0), node(1), vec![seat(1), seat(2)], at(100)).await.expect("take");
    seats.take(at(0), node(2), vec![seat(3)], at(100)).await.expect("take");
    let roll = seats.renew(at(50), info(1), at(150)).await.expect("renew");
    let held = [term(seat(1), 1, 1, at(150)), term(seat(2), 1, 1, at(150)), term(seat(3), 2, 1, at(100))];
    assert_eq!(roll.terms, held);
    assert_eq!(roll.terms, seats.roll().await.expect("roll").terms);
}

pub async fn a_node_that_comes_back_late_finds_its_seat_at_another_epoch(stage: Stage) {
    let seats = stage.seats();
    seats.take(at(0), node(1), vec![seat(1)], at(100)).await.expect("take");
    seats.take(at(100), node(2), vec![seat(1)], at(200)).await.expect("take");
    let roll = seats.renew(at(101), info(1), at(201)).await.expect("renew");
    assert_eq!(roll.terms, [term(seat(1), 2, 2, at(200))]);
}

pub async fn a_term_that_is_over_and_that_nobody_took_is_still_its_holders(stage: Stage) {
    let seats = stage.seats();
    seats.take(at(0), node(1), vec![seat(1)], at(100)).await.expect("take");
    let roll = seats.renew(at(500), info(1), at(600)).await.expect("renew");
    assert_eq!(roll.terms, [term(seat(1), 1, 1, at(600))]);
}

pub async fn no_state_without_an_exit_a_seat_that_was_given_up_is_free_and_its_epoch_rises(stage: Stage) {
    let seats = stage.seats();
    seats.take(at(0), node(1), vec![seat(1), seat(2)], at(100)).await.expect("take");
    seats.give_up(at(10), node(2), vec![seat(1)]).await.expect("give up");
    assert_eq!(seats.take(at(10), node(2), vec![seat(1)], at(90)).await.expect("take")[0].holder, node(1));
    seats.give_up(at(10), node(1), vec![seat(1)]).await.expect("give up");
    // A clock that is behind the giver's sees it free as well.
    let taken = seats.take(at(5), node(2), vec![seat(1), seat(2)], at(90)).await.expect("take");
    assert_eq!(taken, [term(seat(1), 2, 2, at(90)), term(seat(2), 1, 1, at(100))]);
}

pub async fn a_seat_that_was_given_up_is_not_renewed_but_can_be_taken_again(stage: Stage) {
    let seats = stage.seats();
    seats.take(at(0), node(1), vec![seat(1), seat(2)], at(100)).await.expect("take");
    seats.give_up(at(10), node(1), vec![seat(1)]).await.expect("give up");
    let roll = seats.renew(at(20), info(1), at(120)).await.expect("renew");
    assert_eq!(roll.terms, [term(seat(1), 1, 1, Term::GIVEN_UP), term(seat(2), 1, 1, at(120))]);
    let taken = seats.take(at(30), node(1), vec![seat(1)], at(130)).await.expect("take");
    assert_eq!(taken, [term(seat(1), 1, 1, at(130))], "nobody had it in between");
}

pub async fn no_state_without_an_exit_a_node_that_leaves_gives_up_everything_and_is_gone(stage: Stage) {
    let seats = stage.seats();
    seats.renew(at(0), info(1), at(100)).await.expect("renew");
    seats.renew(at(0), info(2), at(100)).await.expect("renew");
    seats.take(at(0), node(1), vec![Seat::Leader, seat(1)], at(100)).await.expect("take");
    seats.leave(at(10), node(1)).await.expect("leave");
    seats.leave(at(10), node(1)).await.expect("leaving twice is leaving once");
    let taken = seats.take(at(10), node(2), vec![Seat::Leader, seat(1)], at(90)).await.expect("take");
    assert_eq!(taken, [term(Seat::Leader, 2, 2, at(90)), term(seat(1), 2, 2, at(90))]);
    let roll = seats.roll().await.expect("roll");
    assert_eq!(roll.nodes.iter().map(|view| view.info.id).collect::<Vec<_>>(), [node(2)]);
}

pub async fn what_nodes_say_of_themselves_is_told_to_all_by_id(stage: Stage) {
    let seats = stage.seats();
    let second = NodeInfo {
        address: Some("10.0.0.2:7070".into()),
        roles: "api".parse().expect("a role"),
        version: "9.9.9".into(),
        shards: u64::MAX,
        skew_ms: Some(-1_200),
        willing: false,
        ..info(2)
    };
    seats.renew(at(5), second.clone(), at(105)).await.expect("renew");
    let roll = seats.renew(at(7), info(1), at(107)).await.expect("renew");
    let seen: Vec<_> = roll.nodes.into_iter().map(|view| (view.info, view.seen_at, view.until)).collect();
    assert_eq!(seen, [(info(1), at(7), at(107)), (second, at(5), at(105))]);
}

pub async fn the_leader_assigns_and_one_that_was_deposed_does_not(stage: Stage) {
    let seats = stage.seats();
    let first = seats.take(at(0), node(1), vec![Seat::Leader], at(100)).await.expect("take")[0];
    let to = |number| vec![(segment(3), node(number)), (segment(1), node(number))];
    let by = |term: Term, to| Assign { warrant: term.warrant(), to, forget_before: Time::ZERO };
    assert_eq!(seats.assign(at(1), by(first, to(5))).await.expect("assign"), Assigned::Done);
    let second = seats.take(at(100), node(2), vec![Seat::Leader], at(200)).await.expect("take")[0];
    assert_eq!(seats.assign(at(101), by(first, to(6))).await.expect("assign"), Assigned::Deposed);
    assert_eq!(seats.roll().await.expect("roll").assigned, [(segment(1), node(5)), (segment(3), node(5))]);
    assert_eq!(seats.assign(at(101), by(second, vec![(segment(3), node(7))])).await.expect("assign"), Assigned::Done);
    let roll = seats.roll().await.expect("roll");
    assert_eq!(roll.assigned, [(segment(1), node(5)), (segment(3), node(7))], "what is not named stays");
    assert_eq!(roll.terms.len(), 1, "assigning moves no seat");
}

pub async fn no_state_without_an_exit_a_node_that_is_long_gone_is_forgotten(stage: Stage) {
    let seats = stage.seats();
    seats.renew(at(0), info(1), at(100)).await.expect("renew");
    seats.renew(at(500), info(2), at(600)).await.expect("renew");
    let leader = seats.take(at(500), node(2), vec![Seat::Leader], at(600)).await.expect("take")[0];
    let assign = |forget_before| Assign { warrant: leader.warrant(), to: vec![], forget_before };
    seats.assign(at(500), assign(at(0))).await.expect("assign");
    assert_eq!(seats.roll().await.expect("roll").nodes.len(), 2);
    seats.assign(at(500), assign(at(1))).await.expect("assign");
    let nodes = seats.roll().await.expect("roll").nodes;
    assert_eq!(nodes.iter().map(|view| view.info.id).collect::<Vec<_>>(), [node(2)]);
}

pub async fn limits_are_named_one_node_too_many_is_refused_and_those_that_are_there_go_on(stage: Stage) {
    let seats = stage.seats();
    for number in 0..NODES_MAX as u32 {
        seats.renew(at(0), info(number), at(100)).await.expect("renew");
    }
    let refused = seats.renew(at(0), info(NODES_MAX as u32), at(100)).await;
    assert!(matches!(&refused, Err(Error::Invalid(why)) if why.contains("NODES_MAX")), "{refused:?}");
    assert_eq!(seats.renew(at(1), info(0), at(101)).await.expect("renew").nodes.len(), NODES_MAX);
}

pub async fn epochs_and_the_assignment_outlive_the_process(stage: Stage) {
    let seats = stage.seats();
    let leader = seats.take(at(0), node(1), vec![Seat::Leader, seat(7)], at(100)).await.expect("take")[0];
    let assign = Assign { warrant: leader.warrant(), to: vec![(segment(7), node(1))], forget_before: Time::ZERO };
    seats.assign(at(0), assign).await.expect("assign");
    drop(seats);
    let stage = stage.reopen().await;
    let seats = stage.seats();
    let roll = seats.roll().await.expect("roll");
    assert_eq!(roll.assigned, [(segment(7), node(1))]);
    let terms: Vec<_> = roll.terms.iter().map(|term| (term.seat, term.holder, term.epoch)).collect();
    assert_eq!(terms, [(Seat::Leader, node(1), 1), (seat(7), node(1), 1)]);
    let taken = seats.take(at(100), node(2), vec![seat(7)], at(200)).await.expect("take");
    assert_eq!(taken, [term(seat(7), 2, 2, at(200))], "no epoch is ever used twice");
}

fn term(seat: Seat, holder: u32, epoch: u64, until: Time) -> Term {
    Term { seat, holder: node(holder), epoch, until }
}
