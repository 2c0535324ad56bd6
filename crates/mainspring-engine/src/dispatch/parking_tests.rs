//! What the parking owes: first come first served, no more than needed, and no wake lost.

use super::*;
use mainspring_core::id::WorkerId;
use mainspring_core::store::Whose;
use proptest::prelude::*;

type Answer = oneshot::Receiver<Result<Handful>>;

fn queue(name: &str) -> QueueRef {
    QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::parse(name).unwrap() }
}

fn waiter(worker: u128, queues: &[&str], max: usize) -> (Waiter, Answer) {
    let claim = Claim {
        worker: WorkerId(uuid::Uuid::from_u128(worker)),
        tenant: TenantName::default_tenant(),
        whose: Whose::Own,
        queues: queues.iter().map(|name| QueueName::parse(name).unwrap()).collect(),
        max,
    };
    let (reply, answer) = oneshot::channel();
    (Waiter::new(claim, reply, Arc::default()), answer)
}

fn park(parking: &Parking, worker: u128, queues: &[&str], max: usize) -> (u64, Answer) {
    let (waiter, answer) = waiter(worker, queues, max);
    let generation = parking.generation(&waiter.claim);
    match parking.park(waiter, generation) {
        Parked::Waiting { ticket } => (ticket, answer),
        other => panic!("was not parked: {other:?}"),
    }
}

fn workers(woken: &[Woken]) -> Vec<u128> {
    woken.iter().map(|woken| woken.waiter.claim.worker.0.as_u128()).collect()
}

#[test]
fn a_wake_takes_as_many_as_it_can_serve_first_come_first() {
    let parking = Parking::new();
    let _answers = [(1, 2), (2, 3), (3, 1), (4, 1)].map(|(worker, max)| park(&parking, worker, &["a"], max));
    assert_eq!(workers(&parking.wake(&[(queue("b"), 9)])), []);
    let woken = parking.wake(&[(queue("a"), 4)]);
    assert_eq!(workers(&woken), [1, 2]);
    assert_eq!(woken[1].by, Some((Line::Queue(queue("a")), 2)));
    assert_eq!(workers(&parking.wake(&[(queue("a"), 9)])), [3, 4]);
}

#[test]
fn a_wake_between_the_look_and_the_parking_is_not_lost() {
    let parking = Parking::new();
    let (waiter, _answer) = waiter(1, &["a", "b"], 1);
    let generation = parking.generation(&waiter.claim);
    assert!(parking.wake(&[(queue("b"), 1)]).is_empty());
    assert!(matches!(parking.park(waiter, generation), Parked::Changed(_)));
}

#[test]
fn a_wake_that_is_served_disturbs_nobody_else() {
    let parking = Parking::new();
    let _waiting = park(&parking, 1, &["a"], 1);
    let (second, _answer) = waiter(2, &["a"], 1);
    let generation = parking.generation(&second.claim);
    assert_eq!(workers(&parking.wake(&[(queue("a"), 1)])), [1]);
    assert!(matches!(parking.park(second, generation), Parked::Waiting { .. }));
}

#[test]
fn a_waiter_that_was_woken_for_nothing_keeps_its_place() {
    let parking = Parking::new();
    let _answers = [1, 2].map(|worker| park(&parking, worker, &["a"], 1));
    let woken = parking.wake(&[(queue("a"), 1)]).pop().unwrap();
    let generation = parking.generation(&woken.waiter.claim);
    assert!(matches!(parking.park(woken.waiter, generation), Parked::Waiting { .. }));
    assert_eq!(workers(&parking.wake(&[(queue("a"), 2)])), [1, 2]);
}

#[test]
fn who_hung_up_or_whose_time_is_over_is_passed_over() {
    let parking = Parking::new();
    let (_, hung_up) = park(&parking, 1, &["a"], 1);
    let (ticket, _over) = park(&parking, 2, &["a", "b"], 1);
    let _third = park(&parking, 3, &["a"], 1);
    drop(hung_up);
    let over = AtomicBool::new(false);
    assert!(parking.leave(ticket, &over), "it was waiting");
    assert!(!parking.leave(ticket, &over), "it is gone");
    assert_eq!(workers(&parking.wake(&[(queue("a"), 1)])), [3]);
    assert_eq!(parking.lines(), [], "nothing is left behind");
}

#[test]
fn one_whose_time_is_over_while_it_is_served_is_not_parked_again() {
    let parking = Parking::new();
    let (waiter, _answer) = waiter(1, &["a"], 1);
    let over = waiter.over.clone();
    let generation = parking.generation(&waiter.claim);
    assert!(!parking.leave(0, &over));
    assert!(matches!(parking.park(waiter, generation), Parked::Over(_)));
}

