//! What a store promises to a workflow: jobs that come together and belong together.

use mainspring_core::id::WorkflowId;
use mainspring_core::job::{Job, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::*;

use super::depend::ended;
use super::stage::*;

pub async fn all_jobs_of_a_workflow_are_taken_in(stage: Stage) {
    let answers = stage.submit(at(5), diamond()).await;
    let blocked = || accepted(State::Blocked, 0);
    assert_eq!(answers, [accepted(State::Ready, 0), blocked(), blocked(), blocked(), blocked()]);
    let stage = stage.reopen().await;
    for job in diamond() {
        assert_eq!(stage.view(job.id).await.job, job);
    }
    let counts = Counts { ready: 1, blocked: 3, ..Counts::default() };
    let expected = WorkflowView { id: workflow(1), submitted_at: at(5), counts, callback: Some(id(5)) };
    assert_eq!(stage.workflow(1).await, Some(expected));
}

pub async fn a_refused_job_gives_its_answer_to_its_whole_workflow(stage: Stage) {
    let said = |number, words| Job { idempotency: Some(keyed("once", words, 1000)), ..job(number) };
    stage.accept(at(0), vec![said(90, 1), job(91)]).await;
    stage.command(at(0), id(91), cancel()).await;
    stage.command_queue(at(0), "full", QueueCommand::SetMaxDepth(Some(0))).await;
    let table = [
        (said(2, 1), Submitted::Duplicate { id: id(90) }),
        (said(2, 2), Submitted::Mismatch { id: id(90) }),
        (child(2, &[77]), Submitted::UnknownParent { parent: id(77) }),
        (child(2, &[3]), Submitted::UnknownParent { parent: id(3) }),
        (child(2, &[91]), Submitted::FailedParent { parent: id(91), state: State::Cancelled }),
        (Job { queue: queue("full"), ..job(2) }, Submitted::QueueFull { max_depth: 0 }),
    ];
    for (bad, answer) in table {
        let first = Job { idempotency: Some(keyed("of the first", 1, 1000)), queue: queue("new"), ..job(1) };
        let jobs = vec![job(50), step(1, first), step(1, bad), step(1, child(3, &[1])), step(2, job(51))];
        let answers = stage.submit(at(1), jobs).await;
        assert_eq!(answers[1..4], [answer.clone(), answer.clone(), answer.clone()]);
        assert!([0, 4].iter().all(|&at| matches!(answers[at], Submitted::Accepted { .. })), "{answers:?}");
        let stage = &stage;
        for number in 1..=3 {
            assert_eq!(stage.look(id(number)).await, None, "{answer:?}");
        }
        assert_eq!(stage.workflow(1).await, None);
    }
    stage.accept(at(2), vec![Job { idempotency: Some(keyed("of the first", 2, 1000)), ..job(4) }]).await;
    assert!(stage.workflow(2).await.is_some());
}

pub async fn limits_are_named_a_workflow_fits_into_its_queue_or_stays_out(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(4))).await;
    let full = Submitted::QueueFull { max_depth: 4 };
    assert_eq!(stage.submit(at(0), diamond()).await, vec![full; 5]);
    assert_eq!(stage.queue("mail").await.counts, Counts::default());
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(5))).await;
    stage.accept(at(0), diamond()).await;
    assert_eq!(stage.queue("mail").await.counts.depth(), 5);
}

pub async fn repeating_the_submit_of_a_workflow_is_safe(stage: Stage) {
    stage.accept(at(0), diamond()).await;
    stage.run(at(1), 1, succeed()).await;
    stage.promote(at(2)).await;
    stage.command(at(3), id(3), cancel()).await;
    stage.command_queue(at(3), "mail", QueueCommand::SetMaxDepth(Some(0))).await;
    let stage = stage.reopen().await;
    let answers = stage.submit(at(4), diamond()).await;
    let blocked = || accepted(State::Blocked, 0);
    let now = [accepted(State::Succeeded, 0), accepted(State::Ready, 2), accepted(State::Cancelled, 2)];
    assert_eq!(answers, [now.to_vec(), vec![blocked(), blocked()]].concat());
    assert_eq!(stage.workflow(1).await.expect("it is here").submitted_at, at(0));
}

