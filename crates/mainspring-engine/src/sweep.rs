//! Finds what is overdue: leases that ran out, jobs that did not start in time, what is past its retention. Only the
//! leader sweeps; two that both do waste work and break nothing.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::seats::Warrant;
use mainspring_core::store::{Prune, Reclaim, Reclaimed, Settlement, TakenBack};
use mainspring_core::time::Time;
use mainspring_core::verdict::{self, Attempt, Cause, Outcome};

use crate::actor::Actor;
use crate::announce::News;
use crate::error::Result;
use crate::events::{Event, EventKind};
use crate::measure::Call;
use crate::node::Node;
use crate::{lanes, settle};

/// Leases, or expired jobs, in one reclaim.
const RECLAIM_JOBS_MAX: usize = 1_000;
/// How long the node may take to settle what it took back.
const HOLD: Duration = Duration::from_secs(30);
/// Items in one prune.
const PRUNE_ITEMS_MAX: usize = 1_000;
/// One tick prunes for no longer than this: the store has other things to do.
const PRUNE_BUDGET: Duration = Duration::from_millis(200);
/// After so many intervals without a tick we were paused, or the clock stepped.
const PAUSE_INTERVALS: u32 = 3;

#[derive(Debug)]
pub(crate) struct Sweep {
    node: Arc<Node>,
    /// The end of the tick before.
    ended_at: Time,
    /// Silent workers are left alone until then: while we did not listen they could not be heard.
    spare_until: Time,
}

impl Sweep {
    pub(crate) fn new(node: Arc<Node>, now: Time) -> Sweep {
        let spare_until = now.after(node.settings.lease_default);
        Sweep { node, ended_at: now, spare_until }
    }

    fn spares_silent(&mut self, now: Time) -> bool {
        let settings = &self.node.settings;
        // A clock that is moved by people leaps, and nobody was kept from being heard.
        let paused = !self.node.is_walking() && now.since(self.ended_at) > settings.sweep_every * PAUSE_INTERVALS;
        let set_back = now < self.ended_at;
        if paused || set_back {
            self.spare_until = now.after(settings.lease_default);
        }
        now < self.spare_until
    }

    /// Answers whether this node still leads.
    async fn reclaim(&self, now: Time, spare_silent: bool, warrant: Warrant) -> Result<bool> {
        let node = &self.node;
        while !node.closing.is_raised() {
            let (hold_until, warrant) = (node.clock.now().after(HOLD), Some(warrant));
            let ask = Reclaim { limit: RECLAIM_JOBS_MAX, hold_until, spare_silent, warrant };
            let reclaimed = node.meters.time(Call::Reclaim, node.store.reclaim(now, ask)).await?;
            if reclaimed.deposed {
                return Ok(false);
            }
            let more = reclaimed.more;
            self.tell(now, &reclaimed);
            if !reclaimed.expired.is_empty() {
                node.plan.release();
                self.pass_over(now, &reclaimed);
            }
            let settlements: Vec<Settlement> =
                reclaimed.leases.into_iter().map(|lost| self.decide(now, lost)).collect();
            let placement = node.settings.placement;
            let home = |settlement: &Settlement| placement.shard_of(settlement.lease.job.segment());
            let mut settled = Ok(());
            for settlements in lanes::apart(placement, settlements, home) {
                settled = settled.and(settle::apply(node, settlements).await.map(drop));
            }
            settled?;
            if !more {
                break;
            }
        }
        Ok(true)
    }

    /// A job that stood first before a gate kept others from passing it.
    fn pass_over(&self, now: Time, reclaimed: &Reclaimed) {
        if self.node.gated.is_known() {
            let mut news = News::default();
            news.opened(reclaimed.expired.iter().map(|(_, queue)| queue.clone()));
            self.node.announce(now, news);
        }
    }

    fn decide(&self, now: Time, lost: TakenBack) -> Settlement {
        let claimed = &lost.claimed;
        let attempt =
            Attempt { job: &claimed.job, tally: claimed.tally, cancel_asked: claimed.lease.cancel_asked.as_deref() };
        let outcome = match lost.cause {
            Cause::Timeout => Outcome::TimedOut,
            Cause::Crash | Cause::Failure => Outcome::Crashed,
        };
        let verdict = verdict::decide(attempt, outcome, now, self.node.mint.lock().seed());
        Settlement { lease: claimed.lease_id(), verdict }
    }

    fn tell(&self, now: Time, reclaimed: &Reclaimed) {
        let meters = &self.node.meters;
        let timeouts = reclaimed.leases.iter().filter(|lost| lost.cause == Cause::Timeout).count() as u64;
        meters.expired_by_timeout.increment(timeouts);
        meters.expired_by_crash.increment(reclaimed.leases.len() as u64 - timeouts);
        meters.jobs_expired.increment(reclaimed.expired.len() as u64);
        for worker in &reclaimed.silent {
            tracing::info!(worker = %worker.0, "a worker is gone");
        }
        self.node.stage.say(|| {
            let lost = reclaimed.leases.iter().map(|lost| Event {
                worker: Some(lost.claimed.lease.worker),
                attempt: Some(lost.claimed.tally.attempts),
                ..Event::new(now, EventKind::Reclaimed)
                    .of_queue(lost.claimed.job.queue_ref())
                    .of_job(lost.claimed.job.id)
            });
            let expired = reclaimed
                .expired
                .iter()
                .map(|(id, queue)| Event::new(now, EventKind::Expired).of_queue(queue.clone()).of_job(*id));
            lost.chain(expired)
        });
    }

    /// Answers whether this node still leads.
    async fn prune(&self, now: Time, warrant: Warrant) -> Result<bool> {
        let node = &self.node;
        let ask = Prune {
            ended_before: now.before(node.settings.retention),
            dead_before: now.before(node.settings.dead_retention),
            ledger_before: now.before(node.settings.ledger_retention),
            limit: PRUNE_ITEMS_MAX,
            warrant: Some(warrant),
        };
        let stop_at = node.clock.now().after(PRUNE_BUDGET);
        while !node.closing.is_raised() {
            let pruned = node.meters.time(Call::Prune, node.store.prune(now, ask)).await?;
            if pruned.deposed {
                return Ok(false);
            }
            node.meters.pruned.increment(pruned.jobs);
            if !pruned.more || node.clock.now() >= stop_at {
                break;
            }
        }
        Ok(true)
    }

    async fn sweep(&self, now: Time, spare_silent: bool, warrant: Warrant) -> Result<()> {
        if self.reclaim(now, spare_silent, warrant).await? && self.prune(now, warrant).await? {
            self.node.chart.swept(now);
        } else {
            self.node.deposed_as_leader();
        }
        Ok(())
    }
}

impl Actor for Sweep {
    const NAME: &'static str = "sweep";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        let spare_silent = self.spares_silent(now);
        if let Some(warrant) = self.node.holdings.leads(now) {
            self.sweep(now, spare_silent, warrant).await?;
        }
        let ended_at = self.node.clock.now();
        self.ended_at = ended_at;
        Ok(ended_at.after(self.node.settings.sweep_every))
    }
}
