//! What a store promises to a schedule: that it moves in whole steps, and is listed when its time has come.

use std::time::Duration;

use mainspring_core::job::{Job, Keys};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{LimitKey, Tag};
use mainspring_core::retry::RetryPolicy;
use mainspring_core::schedule::*;
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::*;

use super::stage::*;

pub async fn nothing_accepted_is_lost_a_turn_is_there_as_a_whole_after_a_reopen(stage: Stage) {
    let turn = Turn { jobs: vec![fired("hourly", 1, 100)], rows: vec![row(100), row(200)], ..put("hourly", None) };
    let answers = stage.turn(at(0), vec![turn.clone()]).await;
    let version = done(&answers[0]);
    assert_eq!(answers, [Turned::Done { version, jobs: vec![accepted(State::Ready, 0)] }]);
    let stage = stage.reopen().await;
    let view = stage.schedule("hourly").await.expect("it was put");
    assert_eq!((view.schedule, view.standing, view.version), (rule("hourly"), standing(1000), version));
    assert_eq!(stage.view(id(1)).await.job, turn.jobs[0]);
    assert_eq!(stage.ledger("hourly", 10).await, [row(200), row(100)]);
}

pub async fn a_turn_of_what_has_changed_is_lost_and_changes_nothing(stage: Stage) {
    let first = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    let second = done(&stage.turn(at(0), vec![moved("a", Some(first), 2000)]).await[0]);
    for (expect, to) in [(None, put("a", None).to), (Some(first), To::Gone), (Some(second + 1), moved("a", None, 1).to)]
    {
        let turn = Turn { to, jobs: vec![job(1)], rows: vec![row(1)], ..put("a", expect) };
        assert_eq!(stage.turn(at(1), vec![turn]).await, [Turned::Lost { version: Some(second) }]);
    }
    let stage = stage.reopen().await;
    let view = stage.schedule("a").await.expect("it is here");
    assert_eq!((view.version, view.standing), (second, standing(2000)));
    assert_eq!((stage.look(id(1)).await, stage.ledger("a", 10).await), (None, vec![]));
}

pub async fn what_is_not_there_can_only_be_put(stage: Stage) {
    for expect in [None, Some(1)] {
        for to in [To::Gone, To::Move(standing(1))] {
            let turn = Turn { to, jobs: vec![job(1)], rows: vec![row(1)], ..put("a", expect) };
            assert_eq!(stage.turn(at(0), vec![turn]).await, [Turned::Lost { version: None }]);
        }
    }
    assert_eq!(stage.turn(at(0), vec![put("a", Some(1))]).await, [Turned::Lost { version: None }]);
    assert_eq!((stage.schedule("a").await, stage.look(id(1)).await), (None, None));
    done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
}

pub async fn a_schedule_that_is_gone_leaves_its_jobs_and_its_ledger(stage: Stage) {
    let version =
        done(&stage.turn(at(0), vec![Turn { jobs: vec![job(1)], rows: vec![row(1)], ..put("a", None) }]).await[0]);
    let last = Turn { to: To::Gone, rows: vec![row(2)], ..put("a", Some(version)) };
    done(&stage.turn(at(1), vec![last]).await[0]);
    let stage = stage.reopen().await;
    assert_eq!(stage.schedule("a").await, None);
    assert_eq!(stage.ledger("a", 10).await, [row(2), row(1)]);
    assert_eq!(stage.state(id(1)).await, State::Ready);
    assert_eq!(stage.due(at(9999), 10).await, (vec![], false));
}

pub async fn a_version_is_never_used_twice(stage: Stage) {
    let first = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    let answers = stage.turn(at(0), vec![put("b", None), moved("a", Some(first), 5)]).await;
    let (other, second) = (done(&answers[0]), done(&answers[1]));
    let gone = done(&stage.turn(at(0), vec![Turn { to: To::Gone, ..put("a", Some(second)) }]).await[0]);
    let stage = stage.reopen().await;
    let again = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    assert!([first, other, second, gone, again].is_sorted_by(|one, next| one < next));
}

