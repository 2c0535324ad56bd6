//! Forgets what is past its retention, oldest first. Touches nothing that is not final.

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Prune, Pruned};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn prune(&mut self, now: Time, ask: Prune) -> Pruned {
        let mut jobs = self.ended(&[State::Succeeded, State::Cancelled], ask.ended_before);
        jobs.extend(self.ended(&[State::Dead], ask.dead_before));
        let mut keys: Vec<_> = self
            .keys
            .iter()
            .filter(|(_, made)| made.until <= now)
            .map(|(key, made)| (made.until, key.clone()))
            .collect();
        keys.sort();
        let more = jobs.len() + keys.len() > ask.limit;

        jobs.truncate(ask.limit);
        keys.truncate(ask.limit - jobs.len());
        for id in &jobs {
            self.jobs.remove(id);
        }
        for (_, key) in &keys {
            self.keys.remove(key);
        }
        Pruned { jobs: jobs.len() as u64, keys: keys.len() as u64, more }
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
