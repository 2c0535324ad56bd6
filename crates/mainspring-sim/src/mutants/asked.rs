//! Mutants that ask the reference store for something else than they were asked.

use std::time::Duration;

use mainspring_core::id::LeaseId;
use mainspring_core::job::Failure;
use mainspring_core::seats::{Assign, Seats, Warrants};
use mainspring_core::segment::Segments;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::Mutant;
use super::store::Mutated;
use crate::hop::{Ask, Hop, at_once};

impl Mutated {
    pub(super) fn change(&self, now: Time, ask: Ask) -> Ask {
        match (self.how, ask) {
            (Mutant::NoFenceCheck, Ask::Settle(ends)) => {
                Ask::Settle(ends.into_iter().map(|end| self.with_fence(end)).collect())
            }
            (Mutant::SnoozeCounted | Mutant::CrashNotCounted, Ask::Settle(ends)) => {
                let other = |end: Settlement| Settlement { verdict: self.verdict(end.verdict), ..end };
                Ask::Settle(ends.into_iter().map(other).collect())
            }
            (Mutant::EpochIgnored, Ask::Promote(ask)) => Ask::Promote(Promote { warrants: Warrants::NONE, ..ask }),
            (Mutant::EpochIgnored, Ask::Reclaim(ask)) => Ask::Reclaim(Reclaim { warrant: None, ..ask }),
            (Mutant::EpochIgnored, Ask::Prune(ask)) => Ask::Prune(Prune { warrant: None, ..ask }),
            (Mutant::EpochIgnored, Ask::Turn(turns)) => {
                Ask::Turn(turns.into_iter().map(|turn| Turn { warrant: None, ..turn }).collect())
            }
            (Mutant::DeposedLeaderAssigns, Ask::Assign(assign)) => Ask::Assign(self.with_epoch(assign)),
            (Mutant::VersionIgnored, Ask::Turn(turns)) => {
                Ask::Turn(turns.into_iter().map(|turn| self.with_version(turn)).collect())
            }
            (Mutant::LedgerRowLost, Ask::Turn(mut turns)) => {
                turns
                    .iter_mut()
                    .filter(|_| self.now_and_then())
                    .for_each(|turn| turn.rows.truncate(turn.rows.len().saturating_sub(1)));
                Ask::Turn(turns)
            }
            (Mutant::LeaseWithoutExpiry, Ask::Reclaim(ask)) => Ask::Reclaim(Reclaim { spare_silent: true, ..ask }),
            (Mutant::PromoteSkipsJob, Ask::Promote(ask)) => {
                let some: Segments = ask.segments.iter().filter(|segment| segment.index() % 20 != 7).collect();
                Ask::Promote(Promote { segments: some, ..ask })
            }
            (Mutant::PrunesEarly, Ask::Prune(ask)) => Ask::Prune(Prune { ended_before: now, ..ask }),
            (Mutant::DeadPrunedEarly, Ask::Prune(ask)) => {
                Ask::Prune(Prune { dead_before: ask.ended_before.max(now.before(DEAD_KEPT)), ..ask })
            }
            (_, ask) => ask,
        }
    }

    fn verdict(&self, verdict: Verdict) -> Verdict {
        match (self.how, verdict) {
            (Mutant::SnoozeCounted, Verdict::Snooze { at }) => {
                Verdict::Retry { at, cause: Cause::Failure, error: Failure::new("put off") }
            }
            (Mutant::CrashNotCounted, Verdict::Retry { at, cause: Cause::Crash, .. }) => Verdict::Snooze { at },
            (_, verdict) => verdict,
        }
    }

    fn with_fence(&self, end: Settlement) -> Settlement {
        let fence = self.view(end.lease.job).and_then(|view| view.standing.lease).map(|lease| lease.fence);
        Settlement { lease: LeaseId { fence: fence.unwrap_or(end.lease.fence), ..end.lease }, ..end }
    }

    fn with_version(&self, turn: Turn) -> Turn {
        let view = at_once(self.ground().schedule(&turn.schedule)).ok().flatten();
        Turn { expect: view.map(|view| view.version), ..turn }
    }

    fn with_epoch(&self, assign: Assign) -> Assign {
        let stands = at_once(self.ground().roll()).ok().and_then(|roll| roll.term(assign.warrant.seat).copied());
        Assign { warrant: stands.map_or(assign.warrant, |term| term.warrant()), ..assign }
    }
}

/// How long the mutant keeps dead letters.
const DEAD_KEPT: Duration = Duration::from_millis(2_500);
