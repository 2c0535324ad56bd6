//! Moves due jobs to Ready and lists due schedules. Never claims, and turns no schedule.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::name::QueueRef;
use mainspring_core::schedule::{ScheduleRef, place_of, segment_of};
use mainspring_core::segment::Segments;
use mainspring_core::store::{Promote, Promoted};
use mainspring_core::time::Time;

use super::book::Book;

/// What one call has done so far.
#[derive(Default)]
pub(super) struct Step {
    pub ready: BTreeMap<QueueRef, u64>,
    pub cancelled: Vec<(JobId, QueueRef)>,
}

impl Step {
    pub fn count(&mut self, queue: QueueRef) {
        *self.ready.entry(queue).or_insert(0) += 1;
    }
}

impl Book {
    pub(super) fn promote(&mut self, now: Time, mut ask: Promote) -> Promoted {
        let refused = self.roster.refused(&ask);
        ask.segments = ask.segments.without(refused);
        let mut step = Step::default();
        let left = self.release(now, &ask, &mut step);

        let waiting = self.waiting(ask.segments);
        let overdue: Vec<(Time, JobId)> = waiting.iter().copied().take_while(|&(at, _)| at <= now).collect();
        for (_, id) in overdue.iter().take(left) {
            let entry = self.jobs.get_mut(id).expect("it was found waiting");
            entry.standing.state = State::Ready;
            step.count(entry.job.queue_ref());
            self.place(now, *id);
        }

        let wakes = self.wakes(ask.segments);
        let due: Vec<&ScheduleRef> = wakes.iter().take_while(|(at, ..)| *at <= now).map(|(.., name)| name).collect();
        let more_schedules = ask.due_limit > 0 && due.len() > ask.due_limit;
        let more = self.next_release(ask.segments).is_some() || overdue.len() > left || more_schedules;

        let instants = waiting.iter().map(|&(at, _)| at).chain(wakes.iter().map(|&(at, ..)| at));
        let until = ask.look_ahead_until.min(now.after(limits::LOOK_AHEAD_MAX));
        let upcoming: BTreeSet<Time> = instants.filter(|&at| at > now && at <= until).collect();
        Promoted {
            ready: step.ready.into_iter().collect(),
            oldest: overdue.iter().take(left).map(|&(at, _)| at).next(),
            cancelled: step.cancelled,
            due: due.into_iter().take(ask.due_limit).filter_map(|schedule| self.schedule(schedule)).collect(),
            upcoming: if more { Vec::new() } else { upcoming.into_iter().take(ask.look_ahead_limit).collect() },
            opened: self.opened_by_time(now),
            gates_at: self.gates_at(now),
            refused,
            more,
        }
    }

    fn waiting(&self, segments: Segments) -> BTreeSet<(Time, JobId)> {
        let waiting = self.jobs.values().filter(|entry| entry.is_waiting());
        let asked = waiting.filter(|entry| segments.contains(entry.job.id.segment()));
        asked.map(|entry| (entry.standing.ready_at, entry.job.id)).collect()
    }

    fn wakes(&self, segments: Segments) -> BTreeSet<(Time, u32, ScheduleRef)> {
        let asked =
            self.schedules.iter().filter(|(schedule, _)| segments.contains(segment_of(schedule, self.placement)));
        asked
            .filter_map(|(schedule, view)| Some((view.standing.wake_at?, place_of(schedule), schedule.clone())))
            .collect()
    }
}
