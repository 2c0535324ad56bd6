//! Reads the text of a recurrence: its lines, dates and the values of its rules, so that an error can point at its place.
//! Computes no occurrence: see [`super::rrule`].
//!
//! - Lines `DTSTART`, `RRULE`, `RDATE`, `EXDATE`, or a rule alone: `FREQ=WEEKLY;BYDAY=MO`.
//! - Dates are on the wall clock of the schedule's zone; with `Z` they are UTC. Another `TZID` is refused: a schedule has one zone.
//! - `DTSTART` if there is none: the schedule's `start_at`, else [`START_DEFAULT`].
//! - A date without a time: midnight for `DTSTART` and `RDATE`, the whole day for `EXDATE`, its last second for `UNTIL`.

use jiff::civil::{Date, Time as Clock};
use jiff::tz::{Offset, TimeZone};

use super::bad::BadSchedule;
use super::wall::{DAY, Wall};
use crate::limits;

/// Monday, the first of a month and of a year, at midnight.
pub(super) const START_DEFAULT: Date = Date::constant(2001, 1, 1);

#[derive(Clone, Debug)]
pub(super) struct RecurrenceText {
    pub rules: Vec<RuleText>,
    pub start: Wall,
    pub also: Vec<DateValue>,
    pub except: Vec<DateValue>,
}

#[derive(Clone, Debug)]
pub(super) struct RuleText {
    /// Without `UNTIL`, in capitals.
    pub rule: String,
    pub until: Option<Wall>,
    pub position: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DateValue {
    Day(Wall),
    Second(Wall),
}

impl DateValue {
    pub fn wall(self) -> Wall {
        match self {
            DateValue::Day(wall) | DateValue::Second(wall) => wall,
        }
    }

    /// If it names `wall`, the first second that it does not name.
    pub fn covers_until(self, wall: Wall) -> Option<Wall> {
        match self {
            DateValue::Day(day) => (wall.midnight() == day).then(|| day.plus(DAY)),
            DateValue::Second(second) => (wall == second).then(|| second.plus(1)),
        }
    }
}

impl RecurrenceText {
    pub fn parse(text: &str, zone: &TimeZone, start: Option<Wall>) -> Result<RecurrenceText, BadSchedule> {
        if text.len() > limits::EXPRESSION_BYTES_MAX {
            let problem = format!("the rule has {} bytes", text.len());
            return Err(BadSchedule::new(problem, format!("{} are allowed", limits::EXPRESSION_BYTES_MAX)));
        }
        let start = start.unwrap_or(Wall::of_date(START_DEFAULT));
        let mut read = RecurrenceText { rules: Vec::new(), start, also: Vec::new(), except: Vec::new() };
        let mut has_start = false;
        let mut position = 0;
        for line in text.split('\n') {
            let shown = line.trim_end_matches('\r');
            if !shown.trim().is_empty() {
                read.line(shown, zone, &mut has_start).map_err(|bad| bad.shifted(position))?;
            }
            position += line.len() + 1;
        }
        match read.rules.is_empty() && read.also.is_empty() {
            true => Err(BadSchedule::new("there is no rule", "write one, as FREQ=WEEKLY;BYDAY=MO").at(0)),
            false => Ok(read),
        }
    }

