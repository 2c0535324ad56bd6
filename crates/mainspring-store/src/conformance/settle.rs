//! What a store promises when attempts end.

use std::time::Duration;

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::{Ended, Execution, ExecutionOutcome, Failure, Job, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::stage::*;

pub async fn no_two_holders_a_late_worker_cannot_settle_its_successor(stage: Stage) {
    let late = stage.running(job(1)).await.lease_id();
    let taken = stage.reclaim(at(60_000)).await.leases.remove(0).claimed.lease_id();
    assert_eq!(stage.settle(at(60_001), late, succeed()).await, Settled::Stale);
    stage.end(at(60_002), taken, retry(at(60_002))).await;
    assert_eq!(stage.settle(at(60_003), late, succeed()).await, Settled::Stale);
    stage.register(at(60_003), 2).await;
    let successor = stage.claim_one(at(60_004), 2).await;
    assert_eq!(stage.settle(at(60_005), late, bury()).await, Settled::Stale);
    assert_eq!(stage.view(id(1)).await.standing.lease, Some(successor.lease.clone()));
    stage.end(at(60_006), successor.lease_id(), succeed()).await;
    assert_eq!(stage.settle(at(60_007), late, bury()).await, Settled::Stale);
    assert_eq!(stage.state(id(1)).await, State::Succeeded);
}

pub async fn no_two_holders_a_lease_is_settled_once(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, succeed()).await;
    for verdict in [succeed(), bury(), Verdict::Release, retry(at(0))] {
        assert_eq!(stage.settle(at(2), lease, verdict).await, Settled::Stale);
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.settle(at(3), lease, bury()).await, Settled::Stale);
    assert_eq!(stage.executions(id(1)).await.len(), 1);
}

pub async fn no_two_holders_the_first_of_two_settlements_in_a_batch_counts(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    let settlements = [succeed(), bury()].map(|verdict| Settlement { lease, verdict }).to_vec();
    let answers = stage.store.settle(at(1), settlements).await.expect("settle");
    let applied = Settled::Applied {
        state: State::Succeeded,
        ready_at: at(0),
        queue: queue_ref("mail"),
        awaited: false,
        gates: None,
    };
    assert_eq!(answers, [applied, Settled::Stale]);
    assert_eq!(stage.state(id(1)).await, State::Succeeded);
}

pub async fn a_failure_stays_where_it_is_a_stale_settlement_stops_no_other(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.register(at(0), 1).await;
    let held: Vec<LeaseId> = stage.claim(at(0), 1, 2).await.iter().map(|claimed| claimed.lease_id()).collect();
    let never = LeaseId { job: id(9), fence: Fence(1) };
    let wrong = LeaseId { fence: Fence(held[0].fence.0 + 100), ..held[0] };
    let settlements = [never, held[1], wrong, held[0]].map(|lease| Settlement { lease, verdict: succeed() });
    let answers = stage.store.settle(at(1), settlements.to_vec()).await.expect("settle");
    let stale: Vec<bool> = answers.iter().map(|answer| *answer == Settled::Stale).collect();
    assert_eq!(stale, [true, false, true, false]);
}

pub async fn every_verdict_sends_the_job_where_the_core_says(stage: Stage) {
    let error = || Failure { kind: Some("odd".into()), detail: Some("at line 7".into()), ..Failure::new("boom") };
    let retry = |cause, ms| Verdict::Retry { at: at(ms), cause, error: error() };
    let verdicts = [
        Verdict::Succeed { result: Some(json("[42]")) },
        retry(Cause::Failure, 5000),
        retry(Cause::Timeout, 100),
        retry(Cause::Crash, 50),
        Verdict::Snooze { at: at(9000) },
        Verdict::Snooze { at: at(100) },
        Verdict::Release,
        Verdict::Close { wait: Duration::from_secs(5) },
        Verdict::Bury { cause: Cause::Crash, error: error() },
        Verdict::Cancel { reason: "told to".into() },
    ];
    stage.register(at(0), 1).await;
    for (number, verdict) in (1..).zip(verdicts) {
        stage.accept(at(0), vec![job(number)]).await;
        let claimed = stage.claim(at(3), 1, 1).await.remove(0);
        let (state, ready_at) = verdict.destination(at(100), at(0));
        let settled = stage.settle(at(100), claimed.lease_id(), verdict.clone()).await;
        assert_eq!(
            settled,
            Settled::Applied { state, ready_at, queue: queue_ref("mail"), awaited: false, gates: None }
        );

        let standing = stage.view(claimed.job.id).await.standing;
        assert_eq!((standing.state, standing.ready_at, standing.lease), (state, ready_at, None), "{verdict:?}");
        assert_eq!(standing.tally, verdict.count(Tally { attempts: 1, ..Tally::default() }), "{verdict:?}");
        assert_eq!(standing.last_error.as_ref(), verdict.error(), "{verdict:?}");
        assert_eq!(standing.ended, ended(&verdict, at(100)), "{verdict:?}");
        let execution = Execution {
            attempt: 1,
            fence: claimed.lease.fence,
            worker: worker(1),
            started_at: at(3),
            ended_at: at(100),
            outcome: verdict.outcome(),
            error: verdict.error().cloned(),
        };
        assert_eq!(stage.executions(claimed.job.id).await, [execution], "{verdict:?}");
        // Out of the way of the next one.
        stage.command(at(100), claimed.job.id, cancel()).await;
    }
}

