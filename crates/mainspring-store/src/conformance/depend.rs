//! What a store promises to a job that waits for others, when it takes it in and while it is Blocked.

use mainspring_core::job::{Claimed, Dependency, Job, OnFailure};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::store::*;

use super::stage::*;

pub async fn a_child_of_an_unfinished_parent_is_blocked(stage: Stage) {
    let answers = stage.submit(at(0), vec![job(1), Job { run_at: at(500), ..child(2, &[1]) }]).await;
    assert_eq!(answers, [accepted(State::Ready, 0), accepted(State::Blocked, 500)]);
    stage.accept(at(0), vec![child(3, &[2])]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(at(9000)).await, 0);
    assert_eq!(stage.states([2, 3]).await, [State::Blocked; 2]);
    let filter = Filter { statuses: vec![Status::Blocked], ..Filter::default() };
    assert_eq!(stage.find(filter, 10).await, [3, 2].map(id));
    let queue = stage.queue("mail").await;
    assert_eq!((queue.counts, queue.oldest_ready_at), (counts(1, 2), Some(at(0))));
    stage.register(at(9000), 1).await;
    assert_eq!(stage.claim(at(9000), 1, 10).await.len(), 1);
}

pub async fn nothing_accepted_is_lost_a_job_shows_its_bonds_as_they_were_submitted(stage: Stage) {
    let on = |parent, on_failure| Dependency { parent: id(parent), on_failure };
    let depends_on = vec![on(2, OnFailure::Run), on(1, OnFailure::Hold), on(3, OnFailure::Cancel)];
    let bonded = step(7, Job { depends_on, ..job(4) });
    stage.accept(at(0), vec![job(1), job(2), job(3)]).await;
    stage.accept(at(0), vec![bonded.clone()]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.view(id(4)).await.job, bonded);
    for number in 1..=3 {
        stage.run(at(1), number, succeed()).await;
    }
    stage.promote(at(2)).await;
    assert_eq!(stage.view(id(4)).await.job, bonded);
    assert_eq!(stage.claim_one(at(2), 1).await.job, bonded);
}

pub async fn a_parent_that_succeeded_is_waited_for_no_more(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    stage.run(at(1), 1, succeed()).await;
    let later = Job { run_at: at(500), ..child(3, &[1]) };
    let answers = stage.submit(at(2), vec![child(2, &[1]), later]).await;
    assert_eq!(answers, [accepted(State::Ready, 0), accepted(State::Waiting, 500)]);
}

pub async fn a_parent_must_be_there_or_come_earlier_in_the_same_call(stage: Stage) {
    let answers = stage.submit(at(0), vec![child(2, &[1]), job(1), child(3, &[1]), child(4, &[4])]).await;
    let unknown = |number| Submitted::UnknownParent { parent: id(number) };
    assert_eq!(answers, [unknown(1), accepted(State::Ready, 0), accepted(State::Blocked, 0), unknown(4)]);
    assert_eq!(stage.find(Filter::default(), 10).await, [3, 1].map(id));
    stage.accept(at(1), vec![child(2, &[1])]).await;
}

pub async fn a_failure_stays_where_it_is_a_job_of_another_tenant_is_no_parent(stage: Stage) {
    stage.accept(at(0), vec![Job { tenant: tenant("other"), ..job(1) }]).await;
    assert_eq!(stage.submit(at(0), vec![child(2, &[1])]).await, [Submitted::UnknownParent { parent: id(1) }]);
}

pub async fn a_parent_that_was_forgotten_is_unknown(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    stage.run(at(1), 1, succeed()).await;
    assert_eq!(stage.command(at(2), id(1), JobCommand::Delete).await, Commanded::Done);
    assert_eq!(stage.submit(at(3), vec![child(2, &[1])]).await, [Submitted::UnknownParent { parent: id(1) }]);
}

pub async fn what_becomes_of_a_child_of_a_failed_parent_is_its_own_choice(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.command(at(1), id(2), cancel()).await;
    for (parent, state) in [(1, State::Dead), (2, State::Cancelled)] {
        let with = |number, on_failure| bound(10 * parent + number, &[parent], on_failure);
        let jobs = vec![with(1, OnFailure::Cancel), with(2, OnFailure::Run), with(3, OnFailure::Hold)];
        let answers = stage.submit(at(2), jobs).await;
        let refused = Submitted::FailedParent { parent: id(parent), state };
        assert_eq!(answers, [refused, accepted(State::Ready, 0), accepted(State::Blocked, 0)]);
        assert_eq!(stage.look(id(10 * parent + 1)).await, None);
    }
    assert_eq!(stage.promote(at(3)).await, 0);
    assert_eq!(stage.states([13, 23]).await, [State::Blocked; 2]);
}

