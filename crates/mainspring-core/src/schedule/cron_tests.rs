//! What cron expressions mean on the wall clock, and how a bad one is answered.

use super::*;
use crate::name::{ScheduleName, TenantName};
use proptest::prelude::*;

fn seed(name: &str) -> ScheduleRef {
    ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse(name).unwrap() }
}

fn times(text: &str, from: &str, count: usize) -> Vec<String> {
    let rule = CronRule::parse(text, &seed("report")).unwrap_or_else(|bad| panic!("{text}: {bad}"));
    let first = rule.at_or_after(Wall::of(from.parse().unwrap()));
    let walls = std::iter::successors(first, |wall| rule.at_or_after(wall.plus(1)));
    walls.take(count).map(|wall| wall.civil().to_string()).collect()
}

#[test]
fn every_form_of_a_field_matches_its_times() {
    let check =
        |text: &str, from: &str, expected: &[&str]| assert_eq!(times(text, from, expected.len()), expected, "{text}");
    let monday = "2026-11-16T10:07:30";
    check("* * * * *", monday, &["2026-11-16T10:08:00", "2026-11-16T10:09:00"]);
    check("*/15 * * * *", monday, &["2026-11-16T10:15:00", "2026-11-16T10:30:00"]);
    check("5/20 * * * *", monday, &["2026-11-16T10:25:00", "2026-11-16T10:45:00", "2026-11-16T11:05:00"]);
    check(
        "10-20/5,50 9 * * *",
        monday,
        &["2026-11-17T09:10:00", "2026-11-17T09:15:00", "2026-11-17T09:20:00", "2026-11-17T09:50:00"],
    );
    check("*/20 * * * * *", monday, &["2026-11-16T10:07:40", "2026-11-16T10:08:00"]);
    check("0 0 12 1 1 * 2030", monday, &["2030-01-01T12:00:00"]);
    check("0 9 * * mon-fri", "2026-11-20T09:00:00", &["2026-11-20T09:00:00", "2026-11-23T09:00:00"]);
    check("0 9 * * 7", monday, &["2026-11-22T09:00:00"]);
    check(
        "0 9 * * 5-7",
        monday,
        &["2026-11-20T09:00:00", "2026-11-21T09:00:00", "2026-11-22T09:00:00", "2026-11-27T09:00:00"],
    );
    check("0 9 1 JAN,jul *", monday, &["2027-01-01T09:00:00", "2027-07-01T09:00:00"]);
    check("0 0 L * *", monday, &["2026-11-30T00:00:00", "2026-12-31T00:00:00"]);
    check("0 0 LW * *", "2027-01-01T00:00:00", &["2027-01-29T00:00:00"]);
    check("0 0 15W * ?", "2026-11-01T00:00:00", &["2026-11-16T00:00:00", "2026-12-15T00:00:00"]);
    check("0 0 ? * FRI#2", monday, &["2026-12-11T00:00:00"]);
    check("0 0 * * FRIL", monday, &["2026-11-27T00:00:00"]);
    check("0 0 * * 7L", monday, &["2026-11-29T00:00:00", "2026-12-27T00:00:00"]);
    check("0 0 * * 0#L", monday, &["2026-11-29T00:00:00"]);
    check("0 0 29 2 *", monday, &["2028-02-29T00:00:00", "2032-02-29T00:00:00"]);
}

#[test]
fn a_day_and_a_weekday_that_are_both_given_match_if_either_does() {
    let expected = ["2026-12-04T00:00:00", "2026-12-11T00:00:00", "2026-12-13T00:00:00", "2026-12-18T00:00:00"];
    assert_eq!(times("0 0 13 * FRI", "2026-12-01T00:00:00", 4), expected);
}

#[test]
fn nicknames_keep_minute_zero() {
    let check = |text: &str, expected: &str| assert_eq!(times(text, "2026-11-16T10:07:30", 1), [expected], "{text}");
    check("@hourly", "2026-11-16T11:00:00");
    check(" @Daily ", "2026-11-17T00:00:00");
    check("@midnight", "2026-11-17T00:00:00");
    check("@weekly", "2026-11-22T00:00:00");
    check("@monthly", "2026-12-01T00:00:00");
    check("@yearly", "2027-01-01T00:00:00");
    check("@annually", "2027-01-01T00:00:00");
}

