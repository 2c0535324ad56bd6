//! What a store promises when too much fails behind a gate.

use mainspring_core::gate::{BreakerChange, Entry};
use mainspring_core::id::LeaseId;
use mainspring_core::job::{Failure, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::stage::*;

fn lost(cause: Cause) -> Verdict {
    Verdict::Bury { cause, error: Failure::new("boom") }
}

/// A type with a breaker, two of whose jobs failed after ten milliseconds; three more wait.
async fn broken(stage: &Stage) {
    stage.limit(at(0), "type:send", breaker()).await;
    stage.accept(at(0), (1..=5).map(job).collect()).await;
    for claimed in stage.take(at(0), 2).await {
        stage.end(at(10), claimed.lease_id(), bury()).await;
    }
}

/// The one that is let in to find out.
async fn probe(stage: &Stage, now: Time, number: u32) -> LeaseId {
    let taken = stage.take(now, 10).await;
    assert_eq!(ids_of(&taken), [id(number)], "one at a time");
    taken[0].lease_id()
}

pub async fn a_breaker_opens_when_too_much_failed_and_says_so(stage: Stage) {
    stage.limit(at(0), "type:send", breaker()).await;
    stage.accept(at(0), (1..=4).map(job).collect()).await;
    let taken = stage.take(at(0), 3).await;
    assert_eq!(news(stage.settle(at(10), taken[0].lease_id(), succeed()).await).breakers, []);
    let opened = news(stage.settle(at(10), taken[1].lease_id(), bury()).await);
    assert_eq!(opened.breakers, [(gate("type:send"), BreakerChange::Opened { until: at(10_010) })]);
    assert_eq!(news(stage.settle(at(11), taken[2].lease_id(), bury()).await).breakers, [], "it is open already");
    let reasons = stage.reasons(at(12), 4).await;
    assert_eq!(reasons, [("type:send".to_owned(), vec![Entry::BreakerOpen { probe_at: at(10_010) }])]);
}

pub async fn crashes_and_timeouts_fail_and_what_was_not_tried_to_its_end_does_not_count(stage: Stage) {
    stage.limit(at(0), "key:*", breaker()).await;
    let ends = |number: u32, verdict: Verdict| (number, verdict);
    let check = async |from: u32, key: &str, verdicts: [Verdict; 3], opens: bool| {
        for (number, verdict) in (from..).zip(verdicts).map(|(number, verdict)| ends(number, verdict)) {
            stage.accept(at(0), vec![with_key(number, key)]).await;
            let taken = stage.take(at(0), 10).await;
            if let Some(claimed) = taken.first() {
                stage.end(at(1), claimed.lease_id(), verdict).await;
            }
            stage.command(at(1), id(number), cancel()).await;
        }
        stage.accept(at(2), vec![with_key(from + 9, key)]).await;
        assert_eq!(stage.took(at(2), 10).await.is_empty(), opens, "{key}");
        stage.command(at(2), id(from + 9), cancel()).await;
    };
    let snooze = || Verdict::Snooze { at: at(900_000) };
    check(10, "crash", [lost(Cause::Crash), lost(Cause::Crash), succeed()], true).await;
    check(20, "timeout", [succeed(), lost(Cause::Timeout), succeed()], true).await;
    check(30, "snooze", [lost(Cause::Failure), snooze(), snooze()], false).await;
    let told = || Verdict::Cancel { reason: "told to".into() };
    check(40, "release", [lost(Cause::Failure), told(), told()], false).await;
    check(50, "success", [succeed(), succeed(), lost(Cause::Crash)], false).await;
}

pub async fn a_worker_that_went_silent_counts_when_its_attempt_is_settled(stage: Stage) {
    stage.limit(at(0), "type:send", breaker()).await;
    stage.accept(at(0), (1..=3).map(job).collect()).await;
    stage.take(at(0), 2).await;
    let mut changes = Vec::new();
    for taken in stage.reclaim(at(60_000)).await.leases {
        let settled = stage.settle(at(60_001), taken.claimed.lease_id(), lost(taken.cause)).await;
        changes.extend(news(settled).breakers);
    }
    assert_eq!(changes, [(gate("type:send"), BreakerChange::Opened { until: at(70_001) })]);
    assert_eq!(stage.took(at(60_002), 10).await, []);
}

pub async fn a_failure_stays_where_it_is_an_open_breaker_parks_its_own_and_burns_no_attempt(stage: Stage) {
    broken(&stage).await;
    stage.accept(at(10), vec![of_type("print", job(9))]).await;
    assert_eq!(stage.took(at(11), 10).await, [id(9)]);
    let standing = stage.view(id(3)).await.standing;
    assert_eq!((standing.state, standing.tally), (State::Ready, Tally::default()));
    assert_eq!(stage.took(at(10_009), 10).await, []);
}

pub async fn no_state_without_an_exit_a_breaker_probes_and_closes(stage: Stage) {
    broken(&stage).await;
    let first = probe(&stage, at(10_010), 3).await;
    assert_eq!(stage.reasons(at(10_011), 4).await, [("type:send".to_owned(), vec![Entry::Probing])]);
    assert_eq!(news(stage.settle(at(10_020), first, succeed()).await).breakers, []);
    let second = probe(&stage, at(10_021), 4).await;
    let closed = news(stage.settle(at(10_030), second, succeed()).await);
    assert_eq!(closed.breakers, [(gate("type:send"), BreakerChange::Closed)]);
    stage.accept(at(10_030), vec![job(6)]).await;
    assert_eq!(stage.took(at(10_031), 10).await, [5, 6].map(id));
}

pub async fn a_probe_that_fails_opens_the_breaker_again(stage: Stage) {
    broken(&stage).await;
    let first = probe(&stage, at(20_000), 3).await;
    let reopened = news(stage.settle(at(20_010), first, retry(at(900_000))).await);
    assert_eq!(reopened.breakers, [(gate("type:send"), BreakerChange::Opened { until: at(30_010) })]);
    assert_eq!(stage.took(at(30_009), 10).await, []);
    probe(&stage, at(30_010), 4).await;
}

pub async fn no_state_without_an_exit_a_probe_that_says_nothing_makes_room_for_the_next(stage: Stage) {
    broken(&stage).await;
    let first = probe(&stage, at(10_010), 3).await;
    stage.end(at(10_011), first, Verdict::Snooze { at: at(900_000) }).await;
    probe(&stage, at(10_012), 4).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(10_013), 10).await, [], "who probes is known after a reopen");
    stage.beat(at(10_014), 1, BeatKind::Leave).await;
    stage.register(at(10_015), 2).await;
    assert_eq!(ids_of(&stage.claim(at(10_015), 2, 10).await), [id(4)]);
}

