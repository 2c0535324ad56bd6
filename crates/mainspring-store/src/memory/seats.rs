//! Seats of nodes within one process. Assigns nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use mainspring_core::id::NodeId;
use mainspring_core::seats::{Seat, Seats, Term};
use mainspring_core::store::Result;
use mainspring_core::time::Time;

/// Remembers terms until it is dropped.
#[derive(Debug, Default)]
pub struct MemorySeats {
    terms: Mutex<BTreeMap<Seat, Term>>,
}

impl MemorySeats {
    pub fn new() -> MemorySeats {
        MemorySeats::default()
    }

    fn terms(&self) -> MutexGuard<'_, BTreeMap<Seat, Term>> {
        self.terms.lock().expect("no verb panics half way")
    }
}

#[async_trait]
impl Seats for MemorySeats {
    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        let mut terms = self.terms();
        let take = |seat: Seat| {
            let term = terms.entry(seat).or_insert(Term { seat, holder: node, epoch: 1, until });
            if term.holder == node {
                term.until = until;
            } else if term.until <= now {
                *term = Term { seat, holder: node, epoch: term.epoch + 1, until };
            }
            *term
        };
        Ok(seats.into_iter().map(take).collect())
    }

    /// The terms stay, and are over: the next holder's epoch is counted from them.
    async fn leave(&self, now: Time, node: NodeId) -> Result<()> {
        let mut terms = self.terms();
        terms.values_mut().filter(|term| term.holder == node).for_each(|term| term.until = term.until.min(now));
        Ok(())
    }

    async fn terms(&self) -> Result<Vec<Term>> {
        Ok(MemorySeats::terms(self).values().copied().collect())
    }
}
