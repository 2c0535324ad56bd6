//! What has just happened, for whoever listens. Keeps nothing: a reader that is not there misses it, and with no
//! reader at all nothing is even put together.

use std::sync::Arc;

use mainspring_core::gate::Reach;
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::name::{QueueRef, ScheduleName, TenantName, TypeName};
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::time::Time;
use tokio::sync::broadcast;

use crate::clock::Clock;
use crate::signal::Listener;

/// Events a slow reader may be behind before it misses some.
pub const EVENTS_BEHIND_MAX: usize = 4_096;

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub at: Time,
    pub kind: EventKind,
    pub job: Option<JobId>,
    pub tenant: Option<TenantName>,
    pub queue: Option<QueueRef>,
    /// Where it is at hand; nothing is read from the store to say it.
    pub job_type: Option<TypeName>,
    pub schedule: Option<ScheduleName>,
    /// The gate, or what was limited.
    pub limit: Option<Reach>,
    /// Until when a breaker is open, or a key closed.
    pub until: Option<Time>,
    /// Why occurrences were skipped, or a schedule paused.
    pub reason: Option<String>,
    pub worker: Option<WorkerId>,
    pub attempt: Option<u32>,
    pub error: Option<String>,
    /// How many jobs became Ready at once, how many occurrences were skipped or missed, or how many events a Lagged
    /// reader missed.
    pub count: Option<u64>,
}

impl Event {
    pub(crate) fn new(at: Time, kind: EventKind) -> Event {
        Event {
            at,
            kind,
            job: None,
            tenant: None,
            queue: None,
            job_type: None,
            schedule: None,
            limit: None,
            until: None,
            reason: None,
            worker: None,
            attempt: None,
            error: None,
            count: None,
        }
    }

    pub(crate) fn of_queue(self, queue: QueueRef) -> Event {
        Event { tenant: Some(queue.tenant.clone()), queue: Some(queue), ..self }
    }

    pub(crate) fn of_job(self, job: JobId) -> Event {
        Event { job: Some(job), ..self }
    }

    pub(crate) fn of_schedule(self, schedule: &ScheduleRef) -> Event {
        Event { tenant: Some(schedule.tenant.clone()), schedule: Some(schedule.name.clone()), ..self }
    }

    pub(crate) fn of_limit(self, tenant: TenantName, limit: Reach) -> Event {
        Event { tenant: Some(tenant), limit: Some(limit), ..self }
    }

    pub(crate) fn of_type(self, job_type: TypeName) -> Event {
        Event { job_type: Some(job_type), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    Submitted,
    /// Jobs of a queue fell due; they are counted, not named.
    Ready,
    Claimed,
    Started,
    Completed,
    Retrying,
    Failed,
    Cancelled,
    Snoozed,
    /// Whoever the job calls said to come back later: it is given back, and its key is closed.
    RateLimited,
    Released,
    Reclaimed,
    Expired,
    Paused,
    Resumed,
    Revived,
    Updated,
    Deleted,
    QueuePaused,
    QueueResumed,
    /// An occurrence of a schedule made a job, or a person triggered or back-filled one.
    ScheduleFired,
    ScheduleSkipped,
    /// Occurrences passed while nobody looked, and are not caught up.
    ScheduleMissed,
    SchedulePaused,
    ScheduleResumed,
    /// Created or replaced.
    ScheduleChanged,
    ScheduleRemoved,
    /// Set or replaced.
    LimitChanged,
    LimitRemoved,
    /// A person closed its breaker and forgot what workers were told.
    LimitReopened,
    /// A worker was told to come back later: nothing of this key starts until then.
    KeyClosed,
    /// Too many attempts failed: nothing starts until then.
    BreakerOpened,
    /// A few jobs find out whether it can close.
    BreakerProbing,
    BreakerClosed,
    /// The reader was too slow and missed some.
    Lagged,
}

impl EventKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Submitted => "submitted",
            EventKind::Ready => "ready",
            EventKind::Claimed => "claimed",
            EventKind::Started => "started",
            EventKind::Completed => "completed",
            EventKind::Retrying => "retrying",
            EventKind::Failed => "failed",
            EventKind::Cancelled => "cancelled",
            EventKind::Snoozed => "snoozed",
            EventKind::RateLimited => "rate_limited",
            EventKind::Released => "released",
            EventKind::Reclaimed => "reclaimed",
            EventKind::Expired => "expired",
            EventKind::Paused => "paused",
            EventKind::Resumed => "resumed",
            EventKind::Revived => "revived",
            EventKind::Updated => "updated",
            EventKind::Deleted => "deleted",
            EventKind::QueuePaused => "queue_paused",
            EventKind::QueueResumed => "queue_resumed",
            EventKind::ScheduleFired => "schedule_fired",
            EventKind::ScheduleSkipped => "schedule_skipped",
            EventKind::ScheduleMissed => "schedule_missed",
            EventKind::SchedulePaused => "schedule_paused",
            EventKind::ScheduleResumed => "schedule_resumed",
            EventKind::ScheduleChanged => "schedule_changed",
            EventKind::ScheduleRemoved => "schedule_removed",
            EventKind::LimitChanged => "limit_changed",
            EventKind::LimitRemoved => "limit_removed",
            EventKind::LimitReopened => "limit_reopened",
            EventKind::KeyClosed => "key_closed",
            EventKind::BreakerOpened => "breaker_opened",
            EventKind::BreakerProbing => "breaker_probing",
            EventKind::BreakerClosed => "breaker_closed",
            EventKind::Lagged => "lagged",
        }
    }
}

