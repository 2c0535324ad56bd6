//! What a schedule leaves out: is this time on the wall excluded, and until when surely? Chooses no occurrence.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::ScheduleRef;
use super::bad::BadSchedule;
use super::cron::CronRule;
use super::rrule::RecurrenceRule;
use super::rrule_text::RecurrenceText;
use super::wall::{DAY, Wall};
use super::when::Exclusion;
use super::words::Weekdays;
use crate::limits;

#[derive(Clone, Debug, Default)]
pub(super) struct Exclusions {
    /// From and through, rising, not touching.
    dates: Vec<(Date, Date)>,
    weekdays: Vec<Weekdays>,
    /// Seconds of the day, the second one excluded; past midnight if it is the lesser.
    times: Vec<(i64, i64)>,
    crons: Vec<CronRule>,
    /// With its place among all exclusions.
    rules: Vec<(usize, RecurrenceRule)>,
}

/// What an exclusion is read beside.
pub(super) struct Beside<'a> {
    pub seed: &'a ScheduleRef,
    pub zone: &'a TimeZone,
    pub start: Option<Wall>,
}

impl Exclusions {
    pub fn compile(exclude: &[Exclusion], beside: &Beside<'_>) -> Result<Exclusions, BadSchedule> {
        if exclude.len() > limits::EXCLUSIONS_MAX {
            let problem = format!("there are {} exclusions", exclude.len());
            return Err(BadSchedule::new(problem, format!("{} are allowed", limits::EXCLUSIONS_MAX)));
        }
        let mut all = Exclusions::default();
        for (at, exclusion) in exclude.iter().enumerate() {
            all.add(at, exclusion, beside).map_err(|bad| bad.within(format!("[{at}]")))?;
        }
        if all.crons.len() + all.rules.len() > limits::EXCLUSION_RULES_MAX {
            let problem = format!("{} exclusions are crons or rules", all.crons.len() + all.rules.len());
            let advice = format!("{} are allowed; write dates instead", limits::EXCLUSION_RULES_MAX);
            return Err(BadSchedule::new(problem, advice));
        }
        all.dates.sort_unstable();
        all.dates = all.dates.iter().fold(Vec::new(), |mut merged: Vec<(Date, Date)>, &(from, through)| {
            match merged.last_mut() {
                Some(last) if Wall::of_date(from) <= Wall::of_date(last.1).plus(DAY) => last.1 = last.1.max(through),
                _ => merged.push((from, through)),
            }
            merged
        });
        Ok(all)
    }

    fn add(&mut self, at: usize, exclusion: &Exclusion, beside: &Beside<'_>) -> Result<(), BadSchedule> {
        match exclusion {
            Exclusion::Date(date) => self.dates.push((*date, *date)),
            Exclusion::Dates { from, through } if from > through => {
                let problem = format!("{from} comes after {through}");
                return Err(BadSchedule::new(problem, "write the earlier date first").within("dates"));
            }
            Exclusion::Dates { from, through } => self.dates.push((*from, *through)),
            Exclusion::Times { from, to } if from == to => {
                let problem = format!("from {from} to {to} is nothing, or the whole day");
                return Err(BadSchedule::new(problem, "for whole days use dates or weekdays").within("times"));
            }
            Exclusion::Times { from, to } => {
                let second = |clock: &jiff::civil::Time| Wall::at(Date::constant(1970, 1, 1), *clock).second_of_day();
                self.times.push((second(from), second(to)));
            }
            Exclusion::Weekdays(days) => self.weekdays.push(*days),
            Exclusion::Cron(text) => {
                self.crons.push(CronRule::parse(text, beside.seed).map_err(|bad| bad.within("cron"))?);
            }
            Exclusion::Rrule(text) => {
                let read = RecurrenceText::parse(text, beside.zone, beside.start);
                let rule = read.and_then(|text| RecurrenceRule::new(&text)).map_err(|bad| bad.within("rrule"))?;
                if !rule.names_days() {
                    let problem = "a rule that excludes names days, this one has more than one time on a day";
                    return Err(
                        BadSchedule::new(problem, "use FREQ=DAILY or longer, or exclude a cron").within("rrule")
                    );
                }
                self.rules.push((at, rule));
            }
        }
        Ok(())
    }

    /// A rule that never happens excludes nothing and costs much.
    pub fn check_happen(&self) -> Result<(), BadSchedule> {
        match self.rules.iter().find(|(_, rule)| rule.at_or_after(Wall::MIN).is_none()) {
            Some((at, _)) => Err(BadSchedule::never().within("rrule").within(format!("[{at}]"))),
            None => Ok(()),
        }
    }

    pub fn is_empty(&self) -> bool {
        let Exclusions { dates, weekdays, times, crons, rules } = self;
        dates.is_empty() && weekdays.is_empty() && times.is_empty() && crons.is_empty() && rules.is_empty()
    }

    /// If `wall` is excluded, the first time after it that may not be. Everything shown in between is excluded.
    pub fn cover_until(&self, wall: Wall) -> Option<Wall> {
        if self.is_empty() {
            return None;
        }
        let date = wall.civil().date();
        let midnight = wall.midnight();
        let tomorrow = midnight.plus(DAY);
        let after = self.dates.partition_point(|(from, _)| *from <= date);
        let dates = after.checked_sub(1).map(|at| self.dates[at].1).filter(|through| *through >= date);
        let dates = dates.map(|through| Wall::of_date(through).plus(DAY));
        let weekday = self.weekdays.iter().any(|days| days.contains(date.weekday())).then_some(tomorrow);
        let times = self.times.iter().filter_map(|&(from, to)| {
            let second = wall.second_of_day();
            match (from < to, second >= from, second < to) {
                (true, true, true) | (false, _, true) => Some(midnight.plus(to)),
                (false, true, false) => Some(tomorrow.plus(to)),
                _ => None,
            }
        });
        let crons = self.crons.iter().filter_map(|cron| cron.covers_until(wall));
        let on_day = |rule: &RecurrenceRule| rule.at_or_after(midnight).is_some_and(|found| found < tomorrow);
        let rules = self.rules.iter().any(|(_, rule)| on_day(rule)).then_some(tomorrow);
        dates.into_iter().chain(weekday).chain(times).chain(crons).chain(rules).max()
    }
}
