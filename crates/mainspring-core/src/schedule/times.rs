//! Daily, weekly and monthly times of day on the wall clock. Resolves no daylight saving.

use jiff::civil::Date;

use super::wall::{DAY, Wall};
use super::words::{ClockTimes, MonthDays, Weekdays};

#[derive(Clone, Debug)]
pub(super) struct TimesRule {
    days: Days,
    /// Seconds of the day, rising.
    seconds: Vec<i64>,
}

#[derive(Clone, Debug)]
pub(super) enum Days {
    All,
    Weekdays(Weekdays),
    Month(MonthDays),
}

/// The 31st of a month is at most this far away: July and August both have one, and so has January after December.
const DAYS_MAX: i64 = 2 * 31;

impl TimesRule {
    pub fn new(days: Days, at: &ClockTimes) -> TimesRule {
        let second = |clock: &jiff::civil::Time| {
            i64::from(clock.hour()) * 3600 + i64::from(clock.minute()) * 60 + i64::from(clock.second())
        };
        TimesRule { days, seconds: at.as_slice().iter().map(second).collect() }
    }

    pub fn at_or_after(&self, wall: Wall) -> Option<Wall> {
        let today = wall.midnight();
        (0..=DAYS_MAX)
            .map(|day| today.plus(day * DAY))
            .filter(|midnight| self.on(midnight.civil().date()))
            .find_map(|midnight| self.seconds.iter().map(|&second| midnight.plus(second)).find(|&found| found >= wall))
    }

    fn on(&self, date: Date) -> bool {
        match &self.days {
            Days::All => true,
            Days::Weekdays(days) => days.contains(date.weekday()),
            Days::Month(days) => days.contains(date),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(days: Days, at: &str, from: &str, expected: &[&str]) {
        let rule = TimesRule::new(days, &ClockTimes::parse(at).unwrap());
        let mut wall = Wall::of(from.parse().unwrap());
        for expected in expected {
            wall = rule.at_or_after(wall).expect("goes on");
            assert_eq!(wall.civil().to_string(), *expected);
            wall = wall.plus(1);
        }
    }

    #[test]
    fn times_of_day_come_on_their_days_in_order() {
        check(
            Days::All,
            "09:00,17:30",
            "2026-12-31T10:00",
            &["2026-12-31T17:30:00", "2027-01-01T09:00:00", "2027-01-01T17:30:00"],
        );
        check(
            Days::Weekdays(Weekdays::parse("mon,fri").unwrap()),
            "00:00",
            "2026-11-16T00:00",
            &["2026-11-16T00:00:00", "2026-11-20T00:00:00", "2026-11-23T00:00:00"],
        );
        check(
            Days::Month(MonthDays::parse("31,-1").unwrap()),
            "23:59:59",
            "2027-01-31T23:59:59",
            &["2027-01-31T23:59:59", "2027-02-28T23:59:59", "2027-03-31T23:59:59", "2027-04-30T23:59:59"],
        );
        check(
            Days::Month(MonthDays::parse("-31").unwrap()),
            "00:00",
            "2027-01-02T00:00",
            &["2027-03-01T00:00:00", "2027-05-01T00:00:00", "2027-07-01T00:00:00", "2027-08-01T00:00:00"],
        );
    }
}
