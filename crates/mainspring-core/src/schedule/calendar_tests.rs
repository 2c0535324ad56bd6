//! What a compiled schedule tells, by examples: several specs, exclusions, daylight saving, bounds and errors.

use std::time::Duration;

use super::super::when::{Exclusion, Spec};
use super::super::words::{ClockTimes, MonthDays, Weekdays, parse_clock, parse_date};
use super::super::{preview, zones};
use super::*;
use crate::name::{ScheduleName, TenantName};

fn seed() -> ScheduleRef {
    ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse("report").unwrap() }
}

fn compile(when: &When) -> Calendar {
    Calendar::compile(when, &seed()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn at(text: &str) -> Time {
    Time::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond() as u64)
}

fn cron(text: &str) -> Spec {
    Spec::Cron(text.into())
}

fn daily(text: &str) -> Spec {
    Spec::Daily { at: ClockTimes::parse(text).unwrap() }
}

fn every(seconds: u64) -> Spec {
    Spec::Every { every: Duration::from_secs(seconds), anchor: None }
}

fn within(zone: &str, specs: Vec<Spec>) -> When {
    When { zone: zone.into(), ..When::new(specs) }
}

/// As shown on the wall, with what daylight saving did: `2026-03-29T03:30:00+2 Shifted`.
fn shown(when: &When, after: &str, count: usize) -> Vec<String> {
    let show = |found: &Occurrence| {
        let dst = found.dst.map_or(String::new(), |dst| format!(" {dst:?}"));
        format!("{}{:+}{dst}", found.civil, f64::from(found.offset_seconds) / 3600.0)
    };
    preview(&compile(when), at(after), count).iter().map(show).collect()
}

#[test]
fn several_specs_are_one_schedule_and_a_shared_time_is_one() {
    let when = within("UTC", vec![daily("12:00"), cron("0 */6 * * *"), every(12 * 3600)]);
    let expected = ["2026-11-16T06:00:00+0", "2026-11-16T12:00:00+0", "2026-11-16T18:00:00+0", "2026-11-17T00:00:00+0"];
    assert_eq!(shown(&when, "2026-11-16T00:00:00Z", 4), expected);
}

#[test]
fn a_time_that_the_clocks_jump_over_is_shifted_or_skipped() {
    let check = |zone: &str, gap: DstGap, spec: Spec, after: &str, expected: &[&str]| {
        let when = When { dst_gap: gap, ..within(zone, vec![spec]) };
        assert_eq!(shown(&when, after, expected.len()), expected, "{zone} {gap:?}");
    };
    let (berlin, day) = ("Europe/Berlin", "2026-03-28T12:00:00Z");
    check(berlin, DstGap::Shift, daily("02:30"), day, &["2026-03-29T03:30:00+2 Shifted", "2026-03-30T02:30:00+2"]);
    check(berlin, DstGap::Skip, daily("02:30"), day, &["2026-03-30T02:30:00+2", "2026-03-31T02:30:00+2"]);
    check(berlin, DstGap::Shift, daily("02:30,03:30"), day, &["2026-03-29T03:30:00+2", "2026-03-30T02:30:00+2"]);
    check(berlin, DstGap::Shift, daily("02:00"), day, &["2026-03-29T03:00:00+2 Shifted"]);
    check(berlin, DstGap::Shift, daily("03:00"), day, &["2026-03-29T03:00:00+2"]);
    check(berlin, DstGap::Shift, cron("30 2 * * *"), day, &["2026-03-29T03:30:00+2 Shifted", "2026-03-30T02:30:00+2"]);
    check(berlin, DstGap::Shift, Spec::Rrule("FREQ=DAILY;BYHOUR=2".into()), day, &["2026-03-29T03:00:00+2 Shifted"]);
    check(
        "America/New_York",
        DstGap::Shift,
        daily("02:15"),
        "2026-03-07T12:00:00Z",
        &["2026-03-08T03:15:00-4 Shifted"],
    );
    // Half an hour, at two in the morning.
    check(
        "Australia/Lord_Howe",
        DstGap::Shift,
        daily("02:10"),
        "2026-10-03T00:00:00Z",
        &["2026-10-04T02:40:00+11 Shifted"],
    );
    // A whole day: there was no 30 December.
    let samoa = ["2011-12-29T09:00:00-10", "2011-12-31T09:00:00+14", "2012-01-01T09:00:00+14"];
    check("Pacific/Apia", DstGap::Shift, daily("09:00"), "2011-12-29T00:00:00Z", &samoa);
    check("Pacific/Apia", DstGap::Skip, daily("09:00"), "2011-12-29T00:00:00Z", &samoa);
}

#[test]
fn a_time_that_the_clocks_show_twice_happens_first_last_or_both_times() {
    let check = |overlap: DstOverlap, spec: Spec, expected: &[&str]| {
        let when = When { dst_overlap: overlap, ..within("Europe/Berlin", vec![spec]) };
        assert_eq!(shown(&when, "2026-10-24T12:00:00Z", expected.len()), expected, "{overlap:?}");
    };
    let next = "2026-10-26T02:30:00+1";
    check(DstOverlap::First, daily("02:30"), &["2026-10-25T02:30:00+2 First", next]);
    check(DstOverlap::Last, daily("02:30"), &["2026-10-25T02:30:00+1 Last", next]);
    check(DstOverlap::Both, daily("02:30"), &["2026-10-25T02:30:00+2 First", "2026-10-25T02:30:00+1 Last", next]);
    check(DstOverlap::First, daily("03:00"), &["2026-10-25T03:00:00+1", "2026-10-26T03:00:00+1"]);
    check(DstOverlap::Last, daily("02:00"), &["2026-10-25T02:00:00+1 Last", "2026-10-26T02:00:00+1"]);
    // Whoever asks in the middle of it gets what is left.
    let when = When { dst_overlap: DstOverlap::Both, ..within("Europe/Berlin", vec![daily("02:30")]) };
    assert_eq!(shown(&when, "2026-10-25T00:30:00Z", 1), ["2026-10-25T02:30:00+1 Last"]);
    assert_eq!(shown(&when, "2026-10-25T01:30:00Z", 1), [next]);
}

#[test]
fn hourly_stays_hourly_whatever_the_clocks_do() {
    for spec in [every(3600), cron("0 * * * *"), cron("0 0-23/1 * * *"), Spec::Rrule("FREQ=HOURLY".into())] {
        for after in ["2026-10-24T12:00:00Z", "2026-03-28T12:00:00Z"] {
            let when = within("Europe/Berlin", vec![spec.clone()]);
            let times: Vec<u64> =
                preview(&compile(&when), at(after), 40).iter().map(|found| found.at.as_millis()).collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 3_600_000), "{spec:?}");
        }
    }
}

