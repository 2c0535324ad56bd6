//! One attempt: runs its handler, ends it in time, and says how it ended. A handler that panics or hangs takes nothing with it.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::{ClaimedJob, Holding, Settlement};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{JoinError, JoinHandle};
use tracing::Instrument;

use super::Handlers;
use super::workplace::Workplace;
use crate::clock;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::stop::{Stop, StopReason};

pub(super) struct Attempt {
    holding: Holding,
    /// Named when it is settled.
    tenant: Option<String>,
    stop: Stop,
    time_left: Option<Duration>,
    stop_grace: Duration,
    task: Task,
}

/// How a handler came to its end.
enum Ended {
    Returned(Outcome),
    Panicked(String),
    /// It was asked to stop and did not.
    Dropped,
}

impl Attempt {
    /// Starts the handler.
    pub fn begin(workplace: &Workplace, job: ClaimedJob, lease: Duration) -> Attempt {
        let stop = Stop::default();
        let span = tracing::info_span!("attempt", job_id = %job.job_id, r#type = job.kind, attempt = job.attempt);
        let time_left = time_left(&job);
        let handler = workplace.handlers.find(&job.kind).cloned();
        let unknown = Outcome::Fail(no_handler(&workplace.handlers, &job.kind));
        let tenant = workplace.tenant_of(&job);
        let desk = Desk::Server { client: workplace.client_for(&job), patience: lease };
        let ctx = Context::new(job, stop.clone(), desk);
        let holding = ctx.holding();
        workplace.holds.take(holding, stop.clone());
        workplace.handle.vitals().running += 1;
        let work = async move {
            match handler {
                Some(handler) => handler(ctx).await,
                None => unknown,
            }
        };
        let task = Task(tokio::spawn(work.instrument(span)));
        Attempt { holding, tenant, stop, time_left, stop_grace: workplace.settings.stop_grace, task }
    }

    /// Waits for the handler to end, and hands its outcome on. The place is free when the handler is really gone.
    pub async fn see_through(mut self, workplace: Arc<Workplace>, place: OwnedSemaphorePermit) {
        let outcome = conclude(self.end().await, self.stop.reason());
        workplace.handle.vitals().running -= 1;
        let mut place = Some(place);
        match outcome {
            Some(outcome) => {
                let room = workplace.outbox.room().await;
                let freed = if self.task.0.is_finished() { place.take() } else { None };
                let settlement = Settlement { tenant: self.tenant.take(), ..outcome.settlement(self.holding) };
                workplace.outbox.put(room, settlement, freed);
            }
            None => workplace.holds.release(&self.holding),
        }
        if !self.task.0.is_finished() {
            let _ = (&mut self.task.0).await;
        }
        drop(place);
    }

    async fn end(&mut self) -> Ended {
        let time_out = async {
            match self.time_left {
                Some(time_left) => clock::sleep(time_left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = &mut self.task.0 => return joined(ended),
            () = self.stop.token().cancelled() => {}
            () = time_out => self.stop.ask(StopReason::TimedOut),
        }
        match tokio::time::timeout(self.stop_grace, &mut self.task.0).await {
            Ok(ended) => joined(ended),
            Err(_) => {
                self.task.0.abort();
                Ended::Dropped
            }
        }
    }
}

/// Aborts the handler if the attempt itself is dropped.
struct Task(JoinHandle<Outcome>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// From our own clock, begun when the job arrived: the server's clock may be another.
fn time_left(job: &ClaimedJob) -> Option<Duration> {
    let timeout_at = job.timeout_at?;
    Some(Duration::from_millis(timeout_at.as_millis().saturating_sub(job.claimed_at.as_millis())))
}

fn no_handler(handlers: &Handlers, kind: &str) -> Failure {
    let known = match handlers.types().as_slice() {
        [] => "none".to_owned(),
        types => types.join(", "),
    };
    Failure::new(format!("this worker has no handler for the type {kind:?}; it knows: {known}")).kind("UnknownType")
}

fn joined(ended: Result<Outcome, JoinError>) -> Ended {
    match ended.map_err(JoinError::try_into_panic) {
        Ok(outcome) => Ended::Returned(outcome),
        Err(Ok(panic)) => Ended::Panicked(words_of(panic.as_ref())),
        Err(Err(_aborted)) => Ended::Dropped,
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// What is told to the server; nothing if it would not listen.
fn conclude(ended: Ended, reason: Option<StopReason>) -> Option<Outcome> {
    if reason == Some(StopReason::Lost) {
        return None;
    }
    let shutting_down = reason == Some(StopReason::ShuttingDown);
    Some(match ended {
        // It failed because we interrupted it: that is no failure of the job.
        Ended::Returned(Outcome::Fail(_)) | Ended::Dropped if shutting_down => Outcome::Release,
        Ended::Returned(outcome) => outcome,
        Ended::Panicked(words) => Outcome::Fail(Failure::new(format!("the handler panicked: {words}")).kind("Panic")),
        Ended::Dropped if reason == Some(StopReason::TimedOut) => {
            Outcome::Fail(Failure::new("the attempt took longer than the job's timeout").kind("Timeout"))
        }
        Ended::Dropped => Outcome::Fail(Failure::new("the handler was asked to stop and did not").kind("Cancelled")),
    })
}

#[cfg(test)]
#[path = "attempt_tests.rs"]
mod tests;
