//! What a due schedule does: by examples, and against a model for random schedules, downtimes and cuts into looks.

use std::collections::{BTreeMap, BTreeSet};

use super::super::when::{DstGap, Spec, When};
use super::super::words::ClockTimes;
use super::super::{Catchup, Template, create};
use super::*;
use crate::name::{ScheduleName, TenantName, TypeName};
use proptest::prelude::*;

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOUR: Duration = Duration::from_secs(3600);

fn at(text: &str) -> Time {
    Time::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond() as u64)
}

fn start() -> Time {
    at("2026-11-16T00:30:00Z")
}

fn hourly() -> Spec {
    Spec::Cron("0 * * * *".into())
}

/// A schedule in the hands of somebody who looks at it.
struct World {
    view: ScheduleView,
    calendar: Calendar,
    states: BTreeMap<JobId, State>,
    rows: Vec<LedgerRow>,
    jobs: Vec<Job>,
    cancelled: Vec<JobId>,
}

impl World {
    fn new(when: When, change: impl FnOnce(&mut Schedule)) -> World {
        let mut schedule = Schedule {
            tenant: TenantName::default_tenant(),
            name: ScheduleName::parse("report").unwrap(),
            when,
            job: Template::new(TypeName::parse("report").unwrap()),
            catchup: Catchup::default(),
            overlap: Overlap::default(),
            jitter: Duration::ZERO,
            max_runs: None,
            pause_on_failure: false,
            note: None,
        };
        change(&mut schedule);
        let standing = create(&schedule, start()).unwrap_or_else(|bad| panic!("{bad}"));
        let calendar = schedule.compile().unwrap();
        let view = ScheduleView { schedule, standing, version: 1 };
        World { view, calendar, states: BTreeMap::new(), rows: vec![], jobs: vec![], cancelled: vec![] }
    }

    fn look(&self, now: Time, step_max: usize) -> Plan {
        let last_job = self.view.standing.last_job.and_then(|id| self.states.get(&id).copied());
        plan(Look { view: &self.view, calendar: &self.calendar, last_job, now, placement: Placement::ONE, step_max })
    }

    /// Submitted jobs are Blocked behind another or Ready, and stay so until somebody says otherwise.
    fn apply(&mut self, plan: Plan) {
        for job in &plan.jobs {
            let state = if job.depends_on.is_empty() { State::Ready } else { State::Blocked };
            assert_eq!(self.states.insert(job.id, state), None, "a job is made twice");
        }
        for id in &plan.cancel {
            self.states.insert(*id, State::Cancelled);
        }
        self.jobs.extend(plan.jobs);
        self.cancelled.extend(plan.cancel);
        self.rows.extend(plan.rows);
        self.view.standing = plan.then;
    }

    /// Until there is nothing more to do. Answers how many looks it took.
    fn run(&mut self, now: Time, step_max: usize) -> usize {
        for looks in 1..200_000 {
            let plan = self.look(now, step_max);
            let more = plan.more;
            assert!(plan.jobs.len() <= step_max.max(1));
            assert!(!more || plan.then.last > self.view.standing.last, "a look that leaves more to do goes on");
            self.apply(plan);
            if !more {
                return looks;
            }
        }
        panic!("never done");
    }

    /// What became of each occurrence, each found in exactly one row.
    fn fates(&self) -> BTreeMap<Time, &'static str> {
        let mut fates = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.what != What::Skipped(Reason::Dst)) {
            let fate = match row.what {
                What::Fired { .. } => "fired",
                What::Missed => "missed",
                What::Skipped(Reason::Overlap) => "overlap",
                What::Skipped(Reason::Paused) => "paused",
                other => panic!("{other:?}"),
            };
            let mut count = 0;
            let mut after = just_before(row.occurrence);
            while let Some(next) = self.calendar.next(after).filter(|next| next.at <= row.through) {
                assert_eq!(fates.insert(next.at, fate), None, "{next:?} is in two rows");
                (after, count) = (next.at, count + 1);
            }
            assert_eq!((count, after), (row.count, row.through), "{row:?}");
        }
        fates
    }

    fn fated(&self, fate: &str) -> Vec<String> {
        let all = self.fates().into_iter().filter(|(_, what)| *what == fate);
        all.map(|(at, _)| jiff::Timestamp::from_millisecond(at.as_millis() as i64).unwrap().to_string()).collect()
    }
}

