//! One field of a cron expression: reads it, and writes it again in numbers alone: names, `H` and Sunday as 7 are gone.
//! Knows nothing of the other fields.

use super::ScheduleRef;
use super::bad::BadSchedule;
use super::identity::spread_of;
use crate::limits;

pub(super) struct Field {
    /// Its place among the seven, which also keeps the `H` of the fields apart.
    pub index: usize,
    noun: &'static str,
    min: u16,
    max: u16,
    names: &'static [&'static str],
    marks: Marks,
}

#[derive(Clone, Copy, PartialEq)]
enum Marks {
    None,
    /// `L`, `W`, `LW`, `?`
    Day,
    /// `#`, `L` after a day, `?`
    Weekday,
}

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

pub(super) const FIELDS: [Field; 7] = [
    Field { index: 0, noun: "second", min: 0, max: 59, names: &[], marks: Marks::None },
    Field { index: 1, noun: "minute", min: 0, max: 59, names: &[], marks: Marks::None },
    Field { index: 2, noun: "hour", min: 0, max: 23, names: &[], marks: Marks::None },
    Field { index: 3, noun: "day", min: 1, max: 31, names: &[], marks: Marks::Day },
    Field { index: 4, noun: "month", min: 1, max: 12, names: MONTHS, marks: Marks::None },
    Field { index: 5, noun: "weekday", min: 0, max: 7, names: WEEKDAYS, marks: Marks::Weekday },
    Field {
        index: 6,
        noun: "year",
        min: limits::SCHEDULE_YEAR_MIN as u16,
        max: limits::SCHEDULE_YEAR_MAX as u16,
        names: &[],
        marks: Marks::None,
    },
];

/// A field in numbers, as croner reads it. Positions of errors are counted from the field's first byte.
pub(super) fn read(field: &Field, text: &str, seed: &ScheduleRef) -> Result<String, BadSchedule> {
    if is_star(field, text) {
        return Ok("*".into());
    }
    let mut start = 0;
    let mut items = Vec::new();
    for item in text.split(',') {
        let item_text = Item { field, text: item, seed };
        items.push(item_text.read().map_err(|bad| bad.shifted(start))?);
        start += item.len() + 1;
    }
    Ok(items.join(","))
}

fn is_star(field: &Field, text: &str) -> bool {
    text == "*" || text == "?" && field.marks != Marks::None
}

struct Item<'a> {
    field: &'a Field,
    text: &'a str,
    seed: &'a ScheduleRef,
}

