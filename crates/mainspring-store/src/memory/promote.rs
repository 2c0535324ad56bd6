//! Moves due jobs to Ready. Never claims.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::store::{Promote, Promoted};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn promote(&mut self, now: Time, ask: Promote) -> Promoted {
        let waiting: BTreeSet<(Time, JobId)> = self
            .jobs
            .values()
            .filter(|entry| entry.is_waiting() && ask.segments.contains(entry.job.id.segment()))
            .map(|entry| (entry.standing.ready_at, entry.job.id))
            .collect();
        let due: Vec<(Time, JobId)> = waiting.iter().copied().take_while(|&(at, _)| at <= now).collect();
        let more = due.len() > ask.limit;

        let mut ready = BTreeMap::new();
        for &(_, id) in due.iter().take(ask.limit) {
            let entry = self.jobs.get_mut(&id).expect("it was found waiting");
            entry.standing.state = State::Ready;
            *ready.entry(entry.job.queue_ref()).or_insert(0) += 1;
        }

        let ahead: BTreeSet<Time> = waiting.iter().map(|&(at, _)| at).filter(|&at| at > now).collect();
        let until = ask.look_ahead_until.min(now.after(limits::LOOK_AHEAD_MAX));
        let upcoming = ahead.into_iter().take_while(|&at| at <= until);
        Promoted {
            ready: ready.into_iter().collect(),
            oldest: due.iter().take(ask.limit).map(|&(at, _)| at).next(),
            upcoming: if more { Vec::new() } else { upcoming.take(ask.look_ahead_limit).collect() },
            more,
        }
    }
}