#[test]
fn an_interval_counts_real_time_from_its_anchor() {
    let anchor = Some(at("2026-11-16T00:00:10Z"));
    let when = within("Asia/Tokyo", vec![Spec::Every { every: Duration::from_millis(90_500), anchor }]);
    let calendar = compile(&when);
    let next = |after: &str| calendar.next(at(after)).unwrap().at;
    assert_eq!(next("2026-11-16T00:00:10Z"), at("2026-11-16T00:01:40.5Z"));
    assert_eq!(next("2026-11-16T00:00:09.999Z"), at("2026-11-16T00:00:10Z"));
    // Before the anchor too.
    assert_eq!(next("2026-11-15T23:58:30Z"), at("2026-11-15T23:58:39.5Z"));
}

#[test]
fn a_schedule_starts_and_ends_when_it_says_both_included() {
    let when = When {
        start_at: Some(at("2026-11-17T12:00:00Z")),
        end_at: Some(at("2026-11-18T12:00:00Z")),
        ..within("UTC", vec![daily("12:00")])
    };
    assert_eq!(shown(&when, "2026-11-01T00:00:00Z", 9), ["2026-11-17T12:00:00+0", "2026-11-18T12:00:00+0"]);
    let far = When { start_at: Some(at("2190-01-01T00:00:00Z")), ..within("Europe/Berlin", vec![cron("0 0 1 1 *")]) };
    assert_eq!(shown(&far, "2026-11-01T00:00:00Z", 1), ["2191-01-01T00:00:00+1"]);
    let beyond = When { start_at: Some(Time::MAX), ..within("Europe/Berlin", vec![every(1), cron("* * * * *")]) };
    assert_eq!(shown(&beyond, "2026-11-01T00:00:00Z", 1), Vec::<String>::new());
    assert_eq!(compile(&within("UTC", vec![daily("12:00")])).next(Time::MAX), None);
}

