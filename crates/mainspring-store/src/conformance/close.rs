//! What a store promises when a worker was told to come back later.

use std::time::Duration;

use mainspring_core::gate::{Entry, GateState};
use mainspring_core::job::{ExecutionOutcome, Job, Keys, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::limits::GATE_CLOSED_MAX;
use mainspring_core::store::*;
use mainspring_core::verdict::Verdict;

use super::stage::*;

fn close(seconds: u64) -> Verdict {
    Verdict::Close { wait: Duration::from_secs(seconds) }
}

pub async fn a_key_that_was_told_to_wait_is_closed_for_all_its_jobs_and_burns_no_attempt(stage: Stage) {
    stage.accept(at(0), vec![with_rate_key(1, "a"), with_rate_key(2, "a"), in_queue("other", with_key(3, "a"))]).await;
    stage.accept(at(0), vec![with_rate_key(4, "b")]).await;
    let lease = stage.take(at(0), 1).await[0].lease_id();
    let news = news(stage.settle(at(1000), lease, close(5)).await);
    assert_eq!(news.closed, Some((gate("key:a"), at(6000))));
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.state, standing.ready_at, standing.tally), (State::Ready, at(0), Tally::default()));
    assert_eq!(stage.executions(id(1)).await[0].outcome, ExecutionOutcome::RateLimited);
    assert_eq!(stage.took(at(1000), 10).await, [id(4)]);
    for number in [1, 2, 3] {
        assert_eq!(stage.reasons(at(5999), number).await, [("key:a".to_owned(), vec![Entry::ClosedUntil(at(6000))])]);
    }
    assert_eq!(stage.took(at(5999), 10).await, []);
    assert_eq!(stage.took(at(6000), 10).await, [1, 2, 3].map(id), "without a rule, all go when it is over");
}

pub async fn nothing_accepted_is_lost_a_closed_key_stays_closed_through_a_reopen(stage: Stage) {
    stage.accept(at(0), vec![with_key(1, "a"), with_key(2, "a")]).await;
    let lease = stage.take(at(0), 1).await[0].lease_id();
    stage.end(at(0), lease, close(5)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(4999), 10).await, []);
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(5000), 10).await, [1, 2].map(id));
}

pub async fn the_rate_key_is_closed_before_the_concurrency_key(stage: Stage) {
    let keys = Keys { concurrency: key("slots"), rate: key("permits"), weight: 1 };
    stage.accept(at(0), vec![Job { keys, ..job(1) }, with_key(2, "slots"), with_key(3, "permits")]).await;
    let lease = stage.take(at(0), 1).await[0].lease_id();
    let news = news(stage.settle(at(0), lease, close(5)).await);
    assert_eq!(news.closed, Some((gate("key:permits"), at(5000))));
    assert_eq!(stage.took(at(1), 10).await, [id(2)]);
}

pub async fn a_job_without_a_key_closes_nothing(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    assert_eq!(news(stage.settle(at(0), lease, close(5)).await), GateNews::default());
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
}

pub async fn of_two_waits_the_longer_is_believed(stage: Stage) {
    stage.accept(at(0), vec![with_key(1, "a"), with_key(2, "a")]).await;
    let taken = stage.take(at(0), 2).await;
    assert_eq!(news(stage.settle(at(0), taken[0].lease_id(), close(9)).await).closed, Some((gate("key:a"), at(9000))));
    let second = news(stage.settle(at(0), taken[1].lease_id(), close(3)).await);
    assert_eq!(second.closed, Some((gate("key:a"), at(9000))), "what then stands is told");
    assert_eq!(stage.took(at(8999), 10).await, []);
}

pub async fn no_state_without_an_exit_no_key_is_closed_for_longer_than_the_limit(stage: Stage) {
    let lease = stage.running(with_key(1, "a")).await.lease_id();
    stage.end(at(0), lease, Verdict::Close { wait: GATE_CLOSED_MAX * 3 }).await;
    let open = at(0).after(GATE_CLOSED_MAX);
    assert_eq!(stage.took(open.before(Duration::from_millis(1)), 10).await, []);
    assert_eq!(stage.took(open, 10).await, [id(1)]);
}

pub async fn a_closed_key_can_be_opened_by_hand(stage: Stage) {
    let lease = stage.running(with_key(1, "a")).await.lease_id();
    stage.end(at(0), lease, close(60)).await;
    assert_eq!(stage.took(at(1), 10).await, []);
    assert_eq!(stage.command_gate(at(1), "key:b*", GateCommand::Reopen).await, Commanded::Missing);
    assert_eq!(stage.command_gate(at(1), "key:a", GateCommand::Reopen).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(2), 10).await, [id(1)]);
}

pub async fn every_closed_key_in_reach_is_opened_by_one_hand(stage: Stage) {
    stage.accept(at(0), vec![with_key(1, "eu:1"), with_key(2, "eu:2"), with_key(3, "us")]).await;
    for claimed in stage.take(at(0), 10).await {
        stage.end(at(0), claimed.lease_id(), close(60)).await;
    }
    assert_eq!(stage.command_gate(at(1), "key:eu:*", GateCommand::Reopen).await, Commanded::Done);
    assert_eq!(stage.took(at(2), 10).await, [1, 2].map(id));
    assert_eq!(stage.command_gate(at(60_000), "key:us", GateCommand::Reopen).await, Commanded::Missing, "it is over");
}

pub async fn a_closed_key_is_listed_while_it_is_closed(stage: Stage) {
    let lease = stage.running(with_key(1, "a")).await.lease_id();
    stage.end(at(0), lease, close(5)).await;
    let view = stage.gate(at(4999), "key:a").await.expect("it is closed");
    let state = GateState { closed_until: Some(at(5000)), ..GateState::default() };
    assert_eq!((view.rule, view.state), (None, state));
    assert_eq!(stage.gates(at(5000)).await, []);
}
