//! What a handler is given: the job, its stop signal, and a desk to report at. Never settles: the handler's answer does.

use std::sync::Arc;

use mainspring_wire::{Checkpoint, ClaimedJob, ErrorView, Holding, ParentView, Progress, RawValue, Status, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::desk::Desk;
use crate::failure::Failure;
use crate::stop::{Stop, StopReason};

/// One attempt at a job, as its handler sees it. Cloning it is cheap.
///
/// ```
/// use mainspring_worker::{BoxError, Context};
///
/// #[derive(serde::Deserialize)]
/// struct Mail {
///     to: String,
/// }
///
/// async fn send(ctx: Context) -> Result<String, BoxError> {
///     let mail: Mail = ctx.data()?;
///     Ok(format!("sent to {}, attempt {}", mail.to, ctx.attempt()))
/// }
/// # let _ = send;
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    job: ClaimedJob,
    stop: Stop,
    desk: Desk,
}

impl Context {
    pub(crate) fn new(job: ClaimedJob, stop: Stop, desk: Desk) -> Context {
        Context { shared: Arc::new(Shared { job, stop, desk }) }
    }

    /// The job's data as a type. What does not fit is a failure that says so.
    pub fn data<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read(&self.job().data, "data")
    }

    /// The job's data as it was submitted, JSON text.
    pub fn data_text(&self) -> &str {
        self.job().data.get()
    }

    /// What the attempt before this one saved last.
    pub fn last_checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        self.job().checkpoint.as_deref().map(|checkpoint| read(checkpoint, "checkpoint")).transpose()
    }

    /// Everything the job waited for, with results and errors, in the order of its `depends_on`. Asks the server each time.
    ///
    /// While the server cannot be reached it is asked again for as long as the worker's lease.
    pub async fn parents(&self) -> Result<Vec<ParentView>, Failure> {
        let parents = self.shared.desk.parents(self.job_id(), &self.shared.stop).await;
        parents.map_err(|error| Failure::from_error(error.into()))
    }

    /// The result of the step by this name that the job came after. One that did not complete, or whose result does not fit, is
    /// a failure that says so; [`parents`](Context::parents) shows those as well.
    ///
    /// ```
    /// use mainspring_worker::{Context, Failure};
    ///
    /// async fn sum(ctx: Context) -> Result<u64, Failure> {
    ///     let (left, right): (u64, u64) = (ctx.parent("left").await?, ctx.parent("right").await?);
    ///     Ok(left + right)
    /// }
    /// # let _ = sum;
    /// ```
    pub async fn parent<T: DeserializeOwned>(&self, step: &str) -> Result<T, Failure> {
        let parents = self.parents().await?;
        let found = parents.iter().find(|parent| parent.step.as_deref() == Some(step));
        let parent = found.ok_or_else(|| no_parent(step, &parents))?;
        match (parent.status, &parent.result) {
            (Some(Status::Completed), result) => {
                let result = result.as_deref().map_or("null", RawValue::get);
                read_text(result, &format!("result of {step:?}"))
            }
            (status, _) => {
                let state = status.map_or_else(|| "forgotten".to_owned(), |status| status.to_string());
                Err(Failure::new(format!("{step:?} is {state} and has no result")).kind("NoParentResult"))
            }
        }
    }

    /// Saves how far the attempt is; the next attempt receives it if this one ends early. Durable when it answers.
    ///
    /// While the server cannot be reached it is tried again for as long as the worker's lease. If the job is no longer held this
    /// fails, and the context is stopped with [`StopReason::Lost`].
    pub async fn checkpoint<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Failure> {
        let data = serde_json::value::to_raw_value(state).map_err(|error| {
            Failure::new(format!("the checkpoint cannot be written as JSON: {error}")).kind("InvalidCheckpoint")
        })?;
        let report = Checkpoint { fence: self.fence(), data: Some(data), progress: None };
        self.report(report).await
    }

    /// Says how far the attempt is, for people to see: a part of 1, and a note. Tried once: an old progress is worth little.
    pub async fn progress(&self, part: f32, note: impl Into<String>) -> Result<(), Failure> {
        let percent = part.is_finite().then(|| part.clamp(0.0, 1.0) * 100.0);
        let note = Some(note.into()).filter(|note| !note.is_empty());
        let progress = Some(Progress { percent, note });
        self.report(Checkpoint { fence: self.fence(), data: None, progress }).await
    }

    async fn report(&self, report: Checkpoint) -> Result<(), Failure> {
        let reported = self.shared.desk.report(self.job_id(), report, &self.shared.stop).await;
        reported.map_err(|error| Failure::from_error(error.into()))
    }

    /// Ends when the attempt should stop. A handler that does not listen is dropped at its next `await` some seconds later.
    pub async fn stopped(&self) {
        self.shared.stop.token().cancelled().await;
    }

    /// Whether the attempt should stop.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.token().is_cancelled()
    }

    /// Why the attempt should stop, once it should.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.shared.stop.reason()
    }

    /// The stop signal as a token, to be handed down.
    pub fn token(&self) -> CancellationToken {
        self.shared.stop.token().child_token()
    }

    /// The job's id.
    pub fn job_id(&self) -> Uuid {
        self.job().job_id
    }

    /// The number that names this hold. Hand it to whatever must refuse a worker that comes late.
    pub fn fence(&self) -> u64 {
        self.job().fence
    }

    /// The job's type.
    pub fn kind(&self) -> &str {
        &self.job().kind
    }

    /// The queue it came from.
    pub fn queue(&self) -> &str {
        &self.job().queue
    }

    /// Whose job it is.
    pub fn tenant(&self) -> &str {
        &self.job().tenant
    }

    /// The workflow that the job is part of, and its name in it.
    pub fn step(&self) -> Option<(Uuid, &str)> {
        self.job().workflow_id.zip(self.job().step.as_deref())
    }

    /// 1 for the first.
    pub fn attempt(&self) -> u32 {
        self.job().attempt
    }

    /// How many failed attempts the job has at most.
    pub fn max_attempts(&self) -> u32 {
        self.job().max_attempts
    }

    /// Should be done by then.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.job().deadline
    }

    /// Why the attempt before this one failed.
    pub fn last_error(&self) -> Option<&ErrorView> {
        self.job().last_error.as_ref()
    }

    /// Everything that came with the claim.
    pub fn job(&self) -> &ClaimedJob {
        &self.shared.job
    }

    pub(crate) fn holding(&self) -> Holding {
        Holding { job_id: self.job_id(), fence: self.fence() }
    }
}

fn no_parent(step: &str, parents: &[ParentView]) -> Failure {
    let known: Vec<&str> = parents.iter().filter_map(|parent| parent.step.as_deref()).collect();
    let known = if known.is_empty() { "no step".to_owned() } else { known.join(", ") };
    Failure::new(format!("the job does not come after {step:?}; it comes after {known}")).kind("NoParentResult")
}

fn read<T: DeserializeOwned>(json: &RawValue, what: &str) -> Result<T, Failure> {
    read_text(json.get(), &format!("{what} of the job"))
}

fn read_text<T: DeserializeOwned>(json: &str, what: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| {
        let name = std::any::type_name::<T>();
        Failure::new(format!("the {what} is not a {name}: {error}")).kind("InvalidData")
    })
}
