//! When a schedule fires, as text and numbers: times and days are written as a person writes them, so that the form on
//! disk is nobody's type.

use std::time::Duration;

use mainspring_core::schedule::{
    BadSchedule, ClockTimes, DstGap, DstOverlap, Exclusion, MonthDays, Spec, Weekdays, When, parse_clock, parse_date,
};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::stored;

#[derive(Debug, Serialize, Deserialize)]
pub struct WhenRow<'a> {
    #[serde(borrow)]
    specs: Vec<SpecRow<'a>>,
    zone: &'a str,
    dst_gap: DstGapRow,
    dst_overlap: DstOverlapRow,
    #[serde(borrow)]
    exclude: Vec<ExclusionRow<'a>>,
    start_ms: Option<u64>,
    end_ms: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
enum SpecRow<'a> {
    Cron(&'a str),
    Every { every_ms: u64, anchor_ms: Option<u64> },
    Daily { at: String },
    Weekly { days: String, at: String },
    Monthly { days: Vec<i8>, at: String },
    Rrule(&'a str),
}

#[derive(Debug, Serialize, Deserialize)]
enum ExclusionRow<'a> {
    Date(String),
    Dates { from: String, through: String },
    Times { from: String, to: String },
    Weekdays(String),
    Cron(&'a str),
    Rrule(&'a str),
}

stored!(DstGapRow is DstGap { Shift, Skip });
stored!(DstOverlapRow is DstOverlap { First, Last, Both });

impl<'a> WhenRow<'a> {
    pub fn of(when: &'a When) -> WhenRow<'a> {
        WhenRow {
            specs: when.specs.iter().map(SpecRow::of).collect(),
            zone: &when.zone,
            dst_gap: when.dst_gap.into(),
            dst_overlap: when.dst_overlap.into(),
            exclude: when.exclude.iter().map(ExclusionRow::of).collect(),
            start_ms: when.start_at.map(Time::as_millis),
            end_ms: when.end_at.map(Time::as_millis),
        }
    }

    pub fn when(self) -> Result<When, BadSchedule> {
        Ok(When {
            specs: self.specs.into_iter().map(SpecRow::spec).collect::<Result<_, _>>()?,
            zone: self.zone.into(),
            dst_gap: self.dst_gap.into(),
            dst_overlap: self.dst_overlap.into(),
            exclude: self.exclude.into_iter().map(ExclusionRow::exclusion).collect::<Result<_, _>>()?,
            start_at: self.start_ms.map(Time::from_millis),
            end_at: self.end_ms.map(Time::from_millis),
        })
    }
}

impl<'a> SpecRow<'a> {
    fn of(spec: &'a Spec) -> SpecRow<'a> {
        match spec {
            Spec::Cron(text) => SpecRow::Cron(text),
            Spec::Every { every, anchor } => SpecRow::Every {
                every_ms: u64::try_from(every.as_millis()).unwrap_or(u64::MAX),
                anchor_ms: anchor.map(Time::as_millis),
            },
            Spec::Daily { at } => SpecRow::Daily { at: clock_times(at) },
            Spec::Weekly { days, at } => SpecRow::Weekly { days: days.to_string(), at: clock_times(at) },
            Spec::Monthly { days, at } => SpecRow::Monthly { days: days.as_slice().to_vec(), at: clock_times(at) },
            Spec::Rrule(text) => SpecRow::Rrule(text),
        }
    }

    fn spec(self) -> Result<Spec, BadSchedule> {
        Ok(match self {
            SpecRow::Cron(text) => Spec::Cron(text.into()),
            SpecRow::Every { every_ms, anchor_ms } => {
                Spec::Every { every: Duration::from_millis(every_ms), anchor: anchor_ms.map(Time::from_millis) }
            }
            SpecRow::Daily { at } => Spec::Daily { at: ClockTimes::parse(&at)? },
            SpecRow::Weekly { days, at } => Spec::Weekly { days: Weekdays::parse(&days)?, at: ClockTimes::parse(&at)? },
            SpecRow::Monthly { days, at } => Spec::Monthly { days: MonthDays::new(days)?, at: ClockTimes::parse(&at)? },
            SpecRow::Rrule(text) => Spec::Rrule(text.into()),
        })
    }
}

impl<'a> ExclusionRow<'a> {
    fn of(exclusion: &'a Exclusion) -> ExclusionRow<'a> {
        match exclusion {
            Exclusion::Date(date) => ExclusionRow::Date(date.to_string()),
            Exclusion::Dates { from, through } => {
                ExclusionRow::Dates { from: from.to_string(), through: through.to_string() }
            }
            Exclusion::Times { from, to } => ExclusionRow::Times { from: from.to_string(), to: to.to_string() },
            Exclusion::Weekdays(days) => ExclusionRow::Weekdays(days.to_string()),
            Exclusion::Cron(text) => ExclusionRow::Cron(text),
            Exclusion::Rrule(text) => ExclusionRow::Rrule(text),
        }
    }

    fn exclusion(self) -> Result<Exclusion, BadSchedule> {
        Ok(match self {
            ExclusionRow::Date(date) => Exclusion::Date(parse_date(&date)?),
            ExclusionRow::Dates { from, through } => {
                Exclusion::Dates { from: parse_date(&from)?, through: parse_date(&through)? }
            }
            ExclusionRow::Times { from, to } => Exclusion::Times { from: parse_clock(&from)?, to: parse_clock(&to)? },
            ExclusionRow::Weekdays(days) => Exclusion::Weekdays(Weekdays::parse(&days)?),
            ExclusionRow::Cron(text) => Exclusion::Cron(text.into()),
            ExclusionRow::Rrule(text) => Exclusion::Rrule(text.into()),
        })
    }
}

/// `09:00:00,17:30:15`, as [`ClockTimes::parse`] reads it.
fn clock_times(times: &ClockTimes) -> String {
    let times: Vec<String> = times.as_slice().iter().map(ToString::to_string).collect();
    times.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_say_when_reads_back_as_it_was_said() {
        let clock = |text: &str| parse_clock(text).unwrap();
        let date = |text: &str| parse_date(text).unwrap();
        let at = ClockTimes::parse("00:00, 9:30, 23:59:59").unwrap();
        let when = When {
            specs: vec![
                Spec::Cron("0 30 9 * * mon#2".into()),
                Spec::Every { every: Duration::from_millis(90_500), anchor: None },
                Spec::Every { every: Duration::from_secs(3600), anchor: Some(Time::from_millis(5)) },
                Spec::Daily { at: at.clone() },
                Spec::Weekly { days: Weekdays::parse("fri-mon").unwrap(), at: at.clone() },
                Spec::Monthly { days: MonthDays::parse("1, 15, last").unwrap(), at },
                Spec::Rrule("FREQ=MONTHLY;BYDAY=-1FR".into()),
            ],
            zone: "Europe/Berlin".into(),
            dst_gap: DstGap::Skip,
            dst_overlap: DstOverlap::Both,
            exclude: vec![
                Exclusion::Date(date("2028-02-29")),
                Exclusion::Dates { from: date("2026-12-24"), through: date("2027-01-06") },
                Exclusion::Times { from: clock("22:00"), to: clock("06:00:30") },
                Exclusion::Weekdays(Weekdays::parse("sun").unwrap()),
                Exclusion::Cron("* * 1 * *".into()),
                Exclusion::Rrule("FREQ=YEARLY".into()),
            ],
            start_at: Some(Time::ZERO),
            end_at: Some(Time::MAX),
        };
        for when in [when, When::new(Vec::new())] {
            let bytes = postcard::to_allocvec(&WhenRow::of(&when)).unwrap();
            let row: WhenRow<'_> = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(row.when().unwrap(), when);
        }
    }
}
