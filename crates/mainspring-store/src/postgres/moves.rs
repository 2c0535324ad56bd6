//! Everything that a transaction writes about jobs that move, gathered and sent in one round trip. Reads nothing and locks
//! nothing: whoever moves a job has locked its row.

use std::collections::{BTreeMap, HashSet};

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Failure, Json, Progress, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::bulk::Insert;
use super::columns::{EndedColumns, ExecutionColumns, NoteColumns};
use super::error::Fault;
use super::limits;
use super::numbers::{marks, of_state};
use super::pipeline::{Step, pipeline};
use super::pool::Transaction;
use super::slip::{Slip, Slips};

/// Where a job is, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub state: State,
    pub paused: bool,
}

impl Place {
    pub fn of(state: State) -> Place {
        Place { state, paused: false }
    }

    /// 0–6 the states, 7 paused.
    fn number(self) -> i16 {
        if self.paused && !self.state.is_final() && self.state != State::Running { 7 } else { of_state(self.state) }
    }
}

const NOWHERE: i16 = -1;

/// Whom a move is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub id: JobId,
    pub queue: i32,
    pub marks: i16,
}

impl From<&Slip> for Who {
    fn from(slip: &Slip) -> Who {
        Who { id: slip.id, queue: slip.queue, marks: slip.marks }
    }
}

/// A job that is over.
#[derive(Clone, Debug)]
pub(super) struct EndedRow {
    pub who: Who,
    pub state: State,
    pub ended_at: Time,
    pub ready_at: Time,
    pub tally: Tally,
    /// Its last attempt, if that ended it. Its error is `last_error`.
    pub execution: Option<Execution>,
    pub result: Option<Json>,
    pub reason: Option<String>,
    pub last_error: Option<Failure>,
    pub checkpoint: Option<Json>,
}

/// What attempts left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Note {
    pub checkpoint: Option<Json>,
    pub progress: Option<Progress>,
    pub last_error: Option<Failure>,
}

impl Note {
    pub fn is_empty(&self) -> bool {
        *self == Note::default()
    }
}

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Moves {
    take_waiting: Vec<Uuid>,
    take_ready: Vec<Uuid>,
    take_aside: Vec<Uuid>,
    take_leases: Vec<Uuid>,
    waiting: Slips,
    ready: Slips,
    aside: Slips,
    aside_states: Vec<i16>,
    aside_paused: Vec<bool>,
    ended: EndedColumns,
    executions: ExecutionColumns,
    notes: NoteColumns,
    drop_notes: Vec<Uuid>,
    drop_edges: Vec<Uuid>,
    drop_releases: Vec<Uuid>,
    finished: Vec<Uuid>,
    finished_states: Vec<i16>,
    free_callbacks: Vec<Uuid>,
    steps: Vec<Uuid>,
    steps_old: Vec<i16>,
    steps_new: Vec<i16>,
    steps_callback: Vec<bool>,
    counts: BTreeMap<i32, [i64; 8]>,
}

/// What followed from the moves.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// Ended jobs that others wait for.
    pub awaited: HashSet<JobId>,
    /// For each workflow whose callback can go now, the step that ended last.
    pub last_steps: BTreeMap<WorkflowId, JobId>,
}

impl Followed {
    pub fn is_awaited(&self, id: JobId) -> bool {
        self.awaited.contains(&id) || self.last_steps.values().any(|last| *last == id)
    }
}

impl Moves {
    /// Takes a job out of the table where this place is. Its row must be locked. A running one is in `leases`.
    pub fn take(&mut self, id: JobId, from: Place) {
        let from = match from {
            Place { state: State::Running, .. } => &mut self.take_leases,
            Place { paused: true, .. } | Place { state: State::Blocked, .. } => &mut self.take_aside,
            Place { state: State::Waiting, .. } => &mut self.take_waiting,
            _ => &mut self.take_ready,
        };
        from.push(id.uuid());
    }

