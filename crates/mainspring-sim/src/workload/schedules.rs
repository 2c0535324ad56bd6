//! Schedules: made at the start, meddled with on the way, at rest at the end.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::name::{ScheduleName, TypeName};
use mainspring_core::schedule::{Catchup, CatchupMode, Overlap, Schedule, ScheduleRef, Spec, Template, When};
use mainspring_core::time::Time;
use mainspring_engine::Expect;

use super::draft::retry;
use super::{TENANTS, some_queue, tenant};
use crate::world::{Chance, START, World, sleep};

fn schedule(index: usize, chance: &Chance) -> Schedule {
    let every = Duration::from_millis(chance.between(3, 12) * 500);
    Schedule {
        tenant: tenant(TENANTS[0]),
        name: name(index),
        // Before everything: also a clock that is far behind is after it.
        when: When::new(vec![Spec::Every { every, anchor: Some(START.before(Duration::from_secs(24 * 3_600))) }]),
        job: Template {
            queue: some_queue(chance),
            retry: retry(chance),
            ..Template::new(TypeName::parse("mail").expect("a name"))
        },
        catchup: Catchup {
            mode: *chance.pick(&[CatchupMode::All, CatchupMode::All, CatchupMode::Latest, CatchupMode::None]),
            window: Duration::from_secs(3_600),
            max: 1_000,
        },
        overlap: *chance.pick(&[Overlap::Allow, Overlap::Allow, Overlap::Skip, Overlap::QueueOne]),
        jitter: if chance.percent(20) { chance.ms(1, 1_000) } else { Duration::ZERO },
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

fn name(index: usize) -> ScheduleName {
    ScheduleName::parse(&format!("schedule-{index}")).expect("a name")
}

fn at(index: usize) -> ScheduleRef {
    ScheduleRef { tenant: tenant(TENANTS[0]), name: name(index) }
}

/// Puts them, however often it takes, and pauses and resumes one now and then.
pub async fn put_all(world: Arc<World>, chance: Chance) {
    for index in 0..world.plan.schedules {
        let new = schedule(index, &chance);
        loop {
            let put = new.clone();
            let put = world.ask(&chance, |engine| async move { engine.put_schedule(put, Expect::Anything).await });
            if matches!(put.await, Ok(Ok(_))) {
                break;
            }
            sleep(chance.ms(50, 500)).await;
        }
    }
    while !world.weather.is_clear() {
        sleep(chance.ms(2_000, 12_000)).await;
        if world.weather.is_clear() {
            return;
        }
        let at = at(chance.below(world.plan.schedules));
        if chance.percent(50) {
            let pause = |engine: mainspring_engine::Engine| async move {
                engine.pause_schedule(&at, "for a while".into(), None).await
            };
            let _ = world.ask(&chance, pause).await;
        } else {
            let _ = world.ask(&chance, |engine| async move { engine.resume_schedule(&at).await }).await;
        }
    }
}

/// Lets all of them catch up, and then pauses them for good. Answers the instant up to which all must have come.
pub async fn pause_all(world: &Arc<World>, chance: &Chance) -> Time {
    for index in 0..world.plan.schedules {
        let at = at(index);
        until_done(world, chance, async |engine| engine.resume_schedule(&at).await.is_ok()).await;
    }
    // The seats have new holders by then, and they have looked at what is overdue.
    let caught_up = world.plan.settings().term * 3;
    let end_at = world.now();
    sleep(caught_up).await;
    for index in 0..world.plan.schedules {
        let at = at(index);
        let pause =
            async |engine: mainspring_engine::Engine| engine.pause_schedule(&at, "the end".into(), None).await.is_ok();
        until_done(world, chance, pause).await;
    }
    end_at
}

async fn until_done(world: &World, chance: &Chance, call: impl AsyncFn(mainspring_engine::Engine) -> bool) {
    loop {
        let done = world.ask(chance, |engine| async { Ok(call(engine).await) }).await;
        if matches!(done, Ok(Ok(true))) {
            return;
        }
        sleep(chance.ms(50, 500)).await;
    }
}
