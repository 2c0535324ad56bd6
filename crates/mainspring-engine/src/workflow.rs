//! Takes whole graphs of jobs in, in one durable write, and answers where they are. Runs nothing: each step is a job like any
//! other, and the store lets it go when what it waits for has ended.

use std::sync::Arc;

use mainspring_core::graph::{self, Order};
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Dependency, Job, JobView, Membership, OnFailure, Role};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::name::{QueueName, StepName, TenantName};
use mainspring_core::store::{self, Command, Commanded, Filter, JobCommand, Page, Query, Submitted, WorkflowView};

use crate::command::Bulk;
use crate::error::Result;
use crate::node::Node;
use crate::submit::{Draft, IdempotencyAsk};

/// Jobs of a workflow that are read, or cancelled, in one step.
const PAGE_JOBS: usize = 1_000;

/// A graph of jobs as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowDraft {
    pub tenant: TenantName,
    pub steps: Vec<StepDraft>,
    /// Runs when every step has ended, however it ended.
    pub callback: Option<Draft>,
    pub idempotency: Option<IdempotencyAsk>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepDraft {
    pub name: StepName,
    /// What it depends on may name jobs that exist already; the tenant is the workflow's.
    pub draft: Draft,
    /// Steps of the same workflow.
    pub after: Vec<(StepName, OnFailure)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WorkflowSubmitted {
    Accepted(WorkflowSubmission),
    /// Its idempotency key made this one before, from the same words.
    Duplicate(WorkflowSubmission),
    /// Its idempotency key was used for something else before.
    Mismatch {
        workflow: WorkflowId,
    },
    /// Nothing of it was taken in, because of this step.
    Refused {
        step: StepName,
        answer: Submitted,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowSubmission {
    pub id: WorkflowId,
    /// In the order of the draft; of a Duplicate in the order of their ids, without those that are forgotten already.
    pub steps: Vec<(StepName, JobId, State)>,
    pub callback: Option<JobId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowStatus {
    pub view: WorkflowView,
    /// A page of its jobs, the callback among them, latest id first.
    pub jobs: Vec<JobView>,
    /// Ask again from here.
    pub next: Option<JobId>,
}

impl Node {
    pub(crate) async fn submit_workflow(self: &Arc<Node>, draft: WorkflowDraft) -> Result<WorkflowSubmitted> {
        let order = check(&draft)?;
        let names: Vec<StepName> = draft.steps.iter().map(|step| step.name.clone()).collect();
        let tenant = draft.tenant.clone();
        let jobs = self.mint_workflow(draft, &order);
        let id = WorkflowId(jobs[0].id.uuid());
        let bonds: Vec<Bond> = jobs.iter().map(Bond::of).collect();
        let answers = self.submits.ask(jobs).await?;
        match refusal(&answers) {
            None => Ok(WorkflowSubmitted::Accepted(accepted(id, &names, &order, &bonds, &answers))),
            Some(Submitted::Duplicate { id }) => self.made_before(&tenant, *id).await.map(WorkflowSubmitted::Duplicate),
            Some(Submitted::Mismatch { id }) => {
                Ok(WorkflowSubmitted::Mismatch { workflow: self.workflow_of(&tenant, *id).await? })
            }
            Some(answer) => {
                let step = self.at_fault(&tenant, &bonds, answer).await?;
                Ok(WorkflowSubmitted::Refused { step, answer: answer.clone() })
            }
        }
    }

    pub(crate) async fn workflow(
        &self,
        tenant: &TenantName,
        id: WorkflowId,
        below: Option<JobId>,
        limit: usize,
    ) -> Result<Option<WorkflowStatus>> {
        let Some(view) = self.store.workflow(tenant, id).await? else { return Ok(None) };
        let Page { jobs, next } = self.store.find(members(tenant, id, vec![], below, limit)).await?;
        Ok(Some(WorkflowStatus { view, jobs, next }))
    }

    /// The latest first, so that children are cancelled for this reason and not for their parents'. The callback is left:
    /// it is how the owner learns that the workflow has ended.
    pub(crate) async fn cancel_workflow(
        self: &Arc<Node>,
        tenant: &TenantName,
        id: WorkflowId,
        reason: String,
    ) -> Result<Option<Bulk>> {
        if self.store.workflow(tenant, id).await?.is_none() {
            return Ok(None);
        }
        let mut bulk = Bulk::default();
        let mut below = None;
        loop {
            let page = self.store.find(members(tenant, id, unfinished(), below, PAGE_JOBS)).await?;
            let is_step = |view: &&JobView| view.job.workflow.as_ref().is_some_and(|place| place.role == Role::Step);
            let cancel = |view: &JobView| Command::Job {
                tenant: tenant.clone(),
                id: view.job.id,
                what: JobCommand::Cancel { reason: reason.clone() },
            };
            let commands: Vec<Command> = page.jobs.iter().filter(is_step).map(cancel).collect();
            if !commands.is_empty() {
                let answers = self.command(commands).await?;
                let moved = |answer: &&Commanded| matches!(answer, Commanded::Done | Commanded::Asked);
                bulk.done += answers.iter().filter(moved).count() as u64;
            }
            match page.next {
                Some(next) => below = Some(next),
                None => return Ok(Some(bulk)),
            }
        }
    }

    /// In an order in which parents come before their children, the callback last.
    fn mint_workflow(&self, draft: WorkflowDraft, order: &Order) -> Vec<Job> {
        let now = self.clock.now();
        let mut press = self.mint.lock();
        let mut steps: Vec<Option<StepDraft>> = draft.steps.into_iter().map(Some).collect();
        let mut ids: Vec<Option<JobId>> = vec![None; steps.len()];
        let mut jobs: Vec<Job> = Vec::with_capacity(steps.len() + 1);
        let mut workflow = None;
        let mut place = |id: JobId, step: StepName, role: Role| {
            let workflow = *workflow.get_or_insert(WorkflowId(id.uuid()));
            Some(Box::new(Membership { workflow, step, role }))
        };
        for &at in &order.steps {
            let step = steps[at].take().expect("each step is in the order once");
            let (id, seed) = (press.job(now, &draft.tenant), press.seed());
            ids[at] = Some(id);
            let inside = order.parents[at].iter().map(|&(parent, on_failure)| Dependency {
                parent: ids[parent].expect("parents come first"),
                on_failure,
            });
            let depends_on = step.draft.depends_on.iter().copied().chain(inside).collect();
            let draft = Draft { tenant: draft.tenant.clone(), depends_on, ..step.draft };
            jobs.push(Job { workflow: place(id, step.name, Role::Step), ..draft.into_job(id, now, seed) });
        }
        if let Some(callback) = draft.callback {
            let (id, seed) = (press.job(now, &draft.tenant), press.seed());
            let callback = Draft { tenant: draft.tenant.clone(), ..callback };
            jobs.push(Job { workflow: place(id, callback_name(), Role::Callback), ..callback.into_job(id, now, seed) });
        }
        if let (Some(first), Some(ask)) = (jobs.first_mut(), draft.idempotency) {
            first.idempotency = Some(ask.from(now));
        }
        jobs
    }

    /// The workflow that an idempotency key made. Its first job carries the key.
    async fn made_before(&self, tenant: &TenantName, first: JobId) -> Result<WorkflowSubmission> {
        let id = self.workflow_of(tenant, first).await?;
        let mut submission = WorkflowSubmission { id, steps: vec![], callback: None };
        let mut below = None;
        loop {
            let page = self.store.find(members(tenant, id, vec![], below, PAGE_JOBS)).await?;
            for view in page.jobs {
                match view.job.workflow {
                    Some(place) if place.role == Role::Callback => submission.callback = Some(view.job.id),
                    Some(place) => submission.steps.push((place.step, view.job.id, view.standing.state)),
                    None => {}
                }
            }
            match page.next {
                Some(next) => below = Some(next),
                None => break,
            }
        }
        submission.steps.reverse();
        Ok(submission)
    }

    /// The workflow of a job. One that is forgotten, or was alone, is named as if it had been the first of one.
    async fn workflow_of(&self, tenant: &TenantName, job: JobId) -> Result<WorkflowId> {
        let view = self.store.get(tenant, vec![job]).await?.pop().flatten();
        let place = view.and_then(|view| view.job.workflow);
        Ok(place.map_or(WorkflowId(job.uuid()), |place| place.workflow))
    }

    /// Every job of a refused workflow gets the answer of the one that was refused: this is which.
    async fn at_fault(&self, tenant: &TenantName, bonds: &[Bond], answer: &Submitted) -> Result<StepName> {
        let found = match answer {
            Submitted::UnknownParent { parent } | Submitted::FailedParent { parent, .. } => {
                bonds.iter().find(|bond| bond.depends_on.contains(parent))
            }
            Submitted::QueueFull { max_depth } => {
                let queues = self.store.queues(Some(tenant)).await?;
                let full = |bond: &&Bond| {
                    let own = queues.iter().find(|queue| queue.queue.queue == bond.queue);
                    let more = bonds.iter().filter(|other| other.queue == bond.queue).count() as u64;
                    own.is_some_and(|queue| {
                        queue.max_depth == Some(*max_depth) && queue.counts.depth() + more > *max_depth
                    })
                };
                bonds.iter().find(full)
            }
            Submitted::Accepted { .. } | Submitted::Duplicate { .. } | Submitted::Mismatch { .. } => None,
        };
        Ok(found.or(bonds.first()).expect("an answer is one to a job").step.clone())
    }
}

fn check<'a>(draft: &'a WorkflowDraft) -> Result<Order> {
    if draft.steps.is_empty() {
        return Err(store::Error::Invalid("a workflow has at least one step, this one has none".into()).into());
    }
    let after = |step: &'a StepDraft| step.after.iter().map(|(parent, on_failure)| (parent, *on_failure)).collect();
    let node = |step: &'a StepDraft| graph::Node { name: &step.name, after: after(step) };
    let nodes: Vec<graph::Node<'_>> = draft.steps.iter().map(node).collect();
    Ok(graph::check(&nodes)?)
}

/// Under which the callback is shown. A step may have the same name: its role tells them apart.
fn callback_name() -> StepName {
    StepName::parse("callback").expect("is a name")
}

/// What is still wanted of a job when its answer is there.
struct Bond {
    id: JobId,
    step: StepName,
    role: Role,
    queue: QueueName,
    depends_on: Vec<JobId>,
}

impl Bond {
    fn of(job: &Job) -> Bond {
        let place = job.workflow.as_ref().expect("every job of a workflow has its place");
        Bond {
            id: job.id,
            step: place.step.clone(),
            role: place.role,
            queue: job.queue.clone(),
            depends_on: job.depends_on.iter().map(|dependency| dependency.parent).collect(),
        }
    }
}

fn refusal(answers: &[Submitted]) -> Option<&Submitted> {
    answers.iter().find(|answer| !matches!(answer, Submitted::Accepted { .. }))
}

fn accepted(
    id: WorkflowId,
    names: &[StepName],
    order: &Order,
    bonds: &[Bond],
    answers: &[Submitted],
) -> WorkflowSubmission {
    let state = |answer: &Submitted| match answer {
        Submitted::Accepted { state, .. } => *state,
        other => unreachable!("{other:?} was looked for before"),
    };
    let mut steps: Vec<(usize, JobId, State)> =
        order.steps.iter().zip(bonds).zip(answers).map(|((&at, bond), answer)| (at, bond.id, state(answer))).collect();
    steps.sort_unstable_by_key(|&(at, ..)| at);
    let callback = bonds.last().filter(|bond| bond.role == Role::Callback).map(|bond| bond.id);
    let steps = steps.into_iter().map(|(at, id, state)| (names[at].clone(), id, state)).collect();
    WorkflowSubmission { id, steps, callback }
}

fn members(tenant: &TenantName, id: WorkflowId, statuses: Vec<Status>, below: Option<JobId>, limit: usize) -> Query {
    let filter = Filter { workflow: Some(id), statuses, ..Filter::default() };
    Query { tenant: tenant.clone(), filter, below, limit }
}

fn unfinished() -> Vec<Status> {
    let over = [Status::Completed, Status::Failed, Status::Cancelled];
    Status::ALL.into_iter().filter(|status| !over.contains(status)).collect()
}
