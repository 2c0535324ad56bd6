//! In whose name a leader acts in each of several databases. A node leads by the leader seat of the *senior* database, the first
//! that answers, and takes those of the others beside it; their epochs are numbers of their own. Remembers which belong
//! together, and takes no seat itself.
//!
//! Nothing depends on it for safety: each database checks the epoch that it is told in the write itself.

use std::collections::VecDeque;
use std::sync::Mutex;

use mainspring_core::placement::Shard;
use mainspring_core::seats::{Seat, Term, Warrant};

/// How many leaderships are remembered: a write in the name of an older one is a straggler's.
const REMEMBERED_MAX: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Leads(Mutex<VecDeque<Lead>>);

/// One leadership, with the epochs that it has in the databases, by shard.
#[derive(Clone, Debug)]
struct Lead {
    senior: Shard,
    epoch: u64,
    epochs: Vec<Option<u64>>,
}

/// In whose name each database is asked.
#[derive(Debug)]
pub(super) enum Name {
    Nobody,
    Leader(Vec<Option<u64>>),
    /// As it was given, and only where it was given: nothing is known of it here.
    Stranger(Warrant),
}

#[derive(Debug)]
pub(super) struct Mandate {
    /// The database whose word counts.
    pub senior: Shard,
    name: Name,
}

impl Mandate {
    /// The warrant for a database; `None` if it is not to be asked.
    pub fn at(&self, shard: Shard) -> Option<Option<Warrant>> {
        let leader = |epoch| Some(Warrant { seat: Seat::Leader, epoch });
        match &self.name {
            Name::Nobody => Some(None),
            Name::Leader(epochs) => epochs[shard.index()].map(leader),
            Name::Stranger(warrant) => (shard == self.senior).then_some(Some(*warrant)),
        }
    }
}

impl Leads {
    /// Notes that the leader by the senior's term holds these leader seats as well.
    pub fn note(&self, senior: Shard, term: Term, epochs: Vec<Option<u64>>) {
        let mut leads = self.0.lock().expect("nobody panics with it");
        leads.retain(|lead| (lead.senior, lead.epoch) != (senior, term.epoch));
        leads.push_front(Lead { senior, epoch: term.epoch, epochs });
        leads.truncate(REMEMBERED_MAX);
    }

    /// What a warrant of the leader means in each database. The latest leadership with that epoch is meant.
    pub fn mandate(&self, warrant: Option<Warrant>) -> Mandate {
        let Some(warrant) = warrant else { return Mandate { senior: Shard::FIRST, name: Name::Nobody } };
        let leads = self.0.lock().expect("nobody panics with it");
        match leads.iter().find(|lead| lead.epoch == warrant.epoch) {
            Some(lead) => Mandate { senior: lead.senior, name: Name::Leader(lead.epochs.clone()) },
            None => Mandate { senior: Shard::FIRST, name: Name::Stranger(warrant) },
        }
    }
}
