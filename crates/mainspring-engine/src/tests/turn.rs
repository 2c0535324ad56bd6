//! Schedules fire: one job for each occurrence, or one row that says why not.

use std::collections::BTreeSet;

use mainspring_core::schedule::{CatchupMode, PausedBy, Reason};
use mainspring_core::store::{Command, QueueCommand, To, Turn};

use super::lossy::Lossy;
use super::*;
use crate::actor::Actor;
use crate::ownership::Ownership;
use crate::trigger::{Trigger, Turner};

/// A still world that turns what is due when the test says so.
struct Firing {
    world: World,
    trigger: Trigger,
    turner: Turner,
}

impl Firing {
    fn new() -> Firing {
        Firing::on(Ground::new())
    }

    fn on(ground: Ground) -> Firing {
        let world = World::still_on(ground);
        let (trigger, turner) = (Trigger::new(world.node()), Turner::new(world.node()));
        Firing { world, trigger, turner }
    }

    /// Lists what is due, and leaves it to the next turn.
    async fn list(&mut self) {
        let now = self.world.now();
        Ownership::new(self.world.node()).tick(now).await.unwrap();
        self.trigger.tick(now).await.unwrap();
    }

    /// Moves the clock and does all that is due by then, whatever fails on the way.
    async fn fire_at(&mut self, at: Time) {
        self.world.ground.clock.set(at);
        for _ in 0..200 {
            self.world.node().plan.look_again();
            self.list().await;
            let _ = self.turner.tick(at).await;
        }
    }
}

fn fired(rows: &[LedgerRow]) -> Vec<Time> {
    let is_fired = |row: &&LedgerRow| matches!(row.what, What::Fired { .. });
    rows.iter().filter(is_fired).map(|row| row.occurrence).collect()
}

fn count(rows: &[LedgerRow], what: What) -> u64 {
    rows.iter().filter(|row| row.what == what).map(|row| row.count).sum()
}

/// Each occurrence has one row and one job, whose id is its own.
async fn assert_exactly_once(world: &World, at: &ScheduleRef, expected: &[Time]) {
    let rows = world.ledger(at).await;
    assert_eq!(fired(&rows), expected, "a row for each occurrence");
    let jobs = world.made_by(at).await;
    let occurrences: Vec<Time> =
        jobs.iter().map(|view| view.job.origin.as_ref().expect("made by a schedule").occurrence).collect();
    assert_eq!(occurrences, expected, "a job for each occurrence");
    let ids: BTreeSet<JobId> = jobs.iter().map(|view| view.job.id).collect();
    assert_eq!(ids.len(), expected.len());
}

#[tokio::test]
async fn a_schedule_fires_at_its_instants_and_tells_the_wheel_of_the_next() {
    let world = World::running().await;
    let mut often = schedule("often", seconds(1));
    // Half a second beside the resyncs: only the wheel can be in time.
    often.when.start_at = Some(START.after(ms(500)));
    often.when.specs = vec![Spec::Every { every: seconds(1), anchor: Some(START.after(ms(500))) }];
    let at = world.put(often).await;
    let worker = world.worker().await;
    for second in 0..3 {
        let claim = world.waiting(ask(worker, seconds(30))).await;
        world.ground.clock.set(START.after(ms(500 + second * 1_000)));
        let claimed = claim.await.unwrap();
        assert_eq!(claimed[0].job.run_at, world.now());
    }
    assert_eq!(fired(&world.ledger(&at).await).len(), 3);
}

#[tokio::test]
async fn every_occurrence_makes_exactly_one_job_though_replies_are_lost() {
    let store = Arc::new(Lossy::default());
    let mut firing = Firing::on(Ground::with(store.clone(), store.inner.clone()));
    let at = firing.world.put(schedule("often", seconds(10))).await;
    for round in 1..=30 {
        store.lose.store(round % 4, Ordering::Relaxed);
        firing.fire_at(START.after(seconds(round as u64 * 5))).await;
    }
    let expected: Vec<Time> = (1..=15).map(|n| START.after(seconds(n * 10))).collect();
    assert_exactly_once(&firing.world, &at, &expected).await;
}

#[tokio::test]
async fn two_nodes_that_both_fire_make_one_job() {
    let ground = Ground::new();
    let mut first = Firing::on(ground.clone());
    let mut second = Firing::on(Ground { seats: Arc::default(), ..ground.clone() });
    let at = first.world.put(schedule("often", seconds(10))).await;
    let mut expected = vec![];
    for round in 1..=10 {
        ground.clock.set(START.after(seconds(round * 10)));
        expected.push(first.world.now());
        // Both have read it as due before either turns it.
        first.list().await;
        second.list().await;
        for firing in [&mut second, &mut first] {
            let now = firing.world.now();
            firing.turner.tick(now).await.unwrap();
        }
    }
    assert_exactly_once(&first.world, &at, &expected).await;
}

