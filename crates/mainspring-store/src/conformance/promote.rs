//! What a store promises when time makes jobs ready.

use std::time::Duration;

use mainspring_core::job::Job;
use mainspring_core::lifecycle::State;
use mainspring_core::segment::Segments;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::stage::*;

pub async fn a_job_becomes_ready_on_its_millisecond(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1000)]).await;
    assert_eq!(stage.promote(at(999)).await, 0);
    assert_eq!(stage.state(id(1)).await, State::Waiting);
    assert_eq!(stage.promote(at(1000)).await, 1);
    let view = stage.view(id(1)).await;
    assert_eq!((view.standing.state, view.standing.ready_at), (State::Ready, at(1000)));
}

pub async fn what_is_ready_stays_ready_when_the_clock_steps_back(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1000), due(2, 2000)]).await;
    assert_eq!(stage.promote(at(1500)).await, 1);
    assert_eq!(stage.promote(at(10)).await, 0);
    assert_eq!(stage.state(id(1)).await, State::Ready);
    assert_eq!(stage.state(id(2)).await, State::Waiting);
    stage.register(at(10), 1).await;
    assert_eq!(stage.claim_one(at(10), 1).await.job.id, id(1));
}

pub async fn what_is_ready_stays_ready_through_a_reopen(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1000)]).await;
    assert_eq!(stage.promote(at(1000)).await, 1);
    let stage = stage.reopen().await;
    assert_eq!(stage.state(id(1)).await, State::Ready);
    assert_eq!(stage.queue("mail").await.counts.ready, 1);
    assert_eq!(stage.promote(at(1000)).await, 0, "a job becomes ready once");
}

pub async fn no_state_without_an_exit_every_overdue_job_is_found_in_small_steps(stage: Stage) {
    stage.accept(at(0), (1..=7).map(|number| due(number, 100 + u64::from(number % 3))).collect()).await;
    let mut found = 0;
    for _ in 0..100 {
        let promoted = stage.store.promote(at(500), everything(2)).await.expect("promote");
        let count: u64 = promoted.ready.iter().map(|(_, count)| count).sum();
        assert!(count <= 2, "{promoted:?}");
        found += count;
        if !promoted.more {
            assert_eq!(found, 7);
            return;
        }
    }
    panic!("promote says that there is more for ever");
}

pub async fn no_state_without_an_exit_a_far_job_falls_due_after_years_and_reopens(stage: Stage) {
    let years = Duration::from_secs(3 * 366 * 24 * 3600);
    let then = at(0).after(years);
    stage.accept(at(0), vec![Job { run_at: then, ..job(1) }]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(then.before(Duration::from_millis(1))).await, 0);
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(then).await, 1);
    assert_eq!(stage.state(id(1)).await, State::Ready);
}

pub async fn no_state_without_an_exit_the_last_instant_there_is_can_be_reached(stage: Stage) {
    stage.accept(at(0), vec![Job { run_at: Time::MAX, ..job(1) }]).await;
    assert_eq!(stage.promote(at(1)).await, 0);
    assert_eq!(stage.promote(Time::MAX).await, 1);
}

pub async fn nothing_accepted_is_lost_when_due_times_are_scattered(stage: Stage) {
    const SECOND: u64 = 1000;
    let spread = |number: u32| due(number, 1 + u64::from(number) * 2_654_435_761 % (40 * 24 * 3600 * SECOND));
    let jobs: Vec<Job> = (1..=500).map(spread).collect();
    stage.accept(at(0), jobs.clone()).await;
    for day in 1..=40 {
        let now = at(day * 24 * 3600 * SECOND);
        stage.promote(now).await;
        for job in &jobs {
            let expected = if job.run_at <= now { State::Ready } else { State::Waiting };
            assert_eq!(stage.state(job.id).await, expected, "{job:?} on day {day}");
        }
    }
}

pub async fn promoted_jobs_are_counted_by_queue_and_the_oldest_is_named(stage: Stage) {
    let other = |number, ms| Job { queue: queue("a-first"), ..due(number, ms) };
    stage.accept(at(0), vec![due(1, 300), other(2, 100), due(3, 200)]).await;
    let promoted = stage.store.promote(at(1000), everything(10)).await.expect("promote");
    assert_eq!(promoted.ready, [(queue_ref("a-first"), 1), (queue_ref("mail"), 2)]);
    assert_eq!((promoted.oldest, promoted.more), (Some(at(100)), false));
    let nothing = stage.store.promote(at(1000), everything(10)).await.expect("promote");
    assert_eq!(nothing, Promoted::default());
}

pub async fn a_failure_stays_where_it_is_other_segments_are_left_alone(stage: Stage) {
    stage.accept(at(0), vec![due(1, 100), due(2, 100)]).await;
    let segments: Segments = [id(2).segment()].into_iter().collect();
    let promoted = stage.store.promote(at(100), Promote { segments, ..everything(10) }).await.expect("promote");
    assert_eq!(promoted.ready, [(queue_ref("mail"), 1)]);
    assert_eq!((stage.state(id(1)).await, stage.state(id(2)).await), (State::Waiting, State::Ready));
}

pub async fn a_paused_job_does_not_become_ready_until_it_is_resumed(stage: Stage) {
    stage.accept(at(0), vec![due(1, 100)]).await;
    assert_eq!(stage.command(at(0), id(1), JobCommand::Pause).await, Commanded::Done);
    assert_eq!(stage.promote(at(200)).await, 0);
    assert_eq!(stage.command(at(300), id(1), JobCommand::Resume).await, Commanded::Done);
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.state, standing.ready_at, standing.paused), (State::Ready, at(100), false));
}

pub async fn a_job_of_a_paused_queue_becomes_ready_all_the_same(stage: Stage) {
    stage.command_queue(at(0), "mail", QueueCommand::Pause).await;
    stage.accept(at(0), vec![due(1, 100)]).await;
    assert_eq!(stage.promote(at(100)).await, 1);
}

pub async fn the_next_instants_are_listed_once_each_and_in_order(stage: Stage) {
    stage.accept(at(0), vec![due(1, 300), due(2, 200), due(3, 200), due(4, 900), due(5, 50), due(6, 250)]).await;
    assert_eq!(stage.command(at(0), id(6), JobCommand::Pause).await, Commanded::Done);
    let ask = Promote { look_ahead_until: at(300), look_ahead_limit: 10, ..everything(10) };
    let promoted = stage.store.promote(at(50), ask.clone()).await.expect("promote");
    assert_eq!(promoted.upcoming, [at(200), at(300)]);
    let ask = Promote { look_ahead_limit: 1, ..ask };
    assert_eq!(stage.store.promote(at(50), ask).await.expect("promote").upcoming, [at(200)]);
}

fn due(number: u32, ms: u64) -> Job {
    Job { run_at: at(ms), ..job(number) }
}