pub async fn a_workflow_runs_from_its_first_step_to_its_callback(stage: Stage) {
    stage.accept(at(0), diamond()).await;
    stage.run(at(1), 1, succeed()).await;
    assert_eq!(stage.promote(at(2)).await, 2);
    stage.run(at(3), 2, succeed()).await;
    assert_eq!(stage.promote(at(4)).await, 0);
    let stage = stage.reopen().await;
    stage.run(at(5), 3, succeed()).await;
    assert_eq!(stage.promote(at(6)).await, 1);
    assert_eq!(stage.state(id(5)).await, State::Blocked);
    stage.run(at(7), 4, succeed()).await;
    assert_eq!(stage.promote(at(8)).await, 1);
    stage.run(at(9), 5, succeed()).await;
    assert_eq!(stage.counts(1).await, Counts { succeeded: 4, ..Counts::default() });
}

pub async fn no_state_without_an_exit_a_callback_follows_the_last_step_however_the_steps_ended(stage: Stage) {
    let late = Job { expires_at: Some(at(20)), ..job(4) };
    stage.accept(at(0), vec![step(1, job(1)), step(1, job(2)), step(1, child(3, &[2])), step(1, late)]).await;
    stage.accept(at(0), vec![callback(2, job(9))]).await;
    assert_eq!(stage.state(id(9)).await, State::Ready, "a callback without steps waits for nothing");
    stage.command(at(0), id(9), cancel()).await;
    stage.accept(at(0), vec![callback(1, job(5))]).await;
    assert_eq!(stage.run(at(1), 1, succeed()).await, ended(State::Succeeded, false));
    assert_eq!(stage.run(at(2), 2, bury()).await, ended(State::Dead, true));
    assert_eq!(stage.reclaim(at(20)).await.expired.len(), 1);
    assert_eq!(stage.state(id(5)).await, State::Blocked);
    assert_eq!(stage.promote(at(21)).await, 1, "the last step is cancelled in here, and the callback follows it");
    assert_eq!(stage.states([3, 4, 5]).await, [State::Cancelled, State::Cancelled, State::Ready]);
    let view = stage.workflow(1).await.expect("it is here");
    assert_eq!(view.counts, Counts { succeeded: 1, dead: 1, cancelled: 2, ..Counts::default() });
    assert_eq!(view.unfinished(), 0);
}

pub async fn a_failure_stays_where_it_is_the_last_step_touches_no_callback_before_promote(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), step(1, job(2)), callback(1, job(3))]).await;
    assert_eq!(stage.run(at(1), 1, succeed()).await, ended(State::Succeeded, false));
    assert_eq!(stage.run(at(2), 2, bury()).await, ended(State::Dead, true));
    assert_eq!(stage.state(id(3)).await, State::Blocked);
    let stage = stage.reopen().await;
    let promoted = stage.store.promote(at(3), everything(1)).await.expect("promote");
    assert_eq!(promoted, Promoted { ready: vec![(queue_ref("mail"), 1)], ..Promoted::default() });
    assert_eq!(stage.view(id(3)).await.standing.ready_at, at(3));
    assert_eq!(stage.run(at(4), 3, succeed()).await, ended_at(3), "a callback is no step");
}

pub async fn a_callback_waits_for_its_own_time(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), callback(1, Job { run_at: at(500), ..job(2) })]).await;
    stage.run(at(1), 1, succeed()).await;
    assert_eq!(stage.promote(at(2)).await, 0);
    assert_eq!(stage.state(id(2)).await, State::Waiting);
    assert_eq!(stage.promote(at(500)).await, 1);
}

pub async fn a_callback_is_blocked_once_and_not_again(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), callback(1, job(2))]).await;
    stage.run(at(1), 1, bury()).await;
    stage.command(at(2), id(1), JobCommand::Revive { data: None }).await;
    assert_eq!(stage.promote(at(3)).await, 0, "revived in time: it waits again");
    let settled = stage.run(at(4), 1, bury()).await;
    assert!(matches!(settled, Settled::Applied { awaited: true, .. }), "{settled:?}");
    assert_eq!(stage.promote(at(5)).await, 1);
    stage.command(at(6), id(1), JobCommand::Revive { data: None }).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.state(id(2)).await, State::Ready);
    stage.command(at(6), id(2), cancel()).await;
    let settled = stage.run(at(7), 1, succeed()).await;
    assert!(matches!(settled, Settled::Applied { awaited: false, .. }), "{settled:?}");
    assert_eq!(stage.promote(at(8)).await, 0);
}

pub async fn a_callback_that_a_person_ran_is_not_run_again(stage: Stage) {
    stage.accept(at(0), vec![step(1, Job { queue: queue("other"), ..job(1) }), callback(1, job(2))]).await;
    assert_eq!(stage.command(at(1), id(2), JobCommand::RunNow).await, Commanded::Done);
    stage.run(at(2), 2, succeed()).await;
    stage.command(at(3), id(1), cancel()).await;
    assert_eq!(stage.store.promote(at(4), everything(10)).await.expect("promote"), Promoted::default());
    assert_eq!(stage.state(id(2)).await, State::Succeeded);
}

