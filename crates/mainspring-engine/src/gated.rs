//! What limits do to those who wait: who is told when a gate opens, and when to look for one that time opens. Knows no rule.
//!
//! The trigger plans for the instant at which time opens the next gate, as a promote tells it. A claim may spend a permit
//! after that, so whoever finds nothing asks the trigger to look again: a claim that waits has been looked after since. Where
//! there is no limit, nobody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use mainspring_core::gate::{BreakerChange, GateRef, Reach};
use mainspring_core::store::GateNews;
use mainspring_core::time::Time;

use crate::events::{Event, EventKind};
use crate::node::Node;

/// Claims that a look has woken and that found nothing were overtaken, or the hint named too much. The first such look is
/// followed by another at once; after that the wait doubles from the first to the second of these, or a hint that always names
/// too much would keep both busy for ever.
const LOOK_AGAIN_MIN: Duration = Duration::from_millis(20);
const LOOK_AGAIN_MAX: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Gated {
    /// Whether there is any limit, as far as this node knows. Once there was one, it minds them until it ends.
    known: AtomicBool,
    /// How many looks in a row have woken claims for nothing.
    in_vain: AtomicU32,
}

impl Gated {
    pub(crate) fn note(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }
}

fn wait_after(in_vain: u32) -> Duration {
    match in_vain {
        0 => Duration::ZERO,
        count => LOOK_AGAIN_MIN.saturating_mul(1 << (count - 1).min(10)).min(LOOK_AGAIN_MAX),
    }
}

impl Node {
    /// A claim found nothing and waits: what it waits for may be a matter of time.
    pub(crate) fn look_at_gates(&self) {
        if self.gated.is_known() {
            self.plan.look_at_gates();
        }
    }

    /// Claims that a look has woken took something, or wait on.
    pub(crate) fn looked_at_gates(&self, took: bool, waits_on: bool) {
        if took {
            self.gated.in_vain.store(0, Ordering::Relaxed);
        }
        if !waits_on {
            return;
        }
        if took {
            return self.look_at_gates();
        }
        match wait_after(self.gated.in_vain.fetch_add(1, Ordering::Relaxed)) {
            Duration::ZERO => self.look_at_gates(),
            wait => self.plan.expect(&[self.clock.now().after(wait)]),
        }
    }

    /// Counts and says what ended leases did to their gates.
    pub(crate) fn tell_gates(self: &Arc<Node>, now: Time, gates: &GateNews) {
        self.gated.note();
        for (_, change) in &gates.breakers {
            self.meters.breaker(*change).increment(1);
        }
        self.meters.keys_closed.increment(gates.closed.iter().len() as u64);
        self.stage.say(|| {
            let breakers = gates.breakers.iter().map(|(gate, change)| breaker_event(now, gate, *change));
            let closed = gates.closed.iter().map(|(gate, until)| {
                let closed = Event::new(now, EventKind::KeyClosed).of_limit(gate.tenant.clone(), reach(gate));
                Event { until: Some(*until), ..closed }
            });
            breakers.chain(closed).collect::<Vec<_>>()
        });
    }
}

fn breaker_event(now: Time, gate: &GateRef, change: BreakerChange) -> Event {
    let (kind, until) = match change {
        BreakerChange::Opened { until } => (EventKind::BreakerOpened, Some(until)),
        BreakerChange::HalfOpen => (EventKind::BreakerProbing, None),
        BreakerChange::Closed => (EventKind::BreakerClosed, None),
    };
    Event { until, ..Event::new(now, kind).of_limit(gate.tenant.clone(), reach(gate)) }
}

fn reach(gate: &GateRef) -> Reach {
    Reach::One(gate.gate.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_in_vain_come_ever_more_seldom() {
        let waits = [0, 1, 2, 3, 7, 100].map(|in_vain| wait_after(in_vain).as_millis());
        assert_eq!(waits, [0, 20, 40, 80, 1_000, 1_000]);
    }
}
