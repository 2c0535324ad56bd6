//! How holds begin and end: claim, report, settle, heartbeat, reclaim. With its hold, a job leaves its gates.

use mainspring_core::gate::{GateName, GateRef, Leave, Part};
use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::store::{
    Beat, BeatKind, ClaimAnswer, Hold, Pulse, Reclaimed, Report, ReportKind, Settled, Settlement,
};
use mainspring_core::time::Time;
use mainspring_core::verdict::{self, Verdict};

use super::{Held, Past};

impl Past {
    pub(super) fn claimed(&mut self, now: Time, answers: &[ClaimAnswer]) {
        for answer in answers {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            for claimed in jobs {
                let Some(known) = self.jobs.get_mut(&claimed.job.id) else { continue };
                let lease = &claimed.lease;
                let (fence, worker, claimed_at) = (lease.fence, lease.worker, lease.claimed_at);
                known.held = Some(Held { fence, worker, claimed_at, taken_back: false });
                known.tally = claimed.tally;
                known.cancel_asked = false;
                self.gates.enter(now, &known.job);
            }
        }
    }

    pub(super) fn reported(&mut self, reports: &[Report], holds: &[Hold]) {
        for (report, hold) in reports.iter().zip(holds) {
            let ReportKind::Checkpoint { data: Some(data), .. } = &report.kind else { continue };
            if let (Hold::Held { .. }, Some(known)) = (hold, self.jobs.get_mut(&report.lease.job)) {
                known.checkpoint = Some(data.clone());
            }
        }
    }

    pub(super) fn settled(&mut self, now: Time, settlements: &[Settlement], answers: &[Settled]) {
        for (settlement, answer) in settlements.iter().zip(answers) {
            if matches!(answer, Settled::Applied { .. }) {
                self.end_lease(now, settlement.lease.job, &settlement.verdict);
            }
        }
    }

    pub(super) fn beaten(&mut self, now: Time, beats: &[Beat], pulses: &[Pulse]) {
        for (beat, pulse) in beats.iter().zip(pulses) {
            if *pulse == Pulse::Unknown {
                continue;
            }
            match &beat.kind {
                BeatKind::Register { .. } | BeatKind::Alive => {}
                BeatKind::Holding { leases, claimed_before } => {
                    self.given_back(now, beat.worker, leases, *claimed_before);
                }
                BeatKind::Leave => {
                    self.given_back(now, beat.worker, &[], Time::MAX);
                    self.orders.remove(&beat.worker);
                }
            }
        }
    }

    fn given_back(&mut self, now: Time, worker: WorkerId, listed: &[LeaseId], claimed_before: Time) {
        let is_missing = |id: &JobId, held: &Held| {
            let lease = LeaseId { job: *id, fence: held.fence };
            held.worker == worker && !held.taken_back && held.claimed_at < claimed_before && !listed.contains(&lease)
        };
        let held = self.jobs.iter().filter_map(|(id, known)| Some((id, known.held.as_ref()?, known.cancel_asked)));
        let missing: Vec<(JobId, bool)> =
            held.filter(|(id, held, _)| is_missing(id, held)).map(|(id, _, asked)| (*id, asked)).collect();
        for (id, cancel_asked) in missing {
            let verdict = verdict::given_back(cancel_asked.then_some("no longer wanted"));
            self.end_lease(now, id, &verdict);
        }
    }

    pub(super) fn reclaimed(&mut self, now: Time, reclaimed: &Reclaimed) {
        for taken in &reclaimed.leases {
            let held = self.jobs.get_mut(&taken.claimed.job.id).and_then(|known| known.held.as_mut());
            if let Some(held) = held {
                held.fence = taken.claimed.lease.fence;
                held.taken_back = true;
            }
        }
        self.end_all(now, &reclaimed.expired);
        self.orders.retain(|worker, _| !reclaimed.silent.contains(worker));
    }

    fn end_lease(&mut self, now: Time, id: JobId, verdict: &Verdict) {
        let Some(known) = self.jobs.get_mut(&id) else { return };
        let Some(held) = known.held.take() else { return };
        known.tally = verdict.count(known.tally);
        let (state, due_at) = verdict.destination(now, known.due_at);
        known.due_at = due_at;
        if state.is_final() {
            known.end(state, now);
        }
        let (weight, ending) = (known.job.keys.weight, verdict.outcome().into());
        let leave = Leave { now, weight, part: Part::Both, claimed_at: held.claimed_at, ending };
        self.gates.leave(&known.job, leave);
        if let (Verdict::Close { wait }, Some(key)) = (verdict, known.job.keys.closing()) {
            let gate = GateRef { tenant: known.job.tenant.clone(), gate: GateName::Key(key.clone()) };
            self.gates.close(now, gate, *wait);
        }
    }
}
