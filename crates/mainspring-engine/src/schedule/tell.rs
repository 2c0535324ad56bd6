//! Who is told what a turn has done: those who wait for its jobs, the trigger about the next wake, onlookers, and the
//! meters. Writes nothing.

use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::schedule::{LedgerRow, Reason, Schedule, Standing, What};
use mainspring_core::store::Submitted;
use mainspring_core::time::Time;

use crate::announce::News;
use crate::events::{Event, EventKind};
use crate::node::Node;

/// A turn that was done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) before: Option<&'a Standing>,
    /// `None` once it is removed.
    pub(crate) then: Option<&'a Standing>,
    pub(crate) rows: &'a [LedgerRow],
    pub(crate) jobs: &'a [Submitted],
}

impl Node {
    pub(crate) fn tell_turned(&self, now: Time, told: Told<'_>, news: &mut News) {
        let queue = QueueRef { tenant: told.schedule.tenant.clone(), queue: told.schedule.job.queue.clone() };
        for answer in told.jobs {
            match answer {
                Submitted::Accepted { state: State::Ready, .. } => news.ready(&queue.tenant, &queue.queue),
                Submitted::Accepted { state: State::Waiting, ready_at } => news.due(*ready_at),
                _ => {}
            }
        }
        if let Some(wake_at) = told.then.and_then(|then| then.wake_at) {
            news.due(wake_at);
        }
        if !told.jobs.is_empty() {
            self.meters.queue(&queue.queue).submitted.increment(told.jobs.len() as u64);
        }
        told.rows.iter().for_each(|row| self.count_row(now, row));
        self.stage.say(|| events(now, told, &queue));
    }

    fn count_row(&self, now: Time, row: &LedgerRow) {
        let meters = &self.meters.schedules;
        match row.what {
            What::Fired { .. } => {
                meters.fires.increment(1);
                meters.lateness.record(now.since(row.occurrence));
            }
            What::Backfilled { .. } => meters.backfilled.increment(1),
            What::Triggered { .. } => meters.triggered.increment(1),
            What::Missed => meters.missed.increment(row.count),
            What::Skipped(reason) => meters.skipped(reason).increment(row.count),
        }
    }
}

fn events(now: Time, told: Told<'_>, queue: &QueueRef) -> Vec<Event> {
    let schedule = told.schedule.reference();
    let event = |kind| Event::new(now, kind).of_schedule(&schedule);
    let of_row = |row: &LedgerRow| match row.what {
        What::Fired { job, .. } | What::Backfilled { job } | What::Triggered { job } => {
            let fired = event(EventKind::ScheduleFired).of_queue(queue.clone()).of_job(job);
            fired.of_type(told.schedule.job.kind.clone())
        }
        What::Missed => Event { count: Some(row.count), ..event(EventKind::ScheduleMissed) },
        What::Skipped(reason) => {
            let reason = Some(word_of(reason).to_owned());
            Event { count: Some(row.count), reason, ..event(EventKind::ScheduleSkipped) }
        }
    };
    let mut events: Vec<Event> = told.rows.iter().map(of_row).collect();
    let before = told.before.and_then(|before| before.pause.as_ref());
    match (told.then, told.before) {
        (None, _) => events.push(event(EventKind::ScheduleRemoved)),
        (Some(then), before) if before.is_none_or(|before| before.revision != then.revision) => {
            events.push(event(EventKind::ScheduleChanged));
        }
        _ => {}
    }
    match (before, told.then.and_then(|then| then.pause.as_ref())) {
        (before, Some(pause)) if before != Some(pause) => {
            events.push(Event { reason: Some(pause.note.clone()), ..event(EventKind::SchedulePaused) });
        }
        (Some(_), None) if told.then.is_some() => events.push(event(EventKind::ScheduleResumed)),
        _ => {}
    }
    events
}

/// The word for metrics and events.
pub(crate) fn word_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Overlap => "overlap",
        Reason::Paused => "paused",
        Reason::Dst => "dst",
        Reason::QueueFull => "queue_full",
    }
}
