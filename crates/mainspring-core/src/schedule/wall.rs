//! What a clock on the wall shows, as a number: the seconds of a civil date and time counted as if it were UTC. Says
//! nothing about which instant that is: see [`super::dst`].

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time as Clock};
use jiff::tz::Offset;

use crate::limits;

pub(super) const DAY: i64 = 24 * 3600;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wall(pub i64);

impl Wall {
    /// The first and the last second that are ever looked at.
    pub const MIN: Wall = Wall(0);
    pub const MAX: Wall = Wall(Wall::days_to_2200() * DAY - 1);

    const fn days_to_2200() -> i64 {
        // 230 years from 1970, of which the divisible by four are leap, 2100 is not.
        const { assert!(limits::SCHEDULE_YEAR_MIN == 1970 && limits::SCHEDULE_YEAR_MAX == 2199) };
        230 * 365 + 57 - 1
    }

    pub fn of(civil: DateTime) -> Wall {
        // A civil time at the very ends of the calendar has no UTC instant with a margin; ours never lie there.
        Wall(Offset::UTC.to_timestamp(civil).map_or(i64::MAX / 4, |at| at.as_second()))
    }

    pub fn of_date(date: Date) -> Wall {
        Wall::of(date.to_datetime(Clock::midnight()))
    }

    pub fn at(date: Date, clock: Clock) -> Wall {
        Wall::of(date.to_datetime(clock))
    }

    /// Clamped to the years we look at.
    pub fn civil(self) -> DateTime {
        let second = self.0.clamp(Wall::MIN.0 - 2 * DAY, Wall::MAX.0 + 2 * DAY);
        let at = Timestamp::from_second(second).expect("the years of schedules are within those of the calendar");
        Offset::UTC.to_datetime(at)
    }

    pub fn second_of_day(self) -> i64 {
        self.0.rem_euclid(DAY)
    }

    pub fn midnight(self) -> Wall {
        Wall(self.0 - self.second_of_day())
    }

    pub fn plus(self, seconds: i64) -> Wall {
        Wall(self.0.saturating_add(seconds))
    }

    pub fn in_range(self) -> bool {
        (Wall::MIN..=Wall::MAX).contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_schedules_is_whole_years() {
        assert_eq!(Wall::MIN.civil(), Date::constant(limits::SCHEDULE_YEAR_MIN, 1, 1).at(0, 0, 0, 0));
        assert_eq!(Wall::MAX.civil(), Date::constant(limits::SCHEDULE_YEAR_MAX, 12, 31).at(23, 59, 59, 0));
        assert_eq!(Wall::of(Wall::MAX.civil()), Wall::MAX);
    }
}