pub async fn a_job_can_wait_for_a_callback_and_for_a_step_from_outside(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), callback(1, job(2))]).await;
    stage.accept(at(0), vec![child(3, &[2]), bound(4, &[1], OnFailure::Run)]).await;
    stage.run(at(1), 1, bury()).await;
    assert_eq!(stage.promote(at(2)).await, 2);
    assert_eq!(stage.states([2, 3, 4]).await, [State::Ready, State::Blocked, State::Ready]);
    stage.command(at(3), id(2), cancel()).await;
    stage.promote(at(4)).await;
    assert_eq!(stage.state(id(3)).await, State::Cancelled);
}

pub async fn counts_of_a_workflow_follow_its_steps(stage: Stage) {
    let later = Job { run_at: at(100), ..job(2) };
    stage.accept(at(0), vec![step(1, job(1)), step(1, later), step(1, child(3, &[1])), callback(1, job(4))]).await;
    let none = Counts::default;
    let check = async |stage: &Stage, expected: Counts| assert_eq!(stage.counts(1).await, expected);
    check(&stage, Counts { ready: 1, waiting: 1, blocked: 1, ..none() }).await;
    stage.command(at(0), id(3), JobCommand::Pause).await;
    stage.command(at(0), id(4), JobCommand::Pause).await;
    check(&stage, Counts { ready: 1, waiting: 1, paused: 1, ..none() }).await;
    stage.register(at(0), 1).await;
    let lease = stage.claim_one(at(0), 1).await.lease_id();
    check(&stage, Counts { running: 1, waiting: 1, paused: 1, ..none() }).await;
    stage.end(at(1), lease, retry(at(50))).await;
    check(&stage, Counts { waiting: 2, paused: 1, ..none() }).await;
    let stage = stage.reopen().await;
    stage.promote(at(50)).await;
    stage.register(at(50), 1).await;
    let lease = stage.claim_one(at(50), 1).await.lease_id();
    stage.reclaim(at(50).after(LEASE)).await;
    check(&stage, Counts { running: 1, waiting: 1, paused: 1, ..none() }).await;
    assert_eq!(stage.settle(at(51), lease, succeed()).await, Settled::Stale);
    check(&stage, Counts { running: 1, waiting: 1, paused: 1, ..none() }).await;
    stage.command(at(51), id(2), cancel()).await;
    stage.command(at(51), id(3), JobCommand::Resume).await;
    stage.command(at(51), id(3), JobCommand::RunNow).await;
    check(&stage, Counts { running: 1, cancelled: 1, ready: 1, ..none() }).await;
}

pub async fn a_dead_step_that_is_revived_is_counted_where_it_is(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), step(1, bound(2, &[1], OnFailure::Hold))]).await;
    stage.run(at(1), 1, bury()).await;
    stage.promote(at(2)).await;
    assert_eq!(stage.counts(1).await, Counts { dead: 1, blocked: 1, ..Counts::default() });
    stage.command(at(3), id(1), JobCommand::Revive { data: None }).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.counts(1).await, Counts { ready: 1, blocked: 1, ..Counts::default() });
}

pub async fn a_workflow_is_forgotten_with_the_last_of_its_jobs(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), step(1, job(2)), callback(1, job(3))]).await;
    for (ms, number) in [(1, 1), (2, 2), (3, 3)] {
        stage.command(at(ms), id(number), cancel()).await;
    }
    stage.command(at(4), id(3), JobCommand::Delete).await;
    let view = stage.workflow(1).await.expect("two steps are left");
    assert_eq!((view.counts.cancelled, view.callback), (2, Some(id(3))), "the callback is named though it is gone");
    assert_eq!(stage.prune(at(10), at(2), at(0)).await.jobs, 1);
    let stage = stage.reopen().await;
    assert_eq!(stage.counts(1).await, Counts { cancelled: 1, ..Counts::default() });
    assert_eq!(stage.prune(at(10), at(3), at(0)).await.jobs, 1);
    assert_eq!(stage.workflow(1).await, None);
}

