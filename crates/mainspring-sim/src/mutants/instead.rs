//! Mutants that do something else than they were asked.

use std::time::Duration;

use mainspring_core::job::{Claimed, Job};
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::Mutant;
use super::store::Mutated;
use crate::hop::{Ask, Hop, Reply};

impl Mutated {
    /// The answer, if this mutant does something else.
    pub(super) async fn instead(&self, now: Time, ask: &Ask) -> Result<Option<Reply>> {
        let reply = match (self.how, ask) {
            (Mutant::AdvancesBeforeSubmit, Ask::Turn(turns)) => self.split_turns(now, turns.clone()).await?,
            (Mutant::ForgetsSubmit, Ask::Submit(jobs)) if self.now_and_then() => {
                let accepted = |job: &Job| Submitted::Accepted { state: State::Ready, ready_at: job.run_at };
                Reply::Submit(jobs.iter().map(accepted).collect())
            }
            (Mutant::ForgetsSettlement, Ask::Settle(ends)) if self.now_and_then() => {
                Reply::Settle(ends.iter().map(|end| self.as_if_settled(now, end)).collect())
            }
            (_, Ask::Command(commands)) if commands.iter().all(|command| self.ignores(command)) => {
                Reply::Command(vec![Commanded::Done; commands.len()])
            }
            (Mutant::ReclaimsEarly, Ask::Reclaim(ask)) => {
                let early = now.after(Duration::from_millis(1_500));
                Reply::Reclaim(self.ground().reclaim(early, *ask).await?)
            }
            (Mutant::PromotesEarly, Ask::Promote(ask)) => {
                // Schedules are left in peace: a turn that comes too early is no turn, and is asked for again and again.
                let (early, jobs_only) =
                    (now.after(Duration::from_millis(700)), Promote { due_limit: 0, ..ask.clone() });
                self.ground().promote(early, jobs_only).await?;
                Reply::Promote(self.ground().promote(now, ask.clone()).await?)
            }
            (Mutant::ForgetsGivingUp, Ask::GiveUp(..)) => Reply::Nothing,
            (Mutant::WorstFirst, Ask::Claim(claims)) => self.worst_first(now, claims).await?,
            (Mutant::QueueAfterQueue, Ask::Claim(claims)) => self.queue_after_queue(now, claims).await?,
            (Mutant::FirstTenantFirst, Ask::Claim(claims)) => {
                self.ground().forget_turns();
                Reply::Claim(self.ground().claim(now, claims.clone()).await?)
            }
            (Mutant::DeafToBeats, Ask::Heartbeat(beats)) => self.deaf(now, beats).await?,
            (Mutant::DepthIgnored, Ask::Submit(jobs)) => self.past_depth(now, jobs).await?,
            _ => return Ok(None),
        };
        Ok(Some(reply))
    }

    /// Whether it answers "done" and does nothing.
    fn ignores(&self, command: &Command) -> bool {
        match (self.how, command) {
            (Mutant::CancelIgnored, Command::Job { what: JobCommand::Cancel { .. }, .. })
            | (Mutant::OrderIgnored, Command::Worker { .. })
            | (Mutant::QueuePauseIgnored, Command::Queue { what: QueueCommand::Pause, .. }) => true,
            (Mutant::PatchLost, Command::Job { id, what: JobCommand::Update { .. }, .. })
            | (Mutant::JobPauseIgnored, Command::Job { id, what: JobCommand::Pause, .. }) => self
                .view(*id)
                .is_some_and(|view| matches!(view.standing.state, State::Blocked | State::Waiting | State::Ready)),
            _ => false,
        }
    }

    fn as_if_settled(&self, now: Time, end: &Settlement) -> Settled {
        let queue = self.view(end.lease.job).map(|view| view.job.queue_ref());
        let applied =
            |queue| Settled::Applied { state: State::Succeeded, ready_at: now, queue, awaited: false, gates: None };
        queue.map_or(Settled::Stale, applied)
    }

    async fn split_turns(&self, now: Time, turns: Vec<Turn>) -> Result<Reply> {
        let mut answers = Vec::new();
        for turn in turns {
            let jobs = turn.jobs.clone();
            let turned = self.ground().turn(now, vec![Turn { jobs: vec![], ..turn }]).await?.remove(0);
            let Turned::Done { version, .. } = turned else {
                answers.push(turned);
                continue;
            };
            if !jobs.is_empty() && self.now_and_then() {
                return Err(Error::Unavailable("died between two writes".into()));
            }
            answers.push(Turned::Done { version, jobs: self.ground().submit(now, jobs).await? });
        }
        Ok(Reply::Turn(answers))
    }

    /// Takes more than was asked for, and gives all but the last back.
    async fn worst_first(&self, now: Time, claims: &[Claim]) -> Result<Reply> {
        let mut answers = Vec::new();
        for claim in claims {
            let more = Claim { max: claim.max + 1, ..claim.clone() };
            let mut answer = self.ground().claim(now, vec![more]).await?.remove(0);
            if let ClaimAnswer::Jobs(jobs) = &mut answer {
                jobs.reverse();
                let surplus = jobs.split_off(claim.max.min(jobs.len()));
                let release = |claimed: &Claimed| Settlement { lease: claimed.lease_id(), verdict: Verdict::Release };
                self.ground().settle(now, surplus.iter().map(release).collect()).await?;
            }
            answers.push(answer);
        }
        Ok(Reply::Claim(answers))
    }

    /// Asks for one queue after the other.
    async fn queue_after_queue(&self, now: Time, claims: &[Claim]) -> Result<Reply> {
        let mut answers = Vec::new();
        for claim in claims {
            let mut given = Vec::new();
            let mut other = None;
            for queue in &claim.queues {
                let one = Claim { queues: vec![queue.clone()], max: claim.max - given.len(), ..claim.clone() };
                match self.ground().claim(now, vec![one]).await?.remove(0) {
                    ClaimAnswer::Jobs(jobs) => given.extend(jobs),
                    answer => other = Some(answer),
                }
            }
            answers.push(other.unwrap_or(ClaimAnswer::Jobs(given)));
        }
        Ok(Reply::Claim(answers))
    }

    /// A beat that is heard at the dawn of time prolongs nothing.
    async fn deaf(&self, now: Time, beats: &[Beat]) -> Result<Reply> {
        let mut pulses = Vec::new();
        for beat in beats {
            let at = if matches!(beat.kind, BeatKind::Register { .. }) { now } else { Time::ZERO };
            pulses.extend(self.ground().heartbeat(at, vec![beat.clone()]).await?);
        }
        Ok(Reply::Heartbeat(pulses))
    }

    /// Lifts the bound for as long as the submit takes.
    async fn past_depth(&self, now: Time, jobs: &[Job]) -> Result<Reply> {
        let bounded: Vec<QueueView> =
            self.ground().queues(None).await?.into_iter().filter(|view| view.max_depth.is_some()).collect();
        let set = |view: &QueueView, depth| Command::Queue {
            queue: view.queue.clone(),
            what: QueueCommand::SetMaxDepth(depth),
        };
        self.ground().command(now, bounded.iter().map(|view| set(view, None)).collect()).await?;
        let answers = self.ground().submit(now, jobs.to_vec()).await;
        self.ground().command(now, bounded.iter().map(|view| set(view, view.max_depth)).collect()).await?;
        Ok(Reply::Submit(answers?))
    }
}
