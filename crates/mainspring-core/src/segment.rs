//! The partitions of jobs and schedules. Assigns no owners: that is the seats' business.

/// One of [`Segment::COUNT`] partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(u8);

impl Segment {
    /// Fixed when a store is created.
    pub const COUNT: u8 = 100;

    pub fn new(index: u8) -> Option<Segment> {
        (index < Self::COUNT).then_some(Segment(index))
    }

    pub fn wrap(index: u8) -> Segment {
        Segment(index % Self::COUNT)
    }

    pub fn index(self) -> u8 {
        self.0
    }

    pub fn all() -> impl Iterator<Item = Segment> {
        (0..Self::COUNT).map(Segment)
    }
}

/// A set of segments, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segments(u128);

impl Segments {
    pub const NONE: Segments = Segments(0);
    pub const ALL: Segments = Segments((1 << Segment::COUNT) - 1);

    pub fn contains(self, segment: Segment) -> bool {
        self.0 >> segment.0 & 1 == 1
    }

    pub fn insert(&mut self, segment: Segment) {
        self.0 |= 1 << segment.0;
    }

    /// Those of these that are not among the others.
    pub fn without(self, others: Segments) -> Segments {
        Segments(self.0 & !others.0)
    }

    /// Those of these that are also among the others.
    pub fn within(self, others: Segments) -> Segments {
        Segments(self.0 & others.0)
    }

    /// These and the others.
    pub fn with(self, others: Segments) -> Segments {
        Segments(self.0 | others.0)
    }

    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Segment> {
        Segment::all().filter(move |&segment| self.contains(segment))
    }
}

impl FromIterator<Segment> for Segments {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Segments {
        let mut set = Segments::NONE;
        segments.into_iter().for_each(|segment| set.insert(segment));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_segments_are_in_all_and_none_in_none() {
        assert_eq!(Segment::all().collect::<Segments>(), Segments::ALL);
        assert_eq!(Segments::ALL.len(), u32::from(Segment::COUNT));
        assert!(Segments::NONE.is_empty());
        assert_eq!(Segment::new(Segment::COUNT), None);
        assert_eq!(Segments::ALL.iter().count(), 100);
        let odd: Segments = Segment::all().filter(|segment| segment.index() % 2 == 1).collect();
        assert_eq!(Segments::ALL.without(odd).iter().next(), Segment::new(0));
        assert_eq!(odd.without(Segments::ALL), Segments::NONE);
        let even = Segments::ALL.without(odd);
        assert_eq!((odd.within(even), odd.within(Segments::ALL), odd.with(even)), (Segments::NONE, odd, Segments::ALL));
    }
}
