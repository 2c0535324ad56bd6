//! What recurrence rules mean on the wall clock, and how a bad one is answered.

use super::*;
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn berlin() -> TimeZone {
    super::super::zone::find("Europe/Berlin").unwrap()
}

fn rule(text: &str) -> Result<RecurrenceRule, BadSchedule> {
    RecurrenceText::parse(text, &berlin(), None).and_then(|text| RecurrenceRule::new(&text))
}

fn times(text: &str, from: &str, count: usize) -> Vec<String> {
    let rule = rule(text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
    let first = rule.at_or_after(Wall::of(from.parse().unwrap()));
    let walls = std::iter::successors(first, |wall| rule.at_or_after(wall.plus(1)));
    walls.take(count).map(|wall| wall.civil().to_string()).collect()
}

#[test]
fn rules_tell_their_times() {
    let check = |text: &str, from: &str, expected: &[&str]| {
        assert_eq!(
            times(text, from, expected.len() + 1).into_iter().take(expected.len()).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    };
    let from = "2026-11-16T10:07:30";
    check("FREQ=DAILY;BYHOUR=9;BYMINUTE=30", from, &["2026-11-17T09:30:00", "2026-11-18T09:30:00"]);
    check("RRULE:FREQ=WEEKLY;BYDAY=MO,FR", from, &["2026-11-20T00:00:00", "2026-11-23T00:00:00"]);
    check("freq=monthly;byday=-1fr;byhour=17", from, &["2026-11-27T17:00:00", "2026-12-25T17:00:00"]);
    check("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", from, &["2026-11-30T00:00:00", "2026-12-31T00:00:00"]);
    check("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", from, &["2028-02-29T00:00:00", "2032-02-29T00:00:00"]);
    check(
        "DTSTART:20200131T120000\nRRULE:FREQ=MONTHLY",
        from,
        &["2026-12-31T12:00:00", "2027-01-31T12:00:00", "2027-03-31T12:00:00"],
    );
    check("DTSTART:20200229T120000\r\nRRULE:FREQ=YEARLY\r\n", from, &["2028-02-29T12:00:00"]);
    check("FREQ=MINUTELY;INTERVAL=7", from, &["2026-11-16T10:09:00", "2026-11-16T10:16:00"]);
    check("DTSTART;TZID=Europe/Berlin:20261116T080000\nRRULE:FREQ=DAILY", from, &["2026-11-17T08:00:00"]);
    // 08:00 in UTC is 09:00 on a wall in Berlin.
    check("DTSTART:20261116T080000Z\nRRULE:FREQ=DAILY", from, &["2026-11-17T09:00:00"]);
    check(
        "RDATE:20261201T100000,20261120\nRRULE:FREQ=YEARLY",
        from,
        &["2026-11-20T00:00:00", "2026-12-01T10:00:00", "2027-01-01T00:00:00"],
    );
    check(
        "RRULE:FREQ=DAILY;BYHOUR=6\nEXDATE:20261117,20261119T060000",
        from,
        &["2026-11-18T06:00:00", "2026-11-20T06:00:00"],
    );
}

#[test]
fn count_and_until_end_a_rule() {
    let all = |text: &str| times(text, "2026-01-01T00:00:00", 100);
    assert_eq!(all("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=3").len(), 3);
    assert_eq!(times("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=3", "2026-01-02T00:00:00", 100).len(), 2);
    assert_eq!(all("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20260104").len(), 4);
    assert_eq!(all("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20260104T090000").len(), 4);
    assert_eq!(all("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20260104T085959").len(), 3);
    // 08:00 in UTC is 09:00 on a wall in Berlin.
    assert_eq!(all("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20260104T080000Z").len(), 4);
    assert_eq!(all("RDATE:20260105,20260106").len(), 2);
    assert_eq!(all("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30").len(), 0);
    assert_eq!(all("FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30").len(), 0);
}

#[test]
fn a_bad_rule_says_what_is_wrong_and_where() {
    let check = |text: &str, expected: &str| {
        let bad = rule(text).expect_err(text).within("rrule").to_string();
        assert!(bad.starts_with(&format!("rrule: {expected}")), "{text}: {bad}");
    };
    check("", "there is no rule (position 0); write one, as FREQ=WEEKLY;BYDAY=MO");
    check("EXDATE:20260101", "there is no rule (position 0)");
    check("FREQ=DALY", "\"DALY\" is not a frequency (position 5); YEARLY, MONTHLY");
    check("RRULE:FREQ=DAILY;BYHOUR=9,24", "\"24\" is not a value of BYHOUR (position 26); 0–23 are allowed");
    check("FREQ=MONTHLY;BYMONTHDAY=0", "\"0\" is not a value of BYMONTHDAY (position 24); 1–31 and -31–-1 are allowed");
    check("FREQ=WEEKLY;BYDAY=MO,XX", "\"XX\" is not a weekday (position 21); write MO, or 2MO, or -1MO");
    check("FREQ=DAILY;INTERVAL=0", "\"0\" is not a value of INTERVAL (position 20); 1–10000 are allowed");
    check("FREQ=DAILY;INTERVAL=10001", "\"10001\" is not a value of INTERVAL (position 20); 1–10000 are allowed");
    check("FREQ=DAILY;COUNT=1001", "\"1001\" is not a value of COUNT (position 17); 1–1000 are allowed");
    check("FREQ=DAILY;UNTIL=2026", "\"2026\" is not a date (position 17); write it as 20261224");
    check("FREQ=DAILY;BYFOO=1", "\"BYFOO\" is not a part of a rule (position 11)");
    check("FREQ=DAILY;FREQ=DAILY", "FREQ is there twice (position 11); keep one of them");
    check("BYDAY=MO", "the rule has no FREQ (position 0); write one, as FREQ=DAILY");
    check("FREQ=DAILY;COUNT=1;UNTIL=20270101", "the rule has both COUNT and UNTIL (position 0); keep one of them");
    check("FREQ", "\"FREQ\" has no value (position 0); write a name and a value, as FREQ=DAILY");
    check(
        "DTSTART;TZID=Asia/Tokyo:20260101T000000\nRRULE:FREQ=DAILY",
        "TZID \"Asia/Tokyo\" is not the zone of the schedule (position 8)",
    );
    check("DTSTART:20260101\nDTSTART:20260101\nFREQ=DAILY", "DTSTART is there twice (position 17)");
    check("DTSTART:22000101T000000\nFREQ=DAILY", "\"22000101T000000\" is not a date (position 8)");
    check(
        "EXRULE:FREQ=DAILY",
        "\"EXRULE\" is not a line of a recurrence (position 0); DTSTART, RRULE, RDATE and EXDATE",
    );
    check("FREQ=HOURLY;BYMINUTE=1;BYSETPOS=2", "BYSETPOS is there for a frequency within the day (position 0)");
    check(
        "FREQ=MINUTELY;BYHOUR=9",
        "a rule for every so many minutes or seconds also names times of the day (position 0)",
    );
    check("FREQ=DAILY;BYWEEKNO=3", "the rule is refused: ");
    check(&"x".repeat(limits::EXPRESSION_BYTES_MAX + 1), "the rule has 1025 bytes; 1024 are allowed");
    let minutes = (0..60).map(|minute| minute.to_string()).collect::<Vec<_>>().join(",");
    check(
        &format!("FREQ=YEARLY;BYHOUR=1,2;BYMINUTE={minutes}"),
        "the rule has up to 43920 times in one period (position 0); 3660 are allowed",
    );
}

const PARTS: &str = "(;INTERVAL=[1-9][0-9]?)?(;BYMONTH=[1-9],1[0-2])?(;BYMONTHDAY=-?[1-9],2[0-9])?(;BYDAY=(MO|TU,FR|SA))?(;BYHOUR=[0-9],1[0-9])?(;BYMINUTE=[1-5][0-9])?";

proptest! {
    /// A rule that is entered near the time asked for tells the same times as one that is walked from its start.
    #[test]
    fn a_later_start_changes_nothing(
        frequency in prop_oneof![Just("YEARLY"), Just("MONTHLY"), Just("WEEKLY"), Just("DAILY"), Just("HOURLY")],
        parts in PARTS, yearly in prop_oneof![4 => Just(""), 1 => Just(";BYWEEKNO=1,-1"), 1 => Just(";BYYEARDAY=1,200,-1")],
        set_pos in prop_oneof![3 => Just(""), 1 => Just(";BYSETPOS=1"), 1 => Just(";BYSETPOS=-1")],
        week in prop_oneof![Just(""), Just(";WKST=SU"), Just(";WKST=WE")],
        start in 0i64..40_000_000, ahead in 0i64..300_000_000,
    ) {
        let start_wall = Wall(1_600_000_000 + start);
        let dtstart = start_wall.civil().strftime("%Y%m%dT%H%M%S");
        let text = format!("DTSTART:{dtstart}\nRRULE:FREQ={frequency}{parts}{yearly}{set_pos}{week}");
        let Ok(rule) = rule(&text) else { return Ok(()) };
        let from = start_wall.plus(ahead);
        let set = RRuleSet::new(chrono_of(start_wall)).limit().rrule(rule.rules[0].rule.clone());
        let walked = set.into_iter().map(|found| Wall(found.timestamp())).find(|&found| found >= from);
        prop_assert_eq!(rule.at_or_after(from), walked.filter(|found| found.in_range()), "{}", text);
    }

    /// Every period within the day by hand: whole intervals from the start, kept if each part that is there has it.
    #[test]
    fn a_rule_within_the_day_leaves_no_time_out(
        (frequency, length) in prop_oneof![Just(("HOURLY", 3600i64)), Just(("MINUTELY", 60)), Just(("SECONDLY", 1))],
        interval in prop_oneof![Just(1i64), Just(15), Just(20), 1i64..100], monday in any::<bool>(),
        hours in prop::option::weighted(0.3, 0i8..24), minutes in prop::option::weighted(0.3, 0i8..60), month in prop::option::weighted(0.2, 1i8..13),
        start in 0i64..40_000_000, ahead in 0i64..100_000_000,
    ) {
        let start = Wall(1_600_000_000 + start);
        let part = |name: &str, value: Option<i8>| value.map_or(String::new(), |value| format!(";{name}={value}"));
        // A minute in an hourly rule is not a filter but the times of the hour.
        let minutes = minutes.filter(|_| frequency != "HOURLY");
        let parts = [part("BYHOUR", hours), part("BYMINUTE", minutes), part("BYMONTH", month)].concat();
        let day = if monday { ";BYDAY=MO" } else { "" };
        let dtstart = start.civil().strftime("%Y%m%dT%H%M%S");
        let text = format!("DTSTART:{dtstart}\nRRULE:FREQ={frequency};INTERVAL={interval}{parts}{day}");
        let from = start.plus(ahead);
        let first = (ahead + interval * length - 1) / (interval * length);
        let fits = |wall: &Wall| {
            let civil = wall.civil();
            hours.is_none_or(|hour| hour == civil.hour()) && minutes.is_none_or(|minute| minute == civil.minute())
                && month.is_none_or(|month| month == civil.month())
                && (!monday || civil.weekday() == jiff::civil::Weekday::Monday)
        };
        const TRIED_MAX: i64 = 40_000;
        let by_hand = (first..first + TRIED_MAX).map(|n| start.plus(n * interval * length)).find(fits);
        let last_tried = start.plus((first + TRIED_MAX) * interval * length);
        let found = match rule(&text) {
            Ok(rule) => rule.at_or_after(from),
            Err(bad) => {
                prop_assert!(bad.advice.contains("as a cron") && frequency != "HOURLY", "{}", bad);
                return Ok(());
            }
        };
        match by_hand {
            Some(_) => prop_assert_eq!(found, by_hand, "{}", text),
            None => prop_assert!(found.is_none_or(|found| found > last_tried), "{}: {:?}", text, found),
        }
    }

    #[test]
    fn random_text_never_panics(
        soup in "(FREQ|COUNT|BYDAY|UNTIL|DTSTART|RDATE|EXDATE|RRULE|MO|DAILY|[0-9TZ=;:,+-]|\n){0,16}", any in "\\PC{0,12}",
        frequency in prop_oneof![Just("YEARLY"), Just("MONTHLY"), Just("WEEKLY"), Just("DAILY"), Just("HOURLY"), Just("MINUTELY"), Just("SECONDLY")],
        parts in "(;BY(SECOND|MINUTE|HOUR|MONTHDAY|YEARDAY|WEEKNO|MONTH|SETPOS)=-?[0-9]{1,2}(,[0-9]{1,2})?){0,3}(;INTERVAL=[0-9]{1,4})?",
        from in 0i64..7_000_000_000,
    ) {
        for text in [soup, any, format!("FREQ={frequency}{parts}")] {
            match rule(&text) {
                Ok(rule) => prop_assert!(rule.at_or_after(Wall(from)).is_none_or(|found| found >= Wall(from))),
                Err(bad) => prop_assert!(bad.position.is_none_or(|at| at <= text.len()), "{}: {}", text, bad),
            }
        }
    }
}
