//! The actor that sleeps until the next instant and promotes what is due for the segments this node holds. The one
//! place where time becomes readiness.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::name::QueueRef;
use mainspring_core::seats::Warrants;
use mainspring_core::segment::Segments;
use mainspring_core::store::{Promote, Promoted};
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeup;

use crate::actor::Actor;
use crate::announce::News;
use crate::error::Result;
use crate::events::{Event, EventKind};
use crate::measure::Call;
use crate::node::Node;

use super::rounds::ROUND_SCHEDULES_MAX;

/// The store is read at least this often, whatever the wheel says: for jobs of other nodes, and for clocks that step.
pub(crate) const RESYNC_EVERY: Duration = Duration::from_secs(1);
/// A child that was let go may have to wait for a time of its own, and only a resync tells it to the wheel. Chains of jobs end
/// often, and a resync is dear: they share one.
const RELEASED_RESYNC: Duration = Duration::from_millis(20);
/// The shortest time there is.
const TICK: Duration = Duration::from_millis(1);
/// Jobs promoted in one call, so that a burst does not keep the store from its other work.
const PROMOTE_JOBS_MAX: usize = 20_000;

#[derive(Debug)]
pub(crate) struct Trigger {
    node: Arc<Node>,
    ticked_at: Time,
    resync_at: Time,
}

impl Trigger {
    pub(crate) fn new(node: Arc<Node>) -> Trigger {
        Trigger { node, ticked_at: Time::ZERO, resync_at: Time::ZERO }
    }

    /// Promotes all that is due by `now`.
    async fn fire(&self, now: Time, look_ahead: bool) -> Result<()> {
        loop {
            // A burst takes a while, and the seats may be lost meanwhile.
            let (segments, warrants) = self.node.holdings.mandate(self.node.clock.now().max(now));
            if segments.is_empty() || self.node.closing.is_raised() {
                return Ok(());
            }
            let mut promoted = self.promote(now, segments, warrants, look_ahead).await?;
            self.node.deposed(promoted.refused);
            self.node.rounds.hand_over(mem::take(&mut promoted.due));
            let more = promoted.more;
            self.node.tell_promoted(now, promoted);
            if !more {
                return Ok(());
            }
        }
    }

    async fn promote(&self, now: Time, segments: Segments, warrants: Warrants, look_ahead: bool) -> Result<Promoted> {
        let look_ahead = if look_ahead { self.node.settings.look_ahead } else { Duration::ZERO };
        let ask = Promote {
            segments,
            warrants,
            limit: PROMOTE_JOBS_MAX,
            look_ahead_until: now.after(look_ahead),
            // One for each millisecond: none is ever left out.
            look_ahead_limit: look_ahead.as_millis() as usize,
            // Those of the round that is under way would be listed again.
            due_limit: if self.node.rounds.under_way() { 0 } else { ROUND_SCHEDULES_MAX },
        };
        Ok(self.node.meters.time(Call::Promote, self.node.store.promote(now, ask)).await?)
    }
}

impl Node {
    /// Tells everybody what a promote has changed.
    pub(crate) fn tell_promoted(self: &Arc<Node>, now: Time, promoted: Promoted) {
        let node = self;
        node.chart.promoted(now);
        node.plan.expect(&promoted.upcoming);
        node.expect_gates(now, &promoted);
        if let Some(oldest) = promoted.oldest {
            node.meters.fire_lateness.record(node.clock.now().since(oldest));
        }
        node.stage.say(|| {
            let event = |(queue, count): &(_, u64)| {
                let ready = Event::new(now, EventKind::Ready).of_queue(Clone::clone(queue));
                Event { count: Some(*count), ..ready }
            };
            let cancelled =
                |(id, queue): &(_, QueueRef)| Event::new(now, EventKind::Cancelled).of_queue(queue.clone()).of_job(*id);
            let ready = promoted.ready.iter().map(event);
            ready.chain(promoted.cancelled.iter().map(cancelled)).collect::<Vec<_>>()
        });
        node.poll.probe_opened(node, promoted.opened.iter().cloned());
        let mut news = News::ready_of(promoted.ready);
        news.opened_elsewhere(promoted.opened);
        node.announce(now, news);
    }

    /// Plans for the gates that time opens.
    fn expect_gates(&self, now: Time, promoted: &Promoted) {
        if promoted.gates_at.is_some() || !promoted.opened.is_empty() {
            self.gated.note();
        }
        // What lies further ahead is told again by every resync. A hint that comes too early must not keep us from sleeping.
        let at = promoted.gates_at.map(|at| at.max(now.after(TICK))).filter(|&at| at <= self.plan.horizon(now));
        self.plan.expect(at.as_slice());
    }
}

impl Actor for Trigger {
    const NAME: &'static str = "trigger";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        if self.node.holdings.segments(now).is_empty() {
            if self.node.holdings.lapsed(now) {
                // The clock stepped, or we were paused past our term: do not wait for the renewal's own time.
                self.node.ownership.notify_one();
            }
            if self.node.plan.take_gates() {
                // Whoever holds the seats looks, and tells us what has opened.
                let _ = self.node.hints.try_send(vec![Wakeup::Due { at: now }]);
            }
            self.resync_at = Time::ZERO;
            return Ok(now.after(RESYNC_EVERY));
        }
        let (due, asked) = self.node.plan.take_due(now);
        let set_back = now < self.ticked_at;
        let resync = asked.look_again || set_back || now >= self.resync_at;
        if asked.released {
            self.resync_at = self.resync_at.min(now.after(RELEASED_RESYNC));
        }
        self.ticked_at = now;
        if due || resync || asked.released || asked.gates || asked.round_over {
            let resync_at = if resync { now.after(RESYNC_EVERY) } else { self.resync_at };
            // Until it has gone well: the instants that were due are no longer in the wheel.
            self.resync_at = Time::ZERO;
            self.fire(now, resync).await?;
            self.resync_at = resync_at;
        }
        Ok(self.node.plan.sleep(self.resync_at))
    }
}
