//! The compiled form of a [`When`]: what comes next, and how much lies in between. Reads no clock, never panics, and every
//! search ends: the years are bounded, and so are the excluded times that are stepped over.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::ScheduleRef;
use super::bad::BadSchedule;
use super::dst::{Dst, FAR_FUTURE, Resolved, Stretch, resolve, timestamp};
use super::exclude::{Beside, Exclusions};
use super::source::Source;
use super::wall::Wall;
use super::when::{DstGap, DstOverlap, When};
use super::zone;
use crate::limits;
use crate::time::Time;

#[derive(Clone, Debug)]
pub struct Calendar {
    zone: TimeZone,
    sources: Vec<Source>,
    exclude: Exclusions,
    gap: DstGap,
    overlap: DstOverlap,
    start_at: Time,
    end_at: Time,
}

/// One nominal time of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub at: Time,
    /// What the clocks of the zone show then …
    pub civil: DateTime,
    /// … and how far they are ahead of UTC.
    pub offset_seconds: i32,
    pub dst: Option<Dst>,
}

/// What lies in a range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Skipped {
    pub count: u64,
    pub first: Option<Time>,
    /// The one before the last.
    pub before_last: Option<Time>,
    pub last: Option<Time>,
    /// There is more in the range after `last`.
    pub more: bool,
}

impl Skipped {
    pub(super) fn push(&mut self, at: Time) {
        self.count += 1;
        self.first = self.first.or(Some(at));
        self.before_last = self.last;
        self.last = Some(at);
    }
}

/// The last instant at which anything is looked for.
const LAST: Time = Time::from_millis(Wall::MAX.0 as u64 * 1000);

impl Calendar {
    /// `seed` is what `H` spreads by.
    pub fn compile(when: &When, seed: &ScheduleRef) -> Result<Calendar, BadSchedule> {
        Calendar::compile_when(when, seed).map_err(|bad| bad.within("when"))
    }

    fn compile_when(when: &When, seed: &ScheduleRef) -> Result<Calendar, BadSchedule> {
        let zone = zone::find(&when.zone).map_err(|bad| bad.within("zone"))?;
        let start = when.start_at.map(|at| Wall::of(zone.to_datetime(timestamp((at.as_millis() / 1000) as i64))));
        if when.specs.is_empty() || when.specs.len() > limits::SPECS_MAX {
            let problem = format!("there are {} specs", when.specs.len());
            return Err(BadSchedule::new(problem, format!("1–{} are allowed", limits::SPECS_MAX)).within("specs"));
        }
        if let (Some(start_at), Some(end_at)) = (when.start_at, when.end_at)
            && end_at < start_at
        {
            return Err(BadSchedule::new("it ends before it starts", "move it after start_at").within("end_at"));
        }
        let beside = Beside { seed, zone: &zone, start };
        let source = |(at, spec)| Source::compile(spec, &beside).map_err(|bad| bad.within(format!("[{at}]")));
        let sources = when.specs.iter().enumerate().map(source).collect::<Result<Vec<_>, _>>();
        let sources = sources.map_err(|bad| bad.within("specs"))?;
        let exclude = Exclusions::compile(&when.exclude, &beside).map_err(|bad| bad.within("exclude"))?;
        Ok(Calendar {
            sources,
            exclude,
            gap: when.dst_gap,
            overlap: when.dst_overlap,
            start_at: when.start_at.unwrap_or(Time::ZERO),
            end_at: when.end_at.unwrap_or(LAST).min(LAST),
            zone,
        })
    }

    /// Refuses specs and exclusions that never happen in all the years there are. Not a part of compiling, because to find
    /// that out takes a search through all of them.
    pub(super) fn check_happens(&self) -> Result<(), BadSchedule> {
        let never = |source: &Source| match source {
            Source::Elapsed(_) => false,
            Source::Wall(rule) => rule.at_or_after(Wall::MIN).is_none(),
        };
        if let Some(at) = self.sources.iter().position(never) {
            return Err(BadSchedule::never().within(format!("[{at}]")).within("specs").within("when"));
        }
        self.exclude.check_happen().map_err(|bad| bad.within("exclude").within("when"))
    }

    /// The first occurrence strictly after this instant.
    pub fn next(&self, after: Time) -> Option<Occurrence> {
        let mut from = after;
        // Only times in a gap are passed over here, and those are together.
        for _ in 0..limits::SEARCH_STEPS_MAX {
            let found = self.step(from)?;
            match self.is_dropped(&found) {
                true => from = found.at,
                false => return Some(found),
            }
        }
        None
    }

