//! What a store promises when it takes jobs in.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::lifecycle::State;
use mainspring_core::name::Tag;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_core::store::*;

use super::stage::*;

pub async fn nothing_accepted_is_lost_every_field_is_there_after_a_reopen(stage: Stage) {
    let full = Job {
        priority: priority(-7),
        run_at: at(5000),
        deadline: Some(at(90_000)),
        expires_at: Some(at(80_000)),
        retry: RetryPolicy {
            backoff: Backoff::List { delays: vec![Duration::from_millis(1500), Duration::from_secs(60)] },
            cap: Duration::from_secs(3),
            jitter: 0.25,
        },
        max_attempts: 9,
        max_crashes: 2,
        timeout: Some(Duration::from_millis(1234)),
        tags: vec![Tag::parse("käse & brot").expect("a tag"), Tag::parse("b").expect("a tag")],
        idempotency: Some(keyed("once", 1, 1_000_000)),
        ..job(1)
    };
    stage.accept(at(0), vec![full.clone(), job(2)]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.view(id(1)).await.job, full);
    assert_eq!(stage.view(id(2)).await.job, job(2));
    assert_eq!(stage.state(id(2)).await, State::Ready);
}

pub async fn nothing_accepted_is_lost_of_a_large_batch(stage: Stage) {
    let numbers = 1..=3000;
    let scattered = |number: u32| Job { run_at: at(u64::from(number) * 7919 % 100_000), ..job(number) };
    stage.accept(at(0), numbers.clone().map(scattered).collect()).await;
    let stage = stage.reopen().await;
    let expected: Vec<JobId> = numbers.rev().map(id).collect();
    assert_eq!(stage.find(Filter::default(), 100).await, expected);
    assert_eq!(stage.queue("mail").await.counts.depth(), 3000);
}

pub async fn a_due_job_is_ready_and_a_later_one_waits(stage: Stage) {
    let later = Job { run_at: at(11), ..job(2) };
    let overdue = Job { run_at: at(3), ..job(3) };
    let answers = stage.submit(at(10), vec![Job { run_at: at(10), ..job(1) }, later, overdue]).await;
    assert_eq!(answers, [accepted(State::Ready, 10), accepted(State::Waiting, 11), accepted(State::Ready, 3)]);
}

pub async fn an_id_seen_before_is_accepted_again_and_changes_nothing(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    let other = Job { data: json("2"), run_at: at(99), queue: queue("other"), ..job(1) };
    assert_eq!(stage.submit(at(1), vec![other]).await, [accepted(State::Ready, 0)]);
    assert_eq!(stage.view(id(1)).await.job, job(1));
    assert_eq!(stage.queue("mail").await.counts.ready, 1);
}

pub async fn an_id_seen_before_answers_where_the_job_is_now(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    assert_eq!(stage.submit(at(1), vec![job(1)]).await, [accepted(State::Running, 0)]);
    stage.end(at(2), claimed.lease_id(), succeed()).await;
    assert_eq!(stage.submit(at(3), vec![job(1)]).await, [accepted(State::Succeeded, 0)]);
}

pub async fn an_id_twice_in_one_batch_is_one_job(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(1)]).await;
    assert_eq!(stage.queue("mail").await.counts.depth(), 1);
}

pub async fn repeating_a_submit_is_safe_in_a_full_queue(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(1))).await;
    let said = Job { idempotency: Some(keyed("once", 1, 1000)), ..job(1) };
    stage.accept(at(0), vec![said.clone()]).await;
    assert_eq!(stage.submit(at(1), vec![said]).await, [accepted(State::Ready, 0)]);
}

pub async fn a_key_seen_before_answers_the_job_it_made(stage: Stage) {
    let said = |number, words| Job { idempotency: Some(keyed("once", words, 1000)), ..job(number) };
    stage.accept(at(0), vec![said(1, 1)]).await;
    let stage = stage.reopen().await;
    let answers = stage.submit(at(999), vec![said(2, 1), said(3, 2)]).await;
    assert_eq!(answers, [Submitted::Duplicate { id: id(1) }, Submitted::Mismatch { id: id(1) }]);
    assert_eq!(stage.look(id(2)).await, None);
    assert_eq!(stage.queue("mail").await.counts.depth(), 1);
}

pub async fn a_key_is_free_again_when_its_time_is_over(stage: Stage) {
    let said = |number, until| Job { idempotency: Some(keyed("once", 1, until)), ..job(number) };
    stage.accept(at(0), vec![said(1, 1000)]).await;
    stage.accept(at(1000), vec![said(2, 5000)]).await;
    assert_eq!(stage.submit(at(1001), vec![said(3, 5000)]).await, [Submitted::Duplicate { id: id(2) }]);
}

