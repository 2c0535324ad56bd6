//! What a store promises about whatever ran out.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{ExecutionOutcome, Failure, Job, Lease, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;
use mainspring_core::verdict::{Cause, Verdict};

use super::stage::*;

pub async fn no_state_without_an_exit_what_a_silent_worker_holds_is_taken_back(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let kind = ReportKind::Checkpoint { data: Some(json("7")), progress: None };
    stage.report(at(1), claimed.lease_id(), kind).await;
    assert_eq!(stage.reclaim(at(29_999)).await, Reclaimed::default());
    let stage = stage.reopen().await;
    let reclaimed = stage.reclaim(at(30_000)).await;
    let taken = &reclaimed.leases[0];
    assert_eq!((taken.cause, taken.claimed.job.id), (Cause::Crash, id(1)));
    assert!(taken.claimed.lease.fence > claimed.lease.fence);
    let kept = Lease { fence: taken.claimed.lease.fence, timeout_at: Some(at(40_000)), ..claimed.lease };
    assert_eq!(taken.claimed.lease, kept);
    assert_eq!(taken.claimed.tally, Tally { attempts: 1, ..Tally::default() });
    assert_eq!(taken.claimed.checkpoint, Some(json("7")));
    assert_eq!((reclaimed.silent, reclaimed.more), (vec![worker(1)], false));
}

pub async fn no_state_without_an_exit_an_attempt_past_its_timeout_is_taken_back(stage: Stage) {
    stage.running(Job { timeout: Some(Duration::from_secs(5)), ..job(1) }).await;
    assert_eq!(stage.reclaim(at(4999)).await, Reclaimed::default());
    let reclaimed = stage.reclaim(at(5000)).await;
    assert_eq!((reclaimed.leases.len(), reclaimed.leases[0].cause), (1, Cause::Timeout));
    assert_eq!(reclaimed.silent, []);
    let Pulse::Alive { held, .. } = stage.beat(at(5001), 1, BeatKind::Alive).await else { panic!("alive") };
    assert_eq!(held, 0, "what was taken back is no longer its worker's");
}

pub async fn a_silent_worker_counts_for_more_than_a_timeout(stage: Stage) {
    stage.running(Job { timeout: Some(Duration::from_secs(5)), ..job(1) }).await;
    assert_eq!(stage.reclaim(at(30_000)).await.leases[0].cause, Cause::Crash);
}

pub async fn no_state_without_an_exit_a_take_over_that_nobody_settles_runs_out_again(stage: Stage) {
    stage.running(job(1)).await;
    let first = stage.reclaim(at(30_000)).await.leases.remove(0);
    assert_eq!(stage.reclaim(at(39_999)).await, Reclaimed::default());
    let stage = stage.reopen().await;
    let second = stage.reclaim(at(40_000)).await.leases.remove(0);
    assert_eq!(second.cause, first.cause);
    assert_eq!(stage.settle(at(40_001), first.claimed.lease_id(), succeed()).await, Settled::Stale);
    stage.end(at(40_002), second.claimed.lease_id(), bury()).await;
}

pub async fn no_two_holders_what_is_taken_back_is_lost_to_its_worker(stage: Stage) {
    let late = stage.running(Job { timeout: Some(Duration::from_secs(5)), ..job(1) }).await;
    stage.reclaim(at(5000)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.report(at(5001), late.lease_id(), ReportKind::Started).await, Hold::Stale);
    let kind = BeatKind::Holding { leases: vec![late.lease_id()], claimed_before: at(6000) };
    let Pulse::Alive { held, lost, released, .. } = stage.beat(at(5001), 1, kind).await else { panic!("alive") };
    assert_eq!((held, lost, released), (0, vec![late.lease_id()], Vec::new()));
    assert_eq!(stage.state(id(1)).await, State::Running, "it waits for its new holder's verdict");
}

pub async fn a_lost_attempt_is_written_down_when_it_is_settled(stage: Stage) {
    stage.running(job(1)).await;
    let taken = stage.reclaim(at(30_000)).await.leases.remove(0).claimed;
    assert_eq!(stage.executions(id(1)).await, []);
    let error = Failure::new("the worker went silent");
    stage.end(at(30_001), taken.lease_id(), Verdict::Retry { at: at(0), cause: Cause::Crash, error }).await;
    let execution = stage.executions(id(1)).await.remove(0);
    assert_eq!((execution.outcome, execution.worker), (ExecutionOutcome::Crashed, worker(1)));
    assert_eq!((execution.started_at, execution.ended_at), (at(0), at(30_001)));
    assert_eq!(stage.view(id(1)).await.standing.tally, Tally { attempts: 1, failures: 0, crashes: 1 });
}

pub async fn a_live_worker_keeps_what_it_holds(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    stage.beat(at(29_000), 1, BeatKind::Alive).await;
    assert_eq!(stage.reclaim(at(58_999)).await, Reclaimed::default());
    stage.end(at(58_999), claimed.lease_id(), succeed()).await;
}