impl Item<'_> {
    fn read(&self) -> Result<String, BadSchedule> {
        if let Some(marked) = self.read_marked()? {
            return Ok(marked);
        }
        let (range, step) = match self.text.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step, range.len() + 1)?)),
            None => (self.text, None),
        };
        if range.starts_with(['H', 'h']) && !self.field.names.iter().any(|name| name.eq_ignore_ascii_case(range)) {
            return self.read_spread(range, step);
        }
        let (first, last) = match range.split_once('-') {
            _ if is_star(self.field, range) => (self.field.min, self.top()),
            Some((first, last)) => (self.value(first, 0)?, self.value(last, first.len() + 1)?),
            None if step.is_some() => (self.value(range, 0)?, self.top()),
            None => (self.value(range, 0)?, self.value(range, 0)?),
        };
        if first > last {
            let advice = "write the earlier one first, or two ranges";
            return Err(BadSchedule::new(format!("{range:?} runs backwards"), advice).at(0));
        }
        Ok(self.write(first, last, step.unwrap_or(1)))
    }

    /// Where `*` ends: Sunday is not counted twice.
    fn top(&self) -> u16 {
        if self.field.marks == Marks::Weekday { 6 } else { self.field.max }
    }

    fn write(&self, first: u16, last: u16, step: u16) -> String {
        if self.field.marks == Marks::Weekday {
            let days = (first..=last).step_by(usize::from(step)).map(|day| (day % 7).to_string());
            return days.collect::<Vec<_>>().join(",");
        }
        match (first == last, step) {
            (true, _) => first.to_string(),
            (false, 1) => format!("{first}-{last}"),
            (false, _) => format!("{first}-{last}/{step}"),
        }
    }

    /// `L`, `LW`, `15W`, `FRI#2`, `FRIL`.
    fn read_marked(&self) -> Result<Option<String>, BadSchedule> {
        let upper = self.text.to_ascii_uppercase();
        match self.field.marks {
            Marks::None => Ok(None),
            Marks::Day if upper == "L" || upper == "LW" => Ok(Some(upper)),
            Marks::Day => match upper.strip_suffix('W') {
                Some(day) => Ok(Some(format!("{}W", self.value(day, 0)?))),
                None => Ok(None),
            },
            Marks::Weekday => match (upper.split_once('#'), upper.strip_suffix('L')) {
                (Some((day, nth)), _) => match nth {
                    "1" | "2" | "3" | "4" | "5" => Ok(Some(format!("{}#{nth}", self.value(day, 0)? % 7))),
                    "L" => Ok(Some(format!("{}#L", self.value(day, 0)? % 7))),
                    _ => {
                        let problem = format!("{:?} is not a place in the month", &self.text[day.len() + 1..]);
                        Err(BadSchedule::new(problem, "#1 to #5 are allowed, and L for the last").at(day.len() + 1))
                    }
                },
                (None, Some("")) => {
                    Err(BadSchedule::new("L needs a weekday", "write it before the L, as FRIL for the last Friday")
                        .at(0))
                }
                (None, Some(day)) => Ok(Some(format!("{}#L", self.value(day, 0)? % 7))),
                (None, None) => Ok(None),
            },
        }
    }

    /// `H`, `H(0-29)`, either with a step.
    fn read_spread(&self, range: &str, step: Option<u16>) -> Result<String, BadSchedule> {
        if self.field.noun == "year" {
            return Err(BadSchedule::new("a year cannot be spread with H", "write the years, or *").at(0));
        }
        let inside = range[1..].strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (first, last) = match (range.len(), inside.and_then(|inside| inside.split_once('-'))) {
            // Every month has a 28th.
            (1, _) if self.field.marks == Marks::Day => (1, 28),
            (1, _) => (self.field.min, self.top()),
            (_, Some((first, last))) => (self.value(first, 2)?, self.value(last, first.len() + 3)?),
            _ => return Err(BadSchedule::new(format!("{range:?} is not a spread"), "write H or H(0-29)").at(0)),
        };
        if first > last {
            return Err(BadSchedule::new(format!("{range:?} runs backwards"), "write the earlier one first").at(2));
        }
        let among = step.unwrap_or(u16::MAX).min(last - first + 1);
        let first = first + (spread_of(self.seed, self.field.index as u64) % u64::from(among)) as u16;
        Ok(match step {
            Some(step) => self.write(first, last, step),
            None => self.write(first, first, 1),
        })
    }

    fn value(&self, text: &str, at: usize) -> Result<u16, BadSchedule> {
        let Field { noun, min, max, names, .. } = self.field;
        if let Some(index) = names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
            return Ok(index as u16 + min);
        }
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = if is_number { text.parse::<u16>().ok() } else { None };
        value.filter(|value| (min..=max).contains(&value)).ok_or_else(|| {
            let named = match (names.first(), names.last()) {
                (Some(first), Some(last)) => format!(" and {first}–{last}"),
                _ => String::new(),
            };
            BadSchedule::new(format!("{text:?} is not a {noun}"), format!("{min}–{max}{named} are allowed")).at(at)
        })
    }

    fn step(&self, text: &str, at: usize) -> Result<u16, BadSchedule> {
        let widest = self.top() - self.field.min + 1;
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let step = if is_number { text.parse::<u16>().ok() } else { None };
        step.filter(|step| (1..=widest).contains(step)).ok_or_else(|| {
            let problem = format!("{text:?} is not a step of {}s", self.field.noun);
            BadSchedule::new(problem, format!("1–{widest} are allowed")).at(at)
        })
    }
}
