//! When a schedule fires, as a person says it: comparable, cheap to keep, nothing computed. [`super::Calendar`] is its
//! compiled form and the one judge of what is valid.

use std::time::Duration;

use jiff::civil::{Date, Time as Clock};

use super::words::{ClockTimes, MonthDays, Weekdays};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct When {
    /// An occurrence of any of these is an occurrence, one that several share is one.
    pub specs: Vec<Spec>,
    /// An IANA time zone: `Europe/Berlin`.
    pub zone: String,
    pub dst_gap: DstGap,
    pub dst_overlap: DstOverlap,
    pub exclude: Vec<Exclusion>,
    /// Nothing before this …
    pub start_at: Option<Time>,
    /// … and nothing after this.
    pub end_at: Option<Time>,
}

impl When {
    pub const ZONE_DEFAULT: &str = "UTC";

    /// These specs in UTC, and no more said.
    pub fn new(specs: Vec<Spec>) -> When {
        When {
            specs,
            zone: When::ZONE_DEFAULT.into(),
            dst_gap: DstGap::default(),
            dst_overlap: DstOverlap::default(),
            exclude: Vec::new(),
            start_at: None,
            end_at: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Spec {
    /// Five fields, six with seconds, seven with the year; `cron.rs` says all it understands.
    Cron(String),
    /// Real elapsed time from the anchor, whatever the clocks do. The default anchor is the unix epoch.
    Every {
        every: Duration,
        anchor: Option<Time>,
    },
    Daily {
        at: ClockTimes,
    },
    Weekly {
        days: Weekdays,
        at: ClockTimes,
    },
    Monthly {
        days: MonthDays,
        at: ClockTimes,
    },
    /// RFC 5545; `rrule_text.rs` says what it understands.
    Rrule(String),
}

/// What becomes of an occurrence at a time that the clocks jump over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DstGap {
    /// It moves by the length of the gap: 02:30 becomes 03:30.
    #[default]
    Shift,
    /// It does not happen.
    Skip,
}

/// What becomes of an occurrence at a time that the clocks show twice. Specs that run in every hour, and intervals, always
/// happen both times, because hourly must stay hourly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DstOverlap {
    #[default]
    First,
    Last,
    Both,
}

/// Occurrences that do not happen. What counts is what the clocks of the zone show.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Exclusion {
    Date(Date),
    /// Both days included.
    Dates {
        from: Date,
        through: Date,
    },
    /// Every day from `from` until just before `to`, past midnight if `to` is the earlier one.
    Times {
        from: Clock,
        to: Clock,
    },
    Weekdays(Weekdays),
    /// Every time that the expression matches; without a field for seconds, the whole minute.
    Cron(String),
    /// Every day on which the rule has an occurrence.
    Rrule(String),
}
