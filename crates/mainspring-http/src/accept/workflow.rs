//! A workflow as asked for becomes a draft. Whether its steps can wait for each other is the core's to judge; here its
//! findings get the places of the request.

use mainspring_core::graph::BadGraph;
use mainspring_core::id::JobId;
use mainspring_core::job::{Idempotency, OnFailure};
use mainspring_core::limits::{DEPENDENCIES_MAX, WORKFLOW_EDGES_MAX, WORKFLOW_JOBS_MAX};
use mainspring_core::name::{IdempotencyKey, StepName};
use mainspring_engine::{Draft, IdempotencyAsk, StepDraft, WorkflowDraft};
use mainspring_wire::{NewJob, NewStep, NewWorkflow, Span};

use crate::accept::{Asking, Findings, Names, depends, submit};
use crate::ask::FieldError;
use crate::fingerprint::workflow_fingerprint;
use crate::limits::FIELD_ERRORS_MAX;

/// All or nothing: one wrong step refuses the workflow, and is named.
pub(crate) fn workflow(mut said: NewWorkflow, asking: Asking) -> Result<WorkflowDraft, Vec<FieldError>> {
    bounds(&said)?;
    let Asking { tenant, now, key } = asking;
    let mut found = Findings::default();
    // The fingerprint is over what was said, so it is made before the words are taken apart.
    let idempotency = found.keep(idempotency(&mut said, key));
    let asking = Asking { tenant: tenant.clone(), now, key: None };
    let mut names = Names::default();
    let mut steps = Vec::with_capacity(said.jobs.len());
    for (at, step) in said.jobs.into_iter().enumerate() {
        match read_step(step, &asking, &mut names) {
            Ok(step) => steps.push(step),
            Err(errors) => errors.into_iter().for_each(|error| found.add(error.within("jobs", at))),
        }
        if found.0.len() >= FIELD_ERRORS_MAX {
            break;
        }
    }
    let callback = said.callback.map(|job| read_callback(job, &asking, &mut names));
    let callback = callback.transpose().unwrap_or_else(|errors| {
        errors.into_iter().for_each(|error| found.add(error.inside("callback")));
        None
    });
    found.into_result(WorkflowDraft { tenant, steps, callback, idempotency })
}

fn bounds(said: &NewWorkflow) -> Result<(), Vec<FieldError>> {
    if said.jobs.is_empty() {
        return Err(vec![FieldError::invalid("jobs", "is empty: send at least one job")]);
    }
    if said.jobs.len() > WORKFLOW_JOBS_MAX {
        return Err(vec![FieldError::too_many("jobs", said.jobs.len(), "workflow_jobs_max", WORKFLOW_JOBS_MAX)]);
    }
    let edges: usize = said.jobs.iter().map(|step| step.after.len() + step.job.depends_on.len()).sum();
    if edges > WORKFLOW_EDGES_MAX {
        let message = format!(
            "the jobs name {edges} others to wait for, and workflow_edges_max is {WORKFLOW_EDGES_MAX}: let jobs wait for \
             fewer others"
        );
        return Err(vec![
            FieldError::invalid("jobs", message).limited("workflow_edges_max", WORKFLOW_EDGES_MAX as u64),
        ]);
    }
    Ok(())
}

fn read_step(step: NewStep, asking: &Asking, names: &mut Names) -> Result<StepDraft, Vec<FieldError>> {
    let mut found = Findings::default();
    let NewStep { name, after, job } = step;
    let name = StepName::parse(&name).map_err(|error| found.add(FieldError::invalid("name", error.to_string())));
    if after.len() + job.depends_on.len() > DEPENDENCIES_MAX {
        found.add(depends::too_many("after", after.len() + job.depends_on.len()));
    }
    let mut earlier: Vec<(StepName, OnFailure)> = Vec::with_capacity(after.len());
    for (at, one) in after.iter().enumerate() {
        match StepName::parse(&one.job) {
            Ok(parent) => earlier.push((parent, depends::on_failure(one.on_failure))),
            Err(error) => found.add(FieldError::invalid(format!("after[{at}]"), error.to_string())),
        }
    }
    let draft = member(job, asking, names).unwrap_or_else(|errors| {
        found.0.extend(errors);
        None
    });
    let (Ok(name), Some(draft)) = (name, draft) else { return Err(found.0) };
    found.into_result(StepDraft { name, draft, after: earlier })
}

fn read_callback(job: NewJob, asking: &Asking, names: &mut Names) -> Result<Draft, Vec<FieldError>> {
    if !job.depends_on.is_empty() {
        let message = "a callback waits for every job of its workflow, and for nothing else: leave it out";
        return Err(vec![FieldError::invalid("depends_on", message)]);
    }
    Ok(member(job, asking, names)?.expect("is a draft, or was refused"))
}

