//! Commands: whoever is concerned hears of them.

use mainspring_core::store::{Command, Filter, JobCommand};

use super::*;
use crate::{Bulk, EventKind, Reason};

fn of_job(id: JobId, what: JobCommand) -> Vec<Command> {
    vec![Command::Job { tenant: tenant(), id, what }]
}

#[tokio::test]
async fn a_job_that_is_run_now_reaches_a_waiting_claim() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let id = world.submit(due_in(seconds(3600))).await;
    world.engine.command(of_job(id, JobCommand::RunNow)).await.unwrap();
    assert_eq!(claim.await.unwrap()[0].job.id, id);
}

#[tokio::test]
async fn a_job_that_is_moved_nearer_fires_at_its_new_time() {
    let world = World::running().await;
    let claim = world.waiting(ask(world.worker().await, seconds(30))).await;
    let id = world.submit(due_in(seconds(3600))).await;
    let what = JobCommand::Update { data: None, priority: None, run_at: Some(START.after(ms(200))) };
    world.engine.command(of_job(id, what)).await.unwrap();
    world.ground.clock.advance(ms(200));
    assert_eq!(claim.await.unwrap()[0].job.id, id);
}

#[tokio::test]
async fn a_command_for_many_stops_at_its_maximum_and_goes_on_from_there() {
    let world = World::running().await;
    world.engine.submit(vec![due_in(seconds(3600)); 1_200]).await.unwrap();
    let cancel = async |max: u64| {
        let filter = Filter { statuses: vec![mainspring_core::lifecycle::Status::Scheduled], ..Filter::default() };
        let what = JobCommand::Cancel { reason: "all of them".into() };
        world.engine.command_found(tenant(), filter, what, max).await.unwrap()
    };
    assert_eq!(cancel(700).await, Bulk { done: 700, more: true });
    assert_eq!(cancel(10_000).await, Bulk { done: 500, more: false });
    let queue = world.engine.store().queues(None).await.unwrap().remove(0);
    assert_eq!((queue.counts.waiting, queue.counts.cancelled), (0, 1_200));
}

#[tokio::test]
async fn onlookers_hear_what_people_do() {
    let world = World::running().await;
    let id = world.submit(due_in(seconds(3600))).await;
    let mut events = world.engine.events();
    let cancel = JobCommand::Cancel { reason: "enough".into() };
    let walk = [
        (JobCommand::Pause, EventKind::Paused),
        (JobCommand::Resume, EventKind::Resumed),
        (JobCommand::RunNow, EventKind::Updated),
        (cancel, EventKind::Cancelled),
        (JobCommand::Delete, EventKind::Deleted),
    ];
    for (what, kind) in walk {
        world.engine.command(of_job(id, what)).await.unwrap();
        let event = events.next().await.unwrap();
        assert_eq!((event.kind, event.job, event.tenant), (kind, Some(id), Some(tenant())));
    }
}

#[tokio::test]
async fn explain_says_what_a_job_waits_for_all_along_its_walk() {
    let world = World::running().await;
    let why =
        async |id: JobId| world.engine.explain(&tenant(), id).await.unwrap().expect("there is such a job").reasons;
    let id = world.submit(due_in(seconds(60))).await;
    assert_eq!(why(id).await, [Reason::WaitsUntil(START.after(seconds(60)))]);
    world.engine.command(of_job(id, JobCommand::RunNow)).await.unwrap();
    assert_eq!(why(id).await, [Reason::NoWorker { elsewhere: 0 }]);
    let worker = world.worker().await;
    assert_eq!(why(id).await, [Reason::NextUp]);
    let second = world.submit(draft()).await;
    assert_eq!(why(second).await, [Reason::Behind { ahead: 1, at_least: false }]);
    let claimed = world.claim_now(worker).await;
    assert_eq!(why(id).await, [Reason::HeldBy { worker, until: START.after(seconds(30)) }]);
    let lease = claimed.iter().find(|claimed| claimed.job.id == id).unwrap();
    world.settle(lease, Outcome::Succeeded { result: None }).await;
    assert_eq!(why(id).await, [Reason::Finished]);
    assert_eq!(world.engine.explain(&tenant(), JobId::MAX).await.unwrap(), None);
}