#[tokio::test]
async fn after_a_time_down_schedules_catch_up_as_they_were_told() {
    let (minute, hour, day) = (seconds(60), seconds(3600), seconds(24 * 3600));
    let cases = [
        (CatchupMode::None, minute, minute, 1),
        (CatchupMode::Latest, minute, minute, 1),
        (CatchupMode::All, minute, minute, 1),
        (CatchupMode::None, hour, day, 1),
        (CatchupMode::Latest, hour, day, 2),
        (CatchupMode::All, hour, day, 24),
        (CatchupMode::None, hour, 90 * day, 1),
        (CatchupMode::Latest, hour, 90 * day, 2),
        (CatchupMode::All, hour, 90 * day, 24),
    ];
    for (mode, every, down, expected) in cases {
        let mut firing = Firing::new();
        let catchup = Catchup { mode, window: day, max: 100 };
        let at = firing.world.put(Schedule { catchup, ..schedule("hourly", every) }).await;
        firing.fire_at(START.after(down).after(seconds(30))).await;
        let rows = firing.world.ledger(&at).await;
        let all = (down.as_secs() / every.as_secs()) as usize;
        assert_eq!(fired(&rows).len(), expected, "{mode:?} after {down:?}");
        assert_eq!(count(&rows, What::Missed) as usize, all - expected, "{mode:?} after {down:?}");
        assert_eq!(firing.world.made_by(&at).await.len(), expected);
        assert_eq!(firing.world.schedule(&at).await.standing.next, Some(START.after(down).after(every)));
    }
}

#[tokio::test]
async fn queue_one_lets_one_wait_behind_the_running_one() {
    let mut firing = Firing::new();
    let at = firing.world.put(Schedule { overlap: Overlap::QueueOne, ..schedule("often", seconds(10)) }).await;
    firing.fire_at(START.after(seconds(10))).await;
    let worker = firing.world.worker().await;
    let running = firing.world.claim_now(worker).await;
    firing.fire_at(START.after(seconds(20))).await;
    firing.fire_at(START.after(seconds(30))).await;
    let jobs = firing.world.made_by(&at).await;
    assert_eq!(jobs.iter().map(|view| view.standing.state).collect::<Vec<_>>(), [State::Running, State::Blocked]);
    assert_eq!(firing.world.fates(&at).await[2], What::Skipped(Reason::Overlap));
    firing.world.settle(&running[0], failed()).await;
    firing.fire_at(START.after(seconds(31))).await;
    assert_eq!(firing.world.state(jobs[1].job.id).await, State::Blocked, "it is tried again: it has not ended");
    firing.fire_at(START.after(seconds(36))).await;
    for _ in 0..2 {
        let again = firing.world.claim_now(worker).await;
        firing.world.settle(&again[0], failed()).await;
        firing.fire_at(firing.world.now().after(seconds(1))).await;
        firing.fire_at(firing.world.now().after(seconds(5))).await;
    }
    assert_eq!(firing.world.state(jobs[0].job.id).await, State::Dead);
    assert_eq!(firing.world.state(jobs[1].job.id).await, State::Ready, "however the one before it ended");
}

#[tokio::test]
async fn cancel_previous_makes_way_for_the_new_one() {
    let mut firing = Firing::new();
    let at = firing.world.put(Schedule { overlap: Overlap::CancelPrevious, ..schedule("often", seconds(10)) }).await;
    for round in 1..=3 {
        firing.fire_at(START.after(seconds(round * 10))).await;
    }
    let jobs = firing.world.made_by(&at).await;
    let states: Vec<State> = jobs.iter().map(|view| view.standing.state).collect();
    assert_eq!(states, [State::Cancelled, State::Cancelled, State::Ready]);
    let reason = jobs[0].standing.ended.as_ref().and_then(|ended| ended.reason.as_deref());
    assert_eq!(reason, Some("schedule often fired again"));
}

#[tokio::test]
async fn pause_on_failure_waits_for_a_person() {
    let mut firing = Firing::new();
    let at = firing.world.put(Schedule { pause_on_failure: true, ..schedule("often", seconds(10)) }).await;
    firing.fire_at(START.after(seconds(10))).await;
    let worker = firing.world.worker().await;
    let claimed = firing.world.claim_now(worker).await;
    let never = Outcome::Failed { error: Failure::new("no"), retry: RetryWish::Never };
    firing.world.settle(&claimed[0], never).await;
    firing.fire_at(START.after(seconds(20))).await;
    let pause = firing.world.schedule(&at).await.standing.pause.expect("is paused");
    assert_eq!(pause.by, PausedBy::Failure(claimed[0].job.id));
    firing.fire_at(START.after(seconds(35))).await;
    assert_eq!(firing.world.made_by(&at).await.len(), 1, "nothing fires meanwhile");
    firing.world.engine.resume_schedule(&at).await.unwrap();
    firing.fire_at(START.after(seconds(40))).await;
    assert_eq!(firing.world.made_by(&at).await.len(), 2);
}

