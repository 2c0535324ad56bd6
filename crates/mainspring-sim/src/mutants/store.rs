//! How each mutant breaks its promise: by asking the reference store for something else, or by answering something else.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use mainspring_core::id::{JobId, LeaseId};
use mainspring_core::job::{Claimed, Job};
use mainspring_core::lifecycle::State;
use mainspring_core::seats::Warrants;
use mainspring_core::segment::Segments;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use super::Mutant;
use crate::hop::{Ask, Ground, Hop, Reply, at_once};
use crate::world::Chance;

#[derive(Debug)]
pub struct Mutated {
    ground: Ground,
    how: Mutant,
    chance: Chance,
    /// What was handed out last.
    last: Mutex<Option<Claimed>>,
}

impl Mutated {
    pub fn new(how: Mutant, chance: Chance) -> Mutated {
        Mutated { ground: Ground::default(), how, chance, last: Mutex::default() }
    }

    /// Now and then, so that a run gets somewhere before it breaks.
    fn now_and_then(&self) -> bool {
        self.chance.percent(15)
    }

    /// What the store is asked in place of what was asked.
    fn change(&self, ask: Ask) -> Ask {
        match (self.how, ask) {
            (Mutant::NoFenceCheck, Ask::Settle(ends)) => {
                Ask::Settle(ends.into_iter().map(|end| self.with_fence(end)).collect())
            }
            (Mutant::EpochIgnored, Ask::Promote(ask)) => Ask::Promote(Promote { warrants: Warrants::NONE, ..ask }),
            (Mutant::EpochIgnored, Ask::Reclaim(ask)) => Ask::Reclaim(Reclaim { warrant: None, ..ask }),
            (Mutant::EpochIgnored, Ask::Prune(ask)) => Ask::Prune(Prune { warrant: None, ..ask }),
            (Mutant::EpochIgnored, Ask::Turn(turns)) => {
                Ask::Turn(turns.into_iter().map(|turn| Turn { warrant: None, ..turn }).collect())
            }
            (Mutant::VersionIgnored, Ask::Turn(turns)) => {
                Ask::Turn(turns.into_iter().map(|turn| self.with_version(turn)).collect())
            }
            (Mutant::LeaseWithoutExpiry, Ask::Reclaim(ask)) => Ask::Reclaim(Reclaim { spare_silent: true, ..ask }),
            (Mutant::ForgetsParents, Ask::Submit(jobs)) => {
                let alone = |job: Job| Job { depends_on: vec![], ..job };
                Ask::Submit(jobs.into_iter().map(alone).collect())
            }
            (Mutant::PromoteSkipsJob, Ask::Promote(ask)) => {
                let some: Segments = ask.segments.iter().filter(|segment| segment.index() % 20 != 7).collect();
                Ask::Promote(Promote { segments: some, ..ask })
            }
            (Mutant::PrunesEarly, Ask::Prune(ask)) => Ask::Prune(Prune { ended_before: Time::MAX, ..ask }),
            (_, ask) => ask,
        }
    }

    fn with_fence(&self, end: Settlement) -> Settlement {
        let fence = self.view(end.lease.job).and_then(|view| view.standing.lease).map(|lease| lease.fence);
        Settlement { lease: LeaseId { fence: fence.unwrap_or(end.lease.fence), ..end.lease }, ..end }
    }

    fn with_version(&self, turn: Turn) -> Turn {
        let view = at_once(self.ground().schedule(&turn.schedule)).ok().flatten();
        Turn { expect: view.map(|view| view.version), ..turn }
    }

