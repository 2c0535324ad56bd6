//! One compiled spec: an interval of real time, or a rule on the wall clock.

use std::time::Duration;

use super::bad::BadSchedule;
use super::cron::CronRule;
use super::exclude::Beside;
use super::rrule::RecurrenceRule;
use super::rrule_text::RecurrenceText;
use super::times::{Days, TimesRule};
use super::wall::Wall;
use super::when::Spec;
use crate::limits;

#[derive(Clone, Debug)]
pub(super) enum Source {
    Elapsed(Elapsed),
    Wall(Rule),
}

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Cron(Box<CronRule>),
    Times(TimesRule),
    Recurrence(RecurrenceRule),
}

impl Source {
    pub fn compile(spec: &Spec, beside: &Beside<'_>) -> Result<Source, BadSchedule> {
        Ok(match spec {
            Spec::Every { every, anchor } => {
                check_every(*every).map_err(|bad| bad.within("every"))?;
                let every_ms = every.as_millis() as u64;
                let phase = anchor.map_or(0, |anchor| anchor.as_millis() % every_ms);
                Source::Elapsed(Elapsed { every_ms, phase_ms: phase })
            }
            Spec::Cron(text) => {
                let cron = CronRule::parse(text, beside.seed).map_err(|bad| bad.within("cron"))?;
                Source::Wall(Rule::Cron(Box::new(cron)))
            }
            Spec::Rrule(text) => {
                let read = RecurrenceText::parse(text, beside.zone, beside.start);
                let rule = read.and_then(|text| RecurrenceRule::new(&text)).map_err(|bad| bad.within("rrule"))?;
                Source::Wall(Rule::Recurrence(rule))
            }
            Spec::Daily { at } => Source::Wall(Rule::Times(TimesRule::new(Days::All, at))),
            Spec::Weekly { days, at } => Source::Wall(Rule::Times(TimesRule::new(Days::Weekdays(*days), at))),
            Spec::Monthly { days, at } => Source::Wall(Rule::Times(TimesRule::new(Days::Month(days.clone()), at))),
        })
    }

    pub fn is_elapsed(&self) -> bool {
        matches!(self, Source::Elapsed(_))
    }
}

fn check_every(every: Duration) -> Result<(), BadSchedule> {
    if !(limits::EVERY_MIN..=limits::EVERY_MAX).contains(&every) {
        let allowed = format!("{:?} to {} days are allowed", limits::EVERY_MIN, limits::EVERY_MAX.as_secs() / 86_400);
        return Err(BadSchedule::new(format!("{every:?} is not an interval"), allowed));
    }
    match every.subsec_nanos() % 1_000_000 {
        0 => Ok(()),
        _ => Err(BadSchedule::new(
            format!("{every:?} has a fraction of a millisecond"),
            "whole milliseconds are allowed",
        )),
    }
}

/// Every so many milliseconds, since the beginning of time and for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub every_ms: u64,
    /// Of the anchor, less than `every_ms`.
    pub phase_ms: u64,
}

impl Elapsed {
    pub fn at_or_after(&self, from_ms: u64) -> Option<u64> {
        let passed = from_ms.saturating_sub(self.phase_ms).div_ceil(self.every_ms);
        passed.checked_mul(self.every_ms)?.checked_add(self.phase_ms)
    }
}

impl Rule {
    pub fn every_hour(&self) -> bool {
        match self {
            Rule::Cron(cron) => cron.every_hour(),
            Rule::Times(_) => false,
            Rule::Recurrence(rule) => rule.every_hour(),
        }
    }

    pub fn at_or_after(&self, wall: Wall) -> Option<Wall> {
        match self {
            Rule::Cron(cron) => cron.at_or_after(wall),
            Rule::Times(times) => times.at_or_after(wall).filter(|found| found.in_range()),
            Rule::Recurrence(rule) => rule.at_or_after(wall),
        }
    }
}