#[test]
fn what_never_matches_ends() {
    assert_eq!(times("0 0 30 2 *", "2026-01-01T00:00:00", 1), Vec::<String>::new());
    assert_eq!(times("0 0 0 1 1 * 2020", "2026-01-01T00:00:00", 1), Vec::<String>::new());
    assert_eq!(times("* * * * *", "2199-12-31T23:59:01", 1), Vec::<String>::new());
}

#[test]
fn a_spread_stays_where_it_is_and_differs_by_name() {
    let minute = |text: &str, name: &str| {
        let rule = CronRule::parse(text, &seed(name)).unwrap();
        rule.cron.pattern.minutes.values()
    };
    assert_eq!(minute("H * * * *", "report"), [28]);
    assert_eq!(minute("H * * * *", "report"), minute("h H * * *", "report"));
    let all: std::collections::BTreeSet<u16> = (0..2_000).flat_map(|n| minute("H * * * *", &format!("s{n}"))).collect();
    assert_eq!(all.len(), 60);
    for n in 0..200 {
        let name = format!("s{n}");
        let quarter = minute("H/15 * * * *", &name);
        assert!(quarter.len() == 4 && quarter[0] < 15 && quarter.windows(2).all(|pair| pair[1] - pair[0] == 15));
        assert!(minute("H(0-29) * * * *", &name)[0] < 30);
        let tens = minute("H(5-34)/10 * * * *", &name);
        assert!(tens.len() == 3 && (5..15).contains(&tens[0]) && tens[2] <= 34);
        let rule = CronRule::parse("H H H H H", &seed(&name)).unwrap();
        assert!(rule.cron.pattern.days.values()[0] <= 28 && rule.cron.pattern.days_of_week.values()[0] <= 6);
    }
}

#[test]
fn a_bad_expression_says_what_is_wrong_and_where() {
    let check = |text: &str, expected: &str| {
        let bad = CronRule::parse(text, &seed("report")).expect_err(text);
        assert_eq!(bad.within("cron").to_string(), format!("cron: {expected}"), "{text}");
    };
    check("60 * * * *", "\"60\" is not a minute (position 0); 0–59 are allowed");
    check("0 24 * * *", "\"24\" is not a hour (position 2); 0–23 are allowed");
    check("0 0 1,32 * *", "\"32\" is not a day (position 6); 1–31 are allowed");
    check("0 0 * FOO *", "\"FOO\" is not a month (position 6); 1–12 and JAN–DEC are allowed");
    check("0 0 * * MON-XYZ", "\"XYZ\" is not a weekday (position 12); 0–7 and SUN–SAT are allowed");
    check("0  5-1 * * *", "\"5-1\" runs backwards (position 3); write the earlier one first, or two ranges");
    check("*/0 * * * *", "\"0\" is not a step of minutes (position 2); 1–60 are allowed");
    check("0 0 * * FRI#6", "\"6\" is not a place in the month (position 12); #1 to #5 are allowed, and L for the last");
    check("0 0 * * L", "L needs a weekday (position 8); write it before the L, as FRIL for the last Friday");
    check("0 0 * * +1", "\"+1\" is not a weekday (position 8); 0–7 and SUN–SAT are allowed");
    check("H(9 * * * *", "\"H(9\" is not a spread (position 0); write H or H(0-29)");
    check("0 0 0 * * * 2200", "\"2200\" is not a year (position 12); 1970–2199 are allowed");
    check("0 0 0 * * * H", "a year cannot be spread with H (position 12); write the years, or *");
    check("ä * * * *", "\"ä\" is not a minute (position 0); 0–59 are allowed");
    check("1, * * * *", "\"\" is not a minute (position 2); 0–59 are allowed");
    check("", "the expression is empty (position 0); write five fields, as 0 9 * * MON-FRI");
    let counts = "there are five (minute hour day month weekday), six with seconds first, seven with the year last";
    check("* * * *", &format!("there are 4 fields (position 7); {counts}"));
    check("* * * * * * * x", &format!("there are 8 fields (position 14); {counts}"));
    check(
        "@never",
        "\"@never\" is not a nickname (position 0); @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually \
         are; for an interval use `every`",
    );
    let long = "*".repeat(limits::EXPRESSION_BYTES_MAX + 1);
    check(&long, &format!("the expression has {} bytes; {} are allowed", long.len(), limits::EXPRESSION_BYTES_MAX));
}