pub async fn a_job_that_is_refused_undoes_its_whole_turn(stage: Stage) {
    stage.command_queue(at(0), "full", QueueCommand::SetMaxDepth(Some(0))).await;
    stage.accept(at(0), vec![Job { idempotency: Some(keyed("other words", 1, 1000)), ..job(50) }]).await;
    let version = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    let table = [
        (Job { queue: queue("full"), ..job(2) }, Submitted::QueueFull { max_depth: 0 }),
        (Job { idempotency: Some(keyed("other words", 2, 1000)), ..job(2) }, Submitted::Mismatch { id: id(50) }),
        (child(2, &[77]), Submitted::UnknownParent { parent: id(77) }),
    ];
    for (bad, answer) in table {
        let first = Job { idempotency: Some(keyed("of the first", 1, 1000)), ..job(1) };
        let turn = Turn { jobs: vec![first, bad, job(3)], rows: vec![row(1)], ..moved("a", Some(version), 5000) };
        let answers = stage.turn(at(1), vec![turn, Turn { jobs: vec![job(60)], ..put("z", None) }]).await;
        assert_eq!(answers[0], Turned::Refused { at: 1, answer });
        let other = done(&answers[1]);
        stage.turn(at(1), vec![Turn { to: To::Gone, ..put("z", Some(other)) }]).await;
        assert_eq!(stage.look(id(1)).await, None);
    }
    let stage = stage.reopen().await;
    let view = stage.schedule("a").await.expect("it is here");
    assert_eq!((view.version, view.standing), (version, standing(1000)));
    assert_eq!(stage.ledger("a", 10).await, []);
    assert_eq!(stage.find(Filter::default(), 10).await, [60, 50].map(id));
    stage.accept(at(2), vec![Job { idempotency: Some(keyed("of the first", 2, 1000)), ..job(4) }]).await;
}

pub async fn firing_twice_makes_one_job(stage: Stage) {
    let version = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    let said = Job { idempotency: Some(keyed("once", 1, 1000)), ..fired("a", 1, 1000) };
    stage.accept(at(1), vec![said.clone()]).await;
    let again = Job { id: id(2), ..said.clone() };
    let turn = Turn { jobs: vec![said, again], rows: vec![row(1000)], ..moved("a", Some(version), 2000) };
    let answers = stage.turn(at(1), vec![turn]).await;
    let Turned::Done { jobs, .. } = &answers[0] else { panic!("{answers:?}") };
    assert_eq!(*jobs, [accepted(State::Ready, 0), Submitted::Duplicate { id: id(1) }]);
    assert_eq!(stage.find(Filter::default(), 10).await, [id(1)]);
    assert_eq!(stage.ledger("a", 10).await, [row(1000)]);
}

pub async fn an_id_may_lie_in_the_past_or_in_the_future(stage: Stage) {
    stage.accept(at(0), vec![job(500)]).await;
    let turn = Turn { jobs: vec![job(900), job(2), job(700)], ..put("a", None) };
    done(&stage.turn(at(0), vec![turn]).await[0]);
    stage.accept(at(0), vec![job(600), job(1)]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.find(Filter::default(), 2).await, [900, 700, 600, 500, 2, 1].map(id));
    assert_eq!(
        stage.submit(at(1), vec![job(2), job(900)]).await,
        [accepted(State::Ready, 0), accepted(State::Ready, 0)]
    );
    assert_eq!(stage.queue("mail").await.counts.ready, 6);
}

pub async fn turns_happen_in_the_order_of_the_call(stage: Stage) {
    let with = |turn: Turn, job: Job| Turn { jobs: vec![job], ..turn };
    let turns = vec![
        with(put("a", None), job(1)),
        with(put("a", None), job(9)),
        with(put("b", None), child(2, &[1])),
        with(put("c", None), child(3, &[9])),
    ];
    let answers = stage.turn(at(0), turns).await;
    let version = done(&answers[0]);
    assert_eq!(answers[1], Turned::Lost { version: Some(version) });
    assert!(matches!(&answers[2], Turned::Done { jobs, .. } if *jobs == [accepted(State::Blocked, 0)]), "{answers:?}");
    assert_eq!(answers[3], Turned::Refused { at: 0, answer: Submitted::UnknownParent { parent: id(9) } });
    assert_eq!(stage.names(10).await, ["a", "b"]);
    assert!(stage.turn(at(0), Vec::new()).await.is_empty());
}

pub async fn a_schedule_is_listed_from_its_instant_on_until_it_is_turned(stage: Stage) {
    let version = done(&stage.turn(at(0), vec![put("a", None)]).await[0]);
    assert_eq!(stage.due(at(999), 10).await, (vec![], false));
    for _ in 0..2 {
        let promoted = stage.store.promote(at(1000), listing(10)).await.expect("promote");
        assert_eq!(promoted.due, [stage.schedule("a").await.expect("it is here")]);
        assert_eq!(promoted, Promoted { due: promoted.due.clone(), ..Promoted::default() });
    }
    let stage = stage.reopen().await;
    let version = done(&stage.turn(at(1000), vec![moved("a", Some(version), 2000)]).await[0]);
    assert_eq!(stage.due(at(1999), 10).await, (vec![], false));
    assert_eq!(stage.due(at(2000), 10).await, (vec!["a".to_owned()], false));
    let asleep = Standing { wake_at: None, ..standing(0) };
    done(&stage.turn(at(2000), vec![Turn { to: To::Move(asleep), ..put("a", Some(version)) }]).await[0]);
    assert_eq!(stage.due(at(1 << 40), 10).await, (vec![], false));
}