    /// Puts a job that nobody holds into the table where this place is.
    pub fn put(&mut self, slip: &Slip, to: Place) {
        match to {
            Place { paused: true, .. } | Place { state: State::Blocked, .. } => {
                self.aside.push(slip);
                self.aside_states.push(of_state(to.state));
                self.aside_paused.push(to.paused);
            }
            Place { state: State::Waiting, .. } => self.waiting.push(slip),
            _ => self.ready.push(slip),
        }
    }

    pub fn end(&mut self, row: &EndedRow) {
        self.ended.push(row);
    }

    /// Writes an attempt that is over and did not end its job.
    pub fn execution(&mut self, job: JobId, execution: &Execution) {
        self.executions.push(job, execution);
    }

    pub fn note(&mut self, id: JobId, note: &Note) {
        self.notes.push(id, note);
    }

    pub fn drop_note(&mut self, id: JobId) {
        self.drop_notes.push(id.uuid());
    }

    /// Counts a job that is taken in. Its workflow, if it has one, is written by whoever takes it in.
    pub fn came(&mut self, who: Who, to: Place) {
        self.count(who.queue, to.number(), 1);
    }

    /// Counts a job that is forgotten, and forgets nothing else of it. `members` of its workflow is the caller's.
    pub fn gone(&mut self, who: Who, from: Place) {
        self.count(who.queue, from.number(), -1);
        self.step(who, from.number(), NOWHERE);
    }

    /// Counts a move, and notes what follows from it: what a job no longer waits for is forgotten, and who waits for its end
    /// is written down.
    pub fn moved(&mut self, who: Who, from: Place, to: Place) {
        let (old, new) = (from.number(), to.number());
        if old != new {
            self.count(who.queue, old, -1);
            self.count(who.queue, new, 1);
        }
        self.counted(who, from, to);
    }

    /// The same for a move that its queue has counted already.
    pub fn counted(&mut self, who: Who, from: Place, to: Place) {
        let (old, new) = (from.number(), to.number());
        if old != new {
            self.step(who, old, new);
        }
        let id = who.id.uuid();
        if from.state == State::Blocked && to.state != State::Blocked {
            self.drop_edges.push(id);
            if who.marks & marks::CALLBACK != 0 {
                self.free_callbacks.push(id);
            }
        }
        if from.state == State::Dead && to.state != State::Dead {
            self.drop_releases.push(id);
        }
        if !from.state.is_final() && to.state.is_final() {
            self.finished.push(id);
            self.finished_states.push(of_state(to.state));
        }
    }

    /// Counts many moves in one queue, which are not followed up.
    pub fn many_moved(&mut self, queue: i32, count: i64, from: Place, to: Place) {
        self.count(queue, from.number(), -count);
        self.count(queue, to.number(), count);
    }

    /// Counts a move in the job's workflow alone.
    pub fn step_moved(&mut self, who: Who, from: Place, to: Place) {
        self.step(who, from.number(), to.number());
    }

    fn count(&mut self, queue: i32, place: i16, by: i64) {
        // In the order of the columns: blocked, waiting, ready, paused, running, succeeded, dead, cancelled.
        const COLUMNS: [usize; 8] = [0, 1, 2, 4, 5, 6, 7, 3];
        let column = COLUMNS[usize::try_from(place).expect("a place that is counted")];
        self.counts.entry(queue).or_default()[column] += by;
    }

    fn step(&mut self, who: Who, old: i16, new: i16) {
        if who.marks & marks::MEMBER == 0 {
            return;
        }
        self.steps.push(who.id.uuid());
        self.steps_old.push(old);
        self.steps_new.push(new);
        self.steps_callback.push(who.marks & marks::CALLBACK != 0);
    }