pub async fn the_first_parent_that_cannot_be_waited_for_is_named(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), job(3)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.command(at(1), id(2), cancel()).await;
    let check = async |parents: &[u32], expected: Submitted| {
        assert_eq!(stage.submit(at(2), vec![child(9, parents)]).await, [expected], "{parents:?}");
    };
    check(&[3, 2, 1], Submitted::FailedParent { parent: id(2), state: State::Cancelled }).await;
    check(&[3, 1, 2], Submitted::FailedParent { parent: id(1), state: State::Dead }).await;
    check(&[3, 8, 1], Submitted::UnknownParent { parent: id(8) }).await;
    check(&[1, 8], Submitted::FailedParent { parent: id(1), state: State::Dead }).await;
}

pub async fn repeating_a_submit_is_safe_after_its_parent_failed(stage: Stage) {
    let with_key = Job { idempotency: Some(keyed("once", 1, 1000)), ..child(2, &[1]) };
    stage.accept(at(0), vec![job(1), with_key.clone()]).await;
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(0))).await;
    stage.command(at(1), id(1), cancel()).await;
    assert_eq!(stage.submit(at(2), vec![with_key.clone()]).await, [accepted(State::Blocked, 0)]);
    let again = Job { id: id(3), ..with_key };
    assert_eq!(stage.submit(at(2), vec![again]).await, [Submitted::Duplicate { id: id(2) }], "a key goes before");
    let failed = Submitted::FailedParent { parent: id(1), state: State::Cancelled };
    assert_eq!(stage.submit(at(2), vec![child(4, &[1])]).await, [failed], "a full queue comes after");
}

pub async fn limits_are_named_a_blocked_job_takes_room_in_its_queue(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::SetMaxDepth(Some(2))).await;
    let answers = stage.submit(at(0), vec![job(1), child(2, &[1]), child(3, &[1])]).await;
    assert_eq!(answers[2], Submitted::QueueFull { max_depth: 2 });
    assert_eq!(stage.queue("mail").await.counts, counts(1, 1));
}

pub async fn limits_are_named_a_job_can_wait_for_as_many_as_the_limit(stage: Stage) {
    let parents = 1..=mainspring_core::limits::DEPENDENCIES_MAX as u32;
    stage.accept(at(0), parents.clone().map(job).collect()).await;
    stage.accept(at(0), vec![bound(2000, &parents.clone().collect::<Vec<_>>(), OnFailure::Run)]).await;
    let stage = stage.reopen().await;
    stage.register(at(1), 1).await;
    let settlement = |claimed: Claimed| Settlement { lease: claimed.lease_id(), verdict: succeed() };
    let mut settlements: Vec<_> = stage.claim(at(1), 1, 1000).await.into_iter().map(settlement).collect();
    let last = settlements.pop().expect("a thousand were claimed");
    stage.store.settle(at(1), settlements).await.expect("settle");
    assert_eq!(stage.promote(at(2)).await, 0);
    assert_eq!(stage.settle(at(3), last.lease, last.verdict).await, ended(State::Succeeded, true));
    assert_eq!(stage.promote(at(4)).await, 1);
}

pub async fn no_state_without_an_exit_a_blocked_job_can_be_run_now(stage: Stage) {
    stage.accept(at(0), vec![job(1), Job { run_at: at(9000), ..child(2, &[1]) }]).await;
    assert_eq!(stage.command(at(5), id(2), JobCommand::RunNow).await, Commanded::Done);
    let stage = stage.reopen().await;
    let standing = stage.view(id(2)).await.standing;
    assert_eq!((standing.state, standing.ready_at), (State::Ready, at(5)));
    assert_eq!(stage.run(at(6), 1, bury()).await, ended(State::Dead, false), "nobody waits for it any more");
    assert_eq!(stage.promote(at(7)).await, 0);
    stage.run(at(8), 2, succeed()).await;
}

