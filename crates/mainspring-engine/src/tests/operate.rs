//! What people ask of schedules, while they fire.

use mainspring_core::lifecycle::Status;
use mainspring_core::schedule::{BadSchedule, Reason};
use mainspring_core::store::{Command, JobCommand};

use super::lossy::Lossy;
use super::*;
use crate::{BackfillAsk, BackfillWas, Error, EventKind, ScheduleMove};

fn hourly() -> Schedule {
    schedule("hourly", seconds(3600))
}

async fn put(world: &World, schedule: Schedule, expect: Expect) -> SchedulePut {
    world.engine.put_schedule(schedule, expect).await.unwrap()
}

#[tokio::test]
async fn a_schedule_is_put_as_expected_or_not_at_all() {
    let world = World::still();
    let other = Schedule { note: Some("why".into()), ..hourly() };
    assert_eq!(put(&world, hourly(), Expect::Revision(1)).await, SchedulePut::Conflict { revision: None });
    assert!(matches!(put(&world, hourly(), Expect::Absent).await, SchedulePut::Created(_)));
    assert_eq!(put(&world, hourly(), Expect::Absent).await, SchedulePut::Conflict { revision: Some(1) });
    assert!(matches!(put(&world, hourly(), Expect::Anything).await, SchedulePut::Unchanged(_)));
    assert_eq!(put(&world, other.clone(), Expect::Revision(2)).await, SchedulePut::Conflict { revision: Some(1) });
    let SchedulePut::Replaced(view) = put(&world, other.clone(), Expect::Revision(1)).await else { panic!() };
    assert_eq!((view.standing.revision, &view.schedule), (2, &other));
    assert_eq!(world.schedule(&other.reference()).await, view);

    let at = other.reference();
    let gone = |expect| world.engine.remove_schedule(&at, expect);
    assert_eq!(gone(Expect::Revision(1)).await.unwrap(), ScheduleMove::Conflict { revision: 2 });
    assert_eq!(gone(Expect::Revision(2)).await.unwrap(), ScheduleMove::Done(view));
    assert_eq!(gone(Expect::Anything).await.unwrap(), ScheduleMove::Missing);
}