    /// Writes all of it after the given statements, in one round trip; what those answered, and what followed.
    pub async fn write(self, txn: &Transaction<'_>, first: Vec<Step<'_>>) -> Result<(Vec<Vec<Row>>, Followed), Fault> {
        let (queues, counts) = self.count_columns();
        let taken =
            [&self.take_aside, &self.take_waiting, &self.take_ready, &self.take_leases].map(|ids| ids.len() as i64);
        let given = first.len();
        let mut before = first;
        let takes = [
            (include_str!("sql/take_aside.sql"), &self.take_aside),
            (include_str!("sql/take_waiting.sql"), &self.take_waiting),
            (include_str!("sql/take_ready.sql"), &self.take_ready),
            (include_str!("sql/take_leases.sql"), &self.take_leases),
        ];
        for ((sql, ids), count) in takes.into_iter().zip(&taken).filter(|((_, ids), _)| !ids.is_empty()) {
            before.push(Step::new(sql, vec![ids, count]));
        }
        let inserts = [self.waiting.waiting_insert(), self.ready.ready_insert(), self.ended.insert()];
        let mut steps: Vec<Step<'_>> =
            inserts.iter().filter(|insert| !insert.is_large()).filter_map(Insert::step).collect();
        steps.extend(self.aside.aside_step(&self.aside_states, &self.aside_paused));
        steps.extend(self.executions.step());
        steps.extend(self.notes.step());
        let by_ids = [
            (include_str!("sql/drop_notes.sql"), &self.drop_notes),
            (include_str!("sql/drop_edges.sql"), &self.drop_edges),
            (include_str!("sql/drop_releases.sql"), &self.drop_releases),
            (include_str!("sql/free_callbacks.sql"), &self.free_callbacks),
        ];
        steps.extend(by_ids.into_iter().filter(|(_, ids)| !ids.is_empty()).map(|(sql, ids)| Step::new(sql, vec![ids])));
        if !queues.is_empty() {
            let mut params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![&queues];
            for column in &counts {
                params.push(column);
            }
            steps.push(Step::new(include_str!("sql/put_counts.sql"), params));
        }
        let releases_at = before.len() + steps.len();
        if !self.finished.is_empty() {
            steps.push(Step::new(include_str!("sql/put_releases.sql"), vec![&self.finished, &self.finished_states]));
        }
        let steps_at = before.len() + steps.len();
        if !self.steps.is_empty() {
            let params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
                vec![&self.steps, &self.steps_old, &self.steps_new, &self.steps_callback];
            steps.push(Step::new(include_str!("sql/count_steps.sql"), params));
        }

        let mut answers = Vec::new();
        if inserts.iter().any(Insert::is_large) {
            // What a row is put back into, it must have left.
            answers = pipeline(txn, &before).await?;
            for insert in inserts.iter().filter(|insert| insert.is_large()) {
                insert.copy(txn).await?;
            }
        } else {
            before.append(&mut steps);
            std::mem::swap(&mut before, &mut steps);
        }
        answers.extend(pipeline(txn, &steps).await?);
        let mut followed = Followed::default();
        if !self.steps.is_empty() {
            for row in &answers[steps_at] {
                followed.last_steps.insert(WorkflowId(row.get(1)), JobId::from(row.get::<_, Uuid>(0)));
            }
        }
        if !self.finished.is_empty() {
            followed.awaited = answers[releases_at].iter().map(|row| JobId::from(row.get::<_, Uuid>(0))).collect();
        }
        answers.truncate(given);
        Ok((answers, followed))
    }

    /// The same, and places what comes to be on offer where it stands.
    pub async fn write_placed(
        self,
        store: &Postgres,
        txn: &Transaction<'_>,
        now: Time,
        mut first: Vec<Step<'_>>,
    ) -> Result<(Vec<Vec<Row>>, Followed), Fault> {
        if self.ready.is_empty() {
            return self.write(txn, first).await;
        }
        let ids = self.ready.ids.clone();
        let version_at = first.len();
        first.push(limits::version_step());
        let (mut answers, followed) = self.write(txn, first).await?;
        let version: i64 = answers[version_at][0].get(0);
        answers.truncate(version_at);
        limits::place(store, txn, now, version, &ids).await?;
        Ok((answers, followed))
    }

    fn count_columns(&self) -> (Vec<i32>, [Vec<i64>; 8]) {
        let changed = self.counts.iter().filter(|(_, counts)| counts.iter().any(|by| *by != 0));
        let mut queues = Vec::new();
        let mut columns: [Vec<i64>; 8] = Default::default();
        for (queue, counts) in changed {
            queues.push(*queue);
            columns.iter_mut().zip(counts).for_each(|(column, by)| column.push(*by));
        }
        (queues, columns)
    }
}
