//! RFC 5545 recurrence rules on the wall clock. The one file that speaks chrono, because the `rrule` crate does; it
//! converts at once. The crate is given the rule alone: dates and zones are read in [`super::rrule_text`], because the
//! crate would read them with the machine's own time zone. Resolves no daylight saving.

use std::sync::OnceLock;

use chrono::{DateTime as ChronoDateTime, Datelike, Months, NaiveTime, TimeDelta, TimeZone as _};
use rrule::{Frequency, RRule, RRuleSet, Tz, Unvalidated, Validated};

use super::bad::BadSchedule;
use super::rrule_text::{DateValue, RecurrenceText, RuleText};
use super::wall::{DAY, Wall};
use crate::limits;

/// The recurrence set of one text.
#[derive(Clone, Debug)]
pub(super) struct RecurrenceRule {
    rules: Vec<Rule>,
    /// `RDATE`s, rising.
    also: Vec<Wall>,
    /// `EXDATE`s.
    except: Vec<DateValue>,
    /// From here on nothing comes any more, once that was found out: it takes the crate up to 40 ms.
    over_from: OnceLock<Wall>,
}

#[derive(Clone, Debug)]
struct Rule {
    rule: RRule<Validated>,
    start: Wall,
    until: Wall,
}

impl RecurrenceRule {
    pub fn new(text: &RecurrenceText) -> Result<RecurrenceRule, BadSchedule> {
        let rules = text.rules.iter().map(|rule| Rule::new(rule, text.start)).collect::<Result<_, _>>()?;
        let mut also: Vec<Wall> = text.also.iter().map(|date| date.wall()).collect();
        also.sort_unstable();
        Ok(RecurrenceRule { rules, also, except: text.except.clone(), over_from: OnceLock::new() })
    }

    /// Whether it runs in every hour of the day, and so follows elapsed time when the clocks go back.
    pub fn every_hour(&self) -> bool {
        !self.rules.is_empty() && self.rules.iter().all(Rule::every_hour)
    }

    /// Whether all it says is days: no rule has two times on one day.
    pub fn names_days(&self) -> bool {
        let once = |rule: &Rule| rule.rule.get_freq() <= Frequency::Daily && rule.times_of_day() == 1;
        self.rules.iter().all(once)
    }

    pub fn at_or_after(&self, wall: Wall) -> Option<Wall> {
        if self.over_from.get().is_some_and(|&over| wall >= over) {
            return None;
        }
        let found = self.search(wall);
        if found.is_none() {
            self.over_from.get_or_init(|| wall);
        }
        found
    }

    fn search(&self, wall: Wall) -> Option<Wall> {
        let mut from = wall;
        // Each step passes at least one of the exceptions.
        for _ in 0..=self.except.len() {
            let ruled = self.rules.iter().filter_map(|rule| rule.at_or_after(from));
            let also = self.also.iter().copied().find(|&date| date >= from);
            let found = ruled.chain(also).min().filter(|found| found.in_range())?;
            match self.except.iter().filter_map(|date| date.covers_until(found)).max() {
                Some(until) => from = until,
                None => return Some(found),
            }
        }
        None
    }
}

impl Rule {
    fn new(text: &RuleText, start: Wall) -> Result<Rule, BadSchedule> {
        let refuse = |error: rrule::RRuleError| {
            let said = error.to_string();
            let problem = format!("the rule is refused: {}", said.trim_end_matches('.'));
            BadSchedule::new(problem, "see RFC 5545, section 3.3.10").at(text.position)
        };
        let rule: RRule<Unvalidated> = text.rule.parse().map_err(refuse)?;
        let rule = rule.validate(chrono_of(start)).map_err(refuse)?;
        let rule = Rule { rule, start, until: text.until.unwrap_or(Wall::MAX) };
        if rule.times() > limits::RRULE_PERIOD_MAX {
            let problem = format!("the rule has up to {} times in one period", rule.times());
            let advice =
                format!("{} are allowed; use FREQ=DAILY with the same parts, or a cron", limits::RRULE_PERIOD_MAX);
            return Err(BadSchedule::new(problem, advice).at(text.position));
        }
        // The crate would try every second for a position that a second does not have.
        if !rule.rule.get_by_set_pos().is_empty() && rule.rule.get_freq() > Frequency::Daily {
            let problem = "BYSETPOS is there for a frequency within the day";
            return Err(BadSchedule::new(problem, "use FREQ=DAILY or longer, or a cron").at(text.position));
        }
        if rule.leaps() {
            let problem = "a rule for every so many minutes or seconds also names times of the day";
            return Err(BadSchedule::new(problem, "write it as a cron, or leave them out").at(text.position));
        }
        Ok(rule)
    }

