//! Rows by column: one statement for any number of rows.

use mainspring_core::id::JobId;
use mainspring_core::job::{Execution, Failure, Json};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use super::bulk::{Column, Insert, Way};
use super::moves::{EndedRow, Note};
use super::numbers::{ms, of_outcome, of_state, text};
use super::pipeline::{Params, Step};
use super::slip::{Slips, small};

impl Slips {
    pub fn ready_insert(&self) -> Insert<'_> {
        self.insert(&READY, &self.lots)
    }

    pub fn waiting_insert(&self) -> Insert<'_> {
        self.insert(&WAITING, &self.segments)
    }

    pub fn aside_step<'a>(&'a self, states: &'a Vec<i16>, paused: &'a Vec<bool>) -> Option<Step<'a>> {
        let mut params: Params<'a> = self.columns().into_iter().map(|column| column.array()).collect();
        params.extend([&self.segments as &(dyn ToSql + Sync), states, paused]);
        (!self.is_empty()).then(|| Step::new(include_str!("sql/put_aside.sql"), params))
    }

    /// `own` is the column that only its table has.
    fn insert<'a>(&'a self, way: &'static Way, own: &'a dyn Column) -> Insert<'a> {
        let mut columns = self.columns();
        columns.push(own);
        Insert { way, rows: self.ids.len(), columns }
    }

    fn columns(&self) -> Vec<&dyn Column> {
        vec![
            &self.ids,
            &self.queues,
            &self.lanes,
            &self.ready,
            &self.expiries,
            &self.attempts,
            &self.failures,
            &self.crashes,
            &self.marks,
        ]
    }
}

static READY: Way = Way {
    unnest: include_str!("sql/put_ready.sql"),
    copy: include_str!("sql/copy_ready.sql"),
    types: &[
        Type::UUID,
        Type::INT4,
        Type::INT2,
        Type::INT8,
        Type::INT8,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT8,
    ],
};

static WAITING: Way = Way {
    unnest: include_str!("sql/put_waiting.sql"),
    copy: include_str!("sql/copy_waiting.sql"),
    types: &[
        Type::UUID,
        Type::INT4,
        Type::INT2,
        Type::INT8,
        Type::INT8,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
    ],
};

static ENDED: Way = Way {
    unnest: include_str!("sql/put_ended.sql"),
    copy: include_str!("sql/copy_ended.sql"),
    types: &[
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::INT4,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT2,
        Type::INT8,
        Type::INT8,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
    ],
};

#[derive(Debug, Default)]
pub(super) struct FailureColumns {
    messages: Vec<Option<String>>,
    kinds: Vec<Option<String>>,
    details: Vec<Option<String>>,
}

impl FailureColumns {
    fn push(&mut self, failure: Option<&Failure>) {
        self.messages.push(failure.map(|failure| text(&failure.message)));
        self.kinds.push(failure.and_then(|failure| failure.kind.as_deref()).map(text));
        self.details.push(failure.and_then(|failure| failure.detail.as_deref()).map(text));
    }
}

#[derive(Debug, Default)]
pub(super) struct EndedColumns {
    ids: Vec<Uuid>,
    ended: Vec<i64>,
    ready: Vec<i64>,
    queues: Vec<i32>,
    states: Vec<i16>,
    attempts: Vec<i16>,
    failures: Vec<i16>,
    crashes: Vec<i16>,
    marks: Vec<i16>,
    outcomes: Vec<Option<i16>>,
    last_attempts: Vec<Option<i16>>,
    fences: Vec<Option<i64>>,
    started: Vec<Option<i64>>,
    workers: Vec<Option<Uuid>>,
    results: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
    errors: FailureColumns,
    checkpoints: Vec<Option<String>>,
}

