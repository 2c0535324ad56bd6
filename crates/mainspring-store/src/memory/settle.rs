//! Applies verdicts to leases that still hold. Decides nothing: the verdict is the core's.

use mainspring_core::job::{Ended, Execution};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Settled, Settlement};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::book::{Book, Entry};

impl Book {
    pub(super) fn settle(&mut self, now: Time, settlement: Settlement) -> Settled {
        let id = settlement.lease.job;
        let Some(entry) = self.leased(settlement.lease) else { return Settled::Stale };
        entry.apply(now, settlement.verdict);
        let awaited = self.moved(id, State::Running);
        let Entry { job, standing, .. } = &self.jobs[&id];
        Settled::Applied { state: standing.state, ready_at: standing.ready_at, queue: job.queue_ref(), awaited }
    }
}

impl Entry {
    /// Ends the running attempt, writes it into the history, and moves the job to where the verdict sends it.
    pub(super) fn apply(&mut self, now: Time, verdict: Verdict) {
        let lease = self.standing.lease.take().expect("only a leased job is settled");
        let taken_from = self.taken_back.take();
        self.executions.push(Execution {
            attempt: self.standing.tally.attempts,
            fence: taken_from.map_or(lease.fence, |taken| taken.fence),
            worker: lease.worker,
            started_at: lease.started_at.unwrap_or(lease.claimed_at),
            ended_at: now,
            outcome: verdict.outcome(),
            error: verdict.error().cloned(),
        });

        let standing = &mut self.standing;
        (standing.state, standing.ready_at) = verdict.destination(now, standing.ready_at);
        standing.tally = verdict.count(standing.tally);
        standing.progress = None;
        if let Some(error) = verdict.error() {
            standing.last_error = Some(error.clone());
        }
        match verdict {
            Verdict::Succeed { result } => self.end(State::Succeeded, Ended { at: now, result, reason: None }),
            Verdict::Bury { .. } => self.end(State::Dead, Ended { at: now, result: None, reason: None }),
            Verdict::Cancel { reason } => {
                self.end(State::Cancelled, Ended { at: now, result: None, reason: Some(reason) });
            }
            Verdict::Retry { .. } | Verdict::Snooze { .. } | Verdict::Release => {}
        }
    }
}