pub async fn a_job_under_the_id_of_a_callback_that_was_forgotten_is_no_callback(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), job(2), callback(1, job(3))]).await;
    stage.command(at(1), id(3), cancel()).await;
    stage.command(at(1), id(3), JobCommand::Delete).await;
    stage.accept(at(2), vec![child(3, &[1, 2])]).await;
    stage.run(at(3), 1, succeed()).await;
    assert_eq!(stage.promote(at(4)).await, 0, "it waits for another parent");
    stage.run(at(5), 2, succeed()).await;
    assert_eq!(stage.promote(at(6)).await, 1);
    assert_eq!(stage.promote(at(7)).await, 0, "it goes once");
    assert_eq!(stage.state(id(3)).await, State::Ready);
}

pub async fn a_callback_keeps_its_workflow_in_mind(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), callback(1, job(2))]).await;
    stage.run(at(1), 1, succeed()).await;
    stage.promote(at(2)).await;
    assert_eq!(stage.command(at(3), id(1), JobCommand::Delete).await, Commanded::Done);
    assert_eq!(stage.counts(1).await, Counts::default());
    stage.run(at(4), 2, succeed()).await;
    assert_eq!(stage.prune(at(9), at(9), at(9)).await.jobs, 1);
    assert_eq!(stage.workflow(1).await, None);
}

pub async fn a_failure_stays_where_it_is_a_workflow_is_its_tenants_own(stage: Stage) {
    let theirs = |job: Job| Job { tenant: tenant("other"), ..job };
    let jobs = vec![step(1, job(1)), theirs(step(1, job(2))), theirs(step(1, child(3, &[77])))];
    let answers = stage.submit(at(0), jobs).await;
    let unknown = Submitted::UnknownParent { parent: id(77) };
    assert_eq!(answers, [accepted(State::Ready, 0), unknown.clone(), unknown]);
    let view = async |who: TenantName, of: WorkflowId| stage.store.workflow(&who, of).await.expect("workflow");
    assert!(view(tenant("default"), workflow(1)).await.is_some());
    assert_eq!(view(tenant("other"), workflow(1)).await, None);
    assert_eq!(view(tenant("default"), workflow(2)).await, None);
}

pub async fn the_jobs_of_a_workflow_are_found(stage: Stage) {
    stage.accept(at(0), vec![job(8), step(2, job(7))]).await;
    stage.accept(at(0), diamond()).await;
    let filter = Filter { workflow: Some(workflow(1)), ..Filter::default() };
    assert_eq!(stage.find(filter.clone(), 2).await, [5, 4, 3, 2, 1].map(id));
    stage.run(at(1), 1, succeed()).await;
    let filter = Filter { statuses: vec![mainspring_core::lifecycle::Status::Completed], ..filter };
    assert_eq!(stage.find(filter, 2).await, [id(1)]);
}

pub async fn nothing_accepted_is_lost_of_a_large_workflow(stage: Stage) {
    const STEPS: u32 = 1000;
    let mut jobs = vec![step(1, job(1))];
    jobs.extend((2..=STEPS).map(|number| step(1, child(number, &[number / 2]))));
    jobs.push(callback(1, job(STEPS + 1)));
    stage.accept(at(0), jobs).await;
    let stage = stage.reopen().await;
    stage.register(at(0), 1).await;
    let mut done = 0;
    for round in 1..=20 {
        let settlement =
            |claimed: mainspring_core::job::Claimed| Settlement { lease: claimed.lease_id(), verdict: succeed() };
        let settlements: Vec<_> = stage.claim(at(round), 1, 1000).await.into_iter().map(settlement).collect();
        done += settlements.len() as u32;
        stage.store.settle(at(round), settlements).await.expect("settle");
        stage.promote(at(round)).await;
    }
    assert_eq!(done, STEPS + 1);
    assert_eq!(stage.counts(1).await, Counts { succeeded: u64::from(STEPS), ..Counts::default() });
}

impl Stage {
    async fn workflow(&self, of: u32) -> Option<WorkflowView> {
        self.store.workflow(&TenantName::default_tenant(), workflow(of)).await.expect("workflow")
    }

    async fn counts(&self, of: u32) -> Counts {
        self.workflow(of).await.expect("the workflow must be there").counts
    }
}

/// One, then two and three, then four; five is told.
fn diamond() -> Vec<Job> {
    vec![
        step(1, job(1)),
        step(1, child(2, &[1])),
        step(1, child(3, &[1])),
        step(1, child(4, &[2, 3])),
        callback(1, job(5)),
    ]
}

fn ended_at(ready_ms: u64) -> Settled {
    let queue = queue_ref("mail");
    Settled::Applied { state: State::Succeeded, ready_at: at(ready_ms), queue, awaited: false, gates: None }
}
