//! What commands do to jobs that are held, gathered until it is written. Decides as the lifecycle does, job by job.

use mainspring_core::job::{Job, Standing, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Commanded, JobCommand};
use mainspring_core::time::Time;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::postgres::Postgres;
use crate::postgres::error::Fault;
use crate::postgres::forget::Leaving;
use crate::postgres::moves::{EndedRow, Moves, Note, Place, Who};
use crate::postgres::numbers::{marks, ms, text};
use crate::postgres::pipeline::Step;
use crate::postgres::pool::Transaction;
use crate::postgres::slip::Slip;
use crate::postgres::view::Seen;

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Changes {
    moves: Moves,
    patches: Patches,
    revived: Vec<Uuid>,
    stopping: Vec<Uuid>,
    reasons: Vec<String>,
    forgotten: Vec<Leaving>,
}

/// Jobs that a person changed, by column.
#[derive(Debug, Default)]
struct Patches {
    ids: Vec<Uuid>,
    data: Vec<String>,
    priorities: Vec<i16>,
    runs: Vec<i64>,
    expiries: Vec<Option<i64>>,
}

impl Changes {
    pub fn command(&mut self, now: Time, seen: &Seen, what: &JobCommand) -> Commanded {
        let Standing { state, paused, ready_at, .. } = seen.view.standing;
        let before_start = matches!(state, State::Blocked | State::Waiting | State::Ready);
        match what {
            JobCommand::RunNow if state == State::Ready && !paused => {}
            JobCommand::RunNow if before_start && !paused => self.go(seen, Place::of(State::Ready), now),
            JobCommand::Pause if before_start => self.go(seen, Place { state, paused: true }, ready_at),
            JobCommand::Resume if before_start => {
                // A job whose time passed while it was paused is due at once; one that was not paused waits for promote.
                let state = if paused && state == State::Waiting { due(ready_at, now) } else { state };
                self.go(seen, Place::of(state), ready_at);
            }
            JobCommand::Cancel { reason } if before_start => self.cancel(now, seen, reason),
            JobCommand::Cancel { reason } if state == State::Running => {
                self.stopping.push(seen.view.job.id.uuid());
                self.reasons.push(text(reason));
                return Commanded::Asked;
            }
            JobCommand::Revive { data } if state == State::Dead => {
                let mut job = seen.view.job.clone();
                job.data = data.clone().unwrap_or(job.data);
                self.revive(now, seen, job);
            }
            JobCommand::Update { data, priority, run_at } if before_start => {
                let mut job = seen.view.job.clone();
                job.data = data.clone().unwrap_or(job.data);
                job.priority = priority.unwrap_or(job.priority);
                job.run_at = run_at.unwrap_or(job.run_at);
                self.patches.push(&job);
                let to = match run_at {
                    Some(at) if state != State::Blocked => due(*at, now),
                    _ => state,
                };
                self.put(seen, &job, Place { state: to, paused }, run_at.unwrap_or(ready_at));
            }
            JobCommand::Delete if state.is_final() => self.forgotten.push(Leaving::of(seen)),
            _ => return Commanded::Refused { state, paused },
        }
        Commanded::Done
    }

    /// To another place, unless it is there.
    fn go(&mut self, seen: &Seen, to: Place, ready_at: Time) {
        if to != place(seen) || ready_at != seen.view.standing.ready_at {
            self.put(seen, &seen.view.job, to, ready_at);
        }
    }

    fn put(&mut self, seen: &Seen, job: &Job, to: Place, ready_at: Time) {
        let slip = Slip { marks: seen.marks, ..Slip::again(job, seen.queue, ready_at, seen.view.standing.tally) };
        self.moves.take(job.id, place(seen));
        self.moves.put(&slip, to);
        self.moves.moved(who(seen), place(seen), to);
    }

    fn cancel(&mut self, now: Time, seen: &Seen, reason: &str) {
        let standing = &seen.view.standing;
        let id = seen.view.job.id;
        self.moves.take(id, place(seen));
        if seen.marks & marks::NOTED != 0 {
            self.moves.drop_note(id);
        }
        self.moves.end(&EndedRow {
            who: Who { marks: seen.marks & !marks::NOTED, ..who(seen) },
            state: State::Cancelled,
            ended_at: now,
            ready_at: standing.ready_at,
            tally: standing.tally,
            execution: None,
            result: None,
            reason: Some(reason.to_owned()),
            last_error: standing.last_error.clone(),
            checkpoint: None,
        });
        self.moves.moved(who(seen), place(seen), Place::of(State::Cancelled));
    }

    /// With a clean tally. An expiry that has passed goes, or the sweep would cancel the job before anybody can claim it.
    fn revive(&mut self, now: Time, seen: &Seen, mut job: Job) {
        job.expires_at = job.expires_at.filter(|at| *at > now);
        let standing = &seen.view.standing;
        let note =
            Note { checkpoint: standing.checkpoint.clone(), progress: None, last_error: standing.last_error.clone() };
        let mut marks = seen.marks | marks::TRIED;
        if !note.is_empty() {
            marks |= marks::NOTED;
            self.moves.note(job.id, &note);
        }
        let to = Place::of(State::Ready);
        self.patches.push(&job);
        self.revived.push(job.id.uuid());
        self.moves.put(&Slip { marks, ..Slip::again(&job, seen.queue, now, Tally::default()) }, to);
        self.moves.moved(who(seen), place(seen), to);
    }

    /// Writes all of it; which jobs are still to be forgotten.
    pub async fn write(self, store: &Postgres, txn: &Transaction<'_>, now: Time) -> Result<Vec<Leaving>, Fault> {
        let Changes { moves, patches, revived, stopping, reasons, forgotten } = self;
        let count = revived.len() as i64;
        let mut first = Vec::new();
        if !patches.ids.is_empty() {
            let columns: [&(dyn ToSql + Sync); 5] =
                [&patches.ids, &patches.data, &patches.priorities, &patches.runs, &patches.expiries];
            first.push(Step::new(include_str!("../sql/patch_jobs.sql"), columns.to_vec()));
        }
        if !revived.is_empty() {
            first.push(Step::new(include_str!("../sql/revive.sql"), vec![&revived, &count]));
        }
        if !stopping.is_empty() {
            first.push(Step::new(include_str!("../sql/ask_to_stop.sql"), vec![&stopping, &reasons]));
        }
        moves.write_placed(store, txn, now, first).await?;
        Ok(forgotten)
    }
}

impl Patches {
    fn push(&mut self, job: &Job) {
        self.ids.push(job.id.uuid());
        self.data.push(job.data.as_str().to_owned());
        self.priorities.push(job.priority.value());
        self.runs.push(ms(job.run_at));
        self.expiries.push(job.expires_at.map(ms));
    }
}

fn who(seen: &Seen) -> Who {
    Who { id: seen.view.job.id, queue: seen.queue, marks: seen.marks }
}

fn place(seen: &Seen) -> Place {
    Place { state: seen.view.standing.state, paused: seen.view.standing.paused }
}

/// Where a job goes that is due at `at`.
fn due(at: Time, now: Time) -> State {
    if at <= now { State::Ready } else { State::Waiting }
}