pub async fn nothing_accepted_is_lost_a_breaker_survives_a_reopen_in_every_phase(stage: Stage) {
    stage.limit(at(0), "type:send", breaker()).await;
    stage.accept(at(0), (1..=5).map(job).collect()).await;
    let taken = stage.take(at(0), 2).await;
    stage.end(at(10), taken[0].lease_id(), bury()).await;
    let stage = stage.reopen().await;
    stage.end(at(10), taken[1].lease_id(), bury()).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(10_009), 10).await, []);
    let first = probe(&stage, at(10_010), 3).await;
    let stage = stage.reopen().await;
    stage.end(at(10_020), first, succeed()).await;
    let stage = stage.reopen().await;
    let second = probe(&stage, at(10_021), 4).await;
    let closed = news(stage.settle(at(10_030), second, succeed()).await);
    assert_eq!(closed.breakers, [(gate("type:send"), BreakerChange::Closed)], "the first success was not forgotten");
}

pub async fn a_breaker_can_be_closed_by_hand(stage: Stage) {
    broken(&stage).await;
    assert_eq!(stage.command_gate(at(20), "type:send", GateCommand::Reopen).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(21), 10).await, [3, 4, 5].map(id));
}

pub async fn a_breaker_that_is_cleared_holds_nobody_back(stage: Stage) {
    broken(&stage).await;
    assert_eq!(stage.command_gate(at(20), "type:send", GateCommand::Clear).await, Commanded::Done);
    assert_eq!(stage.took(at(21), 10).await, [3, 4, 5].map(id));
    stage.limit(at(22), "type:send", breaker()).await;
    stage.accept(at(22), vec![job(6)]).await;
    assert_eq!(stage.took(at(23), 10).await, [id(6)], "set again, it begins anew");
}