pub async fn nothing_accepted_is_lost_an_end_survives_a_reopen(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, Verdict::Succeed { result: Some(json("{\"sent\":true}")) }).await;
    let before = stage.view(id(1)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.view(id(1)).await, before);
    assert_eq!(before.standing.ended.expect("it ended").result, Some(json("{\"sent\":true}")));
    assert_eq!(stage.queue("mail").await.counts.succeeded, 1);
}

pub async fn nothing_accepted_is_lost_a_retry_survives_a_reopen(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, retry(at(5000))).await;
    let before = stage.view(id(1)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.view(id(1)).await, before);
    assert_eq!(stage.promote(at(4999)).await, 0);
    assert_eq!(stage.promote(at(5000)).await, 1);
    let claimed = stage.claim_one(at(5000), 1).await;
    assert_eq!(claimed.tally, Tally { attempts: 2, failures: 1, crashes: 0 });
    assert_eq!(claimed.last_error, Some(Failure::new("boom")));
}

pub async fn only_a_dead_job_keeps_its_checkpoint(stage: Stage) {
    let check = async |number: u32, verdict: Verdict, kept: bool| {
        stage.accept(at(0), vec![job(number)]).await;
        stage.register(at(0), 1).await;
        let lease = stage.claim_one(at(0), 1).await.lease_id();
        let kind = ReportKind::Checkpoint { data: Some(json("7")), progress: None };
        stage.report(at(1), lease, kind).await;
        stage.end(at(2), lease, verdict).await;
        assert_eq!(stage.view(id(number)).await.standing.checkpoint.is_some(), kept);
    };
    check(1, succeed(), false).await;
    check(2, Verdict::Cancel { reason: "told to".into() }, false).await;
    check(3, bury(), true).await;
}

pub async fn an_error_stays_until_another_one_replaces_it(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, retry(at(1))).await;
    let lease = stage.claim_one(at(2), 1).await.lease_id();
    stage.end(at(3), lease, Verdict::Snooze { at: at(3) }).await;
    let lease = stage.claim_one(at(4), 1).await.lease_id();
    stage.end(at(5), lease, succeed()).await;
    assert_eq!(stage.view(id(1)).await.standing.last_error, Some(Failure::new("boom")));
}

pub async fn every_attempt_is_in_the_history_oldest_first(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, retry(at(1))).await;
    for (ms, verdict) in [(10, Verdict::Release), (20, retry(at(20))), (30, succeed())] {
        let lease = stage.claim_one(at(ms), 1).await.lease_id();
        stage.end(at(ms + 5), lease, verdict).await;
    }
    let stage = stage.reopen().await;
    let executions = stage.executions(id(1)).await;
    let told: Vec<(u32, ExecutionOutcome)> = executions.iter().map(|one| (one.attempt, one.outcome)).collect();
    use ExecutionOutcome::*;
    assert_eq!(told, [(1, Failed), (2, Released), (2, Failed), (3, Succeeded)]);
    assert!(executions.is_sorted_by(|one, next| one.fence < next.fence && one.ended_at < next.ended_at));
}

pub async fn order_is_fair_a_released_job_keeps_its_place(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.accept(at(1), vec![Job { run_at: at(1), ..job(2) }]).await;
    stage.end(at(5), lease, Verdict::Release).await;
    assert_eq!(stage.claim_one(at(6), 1).await.job.id, id(1));
}

pub async fn a_lease_past_its_timeout_counts_until_somebody_takes_it(stage: Stage) {
    let timeout = Some(Duration::from_secs(1));
    let lease = stage.running(Job { timeout, ..job(1) }).await.lease_id();
    stage.end(at(3_600_000), lease, succeed()).await;
}

fn ended(verdict: &Verdict, at: Time) -> Option<Ended> {
    let ended = Ended { at, result: None, reason: None };
    match verdict {
        Verdict::Succeed { result } => Some(Ended { result: result.clone(), ..ended }),
        Verdict::Bury { .. } => Some(ended),
        Verdict::Cancel { reason } => Some(Ended { reason: Some(reason.clone()), ..ended }),
        _ => None,
    }
}
