//! What lanes keep apart, and put together again.

use std::sync::{Arc, Mutex};

use mainspring_core::segment::Segment;
use mainspring_core::store;

use super::*;
use crate::error::Error;
use crate::signal::Signal;

const BOUNDS: Bounds = Bounds { call_max: 10, eager_max: 2, calls_max: 2, waiting_max: 1_000, drop_abandoned: false };

/// The number of a database; 9 for any.
#[derive(Clone, Copy, Debug, PartialEq)]
struct For(u8);

impl Item for For {}

impl Homed for For {
    fn home(&self, placement: Placement) -> Option<Shard> {
        (self.0 < 9).then(|| placement.shard_of(Segment::wrap(self.0)))
    }
}

/// Asks lanes over three databases, of which the second fails. Answers what came of it, and the calls.
async fn ask(items: &[u8]) -> (Result<Vec<u8>>, Vec<Vec<u8>>) {
    let placement = Placement::new(3).expect("in range");
    let (lanes, ends) = lanes::<For, u8>(placement, BOUNDS, &Counter::noop());
    let calls: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let closing = Signal::new();
    for end in ends {
        let calls = calls.clone();
        let call = move |items: Vec<For>| {
            let items: Vec<u8> = items.into_iter().map(|item| item.0).collect();
            calls.lock().unwrap().push(items.clone());
            async move { if items.contains(&1) { Err(store::Error::Unavailable("it is down".into())) } else { Ok(items) } }
        };
        tokio::spawn(end.run(call, closing.listen(), std::future::pending::<()>));
    }
    let answer = lanes.ask(items.iter().copied().map(For).collect()).await;
    let mut calls = calls.lock().unwrap().clone();
    calls.sort();
    (answer, calls)
}

#[tokio::test]
async fn items_of_two_databases_never_share_a_call_and_answers_keep_their_order() {
    let (answer, calls) = ask(&[2, 0, 9, 2, 3]).await;
    assert_eq!(answer.unwrap(), [2, 0, 9, 2, 3]);
    assert_eq!(calls, [vec![0, 3], vec![2, 2], vec![9]], "0 and 3 are of the same database");
}

#[tokio::test]
async fn a_failure_stays_where_it_is_a_database_that_is_down_fails_its_own_requests() {
    let (answer, _) = ask(&[1]).await;
    assert!(matches!(answer, Err(Error::Store(store::Error::Unavailable(_)))), "{answer:?}");
    assert_eq!(ask(&[2]).await.0.unwrap(), [2]);
}

#[test]
fn with_one_database_there_is_one_lane() {
    let (lanes, ends) = lanes::<For, u8>(Placement::ONE, BOUNDS, &Counter::noop());
    assert_eq!((lanes.lanes.len(), ends.len()), (1, 1));
}

#[test]
fn what_there_is_for_each_database_keeps_its_order() {
    let placement = Placement::new(3).expect("in range");
    let parts = apart(placement, vec![5u8, 3, 2, 0], |number| placement.shard_of(Segment::wrap(*number)));
    assert_eq!(parts, [vec![3, 0], vec![5, 2]]);
}
