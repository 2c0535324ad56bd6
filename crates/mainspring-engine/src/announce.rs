//! Tells who waits: claims on this node, the trigger, other nodes. What is said here may be lost without harm:
//! polling and the trigger's resync stand behind it.

use std::sync::Arc;

use mainspring_core::gate::BreakerChange;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::segment::Segments;
use mainspring_core::store::GateNews;
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeup;

use crate::node::Node;

/// Instants told to other nodes after one call; they find the rest themselves.
const DUE_HINTS_MAX: usize = 1_000;

/// The count of a hint that nobody knows the number of.
pub(crate) const UNCOUNTED: u64 = 0;

/// What a store call has changed for those who wait.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct News {
    ready: Vec<(QueueRef, u64)>,
    /// Queues in which something may be able to go that could not before; nobody knows how much.
    opened: Vec<QueueRef>,
    /// The same, where those who wait on this node are told already.
    opened_elsewhere: Vec<QueueRef>,
    due: Vec<Time>,
}

impl News {
    pub(crate) fn ready_of(ready: Vec<(QueueRef, u64)>) -> News {
        News { ready, ..News::default() }
    }

    /// One more job of this queue is ready.
    pub(crate) fn ready(&mut self, tenant: &TenantName, queue: &QueueName) {
        match self.ready.last_mut() {
            Some((last, count)) if last.queue == *queue && last.tenant == *tenant => *count += 1,
            _ => self.ready.push((QueueRef { tenant: tenant.clone(), queue: queue.clone() }, 1)),
        }
    }

    /// Something of these queues may be able to go.
    pub(crate) fn opened(&mut self, queues: impl IntoIterator<Item = QueueRef>) {
        self.opened.extend(queues);
    }

    /// Other nodes must hear that something of these queues may be able to go.
    pub(crate) fn opened_elsewhere(&mut self, queues: Vec<QueueRef>) {
        self.opened_elsewhere.extend(queues);
    }

    /// What ended leases did to the gates they were held through.
    pub(crate) fn gates(&mut self, gates: &GateNews) {
        self.opened(gates.opened.iter().cloned());
        let breakers = gates.breakers.iter().filter_map(|(_, change)| match change {
            BreakerChange::Opened { until } => Some(*until),
            BreakerChange::HalfOpen | BreakerChange::Closed => None,
        });
        breakers.chain(gates.closed.iter().map(|(_, until)| *until)).for_each(|at| self.due(at));
    }

    /// A job falls due then, or a gate opens.
    pub(crate) fn due(&mut self, at: Time) {
        if self.due.last() != Some(&at) {
            self.due.push(at);
        }
    }

    /// How many jobs of each queue are ready.
    pub(crate) fn into_ready(mut self) -> Vec<(QueueRef, u64)> {
        self.sum_up();
        self.ready
    }

    /// Leaves out jobs whose takers need no wake any more.
    pub(crate) fn without(&mut self, taken: &[(QueueRef, u64)]) {
        self.sum_up();
        for (queue, count) in taken {
            if let Some((_, ready)) = self.ready.iter_mut().find(|(ready, _)| ready == queue) {
                *ready = ready.saturating_sub(*count);
            }
        }
        self.ready.retain(|&(_, count)| count > 0);
    }

    /// Each queue and each instant once.
    fn sum_up(&mut self) {
        self.due.sort_unstable();
        self.due.dedup();
        self.opened.sort_unstable();
        self.opened.dedup();
        if self.ready.len() > 1 {
            self.ready.sort_unstable();
            self.ready.dedup_by(|next, sum| {
                let same = next.0 == sum.0;
                sum.1 += if same { next.1 } else { 0 };
                same
            });
        }
    }
}

impl Node {
    pub(crate) fn announce(self: &Arc<Node>, now: Time, mut news: News) {
        if news == News::default() {
            return;
        }
        news.sum_up();
        let near = news.due.partition_point(|&at| at <= self.plan.horizon(now));
        news.due.truncate(near);

        self.poll.wake(self, &news.ready);
        self.poll.probe(self, news.opened.iter().cloned());
        self.plan.expect(&news.due);
        self.tell_others(now, news);
    }

    fn tell_others(&self, now: Time, news: News) {
        let mut hints: Vec<Wakeup> =
            news.ready.into_iter().map(|(queue, count)| Wakeup::Ready { queue, count }).collect();
        let opened = news.opened.into_iter().chain(news.opened_elsewhere);
        hints.extend(opened.map(|queue| Wakeup::Ready { queue, count: UNCOUNTED }));
        if self.holdings.segments(now) != Segments::ALL {
            hints.extend(news.due.into_iter().take(DUE_HINTS_MAX).map(|at| Wakeup::Due { at }));
        }
        if !hints.is_empty() {
            // When the others are slow to hear, the hint is lost.
            let _ = self.hints.try_send(hints);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_summed_up_by_queue_and_instant() {
        let tenant = TenantName::default_tenant();
        let [a, b] = ["a", "b"].map(|name| QueueName::parse(name).unwrap());
        let mut news = News::default();
        for queue in [&b, &a, &a, &b] {
            news.ready(&tenant, queue);
        }
        for ms in [5, 3, 5, 5] {
            news.due(Time::from_millis(ms));
        }
        news.sum_up();
        let queue = |queue: &QueueName| QueueRef { tenant: tenant.clone(), queue: queue.clone() };
        assert_eq!(news.ready, [(queue(&a), 2), (queue(&b), 2)]);
        assert_eq!(news.due, [3, 5].map(Time::from_millis));
    }
}