#[test]
fn a_closed_parking_sends_everyone_away() {
    let parking = Parking::new();
    let _answers = [1, 2].map(|worker| park(&parking, worker, &["a"], 1));
    assert_eq!(parking.close().len(), 2);
    let (waiter, _answer) = waiter(3, &["a"], 1);
    let generation = parking.generation(&waiter.claim);
    assert!(matches!(parking.park(waiter, generation), Parked::Over(_)));
}

/// A queue of another tenant.
fn foreign(name: &str) -> QueueRef {
    QueueRef { tenant: TenantName::parse("other").unwrap(), ..queue(name) }
}

fn for_all(worker: u128, queues: &[&str]) -> (Waiter, Answer) {
    let (mut waiter, answer) = waiter(worker, queues, 1);
    waiter.claim.whose = Whose::All;
    (waiter, answer)
}

fn park_for_all(parking: &Parking, worker: u128, queues: &[&str]) -> Answer {
    let (waiter, answer) = for_all(worker, queues);
    let generation = parking.generation(&waiter.claim);
    assert!(matches!(parking.park(waiter, generation), Parked::Waiting { .. }));
    answer
}

#[test]
fn a_claim_for_every_tenant_is_woken_by_any_of_them_in_its_turn() {
    let parking = Parking::new();
    let _own = park(&parking, 1, &["a"], 1);
    let _all = [2, 3].map(|worker| park_for_all(&parking, worker, &["a", "b"]));
    let _late = park(&parking, 4, &["a"], 1);
    assert_eq!(workers(&parking.wake(&[(foreign("c"), 9)])), []);
    assert_eq!(workers(&parking.wake(&[(foreign("a"), 1)])), [2], "the first is not for that tenant");
    assert_eq!(workers(&parking.wake(&[(queue("a"), 9)])), [1, 3, 4], "first come first, whoever for");
    assert_eq!(parking.lines(), [], "nothing is left behind");
}

#[test]
fn a_wake_of_any_tenant_between_the_look_and_the_parking_is_not_lost() {
    let parking = Parking::new();
    let (waiter, _answer) = for_all(1, &["a"]);
    let generation = parking.generation(&waiter.claim);
    assert!(parking.wake(&[(foreign("a"), 1)]).is_empty());
    assert!(matches!(parking.park(waiter, generation), Parked::Changed(_)));
}

#[test]
fn a_wake_by_name_alone_serves_those_who_wait_for_every_tenant() {
    let parking = Parking::new();
    let _own = park(&parking, 1, &["a"], 1);
    let _all = park_for_all(&parking, 2, &["a"]);
    assert_eq!(workers(&parking.wake_lines(&[(Line::Name(queue("a").queue), 9)])), [2]);
    assert!(parking.is_waited_for(&queue("a")) && !parking.is_waited_for(&foreign("a")));
}

proptest! {
    /// Whatever the order of things, nothing is left of those who have been served or have left.
    #[test]
    fn the_parking_holds_exactly_those_who_wait(steps in prop::collection::vec((0u8..3, 0usize..4, 1u64..4), 1..60)) {
        const QUEUES: [&[&str]; 4] = [&["a"], &["b"], &["a", "b"], &["b", "c", "a"]];
        let parking = Parking::new();
        let mut waiting: Vec<(u64, usize, Answer)> = vec![];
        for (step, pick, count) in steps {
            match step {
                0 => {
                    let (ticket, answer) = park(&parking, 0, QUEUES[pick], 1);
                    waiting.push((ticket, pick, answer));
                }
                1 if !waiting.is_empty() => {
                    let (ticket, ..) = waiting.remove(pick % waiting.len());
                    prop_assert!(parking.leave(ticket, &AtomicBool::new(false)));
                }
                _ => {
                    let name = ["a", "b", "c", "d"][pick];
                    let woken = parking.wake(&[(queue(name), count)]);
                    let expected: Vec<u64> = waiting
                        .iter()
                        .filter(|(_, queues, _)| QUEUES[*queues].contains(&name))
                        .map(|&(ticket, ..)| ticket)
                        .take(count as usize)
                        .collect();
                    let tickets: Vec<u64> = woken.iter().filter_map(|woken| woken.waiter.ticket).collect();
                    prop_assert_eq!(&tickets, &expected);
                    waiting.retain(|(ticket, ..)| !tickets.contains(ticket));
                }
            }
            let wanted: BTreeSet<Line> =
                waiting.iter().flat_map(|(_, queues, _)| QUEUES[*queues]).map(|name| Line::Queue(queue(name))).collect();
            prop_assert_eq!(parking.lines().into_iter().collect::<BTreeSet<_>>(), wanted);
        }
    }
}