pub async fn order_is_fair_the_longest_overdue_schedule_is_listed_first(stage: Stage) {
    let theirs = ScheduleRef { tenant: tenant("a-first"), ..schedule("z") };
    let mut turns: Vec<_> =
        [("c", 3000), ("b", 1000), ("a", 2000), ("d", 1000)].map(|(name, ms)| waking(name, ms)).into();
    let Turn { to, .. } = waking("z", 1000);
    turns.push(Turn { schedule: theirs.clone(), ..Turn { to, ..put("z", None) } });
    stage.turn(at(0), turns).await;
    // Those of one instant go by their places, whoever owns them.
    let mut first = [theirs, schedule("b"), schedule("d")];
    first.sort_by_key(place_of);
    let first = first.iter().map(|schedule| schedule.name.to_string());
    let listed: Vec<String> = first.chain(["a", "c"].map(str::to_owned)).collect();
    for limit in 1..=6 {
        let expected = (listed[..limit.min(5)].to_vec(), limit < 5);
        assert_eq!(stage.due(at(3000), limit).await, expected, "limit {limit}");
    }
    assert_eq!(stage.due(at(3000), 0).await, (vec![], false), "who asks for none is not told of more");
    assert_eq!(stage.due(at(2000), 4).await, (listed[..4].to_vec(), false));
}

pub async fn limits_are_named_every_due_schedule_is_found_in_small_steps(stage: Stage) {
    let names: Vec<String> = (0..25).map(|number| format!("s{number}")).collect();
    stage.turn(at(0), names.iter().map(|name| waking(name, 1000)).collect()).await;
    let mut found = 0;
    for _ in 0..100 {
        let promoted = stage.store.promote(at(1000), listing(4)).await.expect("promote");
        found += promoted.due.len();
        let on = |view: &ScheduleView| moved(view.schedule.name.as_str(), Some(view.version), 2000);
        stage.turn(at(1000), promoted.due.iter().map(on).collect()).await;
        if !promoted.more {
            assert_eq!(found, 25);
            return;
        }
    }
    panic!("promote says that there is more for ever");
}

pub async fn a_failure_stays_where_it_is_schedules_of_other_segments_are_left_alone(stage: Stage) {
    stage.turn(at(0), vec![waking("a", 1000)]).await;
    let here = stage.segment_of("a");
    let elsewhere: Segments = Segment::all().filter(|segment| *segment != here).collect();
    let ask = Promote { look_ahead_until: at(5000), look_ahead_limit: 9, ..listing(9) };
    for (segments, listed) in [(elsewhere, 0), ([here].into_iter().collect(), 1)] {
        let promoted = stage.store.promote(at(1000), Promote { segments, ..ask.clone() }).await.expect("promote");
        assert_eq!(promoted.due.len(), listed);
        let promoted = stage.store.promote(at(500), Promote { segments, ..ask.clone() }).await.expect("promote");
        assert_eq!(promoted.upcoming.len(), listed);
    }
}

pub async fn the_next_instants_are_those_of_jobs_and_schedules_together(stage: Stage) {
    let turns = vec![waking("a", 1000), waking("b", 3000), waking("c", 3000), waking("d", 100), waking("e", 9000)];
    stage.turn(at(0), turns).await;
    let due = |number, ms| Job { run_at: at(ms), ..job(number) };
    stage.accept(at(0), vec![due(1, 2000), due(2, 3000), due(3, 4000)]).await;
    let ask = Promote { look_ahead_until: at(5000), look_ahead_limit: 9, ..listing(9) };
    let promoted = stage.store.promote(at(500), ask.clone()).await.expect("promote");
    assert_eq!(promoted.upcoming, [1000, 2000, 3000, 4000].map(at));
    let promoted = stage.store.promote(at(500), Promote { look_ahead_limit: 2, ..ask }).await.expect("promote");
    assert_eq!(promoted.upcoming, [1000, 2000].map(at));
}

pub async fn schedules_are_listed_by_name_and_miss_none(stage: Stage) {
    let theirs = Turn { schedule: ScheduleRef { tenant: tenant("other"), ..schedule("m") }, ..put("m", None) };
    let names = ["m", "b", "z", "a.b", "a", "a-b"];
    stage.turn(at(0), names.into_iter().map(|name| put(name, None)).chain([theirs]).collect()).await;
    let stage = stage.reopen().await;
    for limit in [1, 2, 3, 6, 7] {
        assert_eq!(stage.names(limit).await, ["a", "a-b", "a.b", "b", "m", "z"], "limit {limit}");
    }
}

