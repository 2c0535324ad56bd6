//! Schedules: made at the start, meddled with on the way, at rest at the end.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::name::{ScheduleName, TypeName};
use mainspring_core::schedule::{Catchup, CatchupMode, Overlap, Schedule, ScheduleRef, Spec, Template, When};
use mainspring_core::time::Time;
use mainspring_engine::{BackfillAsk, Engine, Expect};

use super::draft::{keys, retry};
use super::{TENANTS, some_queue, tenant};
use crate::world::{Chance, START, World, sleep};

/// What its jobs do, as their types say.
const KINDS: [&str; 4] = ["mail", "mail", "broken", "steps"];

fn schedule(index: usize, chance: &Chance) -> Schedule {
    let every = Duration::from_millis(chance.between(3, 12) * 500);
    Schedule {
        tenant: at(index).tenant,
        name: at(index).name,
        // Before everything: also a clock that is far behind is after it.
        when: When::new(vec![Spec::Every { every, anchor: Some(START.before(Duration::from_secs(24 * 3_600))) }]),
        job: Template {
            queue: some_queue(chance),
            retry: retry(chance),
            keys: keys(chance),
            timeout: chance.percent(20).then(|| chance.ms(300, 5_000)),
            deadline: chance.percent(20).then(|| chance.ms(1_000, 60_000)),
            expires_in: chance.percent(15).then(|| chance.ms(1_000, 10_000)),
            ..Template::new(TypeName::parse(KINDS[chance.below(KINDS.len())]).expect("a name"))
        },
        catchup: Catchup {
            mode: *chance.pick(&[CatchupMode::All, CatchupMode::All, CatchupMode::Latest, CatchupMode::None]),
            window: Duration::from_secs(3_600),
            max: 1_000,
        },
        overlap: *chance.pick(&[
            Overlap::Allow,
            Overlap::Allow,
            Overlap::Skip,
            Overlap::QueueOne,
            Overlap::CancelPrevious,
        ]),
        jitter: if chance.percent(20) { chance.ms(1, 1_000) } else { Duration::ZERO },
        max_runs: chance.percent(10).then(|| chance.between(2, 8)),
        pause_on_failure: chance.percent(15),
        note: None,
    }
}

/// Every tenant has some.
fn at(index: usize) -> ScheduleRef {
    let name = ScheduleName::parse(&format!("schedule-{index}")).expect("a name");
    ScheduleRef { tenant: tenant(TENANTS[index % TENANTS.len()]), name }
}

/// Puts them, however often it takes, and pauses, resumes, triggers and back-fills one now and then.
pub async fn meddle(world: Arc<World>, chance: Chance) {
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
        sleep(chance.ms(1_500, 9_000)).await;
        if world.weather.is_clear() {
            return;
        }
        meddle_once(&world, &chance, at(chance.below(world.plan.schedules))).await;
    }
}

/// Nobody cares what becomes of it: the checkers do.
async fn meddle_once(world: &World, chance: &Chance, at: ScheduleRef) {
    match chance.below(10) {
        0..3 => {
            let until = chance.percent(50).then(|| world.now().after(chance.ms(1_000, 10_000)));
            let pause = |engine: Engine| async move { engine.pause_schedule(&at, "for a while".into(), until).await };
            let _ = world.ask(chance, pause).await;
        }
        3..6 => {
            let _ = world.ask(chance, |engine| async move { engine.resume_schedule(&at).await }).await;
        }
        6..8 => {
            let _ = world.ask(chance, |engine| async move { engine.trigger_schedule(&at).await }).await;
        }
        _ => {
            let to = world.now();
            let from = to.before(chance.ms(1_000, 15_000));
            let ask = BackfillAsk { from, to, max: chance.between(1, 5) as usize, dry_run: chance.percent(10) };
            let _ = world.ask(chance, |engine| async move { engine.backfill(&at, ask).await }).await;
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
        let pause = async |engine: Engine| engine.pause_schedule(&at, "the end".into(), None).await.is_ok();
        until_done(world, chance, pause).await;
    }
    end_at
}

async fn until_done(world: &World, chance: &Chance, call: impl AsyncFn(Engine) -> bool) {
    loop {
        let done = world.ask(chance, |engine| async { Ok(call(engine).await) }).await;
        if matches!(done, Ok(Ok(true))) {
            return;
        }
        sleep(chance.ms(50, 500)).await;
    }
}
