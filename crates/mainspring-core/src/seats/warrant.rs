//! In whose name a write is made. A store does nothing in the name of a seat whose epoch is another by now; it answers
//! that, and the writer knows that it was deposed. Says nothing about time: a term that is over and that nobody took
//! since is still its holder's.

use std::sync::Arc;

use super::{Seat, Term};
use crate::segment::{Segment, Segments};

const SEGMENTS: usize = Segment::COUNT as usize;

/// A seat, and the epoch at which the writer holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Warrant {
    pub seat: Seat,
    pub epoch: u64,
}

/// The warrants of many segments, cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Warrants(Option<Arc<[u64; SEGMENTS]>>);

impl Warrants {
    /// In nobody's name: a node that is alone, a person, a test. Every segment is allowed.
    pub const NONE: Warrants = Warrants(None);

    /// For the segments among these terms, and for no other.
    pub fn of<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Warrants {
        let mut epochs = [0; SEGMENTS];
        for term in terms {
            if let Seat::Segment(segment) = term.seat {
                epochs[usize::from(segment.index())] = term.epoch;
            }
        }
        Warrants(Some(Arc::new(epochs)))
    }

    /// By segment, zero where there is none; `None` in nobody's name.
    pub fn epochs(&self) -> Option<&[u64; SEGMENTS]> {
        self.0.as_deref()
    }

    /// The warrant for one segment; `None` in nobody's name.
    pub fn one(&self, segment: Segment) -> Option<Warrant> {
        let epoch = self.epochs()?[usize::from(segment.index())];
        Some(Warrant { seat: Seat::Segment(segment), epoch })
    }

    /// Those of the segments that may not be acted for, given the epochs that stand.
    pub fn refused(&self, segments: Segments, stands: impl Fn(Segment) -> u64) -> Segments {
        let Some(epochs) = self.epochs() else { return Segments::NONE };
        let deposed = |segment: &Segment| {
            let epoch = epochs[usize::from(segment.index())];
            epoch == 0 || epoch != stands(*segment)
        };
        segments.iter().filter(deposed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::time::Time;
    use uuid::Uuid;

    fn term(seat: Seat, epoch: u64) -> Term {
        Term { seat, holder: NodeId(Uuid::nil()), epoch, until: Time::ZERO }
    }

    #[test]
    fn a_warrant_is_good_for_its_segments_at_their_epochs_alone() {
        let [a, b, c] = [0, 1, 2].map(Segment::wrap);
        let warrants = Warrants::of(&[term(Seat::Segment(a), 3), term(Seat::Segment(b), 5), term(Seat::Leader, 9)]);
        let stands = |segment: Segment| if segment == a { 3 } else { 6 };
        let asked: Segments = [a, b, c].into_iter().collect();
        assert_eq!(warrants.refused(asked, stands), [b, c].into_iter().collect());
        assert_eq!(warrants.refused([c].into_iter().collect(), |_| 0), [c].into_iter().collect(), "never held");
        assert_eq!(warrants.one(b), Some(Warrant { seat: Seat::Segment(b), epoch: 5 }));
    }

    #[test]
    fn in_nobodys_name_everything_is_allowed() {
        assert_eq!(Warrants::NONE.refused(Segments::ALL, |_| 7), Segments::NONE);
        assert_eq!(Warrants::NONE.one(Segment::wrap(1)), None);
    }
}
