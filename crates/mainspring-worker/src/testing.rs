//! Runs a handler without a server, and shows all that it did. A panic in the handler is the test's own panic.
//!
//! ```
//! use mainspring_worker::{BoxError, Context, testing};
//! use serde_json::json;
//!
//! async fn shout(ctx: Context) -> Result<String, BoxError> {
//!     let words: String = ctx.data()?;
//!     ctx.progress(1.0, "shouted").await?;
//!     Ok(words.to_uppercase())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let report = testing::run(shout, json!("hello")).await;
//! assert_eq!(report.result::<String>(), "HELLO");
//! assert_eq!(report.progress[0].percent, Some(100.0));
//! # }
//! ```

use std::sync::Arc;

use mainspring_wire::{
    Checkpoint, ClaimedJob, ErrorView, OnFailure, ParentView, Progress, RawValue, Status, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::context::Context;
use crate::desk::{Desk, Notebook};
use crate::failure::Failure;
use crate::outcome::{IntoOutcome, Outcome};
use crate::stop::{Stop, StopReason};

/// 2026-01-01, so that a test sees the same times every day.
const CLAIMED_AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// Runs a handler as the first attempt at a job with this data. [`Trial`] for anything else.
pub async fn run<F, Fut>(handler: F, data: impl Serialize) -> Report
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output: IntoOutcome>,
{
    Trial::new(data).run(handler).await
}

/// A job to try a handler on.
///
/// ```
/// use mainspring_worker::{Context, Failure, Outcome, StopReason, testing::Trial};
///
/// async fn count(ctx: Context) -> Result<Outcome, Failure> {
///     let from: u32 = ctx.last_checkpoint()?.unwrap_or(0);
///     for step in from..10 {
///         if ctx.is_stopped() {
///             return Ok(Outcome::Release);
///         }
///         ctx.checkpoint(&(step + 1)).await?;
///     }
///     Ok(Outcome::done(10 - from))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let report = Trial::new(()).attempt(2).last_checkpoint(8).run(count).await;
/// assert_eq!(report.result::<u32>(), 2);
/// assert_eq!(report.checkpoints, [9, 10]);
///
/// let report = Trial::new(()).stopped(StopReason::ShuttingDown).run(count).await;
/// assert!(matches!(report.outcome, Outcome::Release));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Trial {
    job: ClaimedJob,
    stopped: Option<StopReason>,
    parents: Vec<ParentView>,
}

impl Trial {
    /// The first attempt at a job with this data.
    pub fn new(data: impl Serialize) -> Trial {
        let job = ClaimedJob {
            job_id: Uuid::from_u128(1),
            fence: 1,
            kind: "test".to_owned(),
            queue: "default".to_owned(),
            tenant: "default".to_owned(),
            data: raw(data),
            attempt: 1,
            max_attempts: 3,
            priority: 5,
            run_at: CLAIMED_AT,
            claimed_at: CLAIMED_AT,
            timeout_at: None,
            deadline: None,
            checkpoint: None,
            last_error: None,
            tags: Vec::new(),
            workflow_id: None,
            step: None,
        };
        Trial { job, stopped: None, parents: Vec::new() }
    }

    /// Whose job it is; `default` unless set.
    #[must_use]
    pub fn of_tenant(mut self, tenant: impl Into<String>) -> Trial {
        self.job.tenant = tenant.into();
        self
    }

    /// The job's type.
    #[must_use]
    pub fn of_type(mut self, kind: impl Into<String>) -> Trial {
        self.job.kind = kind.into();
        self
    }

