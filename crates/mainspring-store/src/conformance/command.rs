//! What a store promises to people who ask things of jobs and queues.

use mainspring_core::id::JobId;
use mainspring_core::job::{Failure, Job, Tally};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::rank::Aging;
use mainspring_core::store::*;
use mainspring_core::verdict::Verdict;

use super::stage::*;

pub async fn a_waiting_job_can_be_run_now(stage: Stage) {
    stage.accept(at(0), vec![Job { run_at: at(9000), ..job(1) }]).await;
    assert_eq!(stage.command(at(5), id(1), JobCommand::RunNow).await, Commanded::Done);
    let stage = stage.reopen().await;
    let view = stage.view(id(1)).await;
    assert_eq!((view.standing.state, view.standing.ready_at, view.job.run_at), (State::Ready, at(5), at(9000)));
    assert_eq!(stage.promote(at(9000)).await, 0);
    stage.register(at(9000), 1).await;
    assert_eq!(stage.claim_one(at(9000), 1).await.job.id, id(1));
}

pub async fn running_a_ready_job_now_leaves_it_in_its_place(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    assert_eq!(stage.command(at(5), id(1), JobCommand::RunNow).await, Commanded::Done);
    assert_eq!(stage.view(id(1)).await.standing.ready_at, at(0));
}

pub async fn a_paused_job_keeps_its_state_and_says_paused(stage: Stage) {
    stage.accept(at(0), vec![job(1), Job { run_at: at(9000), ..job(2) }]).await;
    for number in [1, 1, 2] {
        assert_eq!(stage.command(at(1), id(number), JobCommand::Pause).await, Commanded::Done);
    }
    let stage = stage.reopen().await;
    let (ready, waiting) = (stage.view(id(1)).await, stage.view(id(2)).await);
    assert_eq!((ready.standing.state, ready.status()), (State::Ready, Status::Paused));
    assert_eq!((waiting.standing.state, waiting.status()), (State::Waiting, Status::Paused));
    let queue = stage.queue("mail").await;
    assert_eq!(queue.counts, Counts { paused: 2, ..Counts::default() });
    assert_eq!(queue.oldest_ready_at, None);
}

pub async fn a_resumed_job_waits_for_its_own_time(stage: Stage) {
    stage.accept(at(0), vec![Job { run_at: at(9000), ..job(1) }]).await;
    for what in [JobCommand::Pause, JobCommand::Resume, JobCommand::Resume] {
        assert_eq!(stage.command(at(1), id(1), what).await, Commanded::Done);
    }
    assert_eq!(stage.state(id(1)).await, State::Waiting);
    assert_eq!(stage.promote(at(9000)).await, 1);
}

pub async fn a_job_that_has_not_started_is_cancelled_at_once(stage: Stage) {
    stage.accept(at(0), vec![job(1), Job { run_at: at(9000), ..job(2) }, job(3)]).await;
    stage.command(at(1), id(3), JobCommand::Pause).await;
    for number in 1..=3 {
        assert_eq!(stage.command(at(2), id(number), cancel()).await, Commanded::Done);
    }
    let stage = stage.reopen().await;
    for number in 1..=3 {
        let standing = stage.view(id(number)).await.standing;
        assert_eq!((standing.state, standing.paused), (State::Cancelled, false));
        let ended = standing.ended.expect("it ended");
        assert_eq!((ended.at, ended.reason.as_deref()), (at(2), Some("no longer wanted")));
    }
    assert_eq!(stage.queue("mail").await.counts, Counts { cancelled: 3, ..Counts::default() });
    assert_eq!(stage.promote(at(9000)).await, 0);
    stage.register(at(9000), 1).await;
    assert!(stage.claim(at(9000), 1, 10).await.is_empty());
}

pub async fn a_running_job_is_asked_to_stop_and_its_worker_decides(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    assert!(stage.view(id(1)).await.standing.lease.expect("it runs").cancel_asked.is_some());
    stage.end(at(2), lease, succeed()).await;
    assert_eq!(stage.state(id(1)).await, State::Succeeded);
}

pub async fn a_cancel_asked_of_one_attempt_is_not_asked_of_the_next(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    stage.end(at(2), lease, retry(at(2))).await;
    assert_eq!(stage.claim_one(at(3), 1).await.lease.cancel_asked, None);
}