#[test]
fn what_is_excluded_does_not_happen() {
    let check = |spec: Spec, exclude: Vec<Exclusion>, after: &str, expected: &[&str]| {
        let when = When { exclude, ..within("Europe/Berlin", vec![spec]) };
        assert_eq!(shown(&when, after, expected.len()), expected);
    };
    let date = |text: &str| parse_date(text).unwrap();
    let dates = |from: &str, through: &str| Exclusion::Dates { from: date(from), through: date(through) };
    let times =
        |from: &str, to: &str| Exclusion::Times { from: parse_clock(from).unwrap(), to: parse_clock(to).unwrap() };
    check(
        daily("09:00"),
        vec![
            Exclusion::Date(date("2026-12-25")),
            dates("2026-12-26", "2026-12-27"),
            Exclusion::Date(date("2026-12-29")),
        ],
        "2026-12-24T12:00:00Z",
        &["2026-12-28T09:00:00+1", "2026-12-30T09:00:00+1"],
    );
    check(
        every(1800),
        vec![times("22:00", "06:00"), Exclusion::Weekdays(Weekdays::parse("sat,sun").unwrap())],
        "2026-11-20T20:00:00Z",
        &["2026-11-20T21:30:00+1", "2026-11-23T06:00:00+1"],
    );
    check(every(1), vec![Exclusion::Cron("* * * 11 *".into())], "2026-11-16T00:00:00Z", &["2026-12-01T00:00:00+1"]);
    check(
        cron("*/30 * * * *"),
        vec![Exclusion::Cron("0 * * * *".into())],
        "2026-11-16T00:00:00Z",
        &["2026-11-16T01:30:00+1", "2026-11-16T02:30:00+1"],
    );
    let christmas = || Exclusion::Rrule("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25".into());
    check(daily("09:00"), vec![christmas()], "2031-12-24T12:00:00Z", &["2031-12-26T09:00:00+1"]);
    // The first half past two is excluded, the clocks go back, and the second is too; ten to two comes twice.
    check(cron("*/10 * * * *"), vec![times("02:00", "03:00")], "2026-10-24T23:50:00Z", &["2026-10-25T03:00:00+1"]);
    check(
        cron("*/15 * * * *"),
        vec![times("02:20", "04:00")],
        "2026-10-25T00:15:00Z",
        &["2026-10-25T02:00:00+1 Last", "2026-10-25T02:15:00+1 Last", "2026-10-25T04:00:00+1"],
    );
}

#[test]
fn a_schedule_that_excludes_everything_is_over() {
    let days = Exclusion::Weekdays(Weekdays::parse("mon-sun").unwrap());
    for (spec, exclusion) in [
        (every(1), days.clone()),
        (cron("* * * * * *"), days),
        (cron("*/2 * * * *"), Exclusion::Cron("*/2 * * * *".into())),
        (daily("09:00"), Exclusion::Rrule("FREQ=DAILY".into())),
    ] {
        let when = When { exclude: vec![exclusion], ..within("Europe/Berlin", vec![spec]) };
        assert_eq!(shown(&when, "2026-11-16T00:00:00Z", 1), Vec::<String>::new());
    }
    assert_eq!(
        shown(&within("Europe/Berlin", vec![cron("0 0 30 2 *")]), "2026-11-16T00:00:00Z", 1),
        Vec::<String>::new()
    );
}