    /// The crate (0.14) would leave occurrences out: when it leaps to the next hour or minute that such a rule names, it
    /// lands between two intervals, or a day too far if days are left out as well.
    fn leaps(&self) -> bool {
        let names_minutes = !self.rule.get_by_hour().is_empty() || !self.rule.get_by_minute().is_empty();
        match self.rule.get_freq() {
            Frequency::Minutely => names_minutes,
            Frequency::Secondly => names_minutes || !self.rule.get_by_second().is_empty(),
            _ => false,
        }
    }

    /// The crate writes out every one of these, for a whole period.
    fn times(&self) -> usize {
        let days = match self.rule.get_freq() {
            Frequency::Yearly => 366,
            Frequency::Monthly => 31,
            Frequency::Weekly => 7,
            _ => 1,
        };
        days * self.times_of_day()
    }

    /// For a frequency within the day, the times of one such period.
    fn times_of_day(&self) -> usize {
        let hours = if self.rule.get_freq() < Frequency::Hourly { self.rule.get_by_hour().len() } else { 1 };
        let minutes = if self.rule.get_freq() < Frequency::Minutely { self.rule.get_by_minute().len() } else { 1 };
        let seconds = if self.rule.get_freq() < Frequency::Secondly { self.rule.get_by_second().len() } else { 1 };
        hours * minutes * seconds
    }

    fn every_hour(&self) -> bool {
        let often = match self.rule.get_freq() {
            Frequency::Hourly => self.rule.get_interval() == 1,
            frequency => frequency > Frequency::Hourly,
        };
        often && self.rule.get_by_hour().is_empty()
    }

    fn at_or_after(&self, wall: Wall) -> Option<Wall> {
        if wall > self.until {
            return None;
        }
        let start = self.start_near(wall);
        let set = RRuleSet::new(start).limit().rrule(self.rule.clone());
        let found = set.into_iter().map(|found| Wall(found.timestamp())).find(|&found| found >= wall);
        found.filter(|&found| found <= self.until)
    }

    /// The crate walks from the start, and a rule for every minute would walk for millions of steps. Starting later at
    /// a whole number of intervals gives the same occurrences; for weeks and less at least one interval before `wall`,
    /// because the first period can be a partial one. A rule with `COUNT` must be walked.
    fn start_near(&self, wall: Wall) -> ChronoDateTime<Tz> {
        let start = chrono_of(self.start);
        if self.rule.get_count().is_some() || wall <= self.start {
            return start;
        }
        let interval = i64::from(self.rule.get_interval());
        let passed = wall.0 - self.start.0;
        let by = |seconds: i64| {
            let periods = passed / (interval * seconds) - 1;
            (periods > 0).then(|| start + TimeDelta::seconds(periods * interval * seconds))
        };
        let months = |months: i64| {
            let now = chrono_of(wall);
            let passed = i64::from(now.year() - start.year()) * 12 + i64::from(now.month()) - i64::from(start.month());
            let periods = passed / (interval * months);
            if periods <= 0 {
                return None;
            }
            // The rule names its days by now; the first of the month is one that every month has.
            let first = start.with_day(1)?.with_time(NaiveTime::MIN).single()?;
            first.checked_add_months(Months::new(u32::try_from(periods * interval * months).ok()?))
        };
        let near = match self.rule.get_freq() {
            Frequency::Yearly => months(12),
            Frequency::Monthly => months(1),
            Frequency::Weekly => by(7 * DAY),
            Frequency::Daily => by(DAY),
            Frequency::Hourly => by(3600),
            Frequency::Minutely => by(60),
            Frequency::Secondly => by(1),
        };
        near.unwrap_or(start)
    }
}

fn chrono_of(wall: Wall) -> ChronoDateTime<Tz> {
    let clamped = wall.0.clamp(Wall::MIN.0, Wall::MAX.0);
    Tz::UTC
        .timestamp_opt(clamped, 0)
        .single()
        .expect("the years of schedules are within those of chrono, and UTC is single")
}

#[cfg(test)]
#[path = "rrule_tests.rs"]
mod tests;