pub async fn no_state_without_an_exit_a_dead_job_can_be_revived(stage: Stage) {
    let lease = stage.running(Job { expires_at: Some(at(50)), ..job(1) }).await.lease_id();
    let kind = ReportKind::Checkpoint { data: Some(json("7")), progress: None };
    stage.report(at(1), lease, kind).await;
    stage.end(at(2), lease, bury()).await;
    let what = JobCommand::Revive { data: Some(json("\"patched\"")) };
    assert_eq!(stage.command(at(100), id(1), what).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.reclaim(at(100)).await, Reclaimed::default(), "an expiry that has passed must not cancel it");
    let view = stage.view(id(1)).await;
    assert_eq!((view.standing.state, view.standing.ready_at), (State::Ready, at(100)));
    assert_eq!((view.standing.tally, view.standing.ended), (Tally::default(), None));
    assert_eq!((view.job.data, view.job.expires_at), (json("\"patched\""), None));
    let claimed = stage.claim_one(at(101), 1).await;
    assert_eq!((claimed.checkpoint, claimed.tally.attempts), (Some(json("7")), 1));
    assert_eq!(claimed.last_error, Some(Failure::new("boom")));
    assert_eq!(stage.executions(id(1)).await.len(), 1, "its history stays");
}

pub async fn a_revived_job_keeps_an_expiry_that_lies_ahead(stage: Stage) {
    let lease = stage.running(Job { expires_at: Some(at(5000)), ..job(1) }).await.lease_id();
    stage.end(at(2), lease, bury()).await;
    assert_eq!(stage.command(at(100), id(1), JobCommand::Revive { data: None }).await, Commanded::Done);
    let job = stage.view(id(1)).await.job;
    assert_eq!((job.expires_at, job.data), (Some(at(5000)), json("{\"to\":\"somebody\"}")));
}

pub async fn a_deleted_job_is_gone_with_its_history(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.end(at(1), lease, succeed()).await;
    assert_eq!(stage.command(at(2), id(1), JobCommand::Delete).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.look(id(1)).await, None);
    assert_eq!(stage.executions(id(1)).await, []);
    assert_eq!(stage.command(at(3), id(1), JobCommand::Delete).await, Commanded::Missing);
    assert_eq!(stage.queue("mail").await.counts, Counts::default());
    stage.accept(at(4), vec![job(1)]).await;
    assert_eq!(stage.executions(id(1)).await, [], "a new job has no history");
}

pub async fn an_update_moves_a_job_to_its_new_time(stage: Stage) {
    let to = |ms| JobCommand::Update { data: None, priority: None, run_at: Some(at(ms)) };
    stage.accept(at(0), vec![job(1)]).await;
    for (ms, state) in [(500, State::Waiting), (9000, State::Waiting), (10, State::Ready), (700, State::Waiting)] {
        assert_eq!(stage.command(at(10), id(1), to(ms)).await, Commanded::Done);
        let view = stage.view(id(1)).await;
        assert_eq!((view.standing.state, view.standing.ready_at, view.job.run_at), (state, at(ms), at(ms)));
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(at(699)).await, 0);
    assert_eq!(stage.promote(at(700)).await, 1);
    assert_eq!(stage.promote(at(10_000)).await, 0);
}

pub async fn an_update_changes_what_it_names_and_nothing_else(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    stage.command(at(1), id(1), JobCommand::Pause).await;
    let what = JobCommand::Update { data: Some(json("[9]")), priority: Some(priority(77)), run_at: None };
    assert_eq!(stage.command(at(2), id(1), what).await, Commanded::Done);
    let stage = stage.reopen().await;
    let view = stage.view(id(1)).await;
    assert_eq!(view.job, Job { data: json("[9]"), priority: priority(77), ..job(1) });
    assert_eq!((view.standing.state, view.standing.paused), (State::Ready, true));
}

/// Ready, Waiting, paused, Running, Succeeded, Dead, Cancelled, in this order.
async fn one_of_each(stage: &Stage) -> [JobId; 7] {
    stage.register(at(0), 1).await;
    for (number, verdict) in [(4, None), (5, Some(succeed())), (6, Some(bury()))] {
        stage.accept(at(0), vec![job(number)]).await;
        let lease = stage.claim_one(at(0), 1).await.lease_id();
        if let Some(verdict) = verdict {
            stage.end(at(0), lease, verdict).await;
        }
    }
    stage.accept(at(0), vec![job(1), Job { run_at: at(9000), ..job(2) }, job(3), job(7)]).await;
    stage.command(at(0), id(3), JobCommand::Pause).await;
    stage.command(at(0), id(7), cancel()).await;
    [1, 2, 3, 4, 5, 6, 7].map(id)
}

