//! What the gates of a job say to why it does not start. Asks no gate: the store has.

use mainspring_core::gate::Entry;
use mainspring_core::store::Hurdle;
use mainspring_core::time::Time;

use super::Reason;

/// Why a gate does not let a job in, every reason.
pub(super) fn reasons(hurdle: &Hurdle) -> impl Iterator<Item = Reason> {
    hurdle.reasons.iter().filter_map(|&entry| {
        let gate = hurdle.gate.clone();
        Some(match entry {
            Entry::Open => return None,
            Entry::Full { running, max } => Reason::Full { gate, running, max, holders: hurdle.holders.clone() },
            Entry::NoToken { next_at } => Reason::NoToken { gate, next_at },
            Entry::ClosedUntil(until) => Reason::Closed { gate, until },
            Entry::BreakerOpen { probe_at } => Reason::BreakerOpen { gate, probe_at },
            Entry::Probing => Reason::Probing { gate },
        })
    })
}

/// When time alone has opened all of them, if nobody else is faster. `None` if there are none, or if somebody has to leave or
/// to change a limit first.
pub(super) fn opens_at(hurdles: &[Hurdle]) -> Option<Time> {
    let at = |&entry: &Entry| match entry {
        Entry::Open => Some(Time::ZERO),
        Entry::NoToken { next_at } => Some(next_at),
        Entry::ClosedUntil(until) => Some(until),
        Entry::BreakerOpen { probe_at } => Some(probe_at),
        Entry::Full { .. } | Entry::Probing => None,
    };
    let all: Option<Vec<Time>> = hurdles.iter().flat_map(|hurdle| &hurdle.reasons).map(at).collect();
    all?.into_iter().max()
}
