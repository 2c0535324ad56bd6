//! What a store promises about how much starts in a span of time.

use mainspring_core::gate::{Entry, Rate, Rule};
use mainspring_core::store::*;
use mainspring_core::verdict::Verdict;

use super::stage::*;

pub async fn a_rate_lets_a_burst_in_and_then_one_by_one(stage: Stage) {
    stage.limit(at(0), "key:a", one_a_second(2)).await;
    stage.accept(at(0), (1..=5).map(|number| with_rate_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 2].map(id));
    assert_eq!(stage.took(at(999), 10).await, []);
    assert_eq!(stage.took(at(1000), 10).await, [id(3)]);
    assert_eq!(stage.took(at(1999), 10).await, []);
    assert_eq!(stage.took(at(60_000), 10).await, [4, 5].map(id), "no more is saved up than the burst");
}

pub async fn a_rate_holds_for_queues_types_and_tenants_too(stage: Stage) {
    for (number, of) in (0..).zip(["queue:mail", "type:send", "tenant"]) {
        let now = at(number * 100_000);
        stage.limit(now, of, one_a_second(1)).await;
        let number = number as u32 * 10;
        stage.accept(now, vec![job(number + 1), job(number + 2)]).await;
        assert_eq!(stage.took(now, 10).await, [id(number + 1)], "{of}");
        assert_eq!(stage.took(now.after(std::time::Duration::from_secs(1)), 10).await, [id(number + 2)], "{of}");
        assert_eq!(stage.command_gate(now, of, GateCommand::Clear).await, Commanded::Done);
    }
}

pub async fn a_permit_does_not_come_back_whatever_became_of_the_attempt(stage: Stage) {
    stage.limit(at(0), "key:a", one_a_second(1)).await;
    stage.accept(at(0), vec![with_rate_key(1, "a")]).await;
    let lease = stage.take(at(0), 10).await[0].lease_id();
    stage.end(at(1), lease, Verdict::Release).await;
    assert_eq!(stage.took(at(999), 10).await, []);
    assert_eq!(stage.reasons(at(1), 1).await, [("key:a".to_owned(), vec![Entry::NoToken { next_at: at(1000) }])]);
    assert_eq!(stage.took(at(1000), 10).await, [id(1)]);
}

pub async fn nothing_accepted_is_lost_permits_that_were_taken_stay_taken_through_a_reopen(stage: Stage) {
    stage.limit(at(0), "key:a", one_a_second(3)).await;
    stage.accept(at(0), (1..=5).map(|number| with_rate_key(number, "a")).collect()).await;
    for claimed in stage.take(at(0), 10).await {
        stage.end(at(1), claimed.lease_id(), succeed()).await;
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(999), 10).await, []);
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(1000), 10).await, [id(4)]);
}

pub async fn a_job_takes_as_many_permits_as_it_weighs(stage: Stage) {
    stage.limit(at(0), "key:a", one_a_second(3)).await;
    stage.accept(at(0), vec![heavy(2, with_rate_key(1, "a")), heavy(2, with_rate_key(2, "a"))]).await;
    stage.accept(at(0), vec![with_rate_key(3, "a")]).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)], "one permit is left, but nobody overtakes");
    assert_eq!(stage.took(at(999), 10).await, []);
    assert_eq!(stage.took(at(1000), 10).await, [id(2)]);
    assert_eq!(stage.took(at(2000), 10).await, [id(3)]);
}

pub async fn no_state_without_an_exit_a_job_that_is_heavier_than_the_burst_starts_when_all_permits_are_back(
    stage: Stage,
) {
    stage.limit(at(0), "key:a", one_a_second(2)).await;
    stage.accept(at(0), vec![with_rate_key(1, "a"), heavy(5, with_rate_key(2, "a")), with_rate_key(3, "a")]).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    assert_eq!(stage.took(at(999), 10).await, []);
    assert_eq!(stage.took(at(1000), 10).await, [id(2)]);
    assert_eq!(stage.took(at(4999), 10).await, [], "it pays in full");
    assert_eq!(stage.took(at(5000), 10).await, [id(3)]);
}

pub async fn a_clock_that_steps_back_mints_no_permits(stage: Stage) {
    stage.limit(at(5000), "key:a", one_a_second(1)).await;
    stage.accept(at(5000), (1..=2).map(|number| with_rate_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(5000), 10).await, [id(1)]);
    assert_eq!(stage.took(at(1000), 10).await, []);
    assert_eq!(stage.took(at(5999), 10).await, []);
    assert_eq!(stage.took(at(6000), 10).await, [id(2)]);
}

pub async fn a_rate_that_is_changed_keeps_what_was_taken_and_gives_it_back_at_the_new_pace(stage: Stage) {
    stage.limit(at(0), "key:a", one_a_second(2)).await;
    stage.accept(at(0), (1..=6).map(|number| with_rate_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 2].map(id));
    let quick = Rate { permits: 10, ..one_a_second(3).rate.expect("a rate") };
    stage.limit(at(0), "key:a", Rule { rate: Some(quick), ..Rule::default() }).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(0), 10).await, [id(3)], "two of three are taken");
    assert_eq!(stage.took(at(99), 10).await, []);
    assert_eq!(stage.took(at(100), 10).await, [id(4)]);
    assert_eq!(stage.command_gate(at(100), "key:a", GateCommand::Clear).await, Commanded::Done);
    assert_eq!(stage.took(at(100), 10).await, [5, 6].map(id));
}
