//! Mutants that answer something else than the reference store does, or do something beside it.

use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::lifecycle::Status;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::Mutant;
use super::store::Mutated;
use crate::hop::{Ask, Hop, Reply};

impl Mutated {
    /// Whatever else it does to an answer.
    pub(super) async fn spoil(&self, now: Time, asked: &Ask, reply: Reply) -> Result<Reply> {
        match (self.how, asked, reply) {
            (Mutant::SeatForTwo, Ask::Take(node, ..), Reply::Take(mut terms)) => {
                terms.iter_mut().for_each(|term| term.holder = *node);
                Ok(Reply::Take(terms))
            }
            (Mutant::FiresTwice, Ask::Turn(turns), reply) => {
                for job in turns.iter().flat_map(|turn| &turn.jobs) {
                    let id = JobId::mint(now, 0, job.id.segment(), self.chance.seed());
                    self.ground().submit(now, vec![Job { id, idempotency: None, ..job.clone() }]).await?;
                }
                Ok(reply)
            }
            (Mutant::PromoteLosesJob, Ask::Promote(_), Reply::Promote(promoted)) => {
                if !promoted.ready.is_empty() && self.now_and_then() {
                    self.lose_one(now, &promoted.ready[0].0, Status::Pending).await?;
                }
                Ok(Reply::Promote(promoted))
            }
            (Mutant::PrunesUnfinished, Ask::Prune(_), Reply::Prune(mut pruned)) => {
                if self.now_and_then() {
                    for view in self.ground().queues(None).await? {
                        pruned.jobs += self.lose_one(now, &view.queue, Status::Scheduled).await?;
                    }
                }
                Ok(Reply::Prune(pruned))
            }
            (Mutant::TriedJobExpires, Ask::Reclaim(_), Reply::Reclaim(reclaimed)) => {
                Ok(Reply::Reclaim(self.expire_tried(now, reclaimed).await?))
            }
            (Mutant::HandsOutTwice, Ask::Claim(claims), Reply::Claim(mut answers)) => {
                self.hand_out_again(claims, &mut answers);
                Ok(Reply::Claim(answers))
            }
            (Mutant::SnoozeLosesCheckpoint, Ask::Settle(ends), reply) => {
                let snoozed = ends.iter().filter(|end| matches!(end.verdict, Verdict::Snooze { .. }));
                self.notes().snoozed.extend(snoozed.map(|end| end.lease.job));
                Ok(reply)
            }
            (Mutant::SnoozeLosesCheckpoint, Ask::Claim(_), Reply::Claim(mut answers)) => {
                for answer in &mut answers {
                    let ClaimAnswer::Jobs(jobs) = answer else { continue };
                    let snoozed = jobs.iter_mut().filter(|claimed| self.notes().snoozed.contains(&claimed.job.id));
                    snoozed.for_each(|claimed| claimed.checkpoint = None);
                }
                Ok(Reply::Claim(answers))
            }
            (_, _, reply) => Ok(reply),
        }
    }

    /// Cancels and deletes a job of a queue that nobody told to; how many.
    async fn lose_one(&self, now: Time, queue: &mainspring_core::name::QueueRef, status: Status) -> Result<u64> {
        let filter = Filter { statuses: vec![status], queue: Some(queue.queue.clone()), ..Filter::default() };
        let query = Query { tenant: queue.tenant.clone(), filter, below: None, limit: 1 };
        let found = self.ground().find(query).await?.jobs;
        for view in &found {
            let (tenant, id) = (&view.job.tenant, view.job.id);
            for what in [JobCommand::Cancel { reason: String::new() }, JobCommand::Delete] {
                self.ground().command(now, vec![Command::Job { tenant: tenant.clone(), id, what }]).await?;
            }
        }
        Ok(found.len() as u64)
    }

    async fn expire_tried(&self, now: Time, mut reclaimed: Reclaimed) -> Result<Reclaimed> {
        let mut late = Vec::new();
        self.ground().each_job(|job, standing| {
            let waits = !standing.state.is_final() && standing.lease.is_none() && standing.tally.attempts > 0;
            if waits && job.expires_at.is_some_and(|at| at <= now) {
                late.push((job.id, job.queue_ref()));
            }
        });
        for (id, queue) in late {
            let (tenant, what) = (queue.tenant.clone(), JobCommand::Cancel { reason: "late".into() });
            self.ground().command(now, vec![Command::Job { tenant, id, what }]).await?;
            reclaimed.expired.push((id, queue));
        }
        Ok(reclaimed)
    }

    fn hand_out_again(&self, claims: &[Claim], answers: &mut [ClaimAnswer]) {
        let mut notes = self.notes();
        for (claim, answer) in claims.iter().zip(answers) {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            match (jobs.first(), &notes.last) {
                (Some(first), _) => notes.last = Some(first.clone()),
                (None, Some(before)) if before.job.tenant == claim.tenant && self.now_and_then() => {
                    jobs.push(before.clone());
                }
                (None, _) => {}
            }
        }
    }
}