/// A job of a workflow. All are taken in or none, so none can have been made before on its own.
fn member(job: NewJob, asking: &Asking, names: &mut Names) -> Result<Option<Draft>, Vec<FieldError>> {
    if job.idempotency_key.is_some() || job.idempotency_retention.is_some() {
        let message = "a workflow is taken in as a whole: give it an idempotency_key, not its jobs";
        return Err(vec![FieldError::invalid("idempotency_key", message)]);
    }
    submit(job, asking, names).map(Some)
}

/// The header and the field may both name the key, if they agree.
fn idempotency(said: &mut NewWorkflow, header: Option<String>) -> Result<Option<IdempotencyAsk>, FieldError> {
    let (field, retention) = (said.idempotency_key.take(), said.idempotency_retention);
    let key = match (field, header) {
        (Some(field), Some(header)) if field != header => {
            let message = "is not the key in the Idempotency-Key header: give one of them, or the same";
            return Err(FieldError::invalid("idempotency_key", message));
        }
        (Some(key), _) | (None, Some(key)) => key,
        (None, None) if retention.is_some() => {
            return Err(FieldError::invalid("idempotency_retention", "is given without an idempotency_key"));
        }
        (None, None) => return Ok(None),
    };
    let key = IdempotencyKey::parse(&key).map_err(|error| FieldError::invalid("idempotency_key", error.to_string()))?;
    if retention == Some(Span::ZERO) {
        return Err(FieldError::invalid("idempotency_retention", "is zero: the key would be forgotten at once"));
    }
    let retention = retention.map_or(Idempotency::RETENTION_DEFAULT, Span::duration);
    Ok(Some(IdempotencyAsk { key, fingerprint: workflow_fingerprint(said), retention }))
}

/// Who waits for whom, kept to say where a finding is after the draft was handed over.
#[derive(Clone, Debug)]
pub(crate) struct Shape(Vec<(StepName, Vec<StepName>, Vec<JobId>)>);

impl Shape {
    pub(crate) fn of(draft: &WorkflowDraft) -> Shape {
        let after = |step: &StepDraft| step.after.iter().map(|(name, _)| name.clone()).collect();
        let outside = |step: &StepDraft| step.draft.depends_on.iter().map(|one| one.parent).collect();
        Shape(draft.steps.iter().map(|step| (step.name.clone(), after(step), outside(step))).collect())
    }

    /// What the core found, at its place in the request.
    pub(crate) fn wrong(&self, bad: &BadGraph) -> FieldError {
        let field = match bad {
            BadGraph::TooManySteps { .. } | BadGraph::TooManyEdges { .. } => "jobs".to_owned(),
            BadGraph::TooManyParents { step, .. } => format!("{}.after", self.at(step)),
            BadGraph::Twice { second, .. } => format!("jobs[{second}].name"),
            BadGraph::Unknown { step, parent, .. } => self.edge(step, parent, 0),
            BadGraph::Itself { step } => self.edge(step, step, 0),
            BadGraph::ParentTwice { step, parent } => self.edge(step, parent, 1),
            BadGraph::Cycle { steps } => match steps.as_slice() {
                [first, second, ..] => self.edge(first, second, 0),
                _ => "jobs".to_owned(),
            },
        };
        FieldError::invalid(field, bad.to_string())
    }

    /// Where a step names a job outside of the workflow.
    pub(crate) fn outside(&self, step: &StepName, parent: JobId) -> String {
        let found = self.0.iter().find(|(name, ..)| name == step);
        let at = found.and_then(|(_, _, outside)| outside.iter().position(|other| *other == parent));
        at.map_or_else(|| self.at(step), |at| format!("{}.depends_on[{at}]", self.at(step)))
    }

    pub(crate) fn at(&self, step: &StepName) -> String {
        let at = self.0.iter().position(|(name, ..)| name == step);
        at.map_or_else(|| "callback".to_owned(), |at| format!("jobs[{at}]"))
    }

    /// Where a step names another, for the `nth` time.
    fn edge(&self, step: &StepName, parent: &StepName, nth: usize) -> String {
        let found = self.0.iter().find(|(name, ..)| name == step);
        let mut named = found.into_iter().flat_map(|(_, after, _)| after.iter().enumerate());
        let at = named.by_ref().filter(|(_, name)| *name == parent).nth(nth).map(|(at, _)| at);
        at.map_or_else(|| format!("{}.after", self.at(step)), |at| format!("{}.after[{at}]", self.at(step)))
    }
}
