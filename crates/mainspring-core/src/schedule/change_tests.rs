//! What people do to a schedule, by examples.

use super::super::when::{Exclusion, Spec, When};
use super::super::{Catchup, CatchupMode, Overlap, Template};
use super::*;
use crate::name::{ScheduleName, TenantName, TypeName};
use crate::segment::Segment;

fn at(text: &str) -> Time {
    Time::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond() as u64)
}

fn start() -> Time {
    at("2026-11-16T00:30:00Z")
}

fn schedule(cron: &str) -> Schedule {
    Schedule {
        tenant: TenantName::default_tenant(),
        name: ScheduleName::parse("report").unwrap(),
        when: When::new(vec![Spec::Cron(cron.into())]),
        job: Template::new(TypeName::parse("report").unwrap()),
        catchup: Catchup::default(),
        overlap: Overlap::default(),
        jitter: Duration::ZERO,
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

fn view(schedule: Schedule) -> ScheduleView {
    let standing = create(&schedule, start()).unwrap();
    ScheduleView { schedule, standing, version: 1 }
}

fn look<'a>(view: &'a ScheduleView, calendar: &'a Calendar, now: Time) -> Look<'a> {
    Look { view, calendar, last_job: None, now, placement: Placement::ONE, step_max: 10 }
}

fn id() -> JobId {
    JobId::mint(start(), 7, Segment::wrap(3), 7)
}

#[test]
fn a_schedule_that_would_never_fire_is_refused() {
    let refused = |schedule: Schedule| create(&schedule, start()).unwrap_err().to_string();
    let never =
        "when: no occurrence lies ahead; look at the days that the specs name, the exclusions, end_at and max_runs";
    let names = "this never happens; look at the days and months that it names";
    assert_eq!(refused(schedule("0 0 30 2 *")), format!("when.specs[0]: {names}"));
    let mut excluded = schedule("* * * * *");
    excluded.when.exclude = vec![Exclusion::Rrule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30".into())];
    assert_eq!(refused(excluded), format!("when.exclude[0].rrule: {names}"));
    let mut ended = schedule("* * * * *");
    ended.when.end_at = Some(start());
    assert_eq!(refused(ended), never);
}

#[test]
fn what_is_out_of_bounds_names_its_field() {
    let check = |change: fn(&mut Schedule), expected: &str| {
        let mut schedule = schedule("* * * * *");
        change(&mut schedule);
        let bad = create(&schedule, start()).unwrap_err().to_string();
        assert!(bad.starts_with(expected), "{bad}");
    };
    check(|s| s.jitter = limits::JITTER_MAX + Duration::from_secs(1), "jitter: 86401s is too long; 86400s are allowed");
    check(|s| s.catchup.window = limits::CATCHUP_WINDOW_MAX * 2, "catchup.window: ");
    check(|s| s.catchup.max = 0, "catchup.max: 0 is not a maximum; 1–10000 are allowed");
    check(|s| s.catchup.max = limits::CATCHUP_RUNS_MAX + 1, "catchup.max: 10001 is not a maximum");
    check(|s| s.max_runs = Some(0), "max_runs: 0 runs are none");
    check(|s| s.note = Some("x".repeat(limits::NOTE_BYTES_MAX + 1)), "note: the note has 1025 bytes; 1024 are allowed");
    check(
        |s| s.job.tags = vec![crate::name::Tag::parse("x").unwrap(); limits::TAGS_MAX + 1],
        "job.tags: there are 21 of tags",
    );
    check(
        |s| s.job.data = crate::job::Json("1".repeat(limits::DATA_BYTES_MAX + 1).into()),
        "job.data: the data has 262145 bytes",
    );
}

#[test]
fn other_words_keep_what_was_done_and_do_nothing_twice() {
    let mut view = view(schedule("0 * * * *"));
    view.standing.runs = 5;
    view.standing.last = at("2026-11-16T01:00:00Z");
    let now = at("2026-11-16T03:10:00Z");
    let plan = replace(&view, &schedule("*/15 * * * *"), now).unwrap();
    assert_eq!((plan.then.revision, plan.then.runs, plan.then.created_at), (2, 5, start()));
    assert_eq!(
        (plan.then.next, plan.then.wake_at),
        (Some(at("2026-11-16T03:15:00Z")), Some(at("2026-11-16T03:15:00Z")))
    );
    // What the old words left undecided is not lost without a word.
    let [row] = &plan.rows[..] else { panic!("one row") };
    assert_eq!((row.occurrence, row.through, row.count), (at("2026-11-16T02:00:00Z"), at("2026-11-16T03:00:00Z"), 2));
    assert_eq!(row.what, What::Missed);
    assert!(replace(&view, &schedule("0 0 30 2 *"), now).is_err());
    // A clock that stepped back does not bring back what is decided.
    let back = replace(&view, &schedule("*/15 * * * *"), start()).unwrap();
    assert_eq!((back.then.next, back.rows.len()), (Some(at("2026-11-16T01:15:00Z")), 0));
}

#[test]
fn a_paused_schedule_is_looked_at_when_its_pause_ends() {
    let mut view = view(schedule("0 * * * *"));
    let calendar = view.schedule.compile().unwrap();
    let until = at("2026-11-17T00:00:00Z");
    let ask = PauseAsk { note: "moving".into(), until: Some(until) };
    view.standing = pause(&view, &calendar, ask, start()).unwrap().then;
    let paused = view.standing.pause.clone().unwrap();
    assert_eq!((paused.note.as_str(), paused.since, paused.by), ("moving", start(), PausedBy::Person));
    assert_eq!((view.standing.wake_at, view.standing.next), (Some(until), Some(at("2026-11-16T01:00:00Z"))));
    assert_eq!(view.standing.revision, 1);
    // Another note does not begin another pause.
    let later = at("2026-11-16T05:00:00Z");
    view.standing = pause(&view, &calendar, PauseAsk::default(), later).unwrap().then;
    assert_eq!((view.standing.pause.clone().unwrap().since, view.standing.wake_at), (start(), None));
    let late = PauseAsk { note: String::new(), until: Some(later) };
    let bad = pause(&view, &calendar, late, later).unwrap_err().to_string();
    assert_eq!(bad, "until: the pause would be over already; write a time that lies ahead");
    let long = PauseAsk { note: "x".repeat(limits::NOTE_BYTES_MAX + 1), until: None };
    assert!(pause(&view, &calendar, long, later).is_err());
}

#[test]
fn resuming_skips_what_fell_into_the_pause() {
    let mut view = view(schedule("0 * * * *"));
    view.schedule.catchup.mode = CatchupMode::All;
    let calendar = view.schedule.compile().unwrap();
    view.standing = pause(&view, &calendar, PauseAsk::default(), start()).unwrap().then;
    let now = at("2026-11-16T05:30:00Z");
    let plan = resume(look(&view, &calendar, now));
    let [row] = &plan.rows[..] else { panic!("one row") };
    assert_eq!((row.count, row.what), (5, What::Skipped(Reason::Paused)));
    assert_eq!((plan.jobs.len(), plan.then.pause.clone()), (0, None));
    assert_eq!(plan.then.wake_at, Some(at("2026-11-16T06:00:00Z")));
    // Who is not paused is left alone.
    view.standing = plan.then;
    let again = resume(look(&view, &calendar, now));
    assert_eq!((again.rows.len(), again.then), (0, view.standing.clone()));
}

#[test]
fn too_long_a_pause_is_counted_in_several_looks() {
    let mut view = view(schedule("* * * * * *"));
    let calendar = view.schedule.compile().unwrap();
    view.standing = pause(&view, &calendar, PauseAsk::default(), start()).unwrap().then;
    let now = start().after(Duration::from_secs(1_000));
    let mut step = resume(look(&view, &calendar, now));
    let mut counted = 0;
    while step.more {
        counted +=
            step.rows.iter().filter(|row| row.what == What::Skipped(Reason::Paused)).map(|row| row.count).sum::<u64>();
        view.standing = step.then;
        step = plan(look(&view, &calendar, now));
    }
    counted +=
        step.rows.iter().filter(|row| row.what == What::Skipped(Reason::Paused)).map(|row| row.count).sum::<u64>();
    assert_eq!((counted, step.then.pause), (999, None), "the one at the end of the pause fires");
}

#[test]
fn a_trigger_is_beside_the_occurrences() {
    let view = view(schedule("0 * * * *"));
    let plan = trigger(&view, id(), start());
    assert_eq!(plan.then, view.standing);
    assert_eq!((plan.jobs[0].id, plan.jobs[0].run_at), (id(), start()));
    assert_eq!(plan.rows, [LedgerRow::one(start(), start(), What::Triggered { job: id() })]);
}

#[test]
fn a_back_fill_makes_the_jobs_of_a_past_range_under_their_own_ids() {
    let mut view = view(schedule("0 * * * *"));
    let calendar = view.schedule.compile().unwrap();
    view.standing.last = at("2026-11-16T05:00:00Z");
    let now = at("2026-11-16T05:10:00Z");
    let ask = Backfill {
        from: at("2026-11-15T23:00:00Z"),
        to: at("2026-11-16T20:00:00Z"),
        max: 100,
        placement: Placement::ONE,
    };
    let plan = backfill(&view, &calendar, ask, now);
    assert_eq!(
        (plan.jobs.len(), plan.rows.len(), plan.more),
        (7, 7, false),
        "23:00 is in it, 06:00 is not decided yet"
    );
    assert!(plan.jobs.iter().all(|job| job.run_at == now));
    let nominal = plan.jobs[0].origin.as_ref().unwrap().occurrence;
    assert_eq!(nominal, at("2026-11-15T23:00:00Z"));
    assert_eq!(plan.jobs[0].id, occurrence_id(&view.schedule.reference(), Placement::ONE, start(), nominal));
    assert_eq!(plan.rows[0].what, What::Backfilled { job: plan.jobs[0].id });
    assert_eq!(plan.then, view.standing);
    let part = backfill(&view, &calendar, Backfill { max: 3, ..ask }, now);
    assert_eq!((part.jobs.len(), part.more), (3, true));
    let rest = Backfill { from: part.rows[2].through.after(Duration::from_millis(1)), ..ask };
    assert_eq!(backfill(&view, &calendar, rest, now).jobs, plan.jobs[3..]);
}

#[test]
fn a_preview_and_a_back_fill_are_bounded() {
    let mut view = view(schedule("* * * * * *"));
    let calendar = view.schedule.compile().unwrap();
    assert_eq!(preview(&calendar, start(), 5).len(), 5);
    assert_eq!(preview(&calendar, start(), usize::MAX).len(), limits::PREVIEW_MAX);
    view.standing.last = start().after(Duration::from_secs(20_000));
    let ask = Backfill { from: start(), to: Time::MAX, max: usize::MAX, placement: Placement::ONE };
    let plan = backfill(&view, &calendar, ask, view.standing.last);
    assert_eq!((plan.jobs.len(), plan.more), (limits::BACKFILL_MAX, true));
}