    fn line(&mut self, line: &str, zone: &TimeZone, has_start: &mut bool) -> Result<(), BadSchedule> {
        let Some((head, value)) = line.split_once(':') else {
            self.rules.push(rule(line, 0, zone)?);
            return Ok(());
        };
        let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
        let value_at = head.len() + 1;
        check_parameters(parameters, name.len() + 1, zone)?;
        let dates = || {
            let mut at = value_at;
            value.split(',').map(move |item| {
                let (here, len) = (at, item.len() + 1);
                at += len;
                date(item, zone).map_err(|bad| bad.shifted(here))
            })
        };
        match name.to_ascii_uppercase().as_str() {
            "RRULE" => self.rules.push(rule(value, value_at, zone)?),
            "RDATE" => self.also.extend(dates().collect::<Result<Vec<_>, _>>()?),
            "EXDATE" => self.except.extend(dates().collect::<Result<Vec<_>, _>>()?),
            "DTSTART" if *has_start => return Err(BadSchedule::new("DTSTART is there twice", "keep one of them").at(0)),
            "DTSTART" => {
                *has_start = true;
                self.start = date(value, zone).map_err(|bad| bad.shifted(value_at))?.wall();
            }
            _ => {
                let advice = "DTSTART, RRULE, RDATE and EXDATE are allowed";
                return Err(BadSchedule::new(format!("{name:?} is not a line of a recurrence"), advice).at(0));
            }
        }
        Ok(())
    }
}

fn check_parameters(parameters: &str, at: usize, zone: &TimeZone) -> Result<(), BadSchedule> {
    for parameter in parameters.split(';').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let same_zone = zone.iana_name().is_some_and(|name| name.eq_ignore_ascii_case(value));
        match name.to_ascii_uppercase().as_str() {
            "VALUE" if ["DATE", "DATE-TIME"].iter().any(|kind| kind.eq_ignore_ascii_case(value)) => {}
            "TZID" if same_zone => {}
            "TZID" => {
                let problem = format!("TZID {value:?} is not the zone of the schedule");
                return Err(BadSchedule::new(problem, "leave it out, or change the schedule's zone").at(at));
            }
            _ => {
                let problem = format!("{parameter:?} is not understood");
                return Err(BadSchedule::new(problem, "TZID and VALUE=DATE or DATE-TIME are allowed").at(at));
            }
        }
    }
    Ok(())
}

/// `20261224`, `20261224T083000` or `20261224T083000Z`.
fn date(text: &str, zone: &TimeZone) -> Result<DateValue, BadSchedule> {
    let bad = || {
        let allowed = format!("years {}–{}", limits::SCHEDULE_YEAR_MIN, limits::SCHEDULE_YEAR_MAX);
        let advice = format!("write it as 20261224, 20261224T083000 or 20261224T083000Z; {allowed} are allowed");
        BadSchedule::new(format!("{text:?} is not a date"), advice).at(0)
    };
    let number = |from: usize, to: usize| -> Option<i16> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let part = |from: usize| number(from, from + 2).and_then(|value| i8::try_from(value).ok());
    let day = || Date::new(number(0, 4)?, part(4)?, part(6)?).ok();
    let clock = || Clock::new(part(9)?, part(11)?, part(13)?, 0).ok();
    let value = match (text.len(), text.get(8..9), text.get(15..)) {
        (8, ..) => day().map(|day| DateValue::Day(Wall::of_date(day))),
        (15, Some("T"), _) => day().zip(clock()).map(|(day, clock)| DateValue::Second(Wall::at(day, clock))),
        (16, Some("T"), Some("Z")) => day().zip(clock()).and_then(|(day, clock)| {
            let at = Offset::UTC.to_timestamp(day.to_datetime(clock)).ok()?;
            Some(DateValue::Second(Wall::of(zone.to_datetime(at))))
        }),
        _ => None,
    };
    value.filter(|value| value.wall().in_range()).ok_or_else(bad)
}