pub async fn the_jobs_of_a_schedule_are_found(stage: Stage) {
    let jobs = vec![fired("a", 1, 100), fired("b", 2, 100), fired("a", 3, 200), job(4)];
    stage.turn(at(0), vec![Turn { jobs, ..put("a", None) }]).await;
    let filter = Filter { schedule: Some(schedule("a").name), ..Filter::default() };
    assert_eq!(stage.find(filter, 1).await, [3, 1].map(id));
}

pub async fn nothing_accepted_is_lost_every_field_of_a_schedule_is_there_after_a_reopen(stage: Stage) {
    let clocks = |text| ClockTimes::parse(text).expect("times");
    let clock = |text| parse_clock(text).expect("a time");
    let date = |text| parse_date(text).expect("a date");
    let days = |text| Weekdays::parse(text).expect("days");
    let when = When {
        specs: vec![
            Spec::Cron("*/5 8-17 * * mon-fri".into()),
            Spec::Every { every: Duration::from_millis(1500), anchor: None },
            Spec::Every { every: Duration::from_secs(90), anchor: Some(at(7)) },
            Spec::Daily { at: clocks("08:30, 23:59:59") },
            Spec::Weekly { days: days("mon, sun"), at: clocks("00:00") },
            Spec::Monthly { days: MonthDays::parse("1, 15, -1").expect("days"), at: clocks("12:00") },
            Spec::Rrule("FREQ=YEARLY;COUNT=3".into()),
        ],
        zone: "Europe/Berlin".into(),
        dst_gap: DstGap::Skip,
        dst_overlap: DstOverlap::Both,
        exclude: vec![
            Exclusion::Date(date("2027-12-24")),
            Exclusion::Dates { from: date("2027-12-25"), through: date("2028-01-01") },
            Exclusion::Times { from: clock("22:00"), to: clock("06:00:30") },
            Exclusion::Weekdays(days("sat")),
            Exclusion::Cron("0 12 * * *".into()),
            Exclusion::Rrule("FREQ=DAILY".into()),
        ],
        start_at: Some(at(1)),
        end_at: Some(at(2)),
    };
    let full = Schedule {
        when,
        job: Template {
            data: json("[1]"),
            priority: priority(-3),
            deadline: Some(Duration::from_secs(60)),
            expires_in: Some(Duration::from_millis(61_001)),
            retry: RetryPolicy { cap: Duration::from_secs(3), ..RetryPolicy::default() },
            max_attempts: 2,
            max_crashes: 4,
            timeout: Some(Duration::from_millis(1234)),
            tags: vec![Tag::parse("käse & brot").expect("a tag")],
            keys: Keys { concurrency: Some(LimitKey::parse("a").expect("a key")), rate: None, weight: 3 },
            ..rule("full").job
        },
        catchup: Catchup { mode: CatchupMode::All, window: Duration::from_secs(3600), max: 5 },
        overlap: Overlap::CancelPrevious,
        jitter: Duration::from_millis(250),
        max_runs: Some(7),
        pause_on_failure: true,
        note: Some("a note".into()),
        ..rule("full")
    };
    let by = [PausedBy::Failure(id(9)), PausedBy::Person];
    let standing = |by| Standing {
        revision: 5,
        created_at: at(0),
        updated_at: at(3),
        pause: Some(Pause { note: "why".into(), since: at(1), until: Some(at(2)), by }),
        last: at(4),
        next: None,
        wake_at: Some(at(6)),
        runs: 11,
        last_job: Some(id(8)),
        last_fired: Some(at(9)),
    };
    let mut version = None;
    for standing in by.map(standing) {
        let to = To::Put { schedule: Box::new(full.clone()), standing: standing.clone() };
        version = Some(done(&stage.turn(at(0), vec![Turn { to, ..put("full", version) }]).await[0]));
        let view = stage.schedule("full").await.expect("it was put");
        assert_eq!((view.schedule, view.standing), (full.clone(), standing));
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.schedule("full").await.expect("it was put").schedule, full);
    let moved = done(&stage.turn(at(0), vec![moved("full", version, 1)]).await[0]);
    let view = stage.schedule("full").await.expect("it was moved");
    assert_eq!(view, ScheduleView { schedule: full, standing: super::stage::standing(1), version: moved });
}

/// A turn that moves a schedule on to wake then.
fn moved(name: &str, expect: Option<u64>, wake_ms: u64) -> Turn {
    Turn { to: To::Move(standing(wake_ms)), ..put(name, expect) }
}

/// A turn that makes a schedule that wakes then.
fn waking(name: &str, wake_ms: u64) -> Turn {
    let schedule = Box::new(rule(name));
    Turn { to: To::Put { schedule, standing: standing(wake_ms) }, ..put(name, None) }
}
