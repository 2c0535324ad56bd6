//! When a schedule does not fire.

use mainspring_core::limits::EXCLUSIONS_MAX;
use mainspring_core::schedule::{Exclusion, parse_clock, parse_date};
use mainspring_wire as wire;

use super::when::{kept, weekdays};
use crate::accept::Findings;
use crate::ask::FieldError;

pub(super) fn exclusions(said: &[wire::Exclusion], found: &mut Findings) -> Vec<Exclusion> {
    if said.len() > EXCLUSIONS_MAX {
        let message = format!("has {} items, and exclusions_max is {EXCLUSIONS_MAX}", said.len());
        found.add(FieldError::invalid("exclude", message).limited("exclusions_max", EXCLUSIONS_MAX as u64));
        return Vec::new();
    }
    said.iter().enumerate().filter_map(|(at, one)| exclusion(one, &format!("exclude[{at}]"), found)).collect()
}

fn exclusion(said: &wire::Exclusion, field: &str, found: &mut Findings) -> Option<Exclusion> {
    match said {
        wire::Exclusion::Date(text) => Some(Exclusion::Date(kept(parse_date(text), field.to_owned(), found)?)),
        wire::Exclusion::Dates { from, through } => {
            let from = kept(parse_date(from), format!("{field}.from"), found);
            let through = kept(parse_date(through), format!("{field}.through"), found)?;
            Some(Exclusion::Dates { from: from?, through })
        }
        wire::Exclusion::Weekdays(days) => {
            Some(Exclusion::Weekdays(weekdays(days, &format!("{field}.weekdays"), found)?))
        }
        wire::Exclusion::Times(times) => {
            let from = kept(parse_clock(&times.from), format!("{field}.times.from"), found);
            let to = kept(parse_clock(&times.to), format!("{field}.times.to"), found)?;
            Some(Exclusion::Times { from: from?, to })
        }
        wire::Exclusion::Cron(text) => Some(Exclusion::Cron(text.clone())),
        wire::Exclusion::Rrule(text) => Some(Exclusion::Rrule(text.clone())),
    }
}
