//! A lease that is locked, and what it becomes when a verdict is applied to it. Decides nothing: the verdict is the core's.

use mainspring_core::id::{Fence, JobId, LeaseId, WorkerId};
use mainspring_core::job::{Execution, Json};
use mainspring_core::lifecycle::State;
use mainspring_core::rank::{Priority, lane};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use tokio_postgres::Row;
use uuid::Uuid;

use super::moves::{EndedRow, Moves, Note, Place, Who};
use super::numbers::{marks, time};
use super::record;
use super::slip::Slip;

/// A lease, locked.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Its tally counts the running attempt.
    pub slip: Slip,
    pub fence: Fence,
    pub worker: WorkerId,
    pub claimed_at: Time,
    pub started_at: Option<Time>,
    /// The fence that its worker knew it by, if it was taken back.
    pub taken_fence: Option<Fence>,
    pub cancel_asked: Option<String>,
    pub note: Note,
    /// Of its record, if it was asked for: priority, deadline, expires_at.
    pub again: Option<(Priority, Option<Time>, Option<Time>)>,
}

impl Held {
    /// From the columns that `settle_hold.sql` answers. Progress is not among them: it ends with the attempt.
    pub fn read(row: &Row) -> Held {
        let fence = |at: usize| row.get::<_, Option<i64>>(at).map(|fence| Fence(fence as u64));
        let at = |at: usize| row.get::<_, Option<i64>>(at).map(time);
        let priority: Option<i16> = row.get(21);
        Held {
            slip: Slip::read(row),
            fence: fence(9).unwrap_or_default(),
            worker: WorkerId(row.get(10)),
            claimed_at: time(row.get(11)),
            started_at: at(12),
            taken_fence: fence(14),
            cancel_asked: row.get(16),
            note: Note {
                checkpoint: row.get::<_, Option<String>>(17).map(|json| Json(json.into())),
                progress: None,
                last_error: record::failure(row, 18),
            },
            again: priority.map(|value| (Priority::new(value.into()).unwrap_or_default(), at(22), at(23))),
        }
    }

    pub fn id(&self) -> JobId {
        self.slip.id
    }

    pub fn lease(&self) -> LeaseId {
        LeaseId { job: self.slip.id, fence: self.fence }
    }

    /// Ends the running attempt, writes it into the history, and moves the job to where the verdict sends it; if it is on offer
    /// again, it stands in this lot.
    pub fn apply(self, now: Time, verdict: Verdict, lot: i64, moves: &mut Moves) -> (State, Time) {
        let (state, ready_at) = verdict.destination(now, self.slip.ready_at);
        let execution = Execution {
            attempt: self.slip.tally.attempts,
            fence: self.taken_fence.unwrap_or(self.fence),
            worker: self.worker,
            started_at: self.started_at.unwrap_or(self.claimed_at),
            ended_at: now,
            outcome: verdict.outcome(),
            error: verdict.error().cloned(),
        };
        let was_noted = self.slip.marks & marks::NOTED != 0;
        let tally = verdict.count(self.slip.tally);
        let last_error = verdict.error().cloned().or(self.note.last_error.clone());
        moves.take(self.id(), Place::of(State::Running));
        moves.moved(Who::from(&self.slip), Place::of(State::Running), Place::of(state));
        if state.is_final() {
            let (result, reason) = match verdict {
                Verdict::Succeed { result } => (result, None),
                Verdict::Cancel { reason } => (None, Some(reason)),
                _ => (None, None),
            };
            moves.end(&EndedRow {
                who: Who { marks: self.slip.marks & !marks::NOTED, ..Who::from(&self.slip) },
                state,
                ended_at: now,
                ready_at,
                tally,
                execution: Some(execution),
                result,
                reason,
                last_error,
                checkpoint: self.note.checkpoint.filter(|_| state == State::Dead),
            });
            if was_noted {
                moves.drop_note(self.slip.id);
            }
            return (state, ready_at);
        }

        moves.execution(self.slip.id, &execution);
        let note = Note { checkpoint: self.note.checkpoint, progress: None, last_error };
        let mut slip = Slip { ready_at, tally, marks: self.slip.marks | marks::TRIED, lot, ..self.slip };
        if note.is_empty() {
            slip.marks &= !marks::NOTED;
            if was_noted {
                moves.drop_note(slip.id);
            }
        } else {
            slip.marks |= marks::NOTED;
            moves.note(slip.id, &note);
        }
        let (priority, deadline, expires_at) = self.again.unwrap_or((slip.priority(), None, None));
        slip.lane = lane(priority, ready_at, deadline).value();
        slip.expires_at = expires_at.filter(|_| tally.attempts == 0);
        moves.put(&slip, Place::of(state));
        (state, ready_at)
    }
}

/// Whether the job goes back to where it is not held.
pub(super) fn goes_back(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Succeed { .. } | Verdict::Bury { .. } | Verdict::Cancel { .. })
}

/// Leases by column, for `settle_hold.sql`.
#[derive(Debug, Default)]
pub(super) struct LeaseColumns {
    pub jobs: Vec<Uuid>,
    pub fences: Vec<i64>,
    pub again: Vec<bool>,
}

impl LeaseColumns {
    pub fn push(&mut self, lease: LeaseId, again: bool) {
        self.jobs.push(lease.job.uuid());
        // What nobody can hold is no number of ours either.
        self.fences.push(i64::try_from(lease.fence.0).unwrap_or(-1));
        self.again.push(again);
    }
}