pub async fn no_state_without_an_exit_a_blocked_job_can_be_cancelled_and_takes_its_children_along(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1]), child(3, &[2])]).await;
    assert_eq!(stage.command(at(1), id(2), cancel()).await, Commanded::Done);
    assert_eq!(stage.run(at(2), 1, succeed()).await, ended(State::Succeeded, false));
    let promoted = stage.store.promote(at(3), everything(10)).await.expect("promote");
    assert_eq!(promoted.cancelled, [(id(3), queue_ref("mail"))]);
    assert_eq!(stage.view(id(2)).await.standing.ended.expect("it ended").reason.as_deref(), Some("no longer wanted"));
}

pub async fn no_state_without_an_exit_a_blocked_job_expires_and_takes_its_children_along(stage: Stage) {
    stage.accept(at(0), vec![job(1), Job { expires_at: Some(at(50)), ..child(2, &[1]) }, child(3, &[2])]).await;
    assert_eq!(stage.reclaim(at(49)).await.expired, []);
    assert_eq!(stage.reclaim(at(50)).await.expired, [(id(2), queue_ref("mail"))]);
    let stage = stage.reopen().await;
    stage.promote(at(51)).await;
    assert_eq!(stage.states([1, 2, 3]).await, [State::Ready, State::Cancelled, State::Cancelled]);
    assert_eq!(stage.run(at(52), 1, succeed()).await, ended(State::Succeeded, false));
}

pub async fn a_paused_blocked_job_keeps_its_pause_when_its_parent_ends(stage: Stage) {
    let later = Job { run_at: at(500), ..child(3, &[1]) };
    stage.accept(at(0), vec![job(1), child(2, &[1]), later, child(4, &[1])]).await;
    for number in 2..=4 {
        assert_eq!(stage.command(at(1), id(number), JobCommand::Pause).await, Commanded::Done);
    }
    let refused = Commanded::Refused { state: State::Blocked, paused: true };
    assert_eq!(stage.command(at(1), id(2), JobCommand::RunNow).await, refused);
    assert_eq!(stage.command(at(1), id(4), JobCommand::Resume).await, Commanded::Done);
    assert_eq!(stage.view(id(4)).await.status(), Status::Blocked);
    assert_eq!(stage.queue("mail").await.counts, Counts { paused: 2, ..counts(1, 1) });
    stage.run(at(2), 1, succeed()).await;
    assert_eq!(stage.promote(at(3)).await, 1, "only what is on offer becomes ready");
    let stage = stage.reopen().await;
    assert_eq!(stage.states([2, 3, 4]).await, [State::Ready, State::Waiting, State::Ready]);
    assert_eq!(stage.view(id(2)).await.status(), Status::Paused);
    assert_eq!(stage.view(id(3)).await.status(), Status::Paused);
    assert_eq!(stage.command(at(600), id(3), JobCommand::Resume).await, Commanded::Done);
    assert_eq!(stage.state(id(3)).await, State::Ready);
}

pub async fn an_update_of_a_blocked_job_leaves_it_blocked(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1])]).await;
    let what = JobCommand::Update { data: Some(json("[9]")), priority: Some(priority(77)), run_at: Some(at(500)) };
    assert_eq!(stage.command(at(1), id(2), what).await, Commanded::Done);
    let stage = stage.reopen().await;
    let view = stage.view(id(2)).await;
    let expected = Job { data: json("[9]"), priority: priority(77), run_at: at(500), ..child(2, &[1]) };
    assert_eq!((view.job, view.standing.state, view.standing.ready_at), (expected, State::Blocked, at(500)));
    stage.run(at(2), 1, succeed()).await;
    assert_eq!(stage.promote(at(3)).await, 0);
    assert_eq!(stage.state(id(2)).await, State::Waiting);
    assert_eq!(stage.promote(at(500)).await, 1);
}

pub async fn what_does_not_fit_a_blocked_job_is_refused(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1])]).await;
    let refused = Commanded::Refused { state: State::Blocked, paused: false };
    for what in [JobCommand::Revive { data: None }, JobCommand::Delete] {
        assert_eq!(stage.command(at(1), id(2), what).await, refused);
    }
}

/// So many ready and so many blocked jobs.
fn counts(ready: u64, blocked: u64) -> Counts {
    Counts { ready, blocked, ..Counts::default() }
}

/// A settlement that ended a job of `mail` that was due at the beginning.
pub(super) fn ended(state: State, awaited: bool) -> Settled {
    Settled::Applied { state, ready_at: at(0), queue: queue_ref("mail"), awaited, gates: None }
}
