//! What a gather owes: each caller its own answer, whatever happens to the others.

use std::sync::Mutex;

use super::*;
use proptest::prelude::*;
use tokio::task::JoinSet;

use crate::signal::Signal;

impl Item for u64 {
    fn spare(&self) -> Option<u64> {
        Some(*self)
    }
}

const BOUNDS: Bounds = Bounds { call_max: 10, eager_max: 2, calls_max: 2, waiting_max: 1_000, drop_abandoned: false };

fn closing() -> Signal {
    Signal::new()
}

/// A call that the test lets go on when it likes.
#[derive(Debug, Clone)]
struct Door {
    open: Arc<Semaphore>,
    entered: mpsc::UnboundedSender<Vec<u64>>,
}

fn door() -> (Door, mpsc::UnboundedReceiver<Vec<u64>>) {
    let (entered, calls) = mpsc::unbounded_channel();
    (Door { open: Arc::new(Semaphore::new(0)), entered }, calls)
}

impl Door {
    async fn call(self, items: Vec<u64>) -> store::Result<Vec<u64>> {
        let _ = self.entered.send(items.clone());
        self.open.acquire().await.expect("stays open").forget();
        Ok(items.into_iter().map(|item| item * 2).collect())
    }
}

fn run(runtime: &tokio::runtime::Runtime, requests: Vec<Vec<u64>>, call_max: usize) -> (Vec<Vec<u64>>, Vec<usize>) {
    runtime.block_on(async {
        let (gather, gathering) = gather(Bounds { call_max, ..BOUNDS }, &Counter::noop());
        let (gather, sizes, stop) = (Arc::new(gather), Arc::new(Mutex::new(vec![])), closing());
        let seen = sizes.clone();
        let call = move |items: Vec<u64>| {
            seen.lock().unwrap().push(items.len());
            async move {
                tokio::task::yield_now().await;
                Ok(items.into_iter().map(|item| item * 2).collect())
            }
        };
        let gathering = tokio::spawn(gathering.run(call, stop.listen(), std::future::pending::<()>));
        let mut callers = JoinSet::new();
        for (at, items) in requests.into_iter().enumerate() {
            let gather = gather.clone();
            callers.spawn(async move { (at, gather.ask(items).await.expect("there is room")) });
        }
        let mut answers = callers.join_all().await;
        answers.sort();
        stop.raise();
        gathering.await.expect("ends");
        let sizes = sizes.lock().unwrap().clone();
        (answers.into_iter().map(|(_, answer)| answer).collect(), sizes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_caller_gets_its_own_answers_in_order(
        requests in prop::collection::vec(prop::collection::vec(0u64..1_000, 0..20), 0..60), call_max in 1usize..40,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let expected: Vec<Vec<u64>> =
            requests.iter().map(|items| items.iter().map(|item| item * 2).collect()).collect();
        let largest = requests.iter().map(Vec::len).max().unwrap_or(0);
        let items: usize = requests.iter().map(Vec::len).sum();
        let (answers, sizes) = run(&runtime, requests, call_max);
        prop_assert_eq!(answers, expected);
        prop_assert_eq!(sizes.iter().sum::<usize>(), items);
        prop_assert!(sizes.iter().all(|&size| size <= call_max.max(largest)));
    }
}

#[tokio::test]
async fn what_comes_while_calls_are_under_way_makes_up_the_next_call() {
    let (gather, gathering) = gather(BOUNDS, &Counter::noop());
    let (gather, stop) = (Arc::new(gather), closing());
    let (door, mut calls) = door();
    let open = door.open.clone();
    tokio::spawn(gathering.run(move |items| door.clone().call(items), stop.listen(), std::future::pending::<()>));

    let ask = |item: u64| {
        let gather = gather.clone();
        tokio::spawn(async move { gather.ask(vec![item]).await })
    };
    let first = ask(1);
    assert_eq!(calls.recv().await.unwrap(), [1], "an idle store is not kept waiting");
    let second = ask(2);
    assert_eq!(calls.recv().await.unwrap(), [2]);
    let rest: Vec<_> = (3..9).map(ask).collect();
    while gather.requests.capacity() > BOUNDS.waiting_max - rest.len() {
        tokio::task::yield_now().await;
    }
    open.add_permits(3);
    let mut third = calls.recv().await.unwrap();
    third.sort();
    assert_eq!(third, [3, 4, 5, 6, 7, 8]);
    for (caller, item) in [first, second].into_iter().chain(rest).zip(1u64..) {
        assert_eq!(caller.await.unwrap().unwrap(), [item * 2]);
    }
}

#[tokio::test]
async fn a_failure_stays_where_it_is_a_call_that_is_stuck_keeps_nobody_from_the_store() {
    let (gather, gathering) = gather(Bounds { eager_max: 1, calls_max: 2, ..BOUNDS }, &Counter::noop());
    let (gather, stop) = (Arc::new(gather), closing());
    let (door, mut calls) = door();
    let open = door.open.clone();
    let patience = Arc::new(tokio::sync::Semaphore::new(0));
    let ends = patience.clone();
    let stuck = move || {
        let ends = ends.clone();
        async move { ends.acquire().await.unwrap().forget() }
    };
    tokio::spawn(gathering.run(move |items| door.clone().call(items), stop.listen(), stuck));

    let ask = |item: u64| {
        let gather = gather.clone();
        tokio::spawn(async move { gather.ask(vec![item]).await })
    };
    let first = ask(1);
    assert_eq!(calls.recv().await.unwrap(), [1]);
    let rest = [2, 3].map(ask);
    while gather.requests.capacity() > BOUNDS.waiting_max - rest.len() {
        tokio::task::yield_now().await;
    }
    assert!(calls.try_recv().is_err(), "they wait for the call that is under way");
    patience.add_permits(1);
    let mut second = calls.recv().await.unwrap();
    second.sort();
    assert_eq!(second, [2, 3]);
    open.add_permits(2);
    for (caller, item) in [first].into_iter().chain(rest).zip(1u64..) {
        assert_eq!(caller.await.unwrap().unwrap(), [item * 2]);
    }
}

#[tokio::test]
async fn a_full_gather_turns_callers_away_and_loses_nothing() {
    let (gather, gathering) = gather(Bounds { waiting_max: 2, ..BOUNDS }, &Counter::noop());
    let (gather, stop) = (Arc::new(gather), closing());
    let (door, mut calls) = door();
    let open = door.open.clone();
    tokio::spawn(gathering.run(move |items| door.clone().call(items), stop.listen(), std::future::pending::<()>));

    let ask = |item: u64| {
        let gather = gather.clone();
        tokio::spawn(async move { gather.ask(vec![item]).await })
    };
    let mut accepted = vec![];
    for item in 0..BOUNDS.calls_max as u64 {
        accepted.push(ask(item));
        calls.recv().await.unwrap();
    }
    accepted.extend([10, 11].map(ask));
    while gather.requests.capacity() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(gather.ask(vec![12]).await, Err(Error::Busy { retry_after }) if retry_after == RETRY_AFTER));
    open.add_permits(100);
    for caller in accepted {
        assert_eq!(caller.await.unwrap().expect("was accepted").len(), 1);
    }
    assert_eq!(gather.ask(vec![12]).await.expect("there is room again"), [24]);
}

#[tokio::test]
async fn one_bad_request_does_not_spoil_those_gathered_with_it() {
    let (gather, gathering) = gather(BOUNDS, &Counter::noop());
    let (gather, stop) = (Arc::new(gather), closing());
    let call = |items: Vec<u64>| async move {
        if items.contains(&13) { Err(store::Error::Invalid("13".into())) } else { Ok(items) }
    };
    let asks: Vec<_> = [1, 13, 2]
        .map(|item| {
            let gather = gather.clone();
            tokio::spawn(async move { gather.ask(vec![item]).await })
        })
        .into();
    while gather.requests.capacity() > BOUNDS.waiting_max - 3 {
        tokio::task::yield_now().await;
    }
    tokio::spawn(gathering.run(call, stop.listen(), std::future::pending::<()>));
    let mut answers = vec![];
    for ask in asks {
        answers.push(ask.await.unwrap());
    }
    assert_eq!(answers[0].as_ref().unwrap(), &[1]);
    assert!(matches!(&answers[1], Err(Error::Store(store::Error::Invalid(_)))));
    assert_eq!(answers[2].as_ref().unwrap(), &[2]);
}

#[tokio::test]
async fn a_gather_that_closes_finishes_what_it_took_and_refuses_the_rest() {
    let (gather, gathering) = gather(BOUNDS, &Counter::noop());
    let (gather, stop) = (Arc::new(gather), closing());
    let taken: Vec<_> = (0..5u64)
        .map(|item| {
            let gather = gather.clone();
            tokio::spawn(async move { gather.ask(vec![item]).await })
        })
        .collect();
    while gather.requests.capacity() > BOUNDS.waiting_max - 5 {
        tokio::task::yield_now().await;
    }
    stop.raise();
    gathering.run(|items: Vec<u64>| async move { Ok(items) }, stop.listen(), std::future::pending::<()>).await;
    for (caller, item) in taken.into_iter().zip(0u64..) {
        assert_eq!(caller.await.unwrap().expect("was taken"), [item]);
    }
    assert!(matches!(gather.ask(vec![9]).await, Err(Error::Closed)));
}