impl EndedColumns {
    pub fn push(&mut self, row: &EndedRow) {
        let last = row.execution.as_ref();
        self.ids.push(row.who.id.uuid());
        self.ended.push(ms(row.ended_at));
        self.ready.push(ms(row.ready_at));
        self.queues.push(row.who.queue);
        self.states.push(of_state(row.state));
        self.attempts.push(small(row.tally.attempts));
        self.failures.push(small(row.tally.failures));
        self.crashes.push(small(row.tally.crashes));
        self.marks.push(row.who.marks);
        self.outcomes.push(last.map(|last| of_outcome(last.outcome)));
        self.last_attempts.push(last.map(|last| small(last.attempt)));
        self.fences.push(last.map(|last| last.fence.0 as i64));
        self.started.push(last.map(|last| ms(last.started_at)));
        self.workers.push(last.map(|last| last.worker.0));
        self.results.push(row.result.as_ref().map(|json| json.as_str().to_owned()));
        self.reasons.push(row.reason.as_deref().map(text));
        self.errors.push(row.last_error.as_ref());
        self.checkpoints.push(row.checkpoint.as_ref().map(|json| json.as_str().to_owned()));
    }

    pub fn insert(&self) -> Insert<'_> {
        let columns: Vec<&dyn Column> = vec![
            &self.ids,
            &self.ended,
            &self.ready,
            &self.queues,
            &self.states,
            &self.attempts,
            &self.failures,
            &self.crashes,
            &self.marks,
            &self.outcomes,
            &self.last_attempts,
            &self.fences,
            &self.started,
            &self.workers,
            &self.results,
            &self.reasons,
            &self.errors.messages,
            &self.errors.kinds,
            &self.errors.details,
            &self.checkpoints,
        ];
        Insert { way: &ENDED, rows: self.ids.len(), columns }
    }
}

#[derive(Debug, Default)]
pub(super) struct ExecutionColumns {
    jobs: Vec<Uuid>,
    fences: Vec<i64>,
    started: Vec<i64>,
    ended: Vec<i64>,
    workers: Vec<Uuid>,
    attempts: Vec<i16>,
    outcomes: Vec<i16>,
    errors: FailureColumns,
}

impl ExecutionColumns {
    pub fn push(&mut self, job: JobId, execution: &Execution) {
        self.jobs.push(job.uuid());
        self.fences.push(execution.fence.0 as i64);
        self.started.push(ms(execution.started_at));
        self.ended.push(ms(execution.ended_at));
        self.workers.push(execution.worker.0);
        self.attempts.push(small(execution.attempt));
        self.outcomes.push(of_outcome(execution.outcome));
        self.errors.push(execution.error.as_ref());
    }

    pub fn step(&self) -> Option<Step<'_>> {
        let params: Params<'_> = vec![
            &self.jobs,
            &self.fences,
            &self.started,
            &self.ended,
            &self.workers,
            &self.attempts,
            &self.outcomes,
            &self.errors.messages,
            &self.errors.kinds,
            &self.errors.details,
        ];
        (!self.jobs.is_empty()).then(|| Step::new(include_str!("sql/put_executions.sql"), params))
    }
}

#[derive(Debug, Default)]
pub(super) struct NoteColumns {
    ids: Vec<Uuid>,
    checkpoints: Vec<Option<String>>,
    percents: Vec<Option<f32>>,
    progress_notes: Vec<Option<String>>,
    has_progress: Vec<bool>,
    errors: FailureColumns,
}

impl NoteColumns {
    pub fn push(&mut self, id: JobId, note: &Note) {
        let progress = note.progress.as_ref();
        self.ids.push(id.uuid());
        self.checkpoints.push(note.checkpoint.as_ref().map(|json: &Json| json.as_str().to_owned()));
        self.percents.push(progress.and_then(|progress| progress.percent));
        self.progress_notes.push(progress.and_then(|progress| progress.note.as_deref()).map(text));
        self.has_progress.push(progress.is_some());
        self.errors.push(note.last_error.as_ref());
    }

    pub fn step(&self) -> Option<Step<'_>> {
        let params: Params<'_> = vec![
            &self.ids,
            &self.checkpoints,
            &self.percents,
            &self.progress_notes,
            &self.has_progress,
            &self.errors.messages,
            &self.errors.kinds,
            &self.errors.details,
        ];
        (!self.ids.is_empty()).then(|| Step::new(include_str!("sql/put_notes.sql"), params))
    }
}
