//! What this node may act for, and in whose name it does. Changed by the actor that renews, and by whoever learns from the
//! store that a seat is another's by now.

use std::sync::{Mutex, MutexGuard};

use mainspring_core::seats::{Seat, Term, Warrant, Warrants};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::time::Time;

#[derive(Debug)]
pub(crate) struct Holdings {
    held: Mutex<Held>,
}

#[derive(Clone, Debug, Default)]
struct Held {
    leader: Option<Warrant>,
    segments: Segments,
    warrants: Warrants,
    /// Not one instant longer, whatever the actor that renews is doing.
    act_until: Time,
}

impl Holdings {
    pub(crate) fn none() -> Holdings {
        Holdings { held: Mutex::new(Held::default()) }
    }

    pub(crate) fn segments(&self, now: Time) -> Segments {
        let held = self.held();
        if now < held.act_until { held.segments } else { Segments::NONE }
    }

    /// The segments, with the warrants for them.
    pub(crate) fn mandate(&self, now: Time) -> (Segments, Warrants) {
        let held = self.held();
        if now < held.act_until { (held.segments, held.warrants.clone()) } else { (Segments::NONE, Warrants::NONE) }
    }

    /// The name in which a schedule of this segment is turned. If it is not ours, the store finds that nobody holds it so.
    pub(crate) fn warrant(&self, segment: Segment) -> Warrant {
        let none = Warrant { seat: Seat::Segment(segment), epoch: 0 };
        self.held().warrants.one(segment).unwrap_or(none)
    }

    /// The name in which this node sweeps and assigns, while it leads.
    pub(crate) fn leads(&self, now: Time) -> Option<Warrant> {
        let held = self.held();
        held.leader.filter(|_| now < held.act_until)
    }

    /// Held seats whose time is over, so that renewing at once may help.
    pub(crate) fn lapsed(&self, now: Time) -> bool {
        let held = self.held();
        now >= held.act_until && (held.leader.is_some() || !held.segments.is_empty())
    }

    /// From now on these, until then. Answers whether there are segments that were not held before.
    pub(super) fn hold(&self, now: Time, ours: &[Term], act_until: Time) -> bool {
        let before = self.segments(now);
        let leader = ours.iter().find(|term| term.seat == Seat::Leader).map(Term::warrant);
        let segments: Segments = ours.iter().filter_map(|term| term.seat.segment()).collect();
        *self.held() = Held { leader, segments, warrants: Warrants::of(ours), act_until };
        !segments.without(before).is_empty()
    }

    /// These are another's by now.
    pub(crate) fn lose(&self, segments: Segments) {
        let mut held = self.held();
        held.segments = held.segments.without(segments);
    }

    /// Another leads by now.
    pub(crate) fn lose_lead(&self) {
        self.held().leader = None;
    }

    pub(super) fn drop_all(&self) {
        *self.held() = Held::default();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("nobody panics while looking at the seats")
    }
}