#[test]
fn the_stretch_that_an_exclusion_covers_is_covered_whole() {
    let until = |text: &str, at: &str| {
        let rule = CronRule::parse(text, &seed("report")).unwrap();
        rule.covers_until(Wall::of(at.parse().unwrap())).map(|wall| wall.civil().to_string())
    };
    assert_eq!(until("* * * 8 *", "2026-08-03T10:07:30").as_deref(), Some("2026-08-04T00:00:00"));
    assert_eq!(until("* 9-17 * * *", "2026-08-03T10:07:30").as_deref(), Some("2026-08-03T11:00:00"));
    assert_eq!(until("7 10 * * *", "2026-08-03T10:07:30").as_deref(), Some("2026-08-03T10:08:00"));
    assert_eq!(until("30 7 10 * * *", "2026-08-03T10:07:30").as_deref(), Some("2026-08-03T10:07:31"));
    assert_eq!(until("0 7 10 * * *", "2026-08-03T10:07:30"), None);
}

/// Every field by hand, for what has no marks.
fn by_hand(minutes: &[u16], hours: &[u16], days: &[u16], weekdays: &[u16], wall: Wall) -> bool {
    let civil = wall.civil();
    let has = |set: &[u16], value: i8| set.contains(&value.unsigned_abs().into());
    let day = match (days.is_empty(), weekdays.is_empty()) {
        (true, true) => true,
        (false, true) => has(days, civil.day()),
        (true, false) => has(weekdays, civil.weekday().to_sunday_zero_offset()),
        (false, false) => has(days, civil.day()) || has(weekdays, civil.weekday().to_sunday_zero_offset()),
    };
    civil.second() == 0 && has(minutes, civil.minute()) && has(hours, civil.hour()) && day
}

proptest! {
    #[test]
    fn no_minute_is_left_out_and_none_put_in(
        minutes in prop::collection::vec(0u16..60, 1..4), hours in prop::collection::vec(0u16..24, 1..4),
        days in prop::collection::vec(1u16..32, 0..3), weekdays in prop::collection::vec(0u16..7, 0..3),
        day in 0i64..20_000,
    ) {
        let list = |set: &[u16]| match set.is_empty() {
            true => "*".to_owned(),
            false => set.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
        };
        let text = format!("{} {} {} * {}", list(&minutes), list(&hours), list(&days), list(&weekdays));
        let rule = CronRule::parse(&text, &seed("report")).expect("valid");
        let from = Wall(day * 86_400);
        let until = from.plus(10 * 86_400);
        let expected: Vec<Wall> = (0..10 * 1440).map(|minute| from.plus(minute * 60))
            .filter(|&wall| by_hand(&minutes, &hours, &days, &weekdays, wall)).collect();
        let found: Vec<Wall> = std::iter::successors(rule.at_or_after(from), |wall| rule.at_or_after(wall.plus(1)))
            .take_while(|&wall| wall < until).collect();
        prop_assert_eq!(found, expected, "{}", text);
    }

    #[test]
    fn random_text_never_panics(text in "[0-9*/,LW#?Hh() @A-Z-]{0,24}", any in "\\PC{0,12}", from in 0i64..7_000_000_000) {
        for text in [text, any] {
            if let Ok(rule) = CronRule::parse(&text, &seed("report")) {
                let found = rule.at_or_after(Wall(from));
                prop_assert!(found.is_none_or(|found| found >= Wall(from)));
                rule.covers_until(Wall(from));
            }
        }
    }

    #[test]
    fn random_fields_are_answered_or_refused_with_a_place(
        fields in prop::collection::vec(
            "(\\*|\\?|H|H\\([0-9]{1,2}-[0-9]{1,2}\\)|[0-9]{1,2}|[0-9]{1,2}-[0-9]{1,2}|L|LW|[0-9]{1,2}W|[0-7]#[0-6]|[0-7]L|MON|JAN|FRI-SUN)(/[0-9]{1,2})?",
            5..8),
        from in 0i64..7_000_000_000,
    ) {
        let text = fields.join(" ");
        match CronRule::parse(&text, &seed("report")) {
            Ok(rule) => prop_assert!(rule.at_or_after(Wall(from)).is_none_or(|found| found >= Wall(from))),
            Err(bad) => prop_assert!(bad.position.is_some_and(|at| at < text.len()), "{}: {}", text, bad),
        }
    }
}