fn occurrences(world: &World, after: Time, through: Time) -> Vec<Time> {
    let next = |at: &Time| world.calendar.next(*at).map(|next| next.at);
    std::iter::successors(next(&after), next).take_while(|at| *at <= through).collect()
}

#[test]
fn an_occurrence_fires_once_and_the_next_is_counted_from_it() {
    let mut world = World::new(When::new(vec![hourly()]), |_| {});
    assert_eq!(world.view.standing.wake_at, Some(at("2026-11-16T01:00:00Z")));
    world.run(at("2026-11-16T00:59:59.999Z"), 10);
    assert!(world.jobs.is_empty() && world.rows.is_empty());
    world.run(at("2026-11-16T01:00:00.007Z"), 10);
    let [job] = &world.jobs[..] else { panic!("one job") };
    assert_eq!(job.run_at, at("2026-11-16T01:00:00Z"));
    assert_eq!(job.id, occurrence_id(&world.view.schedule.reference(), Placement::ONE, start(), job.run_at));
    assert_eq!(job.origin.as_ref().unwrap().occurrence, job.run_at);
    assert_eq!(
        world.rows,
        [LedgerRow::one(job.run_at, at("2026-11-16T01:00:00.007Z"), What::Fired { job: job.id, late_ms: 7 })]
    );
    let standing = &world.view.standing;
    assert_eq!((standing.last, standing.runs, standing.last_job), (job.run_at, 1, Some(job.id)));
    assert_eq!(standing.wake_at, Some(at("2026-11-16T02:00:00Z")));
    // A clock that steps back fires nothing again.
    world.run(at("2026-11-16T00:10:00Z"), 10);
    assert_eq!(world.jobs.len(), 1);
}

#[test]
fn late_occurrences_are_caught_up_as_the_schedule_says() {
    let check = |mode: CatchupMode, window: Duration, max: u32, fired: &[&str], missed: usize| {
        let mut world =
            World::new(When::new(vec![hourly()]), |schedule| schedule.catchup = Catchup { mode, window, max });
        world.run(at("2026-11-16T10:00:30Z"), 3);
        assert_eq!(world.fated("fired"), fired, "{mode:?}");
        assert_eq!(world.fated("missed").len(), missed, "{mode:?}");
    };
    let (nine, ten) = ("2026-11-16T09:00:00Z", "2026-11-16T10:00:00Z");
    check(CatchupMode::None, DAY, 100, &[ten], 9);
    check(CatchupMode::Latest, DAY, 100, &[nine, ten], 8);
    check(CatchupMode::Latest, HOUR / 2, 100, &[ten], 9);
    check(CatchupMode::All, DAY, 2, &["2026-11-16T08:00:00Z", nine, ten], 7);
    check(CatchupMode::All, 2 * HOUR + Duration::from_secs(30), 100, &["2026-11-16T08:00:00Z", nine, ten], 7);
    check(CatchupMode::All, 2 * HOUR, 100, &[nine, ten], 8);
}

#[test]
fn a_late_job_is_due_now_and_not_before_all_that_waited() {
    let mut world = World::new(When::new(vec![hourly()]), |schedule| schedule.job.deadline = Some(HOUR));
    let now = at("2026-11-16T01:30:00Z");
    world.run(now, 3);
    assert_eq!((world.jobs[0].run_at, world.jobs[0].deadline), (now, Some(now.after(HOUR))));
}

#[test]
fn ninety_days_down_are_counted_in_bounded_looks() {
    let now = start().after(90 * DAY);
    let second = || Spec::Every { every: Duration::from_secs(1), anchor: None };
    let mut world = World::new(When::new(vec![second()]), |_| {});
    assert!(world.run(now, 1_000) <= 3);
    let missed: u64 = world.rows.iter().filter(|row| row.what == What::Missed).map(|row| row.count).sum();
    assert_eq!(missed + world.view.standing.runs, 90 * 86_400);
    // On time for the last minute, and the latest before it.
    assert_eq!(world.view.standing.runs, 60 + 1 + 1);
    let mut minutely = World::new(When::new(vec![Spec::Cron("* * * * *".into())]), |_| {});
    assert!(minutely.run(now, 1_000) <= 10);
    assert_eq!(minutely.fates().len(), 90 * 1440);
}

