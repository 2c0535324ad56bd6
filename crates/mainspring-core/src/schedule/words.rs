//! The small words of a schedule: times of day, weekdays, days of a month, dates. Each is parsed from what a person wrote,
//! and one that exists is valid. Knows no zone and no year.

use std::fmt;

use jiff::civil::{Date, Time, Weekday};

use super::bad::BadSchedule;
use crate::limits;

/// Times of day, in order, each once; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClockTimes(Vec<Time>);

impl ClockTimes {
    pub fn new(mut times: Vec<Time>) -> Result<ClockTimes, BadSchedule> {
        if times.is_empty() {
            return Err(BadSchedule::new("there is no time of day", "write one, as 09:00"));
        }
        if times.len() > limits::CLOCK_TIMES_MAX {
            let problem = format!("there are {} times of day", times.len());
            return Err(BadSchedule::new(problem, format!("{} are allowed", limits::CLOCK_TIMES_MAX)));
        }
        if let Some(time) = times.iter().find(|time| time.subsec_nanosecond() != 0) {
            return Err(BadSchedule::new(format!("{time} has a fraction of a second"), "whole seconds are allowed"));
        }
        times.sort_unstable();
        times.dedup();
        Ok(ClockTimes(times))
    }

    /// `09:00`, or several: `09:00, 17:30:15`.
    pub fn parse(text: &str) -> Result<ClockTimes, BadSchedule> {
        let times = items(text).map(|(at, item)| parse_clock(item).map_err(|bad| bad.shifted(at)));
        ClockTimes::new(times.collect::<Result<_, _>>()?)
    }

    pub fn as_slice(&self) -> &[Time] {
        &self.0
    }
}

/// A time of day: `9:30`, `09:30` or `09:30:15`.
pub fn parse_clock(text: &str) -> Result<Time, BadSchedule> {
    let bad = || BadSchedule::new(format!("{text:?} is not a time of day"), "write it as 09:30 or 09:30:15").at(0);
    let mut parts = text.split(':').map(|part| match part.len() {
        1 | 2 if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse::<i8>().ok(),
        _ => None,
    });
    let (hour, minute, second) = (parts.next(), parts.next(), parts.next().unwrap_or(Some(0)));
    match (hour.flatten(), minute.flatten(), second, parts.next()) {
        (Some(hour), Some(minute), Some(second), None) => Time::new(hour, minute, second, 0).map_err(|_| bad()),
        _ => Err(bad()),
    }
}

/// A date: `2026-12-24`.
pub fn parse_date(text: &str) -> Result<Date, BadSchedule> {
    let bad = || BadSchedule::new(format!("{text:?} is not a date"), "write it as 2026-12-24").at(0);
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return Err(bad()) };
    let number = |part: &str, len: usize| match part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.parse::<i16>().ok(),
        false => None,
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return Err(bad());
    };
    Date::new(year, month as i8, day as i8).map_err(|_| bad())
}

/// A set of weekdays; at least one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Weekdays(u8);

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

impl Weekdays {
    pub fn new(days: impl IntoIterator<Item = Weekday>) -> Result<Weekdays, BadSchedule> {
        let set = days.into_iter().fold(0, |set, day| set | 1 << day.to_monday_zero_offset());
        match set {
            0 => Err(BadSchedule::new("there is no weekday", "write one, as mon")),
            _ => Ok(Weekdays(set)),
        }
    }

    /// `mon, wed`, `mon-fri`, `fri-mon`; long names too.
    pub fn parse(text: &str) -> Result<Weekdays, BadSchedule> {
        let mut set = 0u8;
        for (at, item) in items(text) {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let first_day = weekday(first.trim()).map_err(|bad| bad.shifted(at))?;
            let last_day = weekday(last.trim()).map_err(|bad| bad.shifted(at + item.len() - last.len()))?;
            let mut day = first_day;
            while day != last_day {
                set |= 1 << day;
                day = (day + 1) % 7;
            }
            set |= 1 << last_day;
        }
        match set {
            0 => Err(BadSchedule::new("there is no weekday", "write one, as mon")),
            _ => Ok(Weekdays(set)),
        }
    }

    pub fn contains(self, day: Weekday) -> bool {
        self.0 >> day.to_monday_zero_offset() & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = Weekday> {
        WEEKDAYS.into_iter().map(|(_, day)| day).filter(move |&day| self.contains(day))
    }
}

/// Counted from Monday.
fn weekday(text: &str) -> Result<u8, BadSchedule> {
    const LONG: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let is = |name: &str| name.eq_ignore_ascii_case(text);
    let found = (0u8..).zip(WEEKDAYS).find(|&(at, (short, _))| is(short) || is(LONG[usize::from(at)]));
    found.map(|(at, _)| at).ok_or_else(|| {
        BadSchedule::new(format!("{text:?} is not a weekday"), "mon, tue, wed, thu, fri, sat and sun are allowed").at(0)
    })
}

impl fmt::Display for Weekdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = WEEKDAYS.iter().filter(|(_, day)| self.contains(*day)).map(|(name, _)| *name);
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for Weekdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Days of a month: 1 to 31, or counted from its end: -1 is the last. A day that a month does not have is not moved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonthDays(Vec<i8>);

impl MonthDays {
    pub fn new(mut days: Vec<i8>) -> Result<MonthDays, BadSchedule> {
        const ALLOWED: &str = "1 to 31 and -1 to -31 are allowed, -1 is the last day";
        if days.is_empty() || days.len() > limits::MONTH_DAYS_MAX {
            return Err(BadSchedule::new(format!("there are {} days of the month", days.len()), ALLOWED));
        }
        if let Some(day) = days.iter().find(|day| !matches!(day, 1..=31 | -31..=-1)) {
            return Err(BadSchedule::new(format!("{day} is not a day of a month"), ALLOWED));
        }
        days.sort_unstable();
        days.dedup();
        Ok(MonthDays(days))
    }

