//! Cron expressions: reads a person's text field by field, so that an error can point at its place, and hands the matching
//! and searching to croner, on the wall clock. Resolves no daylight saving.
//!
//! - `minute hour day month weekday`; six fields begin with seconds; seven end with the year.
//! - `*`, `5`, `1-5`, `*/10`, `1-30/5`, `5/10` (from 5 on), lists, `JAN`, `MON`; Sunday is 0 and 7.
//! - Day: `L` (last), `15W` (the working day nearest the 15th), `LW`. Weekday: `FRI#2` (second), `FRIL` (last). `?` is `*`.
//! - A day and a weekday that are both given match if either does, as in every cron since Vixie's; only a plain `*` counts as
//!   not given.
//! - `H` is a value that follows from the schedule's name, so that a thousand schedules do not fire in one second: `H`,
//!   `H(0-29)`, `H/15`, `H(0-29)/10`. It never moves: the same name has the same minute for ever.
//! - `@hourly @daily @midnight @weekly @monthly @yearly @annually` keep minute 0; only `H` spreads.

use croner::{Cron, CronComponent, CronPattern};

use super::ScheduleRef;
use super::bad::BadSchedule;
use super::cron_field::{FIELDS, Field, read};
use super::wall::Wall;
use crate::limits;

#[derive(Clone, Debug)]
pub(super) struct CronRule {
    cron: Cron,
    /// Without a field for seconds.
    whole_minutes: bool,
    every_hour: bool,
}

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl CronRule {
    pub fn parse(text: &str, seed: &ScheduleRef) -> Result<CronRule, BadSchedule> {
        if text.len() > limits::EXPRESSION_BYTES_MAX {
            let problem = format!("the expression has {} bytes", text.len());
            return Err(BadSchedule::new(problem, format!("{} are allowed", limits::EXPRESSION_BYTES_MAX)));
        }
        let trimmed = text.trim();
        if !trimmed.starts_with('@') {
            return parse_fields(text, seed);
        }
        match NICKNAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(trimmed)) {
            Some((_, meaning)) => parse_fields(meaning, seed),
            None => {
                let advice = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually are; for an interval \
                              use `every`";
                let at = text.len() - text.trim_start().len();
                Err(BadSchedule::new(format!("{trimmed:?} is not a nickname"), advice).at(at))
            }
        }
    }

    /// Whether it runs in every hour of the day, and so follows elapsed time when the clocks go back.
    pub fn every_hour(&self) -> bool {
        self.every_hour
    }

    pub fn at_or_after(&self, wall: Wall) -> Option<Wall> {
        // An error is the end of the years in the pattern: nothing comes any more.
        self.cron.find_next_occurrence(&wall.civil(), true).ok().map(Wall::of).filter(|found| found.in_range())
    }

    /// If the expression matches `wall`, the end of the stretch around it that is surely matched as well.
    pub fn covers_until(&self, wall: Wall) -> Option<Wall> {
        let civil = if self.whole_minutes { Wall(wall.0 - wall.0.rem_euclid(60)).civil() } else { wall.civil() };
        if !self.cron.is_time_matching(&civil).unwrap_or(false) {
            return None;
        }
        let all = |component: &CronComponent| (component.min..=component.max).all(|value| is_set(component, value));
        let pattern = &self.cron.pattern;
        let seconds = self.whole_minutes || all(&pattern.seconds);
        let length = match (seconds, all(&pattern.minutes), self.every_hour) {
            (true, true, true) => 24 * 3600,
            (true, true, false) => 3600,
            (true, false, _) => 60,
            (false, ..) => 1,
        };
        Some(Wall(wall.0 - wall.0.rem_euclid(length) + length))
    }
}

/// croner's bit for a plain value, which it does not export by name.
fn is_set(component: &CronComponent, value: u16) -> bool {
    component.is_bit_set(value, 1).unwrap_or(false)
}

fn parse_fields(text: &str, seed: &ScheduleRef) -> Result<CronRule, BadSchedule> {
    let words = words(text);
    let fields: Vec<&Field> = match words.len() {
        5 => FIELDS[1..6].iter().collect(),
        6 => FIELDS[..6].iter().collect(),
        7 => FIELDS.iter().collect(),
        0 => return Err(BadSchedule::new("the expression is empty", "write five fields, as 0 9 * * MON-FRI").at(0)),
        count => {
            let advice =
                "there are five (minute hour day month weekday), six with seconds first, seven with the year last";
            let at = words.get(7).map_or(text.trim_end().len(), |(at, _)| *at);
            return Err(BadSchedule::new(format!("there are {count} fields"), advice).at(at));
        }
    };
    let mut read_fields: [Option<String>; 7] = Default::default();
    for (&(at, word), field) in words.iter().zip(fields) {
        read_fields[field.index] = Some(read(field, word, seed).map_err(|bad| bad.shifted(at))?);
    }
    let whole_minutes = words.len() == 5;
    let cron = build(read_fields)?;
    let every_hour = (0..24).all(|hour| is_set(&cron.pattern.hours, hour));
    Ok(CronRule { cron, whole_minutes, every_hour })
}

/// Fills croner's pattern field by field.
///
/// The years end where our schedules end, which bounds the search of an expression that never matches. And a field for
/// days that is `*` beside one that is not stays empty: then "either matches" is what is left to say.
fn build(fields: [Option<String>; 7]) -> Result<Cron, BadSchedule> {
    let [seconds, minutes, hours, days, months, weekdays, years] = fields;
    let or_star = |field: Option<String>| field.unwrap_or_else(|| "*".into());
    let (days, weekdays) = (or_star(days), or_star(weekdays));
    let mut pattern = CronPattern::new("");
    pattern.years =
        CronComponent::new(limits::SCHEDULE_YEAR_MIN.unsigned_abs(), limits::SCHEDULE_YEAR_MAX.unsigned_abs(), 0, 0);
    let mut fill = vec![
        (&mut pattern.seconds, seconds.unwrap_or_else(|| "0".into())),
        (&mut pattern.minutes, or_star(minutes)),
        (&mut pattern.hours, or_star(hours)),
        (&mut pattern.months, or_star(months)),
        (&mut pattern.years, or_star(years)),
    ];
    let day_is_free = days == "*" && weekdays != "*";
    if weekdays != "*" {
        fill.push((&mut pattern.days_of_week, weekdays));
    }
    if !day_is_free {
        fill.push((&mut pattern.days, days));
    }
    for (component, text) in fill {
        // What the reader lets through croner understands; the random-text property holds them to it.
        component.parse(&text).map_err(|error| {
            BadSchedule::new(format!("{text:?} is not understood ({error})"), "write it in another way")
        })?;
    }
    Ok(Cron { pattern })
}

/// The words of a text, each with the byte where it begins.
fn words(text: &str) -> Vec<(usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split_whitespace().map(|word| (word.as_ptr() as usize - start, word)).collect()
}

#[cfg(test)]
#[path = "cron_tests.rs"]
mod tests;