pub async fn silent_workers_are_spared_when_nobody_could_hear_them(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    stage.register(at(0), 2).await;
    let ask = Reclaim { spare_silent: true, ..sweep(at(60_000)) };
    assert_eq!(stage.store.reclaim(at(60_000), ask).await.expect("reclaim"), Reclaimed::default());
    assert_eq!(stage.store.workers().await.expect("workers").len(), 2);
    stage.end(at(60_001), claimed.lease_id(), succeed()).await;
}

pub async fn a_timeout_passes_even_while_silent_workers_are_spared(stage: Stage) {
    stage.running(Job { timeout: Some(Duration::from_secs(5)), ..job(1) }).await;
    let ask = Reclaim { spare_silent: true, ..sweep(at(60_000)) };
    let reclaimed = stage.store.reclaim(at(60_000), ask).await.expect("reclaim");
    assert_eq!((reclaimed.leases.len(), reclaimed.leases[0].cause), (1, Cause::Timeout));
    assert_eq!(reclaimed.silent, []);
}

pub async fn a_worker_is_written_off_once_it_holds_nothing(stage: Stage) {
    stage.accept(at(0), (1..=3).map(job).collect()).await;
    stage.register(at(0), 1).await;
    stage.claim(at(0), 1, 3).await;
    let ask = Reclaim { limit: 2, ..sweep(at(30_000)) };
    let first = stage.store.reclaim(at(30_000), ask).await.expect("reclaim");
    assert_eq!((first.leases.len(), first.silent.len(), first.more), (2, 0, true));
    let second = stage.store.reclaim(at(30_000), ask).await.expect("reclaim");
    assert_eq!((second.leases.len(), second.silent, second.more), (1, vec![worker(1)], false));
    assert!(stage.store.workers().await.expect("workers").is_empty());
}

pub async fn limits_are_named_a_sweep_takes_no_more_than_its_limit(stage: Stage) {
    stage.accept(at(0), (1..=3).map(job).collect()).await;
    stage.register(at(0), 1).await;
    stage.claim(at(0), 1, 3).await;
    let late = |number| Job { expires_at: Some(at(100 - u64::from(number))), ..job(number) };
    stage.accept(at(0), (11..=13).map(late).collect()).await;
    let ask = Reclaim { limit: 2, ..sweep(at(30_000)) };
    let first = stage.store.reclaim(at(30_000), ask).await.expect("reclaim");
    assert_eq!(first.leases.iter().map(|taken| taken.claimed.job.id).collect::<Vec<_>>(), [1, 2].map(id));
    assert_eq!(first.expired, [13, 12].map(|number| (id(number), queue_ref("mail"))));
    assert!(first.more);
    let second = stage.store.reclaim(at(30_000), ask).await.expect("reclaim");
    assert_eq!((second.leases.len(), second.expired, second.more), (1, vec![(id(11), queue_ref("mail"))], false));
}

pub async fn no_state_without_an_exit_what_did_not_start_in_time_is_cancelled(stage: Stage) {
    let late = |number| Job { expires_at: Some(at(100)), ..job(number) };
    stage.accept(at(0), vec![late(1), Job { run_at: at(5000), ..late(2) }, late(3), job(4)]).await;
    assert_eq!(stage.command(at(0), id(3), JobCommand::Pause).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.reclaim(at(99)).await, Reclaimed::default());
    let expired = stage.reclaim(at(100)).await.expired;
    assert_eq!(expired.iter().map(|(id, _)| *id).collect::<Vec<JobId>>(), [1, 2, 3].map(id));
    for number in 1..=3 {
        let standing = stage.view(id(number)).await.standing;
        assert_eq!((standing.state, standing.paused), (State::Cancelled, false));
        let ended = standing.ended.expect("it ended");
        assert_eq!((ended.at, ended.reason.as_deref()), (at(100), Some("expired before it started")));
    }
    assert_eq!(stage.state(id(4)).await, State::Ready);
    assert_eq!(stage.promote(at(9000)).await, 0);
}

pub async fn a_job_that_started_in_time_is_not_cancelled(stage: Stage) {
    let claimed = stage.running(Job { expires_at: Some(at(100)), ..job(1) }).await;
    assert_eq!(stage.reclaim(at(200)).await, Reclaimed::default());
    stage.end(at(201), claimed.lease_id(), succeed()).await;
}

pub async fn a_cancel_that_was_asked_is_not_forgotten_when_a_worker_dies(stage: Stage) {
    stage.running(job(1)).await;
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    assert!(stage.reclaim(at(30_000)).await.leases[0].claimed.lease.cancel_asked.is_some());
}

pub async fn a_job_that_was_tried_does_not_expire_while_it_waits_for_a_retry(stage: Stage) {
    let claimed = stage.running(Job { expires_at: Some(at(100)), ..job(1) }).await;
    let failed = Verdict::Retry { at: at(50), cause: Cause::Failure, error: Failure::new("boom") };
    stage.end(at(10), claimed.lease_id(), failed).await;
    assert_eq!(stage.reclaim(at(200)).await.expired, vec![]);
    assert_eq!(stage.promote(at(200)).await, 1);
}