#[test]
fn a_pause_skips_and_resumes_by_itself() {
    let mut world = World::new(When::new(vec![hourly()]), |_| {});
    let until = at("2026-11-16T05:00:00Z");
    world.view.standing.pause =
        Some(Pause { note: "".into(), since: start(), until: Some(until), by: PausedBy::Person });
    world.run(at("2026-11-16T04:00:00Z"), 2);
    assert!(world.rows.is_empty());
    assert_eq!(world.view.standing.wake_at, Some(until));
    world.run(until, 2);
    assert_eq!(world.fated("paused").len(), 4);
    assert_eq!(world.fated("fired"), ["2026-11-16T05:00:00Z"]);
    assert_eq!((world.rows.len(), world.view.standing.pause.clone()), (2, None));
    // Never caught up, and what came after the pause while nobody looked is.
    let mut late = World::new(When::new(vec![hourly()]), |_| {});
    late.view.standing.pause =
        Some(Pause { note: "".into(), since: start(), until: Some(until), by: PausedBy::Person });
    late.run(at("2026-11-16T08:30:00Z"), 2);
    assert_eq!((late.fated("paused").len(), late.fated("missed").len()), (4, 3));
    assert_eq!(late.fated("fired"), ["2026-11-16T08:00:00Z"]);
}

#[test]
fn an_overlap_is_allowed_skipped_queued_or_cancels() {
    let check = |overlap: Overlap, last: State, fired: usize, blocked: usize, cancelled: usize| {
        let mut world = World::new(When::new(vec![hourly()]), |schedule| schedule.overlap = overlap);
        world.run(at("2026-11-16T01:00:00Z"), 10);
        let first = world.jobs[0].id;
        world.states.insert(first, last);
        world.run(at("2026-11-16T02:00:00Z"), 10);
        world.run(at("2026-11-16T03:00:00Z"), 10);
        let parents: Vec<JobId> =
            world.jobs.iter().flat_map(|job| &job.depends_on).map(|parent| parent.parent).collect();
        assert_eq!(
            (world.jobs.len(), parents.len(), world.cancelled.len()),
            (fired, blocked, cancelled),
            "{overlap:?} {last:?}"
        );
        assert_eq!(world.fates().len(), 3);
        let edges = world.jobs.iter().flat_map(|job| &job.depends_on);
        assert!(edges.into_iter().all(|edge| edge.on_failure == OnFailure::Run));
    };
    check(Overlap::Allow, State::Running, 3, 0, 0);
    check(Overlap::Skip, State::Running, 1, 0, 0);
    check(Overlap::Skip, State::Succeeded, 2, 0, 0);
    check(Overlap::QueueOne, State::Running, 2, 1, 0);
    check(Overlap::QueueOne, State::Dead, 3, 1, 0);
    check(Overlap::CancelPrevious, State::Running, 3, 0, 2);
    check(Overlap::CancelPrevious, State::Cancelled, 3, 0, 1);
}

#[test]
fn a_dead_job_pauses_a_schedule_that_asked_for_it_and_not_again_when_resumed() {
    let mut world = World::new(When::new(vec![hourly()]), |schedule| schedule.pause_on_failure = true);
    world.run(at("2026-11-16T01:00:00Z"), 10);
    let dead = world.jobs[0].id;
    world.states.insert(dead, State::Dead);
    world.run(at("2026-11-16T02:00:00Z"), 10);
    let pause = world.view.standing.pause.clone().expect("is paused");
    assert_eq!((pause.by, pause.until, world.view.standing.wake_at), (PausedBy::Failure(dead), None, None));
    assert_eq!(world.fated("paused"), ["2026-11-16T02:00:00Z"]);
    world.view.standing.pause = Some(Pause { until: Some(at("2026-11-16T02:30:00Z")), ..pause });
    world.run(at("2026-11-16T03:00:00Z"), 10);
    assert_eq!((world.jobs.len(), world.view.standing.pause.clone()), (2, None));
}

