//! Jobs that wait for each other, written down in one go. Judges nothing: names, cycles and limits are the server's.

use mainspring_wire::{After, NewJob, NewStep, NewWorkflow, OnFailure, Span};

/// A workflow in the making: its jobs by name, and which comes after which.
///
/// ```
/// use mainspring_worker::{Workflow, wire::{NewJob, OnFailure}};
///
/// let workflow = Workflow::new()
///     .job("fetch", NewJob::new("fetch"))
///     .job("resize", NewJob::new("resize")).after("fetch")
///     .job("report", NewJob::new("report")).after("fetch").after_failure("resize", OnFailure::Run)
///     .callback(NewJob::new("tell_me"))
///     .build();
/// assert_eq!(workflow.jobs.len(), 3);
/// assert_eq!(workflow.jobs[2].after[1].on_failure, OnFailure::Run);
/// ```
///
/// Submit it with [`Client::submit_workflow`](crate::Client::submit_workflow); a handler reads what came before it with
/// [`Context::parent`](crate::Context::parent).
#[derive(Clone, Debug, Default)]
pub struct Workflow {
    workflow: NewWorkflow,
}

impl Workflow {
    /// One without jobs.
    pub fn new() -> Workflow {
        Workflow::default()
    }

    /// Adds a job by a name of its own. It runs at once, unless [`after`](Workflow::after) follows.
    #[must_use]
    pub fn job(mut self, name: impl Into<String>, job: NewJob) -> Workflow {
        self.workflow.jobs.push(NewStep { name: name.into(), after: Vec::new(), job });
        self
    }

    /// The job that was added last waits until this one has succeeded; if it fails, so does the wait, and the job is cancelled.
    /// The other job may be added later.
    ///
    /// # Panics
    /// If no job was added yet.
    #[must_use]
    pub fn after(self, name: impl Into<String>) -> Workflow {
        self.after_failure(name, OnFailure::Cancel)
    }

    /// As [`after`](Workflow::after), and says what happens if the other job fails.
    ///
    /// # Panics
    /// If no job was added yet.
    #[must_use]
    pub fn after_failure(mut self, name: impl Into<String>, on_failure: OnFailure) -> Workflow {
        let step = self.workflow.jobs.last_mut().expect("`after` belongs to the job before it: add one first");
        step.after.push(After { job: name.into(), on_failure });
        self
    }

    /// Runs once every job has ended, however it ended.
    #[must_use]
    pub fn callback(mut self, job: NewJob) -> Workflow {
        self.workflow.callback = Some(job);
        self
    }

    /// The same key and jobs again answer the workflow they made first.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Workflow {
        self.workflow.idempotency_key = Some(key.into());
        self
    }

    /// How long the key is remembered.
    #[must_use]
    pub fn idempotency_retention(mut self, retention: Span) -> Workflow {
        self.workflow.idempotency_retention = Some(retention);
        self
    }

    /// What is sent.
    pub fn build(self) -> NewWorkflow {
        self.workflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_is_written_as_the_api_reads_it() {
        let workflow = Workflow::new()
            .job("a", NewJob::new("fetch"))
            .job("b", NewJob::new("sum"))
            .after("a")
            .after_failure("c", OnFailure::Hold)
            .job("c", NewJob::new("fetch"))
            .callback(NewJob::new("tell"))
            .idempotency_key("k");
        let json = serde_json::to_string(&workflow.build()).expect("it prints");
        assert_eq!(
            json,
            concat!(
                r#"{"jobs":[{"name":"a","type":"fetch"},"#,
                r#"{"name":"b","after":["a",{"job":"c","on_failure":"hold"}],"type":"sum"},{"name":"c","type":"fetch"}],"#,
                r#""callback":{"type":"tell"},"idempotency_key":"k"}"#,
            )
        );
    }

    #[test]
    #[should_panic(expected = "add one first")]
    fn nothing_comes_after_something_before_there_is_a_job() {
        let _ = Workflow::new().after("a");
    }
}