pub async fn what_does_not_fit_the_state_is_refused_and_changes_nothing(stage: Stage) {
    let ids = one_of_each(&stage).await;
    let update = JobCommand::Update { data: Some(json("1")), priority: None, run_at: Some(at(1)) };
    let [ready, waiting, paused, running, succeeded, dead, cancelled] = ids;
    let table = [
        (JobCommand::RunNow, vec![paused, running, succeeded, dead, cancelled]),
        (JobCommand::Pause, vec![running, succeeded, dead, cancelled]),
        (JobCommand::Resume, vec![running, succeeded, dead, cancelled]),
        (cancel(), vec![succeeded, dead, cancelled]),
        (JobCommand::Revive { data: Some(json("1")) }, vec![ready, waiting, paused, running, succeeded, cancelled]),
        (JobCommand::Delete, vec![ready, waiting, paused, running]),
        (update, vec![running, succeeded, dead, cancelled]),
    ];
    for (what, refused) in table {
        for id in refused {
            let before = stage.view(id).await;
            let expected = Commanded::Refused { state: before.standing.state, paused: before.standing.paused };
            assert_eq!(stage.command(at(10), id, what.clone()).await, expected, "{what:?} of {before:?}");
            assert_eq!(stage.view(id).await, before, "{what:?}");
        }
    }
}

pub async fn a_failure_stays_where_it_is_a_job_of_another_tenant_is_missing(stage: Stage) {
    let theirs = Job { tenant: tenant("other"), ..job(1) };
    stage.accept(at(0), vec![theirs]).await;
    for what in [JobCommand::RunNow, JobCommand::Pause, cancel(), JobCommand::Delete] {
        assert_eq!(stage.command(at(1), id(1), what).await, Commanded::Missing);
    }
    let view = stage.store.get(&tenant("other"), vec![id(1)]).await.expect("get").remove(0).expect("it is there");
    assert_eq!((view.standing.state, view.standing.paused), (State::Ready, false));
}

pub async fn settings_of_a_queue_are_made_and_kept(stage: Stage) {
    let aging = Aging::from_point_ms(250);
    stage.command_queue(at(0), "new", QueueCommand::SetAging(aging)).await;
    stage.command_queue(at(0), "new", QueueCommand::SetMaxDepth(Some(7))).await;
    stage.command_queue(at(0), "new", QueueCommand::Pause).await;
    let stage = stage.reopen().await;
    let queue = stage.queue("new").await;
    assert_eq!((queue.aging, queue.max_depth, queue.paused), (aging, Some(7), true));
    assert_eq!((queue.counts, queue.oldest_ready_at), (Counts::default(), None));
}

pub async fn answers_come_in_the_order_of_the_commands(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    let of = |id, what| Command::Job { tenant: tenant("default"), id, what };
    let commands = vec![
        of(id(9), JobCommand::Pause),
        of(id(1), JobCommand::Pause),
        of(id(1), JobCommand::RunNow),
        of(id(1), cancel()),
        of(id(1), JobCommand::Delete),
        of(id(1), JobCommand::Delete),
    ];
    let answers = stage.store.command(at(1), commands).await.expect("command");
    let refused = Commanded::Refused { state: State::Ready, paused: true };
    use Commanded::{Done, Missing};
    assert_eq!(answers, [Missing, Done, refused, Done, Done, Missing]);
}

pub async fn a_cancelled_retry_drops_its_checkpoint_and_keeps_its_error(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    let kind = ReportKind::Checkpoint { data: Some(json("7")), progress: None };
    stage.report(at(1), lease, kind).await;
    stage.end(at(2), lease, retry(at(9000))).await;
    assert_eq!(stage.view(id(1)).await.status(), Status::Retrying);
    assert_eq!(stage.command(at(3), id(1), cancel()).await, Commanded::Done);
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.checkpoint, standing.last_error), (None, Some(Failure::new("boom"))));
    assert_eq!(stage.settle(at(4), lease, Verdict::Release).await, Settled::Stale);
}