const FREQUENCIES: &[&str] = &["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"];
const WEEKDAYS: &[&str] = &["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// Lists of whole numbers: name, least, most, and whether they also count from the end.
const LISTS: &[(&str, i32, i32, bool)] = &[
    ("BYSECOND", 0, 59, false),
    ("BYMINUTE", 0, 59, false),
    ("BYHOUR", 0, 23, false),
    ("BYMONTHDAY", 1, 31, true),
    ("BYYEARDAY", 1, 366, true),
    ("BYWEEKNO", 1, 53, true),
    ("BYMONTH", 1, 12, false),
    ("BYSETPOS", 1, 366, true),
];

fn rule(text: &str, start: usize, zone: &TimeZone) -> Result<RuleText, BadSchedule> {
    let upper = text.to_ascii_uppercase();
    let mut read = RuleText { rule: String::new(), until: None, position: start };
    let mut seen: Vec<&str> = Vec::new();
    let mut at = start;
    for part in upper.split(';') {
        let here = at;
        at += part.len() + 1;
        if part.is_empty() {
            continue;
        }
        let Some((name, value)) = part.split_once('=') else {
            let problem = format!("{part:?} has no value");
            return Err(BadSchedule::new(problem, "write a name and a value, as FREQ=DAILY").at(here));
        };
        if seen.contains(&name) {
            return Err(BadSchedule::new(format!("{name} is there twice"), "keep one of them").at(here));
        }
        seen.push(name);
        let value_at = here + name.len() + 1;
        if name == "UNTIL" {
            read.until = Some(match date(value, zone).map_err(|bad| bad.shifted(value_at))? {
                DateValue::Day(day) => day.plus(DAY - 1),
                DateValue::Second(second) => second,
            });
            continue;
        }
        check_part(name, value, here, value_at)?;
        if !read.rule.is_empty() {
            read.rule.push(';');
        }
        read.rule.push_str(part);
    }
    if !seen.contains(&"FREQ") {
        return Err(BadSchedule::new("the rule has no FREQ", "write one, as FREQ=DAILY").at(start));
    }
    if read.until.is_some() && seen.contains(&"COUNT") {
        return Err(BadSchedule::new("the rule has both COUNT and UNTIL", "keep one of them").at(start));
    }
    Ok(read)
}

fn check_part(name: &str, value: &str, name_at: usize, value_at: usize) -> Result<(), BadSchedule> {
    let one_of = |allowed: &[&str], noun: &str| match allowed.contains(&value) {
        true => Ok(()),
        false => {
            let advice = format!("{} are allowed", allowed.join(", "));
            Err(BadSchedule::new(format!("{value:?} is not a {noun}"), advice).at(value_at))
        }
    };
    match name {
        "FREQ" => one_of(FREQUENCIES, "frequency"),
        "WKST" => one_of(WEEKDAYS, "weekday"),
        "INTERVAL" => whole(value, 1..=i64::from(limits::RRULE_INTERVAL_MAX), "INTERVAL", value_at),
        "COUNT" => whole(value, 1..=i64::from(limits::RRULE_COUNT_MAX), "COUNT", value_at),
        "BYDAY" => each(value, value_at, |item| {
            let (nth, day) = item.split_at_checked(item.len().wrapping_sub(2)).unwrap_or(("", item));
            let nth = nth.strip_prefix(['+', '-']).unwrap_or(nth);
            let counted =
                nth.is_empty() && item.len() == 2 || nth.parse::<u8>().is_ok_and(|nth| (1..=53).contains(&nth));
            match WEEKDAYS.contains(&day) && counted && !nth.starts_with('+') {
                true => Ok(()),
                false => Err(BadSchedule::new(format!("{item:?} is not a weekday"), "write MO, or 2MO, or -1MO")),
            }
        }),
        _ => match LISTS.iter().find(|(list, ..)| *list == name) {
            Some(&(_, min, max, negative)) => each(value, value_at, |item| {
                let digits = if negative { item.strip_prefix('-').unwrap_or(item) } else { item };
                let is_number =
                    !digits.is_empty() && digits.len() < 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
                match is_number && digits.parse::<i32>().is_ok_and(|number| (min..=max).contains(&number)) {
                    true => Ok(()),
                    false => {
                        let also = if negative { format!(" and -{max}–-{min}") } else { String::new() };
                        let problem = format!("{item:?} is not a value of {name}");
                        Err(BadSchedule::new(problem, format!("{min}–{max}{also} are allowed")))
                    }
                }
            }),
            None => {
                let lists = LISTS.iter().map(|(list, ..)| *list).collect::<Vec<_>>().join(", ");
                let advice = format!("FREQ, INTERVAL, COUNT, UNTIL, WKST, BYDAY, {lists} are");
                Err(BadSchedule::new(format!("{name:?} is not a part of a rule"), advice).at(name_at))
            }
        },
    }
}

fn whole(text: &str, range: std::ops::RangeInclusive<i64>, noun: &str, at: usize) -> Result<(), BadSchedule> {
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_number && text.parse().is_ok_and(|number| range.contains(&number)) {
        true => Ok(()),
        false => {
            let advice = format!("{}–{} are allowed", range.start(), range.end());
            Err(BadSchedule::new(format!("{text:?} is not a value of {noun}"), advice).at(at))
        }
    }
}

fn each(value: &str, at: usize, check: impl Fn(&str) -> Result<(), BadSchedule>) -> Result<(), BadSchedule> {
    let mut here = at;
    for item in value.split(',') {
        check(item).map_err(|bad| bad.at(here))?;
        here += item.len() + 1;
    }
    Ok(())
}