    /// What lies in `(after, through]`, counted up to `max`. An interval alone is counted at once, whatever `max` is.
    pub fn skip(&self, after: Time, through: Time, max: usize) -> Skipped {
        if let ([Source::Elapsed(every)], true) = (&self.sources[..], self.exclude.is_empty()) {
            return self.skip_elapsed(every, after, through);
        }
        let mut skipped = Skipped::default();
        let mut from = after;
        while let Some(next) = self.next(from).filter(|next| next.at <= through) {
            if skipped.count as usize >= max {
                skipped.more = true;
                break;
            }
            skipped.push(next.at);
            from = next.at;
        }
        skipped
    }

    /// Occurrences in `(after, through]` that a gap swallowed because the schedule says so: one group for each gap.
    pub fn dropped(&self, after: Time, through: Time) -> Vec<Skipped> {
        if self.gap == DstGap::Shift || after >= through || self.sources.iter().all(Source::is_elapsed) {
            return Vec::new();
        }
        let second = |at: Time| (at.as_millis() / 1000) as i64;
        let mut groups = Vec::new();
        // A gap that began before `after` may still have something to give: its times lie up to its length behind it.
        let mut stretch = Stretch::around(&self.zone, second(after));
        while stretch.from <= second(through) {
            let gap = stretch.offset - stretch.offset_before;
            if gap > 0 {
                let first =
                    millis(stretch.from).map_or(Time::ZERO, |at| at.before(std::time::Duration::from_millis(1)));
                let last = millis(stretch.from + gap - 1).unwrap_or(Time::ZERO).min(through);
                groups.extend(self.dropped_within(first.max(after), last));
            }
            if stretch.until > second(through) || stretch.until >= FAR_FUTURE {
                break;
            }
            stretch = Stretch::around(&self.zone, stretch.until);
        }
        groups
    }

    fn dropped_within(&self, after: Time, through: Time) -> Option<Skipped> {
        let mut group = Skipped::default();
        let mut from = after;
        for _ in 0..limits::SEARCH_STEPS_MAX {
            let Some(found) = self.step(from).filter(|found| found.at <= through) else { break };
            if self.is_dropped(&found) {
                group.push(found.at);
            }
            from = found.at;
        }
        (group.count > 0).then_some(group)
    }

    fn is_dropped(&self, found: &Occurrence) -> bool {
        self.gap == DstGap::Skip && found.dst == Some(Dst::Shifted)
    }

    /// The first time strictly after this instant that is not excluded, those that a gap swallows included.
    fn step(&self, after: Time) -> Option<Occurrence> {
        let mut from = after.as_millis().saturating_add(1).max(self.start_at.as_millis());
        for _ in 0..limits::SEARCH_STEPS_MAX {
            let (at, dst) = self.nearest(from)?;
            if at > self.end_at {
                return None;
            }
            let second = (at.as_millis() / 1000) as i64;
            let offset = i64::from(self.zone.to_offset(timestamp(second)).seconds());
            let wall = Wall(second + offset);
            let Some(until) = self.exclude.cover_until(wall) else {
                return Some(Occurrence { at, civil: wall.civil(), offset_seconds: offset as i32, dst });
            };
            // Not past a transition: the clocks may go back to a time that is not excluded.
            let until = (until.0 - offset).min(Stretch::around(&self.zone, second).until);
            from = millis(until)?.as_millis().max(at.as_millis() + 1);
        }
        None
    }

    /// The first time at or after this instant. Of two at one instant, the one that is not shifted.
    fn nearest(&self, from_ms: u64) -> Option<(Time, Option<Dst>)> {
        let from = i64::try_from(from_ms.div_ceil(1000)).ok()?;
        let next = |source: &Source| match source {
            Source::Elapsed(every) => every.at_or_after(from_ms).map(|at| (Time::from_millis(at), None)),
            Source::Wall(rule) => {
                let overlap = if rule.every_hour() { DstOverlap::Both } else { self.overlap };
                let Resolved { at, dst } = resolve(&self.zone, overlap, from, |wall| rule.at_or_after(wall))?;
                Some((millis(at)?, dst))
            }
        };
        self.sources.iter().filter_map(next).min_by_key(|&(at, dst)| (at, dst == Some(Dst::Shifted)))
    }

    fn skip_elapsed(&self, every: &super::source::Elapsed, after: Time, through: Time) -> Skipped {
        let from = after.as_millis().saturating_add(1).max(self.start_at.as_millis());
        let through = through.min(self.end_at).as_millis();
        let Some(first) = every.at_or_after(from).filter(|&first| first <= through) else { return Skipped::default() };
        let count = (through - first) / every.every_ms + 1;
        let nth = |n: u64| Time::from_millis(first + n * every.every_ms);
        Skipped {
            count,
            first: Some(nth(0)),
            before_last: (count > 1).then(|| nth(count - 2)),
            last: Some(nth(count - 1)),
            more: false,
        }
    }
}

fn millis(second: i64) -> Option<Time> {
    u64::try_from(second).ok().map(|second| Time::from_millis(second.saturating_mul(1000)))
}

#[cfg(test)]
#[path = "calendar_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "zones_tests.rs"]
mod zones_tests;