    /// Which attempt it is, 1 for the first.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Trial {
        self.job.attempt = attempt;
        self
    }

    /// What the attempt before it saved last.
    #[must_use]
    pub fn last_checkpoint(mut self, state: impl Serialize) -> Trial {
        self.job.checkpoint = Some(raw(state));
        self
    }

    /// Why the attempt before it failed.
    #[must_use]
    pub fn last_error(mut self, message: impl Into<String>) -> Trial {
        self.job.last_error = Some(ErrorView { message: message.into(), kind: None, detail: None });
        self
    }

    /// It comes after a step by this name, which completed with this result.
    #[must_use]
    pub fn parent(self, step: impl Into<String>, result: impl Serialize) -> Trial {
        self.with_parent(step.into(), Status::Completed, Some(raw(result)), None)
    }

    /// It comes after a step by this name, which failed for good.
    #[must_use]
    pub fn failed_parent(self, step: impl Into<String>, message: impl Into<String>) -> Trial {
        let error = ErrorView { message: message.into(), kind: None, detail: None };
        self.with_parent(step.into(), Status::Failed, None, Some(error))
    }

    fn with_parent(
        mut self,
        step: String,
        status: Status,
        result: Option<Box<RawValue>>,
        error: Option<ErrorView>,
    ) -> Trial {
        let job_id = Uuid::from_u128(1000 + self.parents.len() as u128);
        let (step, status, on_failure) = (Some(step), Some(status), OnFailure::Run);
        self.parents.push(ParentView { job_id, step, status, on_failure, result, error });
        self
    }

    /// It is asked to stop before it begins.
    #[must_use]
    pub fn stopped(mut self, reason: StopReason) -> Trial {
        self.stopped = Some(reason);
        self
    }

    /// Everything that would have come with the claim.
    pub fn job(&self) -> ClaimedJob {
        self.job.clone()
    }

    /// A context as a worker would make it, to be used by hand.
    pub fn context(&self) -> Context {
        self.open(Notebook::default())
    }

    /// Runs the handler.
    pub async fn run<F, Fut>(self, handler: F) -> Report
    where
        F: FnOnce(Context) -> Fut,
        Fut: Future<Output: IntoOutcome>,
    {
        let notebook = Notebook::default();
        let outcome = handler(self.open(Arc::clone(&notebook))).await.into_outcome();
        let reports = std::mem::take(&mut *notebook.lock().expect("nobody panics while writing"));
        Report::new(outcome, reports)
    }

    fn open(&self, notebook: Notebook) -> Context {
        let stop = Stop::default();
        if let Some(reason) = self.stopped {
            stop.ask(reason);
        }
        Context::new(self.job(), stop, Desk::Notebook { notes: notebook, parents: self.parents.clone() })
    }
}

/// All that a handler did.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the attempt ended.
    pub outcome: Outcome,
    /// What it saved, in order.
    pub checkpoints: Vec<Value>,
    /// What it said of its progress, in order.
    pub progress: Vec<Progress>,
}

impl Report {
    fn new(outcome: Outcome, reports: Vec<Checkpoint>) -> Report {
        let mut report = Report { outcome, checkpoints: Vec::new(), progress: Vec::new() };
        for said in reports {
            let data = said.data.map(|data| serde_json::from_str(data.get()).expect("a raw value is JSON"));
            report.checkpoints.extend(data);
            report.progress.extend(said.progress);
        }
        report
    }

    /// The result of a handler that is done. Panics if it is not, and says what it was.
    #[track_caller]
    pub fn result<T: DeserializeOwned>(&self) -> T {
        let Outcome::Done(result) = &self.outcome else { panic!("the handler is not done: {:?}", self.outcome) };
        let result = result.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(result).unwrap_or_else(|error| panic!("the result is {result}: {error}"))
    }

    /// The failure of a handler that failed. Panics if it did not, and says what it did.
    #[track_caller]
    pub fn failure(&self) -> &Failure {
        match &self.outcome {
            Outcome::Fail(failure) => failure,
            other => panic!("the handler did not fail: {other:?}"),
        }
    }
}

fn raw(value: impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(&value).expect("what a test hands in can be written as JSON")
}

#[cfg(test)]
#[path = "testing_tests.rs"]
mod tests;
