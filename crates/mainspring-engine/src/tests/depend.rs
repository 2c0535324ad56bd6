//! Dependencies: a chain runs on at once, and who is blocked can say why.

use mainspring_core::job::{Dependency, OnFailure};
use mainspring_core::lifecycle::Status;
use mainspring_core::store::{Command, JobCommand};

use super::*;
use crate::{EventKind, Parent, Reason};

fn after(parents: &[JobId], on_failure: OnFailure) -> Draft {
    let depends_on = parents.iter().map(|&parent| Dependency { parent, on_failure }).collect();
    Draft { depends_on, ..draft() }
}

fn done() -> Outcome {
    Outcome::Succeeded { result: None }
}

fn never() -> Outcome {
    Outcome::Failed { error: Failure::new("no"), retry: RetryWish::Never }
}

#[tokio::test]
async fn a_chain_runs_on_without_the_clock() {
    let world = World::running().await;
    let mut chain = vec![world.submit(draft()).await];
    for at in 0..5 {
        chain.push(world.submit(after(&[chain[at]], OnFailure::Cancel)).await);
    }
    let worker = world.worker().await;
    for id in chain {
        // The clock stands still: neither a resync nor a poll can help.
        let claimed = world.waiting(ask(worker, seconds(30))).await.await.unwrap();
        assert_eq!(claimed.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>(), [id]);
        world.settle(&claimed[0], done()).await;
    }
}

#[tokio::test]
async fn a_cancelled_or_expired_parent_lets_its_children_go_at_once() {
    let world = World::running().await;
    let parent = world.submit(due_in(seconds(60))).await;
    let child = world.submit(after(&[parent], OnFailure::Run)).await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let what = JobCommand::Cancel { reason: "enough".into() };
    world.engine.command(vec![Command::Job { tenant: tenant(), id: parent, what }]).await.unwrap();
    assert_eq!(claim.await.unwrap()[0].job.id, child);
}

#[tokio::test]
async fn a_child_with_a_time_of_its_own_fires_at_that_time() {
    let world = World::running().await;
    let parent = world.submit(draft()).await;
    let child = world.submit(Draft { when: When::In(ms(300)), ..after(&[parent], OnFailure::Cancel) }).await;
    let worker = world.worker().await;
    let claimed = world.claim_now(worker).await;
    world.settle(&claimed[0], done()).await;
    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(100));
    let claim_goes_on = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(ms(200));
    let first = tokio::select! { claimed = claim => claimed.unwrap(), claimed = claim_goes_on => claimed.unwrap() };
    assert_eq!(first[0].job.id, child);
}

#[tokio::test]
async fn onlookers_hear_of_children_that_died_with_their_parent() {
    let world = World::running().await;
    let parent = world.submit(draft()).await;
    let child = world.submit(after(&[parent], OnFailure::Cancel)).await;
    let grandchild = world.submit(after(&[child], OnFailure::Cancel)).await;
    let mut events = world.engine.events();
    let claimed = world.claim_now(world.worker().await).await;
    world.settle(&claimed[0], never()).await;
    for expected in [child, grandchild] {
        loop {
            let event = events.next().await.expect("the node runs");
            if event.kind == EventKind::Cancelled {
                assert_eq!(event.job, Some(expected));
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_blocked_job_names_what_it_waits_for() {
    let world = World::still();
    let [open, dead] = [world.submit(draft()).await, world.submit(draft()).await];
    let child = world.submit(after(&[open, dead], OnFailure::Hold)).await;
    let claimed = world.claim_now(world.worker().await).await;
    let claimed = claimed.iter().find(|claimed| claimed.job.id == dead).expect("both are ready");
    world.settle(claimed, never()).await;
    let explained = world.engine.explain(&tenant(), child).await.unwrap().unwrap();
    let held = Parent { id: dead, status: Some(Status::Failed) };
    let waits = Parent { id: open, status: Some(Status::Running) };
    assert_eq!(
        explained.reasons,
        [Reason::HeldFor { parents: vec![held], count: 1 }, Reason::WaitsFor { parents: vec![waits], count: 1 }]
    );
}

#[tokio::test]
async fn many_parents_are_counted_and_not_all_named() {
    let world = World::still();
    let mut parents = vec![];
    for _ in 0..30 {
        parents.push(world.submit(due_in(seconds(60))).await);
    }
    let child = world.submit(after(&parents, OnFailure::Cancel)).await;
    let explained = world.engine.explain(&tenant(), child).await.unwrap().unwrap();
    let [Reason::WaitsFor { parents, count }] = &explained.reasons[..] else { panic!("{explained:?}") };
    assert_eq!((parents.len(), *count), (crate::explain::PARENTS_SHOWN_MAX, 30));
}

#[tokio::test]
async fn a_waiting_job_says_when_it_can_start() {
    let world = World::still();
    let id = world.submit(due_in(seconds(60))).await;
    let explained = world.engine.explain(&tenant(), id).await.unwrap().unwrap();
    assert_eq!(explained.eta, Some(START.after(seconds(60))));
}

#[tokio::test]
async fn a_parent_that_is_not_there_is_answered() {
    let world = World::still();
    let submitted = world.engine.submit(vec![after(&[JobId::MIN], OnFailure::Run)]).await.unwrap();
    assert_eq!(submitted[0].answer, Submitted::UnknownParent { parent: JobId::MIN });
}