    /// `1, 15, -1`; `last` is -1.
    pub fn parse(text: &str) -> Result<MonthDays, BadSchedule> {
        let day = |(at, item): (usize, &str)| match item.eq_ignore_ascii_case("last") {
            true => Ok(-1),
            false => item.parse::<i8>().ok().filter(|day| matches!(day, 1..=31 | -31..=-1)).ok_or_else(|| {
                let problem = format!("{item:?} is not a day of a month");
                BadSchedule::new(problem, "1 to 31, -1 to -31 and last are allowed").at(at)
            }),
        };
        MonthDays::new(items(text).map(day).collect::<Result<_, _>>()?)
    }

    pub fn as_slice(&self) -> &[i8] {
        &self.0
    }

    pub(super) fn contains(&self, date: Date) -> bool {
        let from_end = date.day() - date.days_in_month() - 1;
        self.0.contains(&date.day()) || self.0.contains(&from_end)
    }
}

/// The items of a list with commas, each with the byte where it begins.
fn items(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split(',').map(move |part| {
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        (at, part.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_read_in_order_and_once() {
        let times = ClockTimes::parse("17:30:15, 9:00,09:00").unwrap();
        assert_eq!(times.as_slice(), [Time::constant(9, 0, 0, 0), Time::constant(17, 30, 15, 0)]);
        let check = |text: &str, expected: &str| {
            assert_eq!(ClockTimes::parse(text).unwrap_err().within("at").to_string(), expected);
        };
        check("09:00, 24:00", "at: \"24:00\" is not a time of day (position 7); write it as 09:30 or 09:30:15");
        check("", "at: \"\" is not a time of day (position 0); write it as 09:30 or 09:30:15");
        check("9", "at: \"9\" is not a time of day (position 0); write it as 09:30 or 09:30:15");
        check("09:00:00:00", "at: \"09:00:00:00\" is not a time of day (position 0); write it as 09:30 or 09:30:15");
        assert!(ClockTimes::new(vec![]).is_err());
        assert!(ClockTimes::new(vec![Time::constant(1, 0, 0, 5)]).is_err());
        let at_most = limits::CLOCK_TIMES_MAX as i8;
        assert!(ClockTimes::new((0..at_most).map(|at| Time::constant(at / 60, at % 60, 0, 0)).collect()).is_ok());
        assert!(ClockTimes::new((0..=at_most).map(|at| Time::constant(at / 60, at % 60, 0, 0)).collect()).is_err());
    }

    #[test]
    fn weekdays_read_as_names_and_ranges() {
        assert_eq!(Weekdays::parse("mon-fri").unwrap().to_string(), "mon,tue,wed,thu,fri");
        assert_eq!(Weekdays::parse("Saturday, SUN").unwrap().to_string(), "sat,sun");
        assert_eq!(Weekdays::parse("fri-mon").unwrap().to_string(), "mon,fri,sat,sun");
        assert_eq!(Weekdays::new([Weekday::Sunday]).unwrap().iter().collect::<Vec<_>>(), [Weekday::Sunday]);
        let bad = Weekdays::parse("mon, tue-xyz").unwrap_err();
        assert_eq!((bad.position, bad.problem.as_str()), (Some(9), "\"xyz\" is not a weekday"));
        assert!(Weekdays::new([]).is_err());
    }

    #[test]
    fn days_of_a_month_count_from_both_ends() {
        let days = MonthDays::parse("1, last, -3").unwrap();
        let on = |day| days.contains(Date::constant(2028, 2, day));
        assert_eq!((1..=29).filter(|&day| on(day)).collect::<Vec<_>>(), [1, 27, 29]);
        assert_eq!(MonthDays::parse("1,0").unwrap_err().position, Some(2));
        assert!(MonthDays::new(vec![]).is_err());
        assert!(MonthDays::new(vec![32]).is_err());
        assert!(MonthDays::new(vec![1; limits::MONTH_DAYS_MAX]).is_ok());
        assert!(MonthDays::new(vec![1; limits::MONTH_DAYS_MAX + 1]).is_err());
    }

    #[test]
    fn a_date_is_a_real_day() {
        assert_eq!(parse_date("2028-02-29").unwrap(), Date::constant(2028, 2, 29));
        for text in ["2026-02-29", "2026-2-9", "26-02-09", "2026-02", "+026-02-09", "2026-02-09-1", ""] {
            assert_eq!(parse_date(text).unwrap_err().position, Some(0), "{text}");
        }
    }
}