/// A subscription.
#[derive(Debug)]
pub struct Events {
    receiver: broadcast::Receiver<Arc<Event>>,
    closing: Listener,
    clock: Arc<dyn Clock>,
}

impl Events {
    /// The next event; `None` when the node shuts down.
    pub async fn next(&mut self) -> Option<Event> {
        let received = tokio::select! {
            received = self.receiver.recv() => received,
            () = self.closing.raised() => return None,
        };
        match received {
            Ok(event) => Some(Event::clone(&event)),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                let now = self.clock.now();
                Some(Event { count: Some(missed), ..Event::new(now, EventKind::Lagged) })
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Where events are said.
#[derive(Debug)]
pub(crate) struct Stage {
    sender: broadcast::Sender<Arc<Event>>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage { sender: broadcast::Sender::new(EVENTS_BEHIND_MAX) }
    }

    pub(crate) fn listening(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Says what `events` makes, if anybody listens.
    pub(crate) fn say<I: IntoIterator<Item = Event>>(&self, events: impl FnOnce() -> I) {
        if self.listening() {
            for event in events() {
                // The last reader may have left in between: nobody misses it then.
                let _ = self.sender.send(Arc::new(event));
            }
        }
    }

    pub(crate) fn subscribe(&self, closing: Listener, clock: Arc<dyn Clock>) -> Events {
        Events { receiver: self.sender.subscribe(), closing, clock }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::signal::Signal;

    fn stage() -> (Stage, Signal, Arc<dyn Clock>) {
        (Stage::new(), Signal::new(), Arc::new(ManualClock::new(Time::ZERO)))
    }

    #[test]
    fn with_no_reader_nothing_is_put_together() {
        let (stage, _, _) = stage();
        stage.say(|| -> [Event; 0] { panic!("nobody listens") });
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_what_it_missed_and_goes_on() {
        let (stage, closing, clock) = stage();
        let mut events = stage.subscribe(closing.listen(), clock);
        let said = EVENTS_BEHIND_MAX as u64 + 3;
        stage.say(|| (0..said).map(|ms| Event::new(Time::from_millis(ms), EventKind::Ready)));

        let lagged = events.next().await.expect("an event");
        assert_eq!((lagged.kind, lagged.count), (EventKind::Lagged, Some(3)));
        assert_eq!(events.next().await.expect("an event").at, Time::from_millis(3));

        closing.raise();
        while let Some(event) = events.next().await {
            assert_eq!(event.kind, EventKind::Ready);
        }
    }
}
