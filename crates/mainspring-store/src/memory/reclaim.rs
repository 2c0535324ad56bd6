//! Takes back what ran out: leases, jobs past their expiry, silent workers. Decides no verdicts.

use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::Ended;
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{Reclaim, Reclaimed, TakenBack};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

use super::book::{Book, Entry, TakenFrom};

impl Book {
    pub(super) fn reclaim(&mut self, now: Time, ask: Reclaim) -> Reclaimed {
        if !self.roster.stands(ask.warrant) {
            return Reclaimed { deposed: true, ..Reclaimed::default() };
        }
        let lost: Vec<(JobId, Cause)> =
            self.jobs.iter().filter_map(|(&id, entry)| Some((id, self.lost(entry, now, ask.spare_silent)?))).collect();
        let late = self.late(now);
        Reclaimed {
            more: lost.len() > ask.limit || late.len() > ask.limit,
            leases: lost.into_iter().take(ask.limit).map(|(id, cause)| self.take_back(id, cause, ask)).collect(),
            expired: late.into_iter().take(ask.limit).map(|id| self.expire(now, id)).collect(),
            silent: self.write_off(now, ask.spare_silent),
            deposed: false,
        }
    }

    /// Why a lease is lost, if it is. One that was taken back before has only its new holder's time to keep.
    fn lost(&self, entry: &Entry, now: Time, spare_silent: bool) -> Option<Cause> {
        let lease = entry.standing.lease.as_ref()?;
        let late = lease.timeout_at.is_some_and(|at| at <= now);
        match entry.taken_back {
            Some(TakenFrom { cause, .. }) => late.then_some(cause),
            None if self.is_silent(lease.worker, now, spare_silent) => Some(Cause::Crash),
            None => late.then_some(Cause::Timeout),
        }
    }

    fn take_back(&mut self, id: JobId, cause: Cause, ask: Reclaim) -> TakenBack {
        let fence = self.numbers.fence(id);
        let entry = self.jobs.get_mut(&id).expect("it was found lost");
        let lease = entry.standing.lease.as_mut().expect("a lost job has a lease");
        let held_as = std::mem::replace(&mut lease.fence, fence);
        lease.timeout_at = Some(ask.hold_until);
        let fence = entry.taken_back.map_or(held_as, |before| before.fence);
        entry.taken_back = Some(TakenFrom { cause, fence });
        TakenBack { claimed: entry.claimed(), cause }
    }

    /// Jobs that did not start in time, the longest overdue first.
    fn late(&self, now: Time) -> Vec<JobId> {
        let not_started =
            |entry: &&Entry| matches!(entry.standing.state, State::Blocked | State::Waiting | State::Ready);
        let mut late: Vec<(Option<Time>, JobId)> = self
            .jobs
            .values()
            .filter(not_started)
            .filter(|entry| entry.is_expired(now))
            .map(|entry| (entry.job.expires_at, entry.job.id))
            .collect();
        late.sort();
        late.into_iter().map(|(_, id)| id).collect()
    }

    fn expire(&mut self, now: Time, id: JobId) -> (JobId, QueueRef) {
        let entry = self.jobs.get_mut(&id).expect("it was found late");
        let (from, queue) = (entry.standing.state, entry.job.queue_ref());
        let reason = Some("expired before it started".into());
        entry.end(State::Cancelled, Ended { at: now, result: None, reason });
        self.moved(id, from);
        (id, queue)
    }

    /// Forgets the workers that are silent and hold nothing any more.
    fn write_off(&mut self, now: Time, spare_silent: bool) -> Vec<WorkerId> {
        let silent: Vec<WorkerId> = self
            .workers
            .values()
            .map(|worker| worker.id)
            .filter(|&id| self.is_silent(id, now, spare_silent) && self.held_by(id).next().is_none())
            .collect();
        for id in &silent {
            self.workers.remove(id);
        }
        silent
    }
}
