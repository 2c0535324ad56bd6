//! Holds this node's seats: takes them, renews them, and stops acting before a term that it cannot renew ends. Assigns
//! nothing to others.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mainspring_core::seats::{Seat, Term};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::time::Time;

use crate::actor::Actor;
use crate::error::Result;
use crate::node::Node;

/// A term is renewed after this part of it …
const RENEW_PART: u32 = 3;
/// … and this part of it, at its end, is not used: the clocks of two nodes differ.
const MARGIN_PART: u32 = 10;

/// What this node may act for.
#[derive(Debug)]
pub(crate) struct Holdings {
    held: Mutex<Held>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    leader: bool,
    segments: Segments,
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

    pub(crate) fn leads(&self, now: Time) -> bool {
        let held = self.held();
        now < held.act_until && held.leader
    }

    /// Held seats whose time is over, so that renewing at once may help.
    pub(crate) fn lapsed(&self, now: Time) -> bool {
        let held = self.held();
        now >= held.act_until && (held.leader || !held.segments.is_empty())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("nobody panics while looking at the seats")
    }
}

#[derive(Debug)]
pub(crate) struct Ownership {
    node: Arc<Node>,
}

impl Ownership {
    pub(crate) fn new(node: Arc<Node>) -> Ownership {
        Ownership { node }
    }

    /// Answers whether there are segments that were not held before.
    fn hold(&self, now: Time, ours: &[Term]) -> bool {
        let until = ours.iter().map(|term| term.until).min().unwrap_or(Time::ZERO);
        let segment = |term: &Term| match term.seat {
            Seat::Segment(segment) => Some(segment),
            Seat::Leader => None,
        };
        let before = self.node.holdings.segments(now);
        let held = Held {
            leader: ours.iter().any(|term| term.seat == Seat::Leader),
            segments: ours.iter().filter_map(segment).collect(),
            act_until: until.before(self.node.settings.term / MARGIN_PART),
        };
        *self.node.holdings.held() = held;
        held.segments.iter().any(|segment| !before.contains(segment))
    }
}

impl Actor for Ownership {
    const NAME: &'static str = "ownership";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        let (id, term) = (self.node.id, self.node.settings.term);
        let seats = [Seat::Leader].into_iter().chain(Segment::all().map(Seat::Segment)).collect();
        let terms = self.node.seats.take(now, id, seats, now.after(term)).await?;

        let (ours, others): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|term| term.holder == id);
        let gained = self.hold(now, &ours);
        self.node.meters.seats_held.set(ours.len() as f64);
        if gained {
            tracing::debug!(seats = ours.len(), "took seats");
            self.node.plan.look_again();
        }
        let renew_at = now.after(term / RENEW_PART);
        let free_at = others.iter().map(|term| term.until).min().unwrap_or(Time::MAX);
        // A term of another node that is over by now was not given to us: do not ask in a circle.
        Ok(renew_at.min(free_at.max(now.after(Duration::from_millis(100)))))
    }
}
