//! When a schedule fires: one rule by its own field, or several under `when`. Small words are read here, each at its place;
//! expressions are left to the core.

use std::time::Duration;

use mainspring_core::limits::SPECS_MAX;
use mainspring_core::schedule::{BadSchedule, ClockTimes, MonthDays, Spec, Weekdays, parse_clock};
use mainspring_wire::{self as wire, NewSchedule, Timing};

use super::Form;
use crate::accept::Findings;
use crate::ask::FieldError;
use crate::convert::time;

/// Every rule that a document has, under the names of their fields.
#[derive(Debug)]
pub(super) struct Timings {
    single: Vec<(&'static str, Timing)>,
    several: Vec<Timing>,
}

impl Timings {
    pub(super) fn of(said: &NewSchedule) -> Timings {
        let single = [
            said.cron.clone().map(|text| ("cron", Timing::Cron(text))),
            said.every.map(|every| ("every", Timing::Every(every))),
            said.daily.clone().map(|times| ("daily", Timing::Daily(times))),
            said.weekly.clone().map(|weekly| ("weekly", Timing::Weekly(weekly))),
            said.monthly.clone().map(|monthly| ("monthly", Timing::Monthly(monthly))),
            said.rrule.clone().map(|text| ("rrule", Timing::Rrule(text))),
        ];
        Timings { single: single.into_iter().flatten().collect(), several: said.when.clone() }
    }

    /// The rules, and how they were written down. One field says when: of two, it would be unclear whether both count.
    pub(super) fn read(self, found: &mut Findings) -> (Vec<Spec>, Form) {
        match (self.single.as_slice(), self.several.is_empty()) {
            ([], true) => {
                let message =
                    "say when: give one of cron, every, daily, weekly, monthly and rrule, or several under when";
                found.add(FieldError::invalid("when", message));
                (Vec::new(), Form::Several)
            }
            ([(name, timing)], true) => {
                let name: &'static str = name;
                (spec(timing, name, found).into_iter().collect(), Form::Single(name))
            }
            ([], false) => (self.several(found), Form::Several),
            ([(first, _), (second, _), ..], _) => {
                found.add(both(first, second));
                (Vec::new(), Form::Several)
            }
            ([(name, _)], false) => {
                found.add(both(name, "when"));
                (Vec::new(), Form::Several)
            }
        }
    }

    fn several(&self, found: &mut Findings) -> Vec<Spec> {
        if self.several.len() > SPECS_MAX {
            let message = format!("has {} rules, and specs_max is {SPECS_MAX}", self.several.len());
            found.add(FieldError::invalid("when", message).limited("specs_max", SPECS_MAX as u64));
            return Vec::new();
        }
        let read = |(at, timing): (usize, &Timing)| spec(timing, &format!("when[{at}].{}", name_of(timing)), found);
        self.several.iter().enumerate().filter_map(read).collect()
    }
}

fn both(first: &'static str, second: &'static str) -> FieldError {
    let message = format!(
        "{first} and {second} both say when: give one of them (in a patch, null takes the other away), or put all rules \
         under when"
    );
    FieldError::invalid(second, message)
}

fn name_of(timing: &Timing) -> &'static str {
    match timing {
        Timing::Cron(_) => "cron",
        Timing::Every(_) => "every",
        Timing::Daily(_) => "daily",
        Timing::Weekly(_) => "weekly",
        Timing::Monthly(_) => "monthly",
        Timing::Rrule(_) => "rrule",
    }
}

fn spec(timing: &Timing, field: &str, found: &mut Findings) -> Option<Spec> {
    match timing {
        Timing::Cron(text) => Some(Spec::Cron(text.clone())),
        Timing::Every(every) => {
            Some(Spec::Every { every: Duration::from(every.every), anchor: every.anchor.map(time) })
        }
        Timing::Daily(times) => Some(Spec::Daily { at: clock_times(times, field, found)? }),
        Timing::Weekly(weekly) => {
            let days = weekdays(&weekly.days, &format!("{field}.days"), found);
            let at = clock_times(&weekly.at, &format!("{field}.at"), found)?;
            Some(Spec::Weekly { days: days?, at })
        }
        Timing::Monthly(monthly) => {
            let days = month_days(&monthly.days, &format!("{field}.days"), found);
            let at = clock_times(&monthly.at, &format!("{field}.at"), found)?;
            Some(Spec::Monthly { days: days?, at })
        }
        Timing::Rrule(text) => Some(Spec::Rrule(text.clone())),
    }
}

fn clock_times(said: &wire::ClockTimes, field: &str, found: &mut Findings) -> Option<ClockTimes> {
    let mut times = Vec::with_capacity(said.0.len());
    for (at, text) in said.0.iter().enumerate() {
        let place = if said.0.len() == 1 { field.to_owned() } else { format!("{field}[{at}]") };
        times.push(kept(parse_clock(text), place, found)?);
    }
    kept(ClockTimes::new(times), field.to_owned(), found)
}

pub(super) fn weekdays(said: &[String], field: &str, found: &mut Findings) -> Option<Weekdays> {
    let mut days = Vec::with_capacity(7);
    for (at, text) in said.iter().enumerate() {
        days.extend(kept(Weekdays::parse(text), format!("{field}[{at}]"), found)?.iter());
    }
    kept(Weekdays::new(days), field.to_owned(), found)
}

fn month_days(said: &[i32], field: &str, found: &mut Findings) -> Option<MonthDays> {
    let mut days = Vec::with_capacity(said.len().min(64));
    for (at, &day) in said.iter().enumerate() {
        let place = format!("{field}[{at}]");
        let Ok(day) = i8::try_from(day) else {
            found.add(FieldError::invalid(
                place,
                format!("{day} is not a day of a month; 1 to 31 and -1 to -31 are allowed"),
            ));
            return None;
        };
        // One by one, so that the wrong one can be named.
        kept(MonthDays::new(vec![day]), place, found)?;
        days.push(day);
    }
    kept(MonthDays::new(days), field.to_owned(), found)
}

/// The value, or a finding at its place.
pub(super) fn kept<T>(read: Result<T, BadSchedule>, field: String, found: &mut Findings) -> Option<T> {
    read.map_err(|bad| {
        let place = bad.position.map(|at| format!(" (position {at})")).unwrap_or_default();
        found.add(FieldError::invalid(field, format!("{}{place}; {}", bad.problem, bad.advice)));
    })
    .ok()
}