#[test]
fn a_schedule_is_over_after_its_last_run() {
    let mut world = World::new(When::new(vec![hourly()]), |schedule| schedule.max_runs = Some(2));
    for hour in 1..6 {
        world.run(start().after(HOUR * hour), 10);
    }
    assert_eq!((world.jobs.len(), world.rows.len()), (2, 2));
    assert_eq!((world.view.standing.next, world.view.standing.wake_at), (None, None));
    let ends = When { end_at: Some(at("2026-11-16T02:00:00Z")), ..When::new(vec![hourly()]) };
    let mut world = World::new(ends, |_| {});
    world.run(at("2026-11-16T02:00:10Z"), 10);
    assert_eq!((world.fates().len(), world.view.standing.wake_at), (2, None));
}

#[test]
fn jitter_delays_the_job_and_not_the_schedule() {
    let mut world = World::new(When::new(vec![hourly()]), |schedule| schedule.jitter = HOUR / 2);
    world.run(at("2026-11-16T01:00:00Z"), 10);
    let job = &world.jobs[0];
    let delay = job.run_at.since(at("2026-11-16T01:00:00Z"));
    assert!(delay > Duration::ZERO && delay <= HOUR / 2);
    assert_eq!(world.view.standing.next, Some(at("2026-11-16T02:00:00Z")));
}

#[test]
fn what_a_gap_swallowed_has_a_row() {
    let when = When {
        zone: "Europe/Berlin".into(),
        dst_gap: DstGap::Skip,
        ..When::new(vec![Spec::Daily { at: ClockTimes::parse("02:30").unwrap() }])
    };
    let mut world = World::new(when, |_| {});
    for day in 0..140 {
        world.run(at("2026-11-16T01:30:00Z").after(DAY * day), 10);
    }
    let dst: Vec<&LedgerRow> = world.rows.iter().filter(|row| row.what == What::Skipped(Reason::Dst)).collect();
    assert_eq!(dst.len(), 1);
    assert_eq!((dst[0].occurrence, dst[0].count), (at("2027-03-28T01:30:00Z"), 1));
}

fn any_spec() -> impl Strategy<Value = Spec> {
    prop_oneof![
        (60u64..20_000).prop_map(|seconds| Spec::Every { every: Duration::from_secs(seconds), anchor: None }),
        Just(Spec::Cron("*/7 * * * *".into())),
        Just(Spec::Cron("17 3,9 * * MON-FRI".into())),
        Just(Spec::Daily { at: ClockTimes::parse("02:30,14:00").unwrap() }),
        Just(Spec::Rrule("FREQ=HOURLY;INTERVAL=5".into())),
    ]
}

prop_compose! {
    fn any_world()(
        specs in prop::collection::vec(any_spec(), 1..3), gap in any::<bool>(),
        mode in prop_oneof![Just(CatchupMode::None), Just(CatchupMode::Latest), Just(CatchupMode::All)],
        window in 0u64..400_000, max in 1u32..40,
        overlap in prop_oneof![Just(Overlap::Allow), Just(Overlap::Skip), Just(Overlap::QueueOne), Just(Overlap::CancelPrevious)],
        max_runs in prop::option::weighted(0.2, 1u64..30),
    ) -> (When, Catchup, Overlap, Option<u64>) {
        let dst_gap = if gap { DstGap::Shift } else { DstGap::Skip };
        let when = When { zone: "Europe/Berlin".into(), dst_gap, ..When::new(specs) };
        (when, Catchup { mode, window: Duration::from_secs(window), max }, overlap, max_runs)
    }
}

fn world_of((when, catchup, overlap, max_runs): (When, Catchup, Overlap, Option<u64>)) -> World {
    World::new(when, |schedule| {
        (schedule.catchup, schedule.overlap, schedule.max_runs) = (catchup, overlap, max_runs);
    })
}