#[tokio::test]
async fn an_occurrence_whose_queue_is_full_is_written_down() {
    let mut firing = Firing::new();
    let at = firing.world.put(schedule("often", seconds(10))).await;
    let queue = firing.queue().await;
    let set = Command::Queue { queue: queue.queue, what: QueueCommand::SetMaxDepth(Some(2)) };
    firing.world.engine.command(vec![set]).await.unwrap();
    for round in 1..=3 {
        firing.fire_at(START.after(seconds(round * 10))).await;
    }
    assert_eq!(firing.world.fates(&at).await[1], What::Skipped(Reason::QueueFull));
    assert_eq!(firing.world.made_by(&at).await.len(), 1);
    assert_eq!(firing.world.schedule(&at).await.standing.runs, 1);
}

impl Firing {
    /// The default queue, with one job in it.
    async fn queue(&self) -> store::QueueView {
        self.world.submit(draft()).await;
        self.world.ground.store.queues(None).await.unwrap().pop().expect("has a job")
    }
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_any_more_is_paused_and_says_why() {
    let mut firing = Firing::new();
    let mut other = schedule("old", seconds(10));
    let at = firing.world.put(other.clone()).await;
    // As if the zone had been taken out of the database since.
    let view = firing.world.schedule(&at).await;
    other.when.zone = "Europe/Atlantis".into();
    let to = To::Put { schedule: Box::new(other), standing: view.standing };
    let turn = Turn { schedule: at.clone(), expect: Some(view.version), to, jobs: vec![], rows: vec![], warrant: None };
    firing.world.ground.store.turn(START, vec![turn]).await.unwrap();

    firing.fire_at(START.after(seconds(10))).await;
    let standing = firing.world.schedule(&at).await.standing;
    let note = standing.pause.expect("is paused").note;
    assert!(note.contains("Europe/Atlantis"), "{note}");
    assert_eq!(standing.wake_at, None, "it is not tried for ever");
    assert_eq!(firing.world.made_by(&at).await.len(), 0);
}

#[tokio::test]
async fn a_schedule_that_the_store_refuses_is_paused_and_stops_no_other() {
    let store = Arc::new(Memory::with_queues_max(1));
    let mut firing = Firing::on(Ground::with(store.clone(), store));
    let mut refused = schedule("a-queue-too-many", seconds(10));
    refused.job.queue = queue("one-too-many");
    let good = firing.world.put(schedule("good", seconds(10))).await;
    firing.world.submit(draft()).await;
    let refused = firing.world.put(refused).await;

    firing.fire_at(START.after(seconds(10))).await;
    assert_exactly_once(&firing.world, &good, &[START.after(seconds(10))]).await;
    let standing = firing.world.schedule(&refused).await.standing;
    let note = standing.pause.expect("is paused").note;
    assert!(note.contains("queues"), "{note}");
    assert_eq!(standing.wake_at, None, "it is not tried for ever");
    assert_eq!(firing.world.made_by(&refused).await.len(), 0);
}

#[tokio::test]
async fn firing_does_not_keep_plain_jobs_waiting() {
    let mut firing = Firing::new();
    firing.world.put(schedule("often", seconds(10))).await;
    let plain = firing.world.submit(due_in(seconds(10))).await;
    let next = firing.world.submit(due_in(seconds(11))).await;
    firing.world.ground.clock.set(START.after(seconds(10)));
    // Nobody turns the schedule: its round stays under way.
    firing.list().await;
    assert_eq!(firing.world.state(plain).await, State::Ready);
    firing.world.ground.clock.set(START.after(seconds(11)));
    firing.list().await;
    assert_eq!(firing.world.state(next).await, State::Ready);
}

#[tokio::test]
async fn more_schedules_than_a_round_holds_all_fire() {
    let mut firing = Firing::new();
    for n in 0..5_000 {
        firing.world.put(schedule(&format!("s{n}"), seconds(10))).await;
    }
    let at = START.after(seconds(10));
    firing.world.ground.clock.set(at);
    for _ in 0..3 {
        firing.list().await;
        firing.turner.tick(at).await.unwrap();
    }
    let ready = firing.world.ground.store.queues(None).await.unwrap()[0].counts.ready;
    assert_eq!(ready, 5_000);
}