#[tokio::test]
async fn what_does_not_compile_is_refused_with_its_place() {
    let world = World::still();
    let mut bad = hourly();
    bad.when.specs = vec![Spec::Cron("60 * * * *".into())];
    match world.engine.put_schedule(bad, Expect::Anything).await {
        Err(Error::Schedule(BadSchedule { field, position, .. })) => {
            assert_eq!((field.as_str(), position), ("when.specs[0].cron", Some(0)));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_fire_in_between_does_not_make_a_request_fail() {
    let store = Arc::new(Lossy::default());
    let world = World::still_on(Ground::with(store.clone(), store.inner.clone()));
    let at = world.put(hourly()).await;
    let meddle = |times| store.meddle.store(times, Ordering::Relaxed);
    meddle(3);
    world.engine.pause_schedule(&at, "holidays".into(), None).await.unwrap();
    assert_eq!(world.schedule(&at).await.standing.pause.expect("is paused").note, "holidays");
    meddle(3);
    world.engine.resume_schedule(&at).await.unwrap();
    assert_eq!(world.schedule(&at).await.standing.pause, None);
    meddle(3);
    let triggered = world.engine.trigger_schedule(&at).await.unwrap().expect("there is such a schedule");
    assert!(matches!(triggered.answer, Submitted::Accepted { state: State::Ready, .. }));
    meddle(3);
    assert!(matches!(
        put(&world, Schedule { jitter: ms(5), ..hourly() }, Expect::Revision(1)).await,
        SchedulePut::Replaced(_)
    ));
    meddle(usize::MAX);
    let busy = world.engine.pause_schedule(&at, String::new(), None).await;
    assert!(matches!(busy, Err(Error::Busy { .. })), "but not for ever: {busy:?}");
}

#[tokio::test]
async fn what_is_due_under_the_old_words_happens_before_they_are_replaced() {
    let world = World::still();
    let at = world.put(hourly()).await;
    world.ground.clock.advance(seconds(3600));
    put(&world, Schedule { note: Some("why".into()), ..hourly() }, Expect::Revision(1)).await;
    assert_eq!(world.made_by(&at).await.len(), 1);
    assert!(matches!(world.fates(&at).await[..], [What::Fired { .. }]));
}

#[tokio::test]
async fn a_triggered_job_is_beside_the_occurrences() {
    let world = World::still();
    let at = world.put(hourly()).await;
    let before = world.schedule(&at).await.standing;
    let submission = world.engine.trigger_schedule(&at).await.unwrap().expect("there is such a schedule");
    assert_eq!(world.fates(&at).await, [What::Triggered { job: submission.id }]);
    assert_eq!(world.schedule(&at).await.standing, before);
    let missing = ScheduleRef { name: ScheduleName::parse("other").unwrap(), ..at };
    assert_eq!(world.engine.trigger_schedule(&missing).await.unwrap(), None);
}

/// A schedule that was paused from the start for so long.
async fn slept_through(world: &World, time: Duration) -> ScheduleRef {
    let at = world.put(hourly()).await;
    world.engine.pause_schedule(&at, "later".into(), Some(START.after(time))).await.unwrap();
    world.ground.clock.advance(time);
    world.engine.resume_schedule(&at).await.unwrap();
    at
}

#[tokio::test]
async fn a_backfill_makes_what_is_not_there_and_a_dry_run_says_so() {
    let world = World::still();
    let at = slept_through(&world, seconds(36_000)).await;
    assert_eq!(world.fates(&at).await[0], What::Skipped(Reason::Paused));

    let ask = BackfillAsk { from: START, to: START.after(seconds(36_000)), max: 6, dry_run: true };
    let dry = world.engine.backfill(&at, ask).await.unwrap().expect("there is such a schedule");
    assert_eq!(world.made_by(&at).await.len(), 1, "only what fired at the end of the pause");
    let wet = world.engine.backfill(&at, BackfillAsk { dry_run: false, ..ask }).await.unwrap().unwrap();
    assert_eq!(wet, dry);
    assert!(wet.more);
    assert!(wet.occurrences.iter().all(|occurrence| occurrence.was == BackfillWas::Filled));
    assert_eq!(world.made_by(&at).await.len(), 7);

    let all = world.engine.backfill(&at, BackfillAsk { dry_run: false, max: 100, ..ask }).await.unwrap().unwrap();
    let known = all.occurrences.iter().filter(|occurrence| occurrence.was == BackfillWas::Exists).count();
    assert_eq!((all.occurrences.len(), known, all.more), (11, 7, false), "both ends of the range");
    assert_eq!(world.made_by(&at).await.len(), 11);
}

#[tokio::test]
async fn every_occurrence_makes_exactly_one_job_even_if_it_is_filled_again_after_that_job_is_forgotten() {
    let world = World::still();
    let at = slept_through(&world, seconds(7_200)).await;
    let ask = BackfillAsk { from: START, to: START.after(seconds(7_200)), max: 10, dry_run: false };
    let filled = world.engine.backfill(&at, ask).await.unwrap().unwrap();
    for occurrence in &filled.occurrences {
        for command in [JobCommand::Cancel { reason: "done".into() }, JobCommand::Delete] {
            let command = Command::Job { tenant: at.tenant.clone(), id: occurrence.job, what: command };
            world.engine.store().command(world.ground.clock.now(), vec![command]).await.unwrap();
        }
    }
    assert_eq!(world.made_by(&at).await, [], "all are forgotten");
    let again = world.engine.backfill(&at, ask).await.unwrap().unwrap();
    assert_eq!(again.occurrences.len(), filled.occurrences.len());
    assert!(again.occurrences.iter().all(|occurrence| occurrence.was == BackfillWas::Exists));
    assert_eq!(world.made_by(&at).await, []);
}

#[tokio::test]
async fn onlookers_hear_what_happens_to_a_schedule() {
    let world = World::running().await;
    let mut events = world.engine.events();
    let at = world.put(hourly()).await;
    world.engine.pause_schedule(&at, "holidays".into(), None).await.unwrap();
    world.engine.resume_schedule(&at).await.unwrap();
    world.engine.trigger_schedule(&at).await.unwrap();
    world.engine.remove_schedule(&at, Expect::Anything).await.unwrap();
    let mut heard = vec![];
    while heard.last() != Some(&EventKind::ScheduleRemoved) {
        let event = events.next().await.expect("the node runs");
        if let Some(name) = event.schedule {
            assert_eq!(name, at.name);
            heard.push(event.kind);
        }
    }
    use EventKind::*;
    assert_eq!(heard, [ScheduleChanged, SchedulePaused, ScheduleResumed, ScheduleFired, ScheduleRemoved]);
}

#[tokio::test]
async fn a_job_says_which_schedule_made_it() {
    let world = World::still();
    let at = world.put(hourly()).await;
    let job = world.engine.trigger_schedule(&at).await.unwrap().unwrap().id;
    let explained = world.engine.explain(&tenant(), job).await.unwrap().unwrap();
    assert_eq!(explained.view.status(), Status::Pending);
    assert_eq!(explained.reasons.last(), Some(&crate::Reason::MadeBy { schedule: at.name, occurrence: START }));
}