/// The fate of each occurrence in `(last, now]` as the words of `catchup` and `overlap` say, all seen at once.
fn model(world: &World, now: Time) -> BTreeMap<Time, &'static str> {
    let schedule = &world.view.schedule;
    let all = occurrences(world, world.view.standing.last, now);
    let is_late = |at: &Time| now.since(*at) > LATE_GRACE;
    let late: Vec<Time> = all.iter().copied().filter(is_late).collect();
    let in_window: Vec<Time> = late.iter().copied().filter(|at| now.since(*at) <= schedule.catchup.window).collect();
    let newest = match schedule.catchup.mode {
        CatchupMode::None => 0,
        CatchupMode::Latest => 1,
        CatchupMode::All => schedule.catchup.max as usize,
    };
    let brought_back: BTreeSet<Time> = in_window.iter().rev().take(newest).copied().collect();
    let mut fates = BTreeMap::new();
    let (mut unfinished, mut runs) = (0, 0);
    for at in all {
        if schedule.max_runs.is_some_and(|max| runs >= max) {
            break;
        }
        let fate = match (is_late(&at) && !brought_back.contains(&at), schedule.overlap) {
            (true, _) => "missed",
            (_, Overlap::Skip) if unfinished > 0 => "overlap",
            (_, Overlap::QueueOne) if unfinished > 1 => "overlap",
            _ => "fired",
        };
        if fate == "fired" {
            unfinished += 1;
            runs += 1;
        }
        fates.insert(at, fate);
    }
    fates
}

proptest! {
    #[test]
    fn every_occurrence_has_the_fate_that_was_promised_however_the_work_is_cut(
        words in any_world(), down in 0u64..500_000_000, step_max in 1usize..50,
    ) {
        let now = start().after(Duration::from_millis(down));
        let mut world = world_of(words.clone());
        let expected = model(&world, now);
        world.run(now, step_max);
        prop_assert_eq!(world.fates(), expected);
        let fired = world.rows.iter().filter(|row| matches!(row.what, What::Fired { .. })).count();
        prop_assert_eq!(world.jobs.len(), fired);
        let mut whole = world_of(words);
        whole.run(now, 1_000_000);
        prop_assert_eq!(&whole.view.standing, &world.view.standing);
        prop_assert_eq!(whole.jobs, world.jobs);
        prop_assert_eq!(whole.cancelled, world.cancelled);
    }

    #[test]
    fn over_any_looks_at_any_times_each_occurrence_is_decided_exactly_once(
        words in any_world(), looks in prop::collection::vec((0i64..90_000_000, 1usize..6, any::<bool>()), 1..25),
        lost in prop::collection::vec(any::<bool>(), 25),
    ) {
        let mut world = world_of(words);
        let mut now = start();
        for ((ahead, step_max, ends), lost) in looks.into_iter().zip(lost) {
            // A clock may also step back, by up to three hours.
            let ms = (now.as_millis() as i64 + ahead - 10_000_000).max(0);
            now = Time::from_millis(ms as u64);
            if ends {
                world.states.values_mut().for_each(|state| *state = State::Succeeded);
            }
            let plan = world.look(now, step_max);
            if lost {
                // A crash between submit and compare-and-set: whoever looks again at the same instant makes the same jobs.
                prop_assert_eq!(&plan, &world.look(now, step_max));
            }
            let (before, last) = (world.view.standing.last, plan.then.last);
            prop_assert!(last >= before && (last == before || last <= now));
            world.apply(plan);
            let standing = &world.view.standing;
            let over = world.view.schedule.max_runs.is_some_and(|max| standing.runs >= max);
            let next = world.calendar.next(standing.last).map(|next| next.at).filter(|_| !over);
            prop_assert_eq!((standing.next, standing.wake_at), (next, next));
        }
        let last = world.view.standing.last;
        let decided: Vec<Time> = world.fates().into_keys().collect();
        prop_assert_eq!(decided, occurrences(&world, start(), last));
        let ids: BTreeSet<JobId> = world.jobs.iter().map(|job| job.id).collect();
        prop_assert_eq!(ids.len(), world.jobs.len());
    }
}