#[test]
fn a_range_is_counted_the_same_at_once_and_step_by_step() {
    let specs = [every(7), daily("02:30"), cron("*/7 1-3 * * *")];
    for specs in [vec![specs[0].clone()], vec![specs[1].clone()], specs.to_vec()] {
        let calendar = compile(&When { start_at: Some(at("2026-10-24T00:00:03Z")), ..within("Europe/Berlin", specs) });
        let (after, through) = (at("2026-10-23T00:00:00Z"), at("2026-10-27T00:00:01Z"));
        let whole = calendar.skip(after, through, usize::MAX);
        let mut walked = Skipped::default();
        while let Some(next) = calendar.next(walked.last.unwrap_or(after)).filter(|next| next.at <= through) {
            walked.push(next.at);
        }
        assert_eq!(whole, walked);
        let part = calendar.skip(after, through, 3);
        assert!(!part.more && part == whole || part.more && part.count == 3);
    }
    assert_eq!(
        compile(&When::new(vec![every(60)])).skip(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:59Z"), 9),
        Skipped::default()
    );
}

#[test]
fn what_a_gap_swallows_is_told_once_for_each_gap() {
    let dropped = |spec: Spec, gap: DstGap, after: &str, through: &str| -> Vec<(u64, Option<Time>)> {
        let calendar = compile(&When { dst_gap: gap, ..within("Europe/Berlin", vec![spec]) });
        calendar.dropped(at(after), at(through)).iter().map(|group| (group.count, group.first)).collect()
    };
    let (from, to) = ("2026-01-01T00:00:00Z", "2027-12-31T00:00:00Z");
    let both = vec![(1, Some(at("2026-03-29T01:30:00Z"))), (1, Some(at("2027-03-28T01:30:00Z")))];
    assert_eq!(dropped(daily("02:30"), DstGap::Skip, from, to), both);
    assert_eq!(dropped(daily("02:30"), DstGap::Shift, from, to), []);
    assert_eq!(dropped(daily("02:30,03:30"), DstGap::Skip, from, to), [], "the shifted time happens anyway");
    assert_eq!(
        dropped(cron("*/10 2 * * *"), DstGap::Skip, from, "2026-12-31T00:00:00Z"),
        [(6, Some(at("2026-03-29T01:00:00Z")))]
    );
    assert_eq!(dropped(cron("0 * * * *"), DstGap::Skip, from, to), []);
    let calendar = compile(&When { dst_gap: DstGap::Skip, ..within("Europe/Berlin", vec![daily("02:30")]) });
    assert!(calendar.dropped(Time::ZERO, Time::MAX).len() > 200, "to the end of all years, and no further");
    assert_eq!(calendar.dropped(Time::MAX, Time::MAX), []);
    assert_eq!(dropped(daily("02:30"), DstGap::Skip, "2026-03-29T01:30:00Z", "2026-12-31T00:00:00Z"), []);
    assert_eq!(dropped(daily("02:30"), DstGap::Skip, "2026-03-29T01:10:00Z", "2026-03-29T01:30:00Z").len(), 1);
    assert_eq!(dropped(daily("02:30"), DstGap::Skip, "2026-03-29T01:10:00Z", "2026-03-29T01:29:59Z").len(), 0);
}

#[test]
fn a_bad_schedule_names_its_field() {
    let check = |when: When, expected: &str| {
        let bad = Calendar::compile(&when, &seed()).expect_err(expected).to_string();
        assert!(bad.starts_with(expected), "{bad}");
    };
    check(
        within("UTC", vec![daily("12:00"), cron("60 * * * *")]),
        "when.specs[1].cron: \"60\" is not a minute (position 0); 0–59",
    );
    check(
        within("UTC", vec![Spec::Rrule("FREQ=X".into())]),
        "when.specs[0].rrule: \"X\" is not a frequency (position 5)",
    );
    check(
        within("Europe/Berln", vec![daily("12:00")]),
        "when.zone: \"Europe/Berln\" is not a time zone; did you mean Europe/Berlin?",
    );
    check(within("UTC", vec![]), "when.specs: there are 0 specs; 1–16 are allowed");
    check(
        within("UTC", vec![daily("12:00"); limits::SPECS_MAX + 1]),
        "when.specs: there are 17 specs; 1–16 are allowed",
    );
    check(
        within("UTC", vec![Spec::Every { every: Duration::from_millis(999), anchor: None }]),
        "when.specs[0].every: 999ms is not an interval; 1s to 3660 days",
    );
    check(within("UTC", vec![every(limits::EVERY_MAX.as_secs() + 1)]), "when.specs[0].every: ");
    check(
        within("UTC", vec![Spec::Every { every: Duration::from_micros(1_500_500), anchor: None }]),
        "when.specs[0].every: 1.5005s has a fraction",
    );
    let exclude = |exclude: Vec<Exclusion>| When { exclude, ..within("UTC", vec![daily("12:00")]) };
    let day = parse_date("2026-12-25").unwrap();
    check(exclude(vec![Exclusion::Date(day), Exclusion::Cron("x".into())]), "when.exclude[1].cron: there are 1 fields");
    check(
        exclude(vec![Exclusion::Rrule("FREQ=HOURLY".into())]),
        "when.exclude[0].rrule: a rule that excludes names days",
    );
    check(
        exclude(vec![Exclusion::Rrule("FREQ=DAILY;BYHOUR=1,2".into())]),
        "when.exclude[0].rrule: a rule that excludes names days",
    );
    check(
        exclude(vec![Exclusion::Cron("* * * 1 *".into()); limits::EXCLUSION_RULES_MAX + 1]),
        "when.exclude: 9 exclusions are crons or rules; 8 are allowed",
    );
    check(
        exclude(vec![Exclusion::Dates { from: day, through: parse_date("2026-12-24").unwrap() }]),
        "when.exclude[0].dates: 2026-12-25 comes after 2026-12-24",
    );
    let noon = parse_clock("12:00").unwrap();
    check(exclude(vec![Exclusion::Times { from: noon, to: noon }]), "when.exclude[0].times: from 12:00:00 to 12:00:00");
    check(
        exclude(vec![Exclusion::Date(day); limits::EXCLUSIONS_MAX + 1]),
        "when.exclude: there are 1001 exclusions; 1000 are allowed",
    );
    let ends = When {
        start_at: Some(at("2026-12-25T00:00:00Z")),
        end_at: Some(at("2026-12-24T00:00:00Z")),
        ..within("UTC", vec![daily("12:00")])
    };
    check(ends, "when.end_at: it ends before it starts");
}

#[test]
fn a_rule_without_a_start_begins_when_the_schedule_does() {
    let when = When {
        start_at: Some(at("2026-11-17T08:30:00Z")),
        ..within("Europe/Berlin", vec![Spec::Rrule("FREQ=DAILY;COUNT=2".into())])
    };
    assert_eq!(shown(&when, "2026-11-01T00:00:00Z", 9), ["2026-11-17T09:30:00+1", "2026-11-18T09:30:00+1"]);
}

#[test]
fn a_month_ends_on_its_last_day_in_every_zone() {
    for zone in zones() {
        let spec = Spec::Monthly { days: MonthDays::parse("last").unwrap(), at: ClockTimes::parse("12:00").unwrap() };
        let found = compile(&within(&zone, vec![spec])).next(at("2026-02-10T00:00:00Z")).unwrap();
        assert_eq!(found.civil.to_string(), "2026-02-28T12:00:00", "{zone}");
    }
}
