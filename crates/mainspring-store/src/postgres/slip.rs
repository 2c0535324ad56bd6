//! What travels with an unfinished job from table to table: all that the verbs must know of it without reading its record.

use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Role, Tally};
use mainspring_core::rank::{Priority, lane};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::numbers::{marks, ms, segment, time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub id: JobId,
    pub queue: i32,
    pub lane: i16,
    pub ready_at: Time,
    /// Only while the job was never tried: a job that was tried once has started.
    pub expires_at: Option<Time>,
    pub tally: Tally,
    pub marks: i16,
    /// What it is parked beside, once it is ready; zero for nothing.
    pub lot: i64,
}

impl Slip {
    /// Of a job that is just taken in.
    pub fn new(job: &Job, queue: i32) -> Slip {
        Slip { marks: marks_of(job), ..Slip::again(job, queue, job.run_at, Tally::default()) }
    }

    /// Of a job that goes back to where it is not held, with a clean set of marks.
    pub fn again(job: &Job, queue: i32, ready_at: Time, tally: Tally) -> Slip {
        Slip {
            id: job.id,
            queue,
            lane: lane(job.priority, ready_at, job.deadline).value(),
            ready_at,
            expires_at: job.expires_at.filter(|_| tally.attempts == 0),
            tally,
            marks: marks_of(job),
            lot: 0,
        }
    }

    /// From columns `id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks`, in this order.
    pub fn read(row: &Row) -> Slip {
        Slip {
            id: JobId::from(row.get::<_, Uuid>(0)),
            queue: row.get(1),
            lane: row.get(2),
            ready_at: time(row.get(3)),
            expires_at: row.get::<_, Option<i64>>(4).map(time),
            tally: tally(row, 5),
            marks: row.get(8),
            lot: 0,
        }
    }

    pub fn priority(&self) -> Priority {
        Priority::new(self.lane.into()).unwrap_or_default()
    }
}

/// What is known of a job from its record alone.
pub(super) fn marks_of(job: &Job) -> i16 {
    let place = match job.workflow.as_ref().map(|place| place.role) {
        None => 0,
        Some(Role::Step) => marks::MEMBER,
        Some(Role::Callback) => marks::MEMBER | marks::CALLBACK,
    };
    let keyed = job.keys.concurrency.is_some() || job.keys.rate.is_some();
    place | if keyed { marks::KEYED } else { 0 }
}

/// Three columns: attempts, failures, crashes.
pub(super) fn tally(row: &Row, first: usize) -> Tally {
    let count = |at: usize| u32::try_from(row.get::<_, i16>(first + at)).unwrap_or_default();
    Tally { attempts: count(0), failures: count(1), crashes: count(2) }
}

/// A count of attempts as it is stored: the core's bounds lie far below where this would cut.
pub(super) fn small(count: u32) -> i16 {
    i16::try_from(count).unwrap_or(i16::MAX)
}

/// Many slips, by column, for `unnest`.
#[derive(Debug, Default)]
pub(super) struct Slips {
    pub ids: Vec<Uuid>,
    pub queues: Vec<i32>,
    pub lanes: Vec<i16>,
    pub ready: Vec<i64>,
    pub expiries: Vec<Option<i64>>,
    pub attempts: Vec<i16>,
    pub failures: Vec<i16>,
    pub crashes: Vec<i16>,
    pub marks: Vec<i16>,
    pub lots: Vec<i64>,
    pub segments: Vec<i16>,
}

impl Slips {
    pub fn push(&mut self, slip: &Slip) {
        self.ids.push(slip.id.uuid());
        self.queues.push(slip.queue);
        self.lanes.push(slip.lane);
        self.ready.push(ms(slip.ready_at));
        self.expiries.push(slip.expires_at.map(ms));
        self.attempts.push(small(slip.tally.attempts));
        self.failures.push(small(slip.tally.failures));
        self.crashes.push(small(slip.tally.crashes));
        self.marks.push(slip.marks);
        self.lots.push(slip.lot);
        self.segments.push(segment(slip.id));
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