    fn view(&self, id: JobId) -> Option<mainspring_core::job::JobView> {
        let tenants =
            crate::workload::TENANTS.map(|name| mainspring_core::name::TenantName::parse(name).expect("a name"));
        tenants.iter().find_map(|tenant| at_once(self.ground().get(tenant, vec![id])).ok()?.pop()?)
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

    /// Whatever else it does to an answer.
    async fn spoil(&self, now: Time, asked: &Ask, reply: Reply) -> Result<Reply> {
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
                    self.lose_one(now, &promoted).await?;
                }
                Ok(Reply::Promote(promoted))
            }
            (Mutant::HandsOutTwice, Ask::Claim(claims), Reply::Claim(mut answers)) => {
                self.hand_out_again(claims, &mut answers);
                Ok(Reply::Claim(answers))
            }
            (_, _, reply) => Ok(reply),
        }
    }

    async fn lose_one(&self, now: Time, promoted: &Promoted) -> Result<()> {
        let queue = &promoted.ready[0].0;
        let filter = Filter {
            statuses: vec![mainspring_core::lifecycle::Status::Pending],
            queue: Some(queue.queue.clone()),
            ..Filter::default()
        };
        let query = Query { tenant: queue.tenant.clone(), filter, below: None, limit: 1 };
        for view in self.ground().find(query).await?.jobs {
            let (tenant, id) = (view.job.tenant, view.job.id);
            for what in [JobCommand::Cancel { reason: String::new() }, JobCommand::Delete] {
                self.ground().command(now, vec![Command::Job { tenant: tenant.clone(), id, what }]).await?;
            }
        }
        Ok(())
    }

    fn hand_out_again(&self, claims: &[Claim], answers: &mut [ClaimAnswer]) {
        let mut last = self.last.lock().expect("nobody panics while handing out");
        for (claim, answer) in claims.iter().zip(answers) {
            let ClaimAnswer::Jobs(jobs) = answer else { continue };
            match (jobs.first(), &*last) {
                (Some(first), _) => *last = Some(first.clone()),
                (None, Some(before)) if before.job.tenant == claim.tenant && self.now_and_then() => {
                    jobs.push(before.clone());
                }
                (None, _) => {}
            }
        }
    }
}

#[async_trait]
impl Hop for Mutated {
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply> {
        match (self.how, &ask) {
            (Mutant::AdvancesBeforeSubmit, Ask::Turn(turns)) => return self.split_turns(now, turns.clone()).await,
            (Mutant::ForgetsSubmit, Ask::Submit(jobs)) if self.now_and_then() => {
                let accepted = |job: &Job| Submitted::Accepted { state: State::Ready, ready_at: job.run_at };
                return Ok(Reply::Submit(jobs.iter().map(accepted).collect()));
            }
            (Mutant::ForgetsSettlement, Ask::Settle(ends)) if self.now_and_then() => {
                let queue = |end: &Settlement| self.view(end.lease.job).map(|view| view.job.queue_ref());
                let applied = |queue| Settled::Applied {
                    state: State::Succeeded,
                    ready_at: now,
                    queue,
                    awaited: false,
                    gates: None,
                };
                let answers = ends.iter().map(|end| queue(end).map_or(Settled::Stale, applied));
                return Ok(Reply::Settle(answers.collect()));
            }
            (Mutant::CancelIgnored, Ask::Command(commands))
                if commands.iter().all(|it| matches!(it, Command::Job { what: JobCommand::Cancel { .. }, .. })) =>
            {
                return Ok(Reply::Command(vec![Commanded::Done; commands.len()]));
            }
            (Mutant::ReclaimsEarly, Ask::Reclaim(ask)) => {
                let early = now.after(Duration::from_millis(1_500));
                return Ok(Reply::Reclaim(self.ground().reclaim(early, *ask).await?));
            }
            (Mutant::ForgetsGivingUp, Ask::GiveUp(..)) => return Ok(Reply::Nothing),
            (Mutant::WorstFirst, Ask::Claim(claims)) => return self.worst_first(now, claims).await,
            (Mutant::DeafToBeats, Ask::Heartbeat(beats)) => return self.deaf(now, beats).await,
            (Mutant::DepthIgnored, Ask::Submit(jobs)) => return self.past_depth(now, jobs).await,
            _ => {}
        }
        let reply = self.ground.pass(now, self.change(ask.clone())).await?;
        self.spoil(now, &ask, reply).await
    }

    fn ground(&self) -> &Memory {
        self.ground.ground()
    }
}

impl Mutated {
    /// Takes more than was asked for, and gives all but the last back.
    async fn worst_first(&self, now: Time, claims: &[Claim]) -> Result<Reply> {
        let mut answers = Vec::new();
        for claim in claims {
            let more = Claim { max: claim.max + 1, ..claim.clone() };
            let mut answer = self.ground().claim(now, vec![more]).await?.remove(0);
            if let ClaimAnswer::Jobs(jobs) = &mut answer {
                jobs.reverse();
                let surplus = jobs.split_off(claim.max.min(jobs.len()));
                let release = |claimed: &Claimed| Settlement {
                    lease: claimed.lease_id(),
                    verdict: mainspring_core::verdict::Verdict::Release,
                };
                self.ground().settle(now, surplus.iter().map(release).collect()).await?;
            }
            answers.push(answer);
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
