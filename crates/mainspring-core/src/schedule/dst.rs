//! The one place where a time on the wall becomes an instant. The policy for gaps and overlaps is here, for every kind of
//! spec alike. Knows no specs: it asks a rule for times on the wall.
//!
//! Between two transitions of a zone lies a *stretch* with one offset, in which wall and instant are a plain sum. So the
//! search goes stretch by stretch and needs three facts at each border:
//! - The clocks go back: the end of a stretch and the beginning of the next show the same times. `First` gives up the
//!   beginning of the later one, `Last` the end of the earlier one, `Both` nothing.
//! - The clocks go forward: the times in between are shown by neither. Counted with the offset before the gap they are
//!   instants at the beginning of the next stretch: there they are found as `Shifted`, and dropped if the policy is `Skip`.
//! - A shifted time that falls on a plain one is the plain one.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::wall::{DAY, Wall};
use super::when::DstOverlap;

/// What daylight saving did to an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dst {
    /// Its time was jumped over; it is moved by the length of the gap.
    Shifted,
    /// Its time is shown twice; this is the first.
    First,
    /// Its time is shown twice; this is the last.
    Last,
}

/// A time on the wall, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    /// Unix seconds.
    pub at: i64,
    pub dst: Option<Dst>,
}

/// What the clocks of a zone do around an instant. Offsets are seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub from: i64,
    /// The first second of the next one.
    pub until: i64,
    pub offset: i64,
    pub offset_before: i64,
    pub offset_after: i64,
}

impl Stretch {
    pub fn around(zone: &TimeZone, at: i64) -> Stretch {
        let here = timestamp(at);
        let offset = i64::from(zone.to_offset(here).seconds());
        let border =
            |transition: Option<jiff::tz::TimeZoneTransition<'_>>| transition.map(|t| t.timestamp().as_second());
        // `preceding` is exclusive, and a stretch begins with its transition.
        let from = border(zone.preceding(timestamp(at + 1)).next()).unwrap_or(FAR_PAST);
        let next = zone.following(here).next();
        let offset_after = next.as_ref().map_or(offset, |next| i64::from(next.offset().seconds()));
        let until = border(next).unwrap_or(FAR_FUTURE);
        let offset_before = match from {
            FAR_PAST => offset,
            _ => i64::from(zone.to_offset(timestamp(from - 1)).seconds()),
        };
        Stretch { from, until, offset, offset_before, offset_after }
    }
}

const FAR_PAST: i64 = -100_000 * DAY;
/// Past every year that is looked at.
pub(super) const FAR_FUTURE: i64 = Wall::MAX.0 + 1_000 * DAY;

pub(super) fn timestamp(second: i64) -> Timestamp {
    let second = second.clamp(FAR_PAST, FAR_FUTURE);
    Timestamp::from_second(second).expect("the years of schedules are within those of the calendar")
}

/// A search over more stretches than this has lost its way: each step passes a transition or jumps to the next time.
const STRETCHES_MAX: usize = 64;
/// No zone's clocks ever jumped by more.
const JUMP_MAX: i64 = 2 * DAY;

/// The first instant at or after `from` of the times on the wall that `rule` tells, first at or after the one asked for.
pub(super) fn resolve(
    zone: &TimeZone,
    overlap: DstOverlap,
    mut from: i64,
    rule: impl Fn(Wall) -> Option<Wall>,
) -> Option<Resolved> {
    for _ in 0..STRETCHES_MAX {
        let stretch = Stretch::around(zone, from);
        let first = match overlap {
            DstOverlap::First => stretch.from + stretch.offset.max(stretch.offset_before),
            _ => stretch.from + stretch.offset,
        };
        let end = match overlap {
            DstOverlap::Last => stretch.until + stretch.offset.min(stretch.offset_after),
            _ => stretch.until + stretch.offset,
        };
        let start = Wall(first.max(from + stretch.offset));
        let ahead = rule(start);
        let plain = ahead.filter(|wall| wall.0 < end).map(|wall| stretch.plain(wall));
        let shifted = stretch.gap_from(from).and_then(&rule).and_then(|wall| stretch.shifted(wall));
        match (plain, shifted) {
            (Some(plain), Some(shifted)) => return Some(if shifted.at < plain.at { shifted } else { plain }),
            (None, None) => {}
            (one, other) => return one.or(other),
        }
        if stretch.until >= FAR_FUTURE {
            return None;
        }
        // The wall shows nothing more of the rule before `ahead`, unless the clocks go back to before `start`.
        let goes_behind = stretch.until + stretch.offset_after < start.0;
        from = match ahead {
            None if !goes_behind => return None,
            Some(ahead) if !goes_behind => stretch.until.max(ahead.0 - JUMP_MAX),
            _ => stretch.until,
        };
    }
    None
}

impl Stretch {
    fn plain(&self, wall: Wall) -> Resolved {
        let dst = if self.offset_before > self.offset && wall.0 < self.from + self.offset_before {
            Some(Dst::Last)
        } else if self.offset_after < self.offset && wall.0 >= self.until + self.offset_after {
            Some(Dst::First)
        } else {
            None
        };
        Resolved { at: wall.0 - self.offset, dst }
    }

    /// From where to look for times in the gap before this stretch whose instants are not before `from`.
    fn gap_from(&self, from: i64) -> Option<Wall> {
        let gap = self.offset - self.offset_before;
        (gap > 0 && from < self.from + gap).then(|| Wall(from.max(self.from) + self.offset_before))
    }

    fn shifted(&self, wall: Wall) -> Option<Resolved> {
        let at = wall.0 - self.offset_before;
        let in_gap = wall.0 < self.from + self.offset;
        (in_gap && at < self.until).then_some(Resolved { at, dst: Some(Dst::Shifted) })
    }
}
