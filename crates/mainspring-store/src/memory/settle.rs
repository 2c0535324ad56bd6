//! Applies verdicts to leases that still hold; with its lease, a job leaves its gates. Decides nothing: the verdict is
//! the core's.

use mainspring_core::gate::{GateName, GateRef, Leave, Part};
use mainspring_core::id::JobId;
use mainspring_core::job::{Ended, Execution};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{GateNews, Settled, Settlement};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::book::{Book, Entry};

impl Book {
    pub(super) fn settle(&mut self, now: Time, settlement: Settlement) -> Settled {
        let id = settlement.lease.job;
        if self.leased(settlement.lease).is_none() {
            return Settled::Stale;
        }
        let news = self.end_lease(now, id, settlement.verdict);
        let awaited = self.moved(id, State::Running);
        let Entry { job, standing, .. } = &self.jobs[&id];
        Settled::Applied {
            state: standing.state,
            ready_at: standing.ready_at,
            queue: job.queue_ref(),
            awaited,
            gates: news.told(),
        }
    }

    /// Ends the lease of a job so. The one place where that happens, and so where gates are left.
    pub(super) fn end_lease(&mut self, now: Time, id: JobId, verdict: Verdict) -> News {
        let entry = self.jobs.get_mut(&id).expect("it was found leased");
        let claimed_at = entry.standing.lease.as_ref().expect("it was found leased").claimed_at;
        let (weight, ending) = (entry.job.keys.weight, verdict.outcome().into());
        let wait = if let Verdict::Close { wait } = verdict { Some(wait) } else { None };
        entry.apply(now, verdict);

        let job = entry.job.clone();
        let breakers = self.gates.leave(&job, Leave { now, weight, part: Part::Both, claimed_at, ending });
        let closing = wait.and_then(|wait| Some((wait, job.keys.closing()?.clone())));
        let closed = closing.and_then(|(wait, key)| {
            let gate = GateRef { tenant: job.tenant.clone(), gate: GateName::Key(key) };
            self.gates.close(now, &gate, wait).map(|until| (gate, until))
        });
        self.place(now, id);
        News(GateNews { opened: self.opened_by(now, &job), breakers, closed })
    }
}

/// What the end of leases did to gates.
#[derive(Debug, Default)]
pub(super) struct News(pub GateNews);

impl News {
    /// Nothing, if there is nothing to tell.
    pub fn told(self) -> Option<Box<GateNews>> {
        (self.0 != GateNews::default()).then(|| Box::new(self.0))
    }

    pub fn and(mut self, next: News) -> News {
        self.0.opened.extend(next.0.opened);
        self.0.opened.sort();
        self.0.opened.dedup();
        self.0.breakers.extend(next.0.breakers);
        self.0.closed = next.0.closed.or(self.0.closed);
        self
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
            Verdict::Retry { .. } | Verdict::Snooze { .. } | Verdict::Release | Verdict::Close { .. } => {}
        }
    }
}