pub async fn a_key_belongs_to_its_tenant(stage: Stage) {
    let mine = Job { idempotency: Some(keyed("once", 1, 1000)), ..job(1) };
    let theirs = Job { tenant: tenant("other"), idempotency: Some(keyed("once", 2, 1000)), ..job(2) };
    stage.accept(at(0), vec![mine, theirs]).await;
}

pub async fn a_key_twice_in_one_batch_makes_one_job(stage: Stage) {
    let said = |number, words| Job { idempotency: Some(keyed("once", words, 1000)), ..job(number) };
    let answers = stage.submit(at(0), vec![said(1, 1), said(2, 1), said(3, 2)]).await;
    let duplicate = Submitted::Duplicate { id: id(1) };
    assert_eq!(answers, [accepted(State::Ready, 0), duplicate, Submitted::Mismatch { id: id(1) }]);
}

pub async fn a_key_outlives_its_job(stage: Stage) {
    let said = |number| Job { idempotency: Some(keyed("once", 1, 1000)), ..job(number) };
    stage.accept(at(0), vec![said(1)]).await;
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Done);
    assert_eq!(stage.command(at(2), id(1), JobCommand::Delete).await, Commanded::Done);
    assert_eq!(stage.submit(at(3), vec![said(2)]).await, [Submitted::Duplicate { id: id(1) }]);
}

pub async fn limits_are_named_a_full_queue_says_its_depth_and_keeps_what_it_has(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(2))).await;
    let waiting = Job { run_at: at(1000), ..job(2) };
    let answers = stage.submit(at(0), vec![job(1), waiting, job(3)]).await;
    let full = Submitted::QueueFull { max_depth: 2 };
    assert_eq!(answers, [accepted(State::Ready, 0), accepted(State::Waiting, 1000), full.clone()]);
    let stage = stage.reopen().await;
    assert_eq!(stage.submit(at(1), vec![job(3)]).await, [full]);
    assert_eq!(stage.find(Filter::default(), 10).await, [id(2), id(1)]);
}

pub async fn limits_are_named_a_refused_job_does_not_use_up_its_key(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(0))).await;
    let said = Job { idempotency: Some(keyed("once", 1, 1000)), ..job(1) };
    assert_eq!(stage.submit(at(0), vec![said.clone()]).await, [Submitted::QueueFull { max_depth: 0 }]);
    stage.command_queue(at(1), "mail", QueueCommand::SetMaxDepth(None)).await;
    stage.accept(at(2), vec![Job { id: id(2), ..said }]).await;
}

pub async fn limits_are_named_running_and_finished_jobs_take_no_room(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(1))).await;
    let claimed = stage.running(job(1)).await;
    stage.accept(at(1), vec![job(2)]).await;
    assert_eq!(stage.submit(at(2), vec![job(3)]).await, [Submitted::QueueFull { max_depth: 1 }]);
    stage.end(at(3), claimed.lease_id(), succeed()).await;
    assert_eq!(stage.command(at(4), id(2), cancel()).await, Commanded::Done);
    stage.accept(at(5), vec![job(3)]).await;
}

pub async fn a_failure_stays_where_it_is_a_full_queue_stops_no_other(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(0))).await;
    let elsewhere = Job { queue: queue("other"), ..job(2) };
    let theirs = Job { tenant: tenant("other"), ..job(3) };
    let answers = stage.submit(at(0), vec![job(1), elsewhere, theirs]).await;
    let full = Submitted::QueueFull { max_depth: 0 };
    assert_eq!(answers, [full, accepted(State::Ready, 0), accepted(State::Ready, 0)]);
}

pub async fn an_empty_call_is_answered_by_nothing(stage: Stage) {
    let store = &stage.store;
    assert!(store.submit(at(0), Vec::new()).await.expect("submit").is_empty());
    assert!(store.claim(at(0), Vec::new()).await.expect("claim").is_empty());
    assert!(store.heartbeat(at(0), Vec::new()).await.expect("heartbeat").is_empty());
    assert!(store.report(at(0), Vec::new()).await.expect("report").is_empty());
    assert!(store.settle(at(0), Vec::new()).await.expect("settle").is_empty());
    assert!(store.command(at(0), Vec::new()).await.expect("command").is_empty());
    assert!(store.get(&tenant("default"), Vec::new()).await.expect("get").is_empty());
}
