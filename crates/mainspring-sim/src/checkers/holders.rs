//! Promise 2: no two holders. Fences rise and are never used twice; a job that is held or has ended is not handed out; only the fence that holds a
//! job settles it, and that one does; nobody is taken back from a worker that was heard from in time.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_core::id::{Fence, JobId, LeaseId, WorkerId};
use mainspring_core::job::Claimed;
use mainspring_core::store::{Beat, BeatKind, ClaimAnswer, Pulse, Reclaimed, Settled};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "no two holders";

#[derive(Debug)]
pub struct Holders {
    held: BTreeMap<JobId, Held>,
    last_fence: Fence,
    /// Since when a worker lives, by the world's clock, and how long it may be silent.
    heard: BTreeMap<WorkerId, (Time, Duration)>,
    clocks_are_right: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    fence: Fence,
    worker: WorkerId,
    claimed_at: Time,
    /// Taken back, and held by the node that settles it.
    taken_back: bool,
}

impl Holders {
    pub fn new(clocks_are_right: bool) -> Holders {
        Holders { held: BTreeMap::new(), last_fence: Fence(0), heard: BTreeMap::new(), clocks_are_right }
    }

    fn mint(&mut self, claimed: &Claimed, at: Time, findings: &mut Findings) {
        let fence = claimed.lease.fence;
        if fence <= self.last_fence {
            let last = self.last_fence;
            findings.broken(at, PROMISE, || format!("fence {fence:?} of job {} is not above {last:?}", claimed.job.id));
        }
        self.last_fence = self.last_fence.max(fence);
    }

    fn claim(&mut self, at: Time, claimed: &Claimed, past: &Past, findings: &mut Findings) {
        self.mint(claimed, at, findings);
        if let Some(ended) = past.get(claimed.job.id).and_then(|known| known.ended) {
            let id = claimed.job.id;
            findings.broken(at, PROMISE, || format!("job {id} was handed out after it was {ended:?}"));
        }
        let (fence, worker, claimed_at) = (claimed.lease.fence, claimed.lease.worker, claimed.lease.claimed_at);
        let held = Held { fence, worker, claimed_at, taken_back: false };
        if let Some(before) = self.held.insert(claimed.job.id, held) {
            let id = claimed.job.id;
            findings.broken(at, PROMISE, || format!("job {id} was handed out under {fence:?} while {before:?}"));
        }
    }

    fn reclaim(&mut self, at: Time, reclaimed: &Reclaimed, findings: &mut Findings) {
        for taken in &reclaimed.leases {
            let (id, worker) = (taken.claimed.job.id, taken.claimed.lease.worker);
            self.mint(&taken.claimed, at, findings);
            match self.held.get_mut(&id) {
                None => findings.broken(at, PROMISE, || format!("job {id} was taken back from nobody")),
                Some(held) => {
                    let first_time = !std::mem::replace(&mut held.taken_back, true);
                    held.fence = taken.claimed.lease.fence;
                    if first_time && taken.cause == Cause::Crash {
                        self.was_silent(at, id, worker, findings);
                    }
                }
            }
        }
    }

    fn was_silent(&self, at: Time, id: JobId, worker: WorkerId, findings: &mut Findings) {
        let Some(&(heard_at, lease)) = self.heard.get(&worker) else { return };
        // A call may have been under way for a while: its time is the one at which it was sent.
        if self.clocks_are_right && at < heard_at.after(lease) {
            let late = at.since(heard_at);
            findings.broken(at, PROMISE, || {
                format!(
                    "job {id} was taken from worker {} that spoke {late:?} before, with a lease of {lease:?}",
                    worker.0
                )
            });
        }
    }

    fn beat(&mut self, deed: &Deed<'_>, beat: &Beat, pulse: &Pulse, findings: &mut Findings) {
        let worker = beat.worker;
        let Pulse::Alive { held, .. } = pulse else { return };
        match &beat.kind {
            BeatKind::Register { lease, .. } => {
                self.heard.insert(worker, (deed.now, *lease));
            }
            BeatKind::Alive => self.hear(worker, deed.now),
            BeatKind::Holding { leases, claimed_before } => {
                self.hear(worker, deed.now);
                self.held.retain(|&job, it| {
                    let listed = leases.contains(&LeaseId { job, fence: it.fence });
                    it.worker != worker || it.taken_back || listed || it.claimed_at >= *claimed_before
                });
            }
            BeatKind::Leave => {
                self.heard.remove(&worker);
                self.held.retain(|_, it| it.worker != worker || it.taken_back);
            }
        }
        let counted = self.held.values().filter(|it| it.worker == worker && !it.taken_back).count() as u64;
        if counted != *held {
            findings.broken(deed.at, PROMISE, || {
                format!("worker {} was told that it holds {held}, and holds {counted}", worker.0)
            });
        }
    }

    fn hear(&mut self, worker: WorkerId, now: Time) {
        if let Some((heard_at, _)) = self.heard.get_mut(&worker) {
            *heard_at = now.max(*heard_at);
        }
    }

    fn settle(&mut self, at: Time, lease: LeaseId, settled: &Settled, findings: &mut Findings) {
        let holds = self.held.get(&lease.job).is_some_and(|held| held.fence == lease.fence);
        match settled {
            Settled::Applied { .. } => {
                if !holds {
                    findings.broken(at, PROMISE, || format!("{lease:?} settled a job that it does not hold"));
                }
                self.held.remove(&lease.job);
            }
            Settled::Stale if holds => {
                findings.broken(at, PROMISE, || format!("{lease:?} holds its job and was told that it is stale"));
            }
            Settled::Stale => {}
        }
    }
}

impl Checker for Holders {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Claim(_), Reply::Claim(answers)) => {
                for answer in answers {
                    if let ClaimAnswer::Jobs(jobs) = answer {
                        jobs.iter().for_each(|claimed| self.claim(deed.at, claimed, past, findings));
                    }
                }
            }
            (Ask::Heartbeat(beats), Reply::Heartbeat(pulses)) => {
                for (beat, pulse) in beats.iter().zip(pulses) {
                    self.beat(deed, beat, pulse, findings);
                }
            }
            (Ask::Settle(settlements), Reply::Settle(answers)) => {
                for (settlement, settled) in settlements.iter().zip(answers) {
                    self.settle(deed.at, settlement.lease, settled, findings);
                }
            }
            (Ask::Reclaim(_), Reply::Reclaim(reclaimed)) => self.reclaim(deed.at, reclaimed, findings),
            _ => {}
        }
    }
}
