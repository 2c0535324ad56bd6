//! Forgets what is past its retention, oldest first, and gates at rest. Touches nothing that is not final.

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Prune, Pruned};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn prune(&mut self, now: Time, ask: Prune) -> Pruned {
        if !self.roster.stands(ask.warrant) {
            return Pruned { deposed: true, ..Pruned::default() };
        }
        let mut jobs = self.ended(&[State::Succeeded, State::Cancelled], ask.ended_before);
        jobs.extend(self.ended(&[State::Dead], ask.dead_before));
        let mut keys: Vec<_> = self
            .keys
            .iter()
            .filter(|(_, made)| made.until <= now)
            .map(|(key, made)| (made.until, key.clone()))
            .collect();
        keys.sort();
        let mut rows: Vec<_> = self
            .ledger
            .iter()
            .filter(|(_, row)| row.at < ask.ledger_before)
            .map(|(place, row)| (row.at, place.clone()))
            .collect();
        rows.sort();
        let more = jobs.len() + keys.len() + rows.len() > ask.limit;

        jobs.truncate(ask.limit);
        keys.truncate(ask.limit - jobs.len());
        rows.truncate(ask.limit - jobs.len() - keys.len());
        for id in &jobs {
            self.forget(*id);
        }
        for (_, key) in &keys {
            self.keys.remove(key);
        }
        for (_, place) in &rows {
            self.ledger.remove(place);
        }
        self.gates.forget_what_rests(now);
        Pruned { jobs: jobs.len() as u64, keys: keys.len() as u64, rows: rows.len() as u64, deposed: false, more }
    }

    /// What ended so before this instant, in the order it ended.
    fn ended(&self, states: &[State], before: Time) -> Vec<JobId> {
        let mut ended: Vec<(Time, JobId)> = self
            .jobs
            .values()
            .filter(|entry| states.contains(&entry.standing.state))
            .filter_map(|entry| Some((entry.standing.ended.as_ref()?.at, entry.job.id)))
            .filter(|&(at, _)| at < before)
            .collect();
        ended.sort();
        ended.into_iter().map(|(_, id)| id).collect()
    }
}
