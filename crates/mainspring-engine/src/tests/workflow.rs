//! Workflows: all of it or nothing, in order, and the callback last.

use std::collections::BTreeMap;

use mainspring_core::graph::BadGraph;
use mainspring_core::id::WorkflowId;
use mainspring_core::job::{Dependency, OnFailure};
use mainspring_core::name::{IdempotencyKey, StepName};

use super::*;
use crate::{Error, IdempotencyAsk, Reason, StepDraft, WorkflowDraft, WorkflowSubmission, WorkflowSubmitted};

fn name(text: &str) -> StepName {
    StepName::parse(text).unwrap()
}

fn step(text: &str, after: &[&str]) -> StepDraft {
    let after = after.iter().map(|parent| (name(parent), OnFailure::Cancel)).collect();
    StepDraft { name: name(text), draft: draft(), after }
}

fn workflow(steps: Vec<StepDraft>) -> WorkflowDraft {
    WorkflowDraft { tenant: tenant(), steps, callback: Some(draft()), idempotency: None }
}

/// Written down with the children first.
fn diamond() -> WorkflowDraft {
    workflow(vec![step("d", &["b", "c"]), step("b", &["a"]), step("c", &["a"]), step("a", &[])])
}

async fn accepted(world: &World, draft: WorkflowDraft) -> WorkflowSubmission {
    match world.engine.submit_workflow(draft).await.unwrap() {
        WorkflowSubmitted::Accepted(submission) => submission,
        other => panic!("{other:?}"),
    }
}

/// Works off all that is ready, again and again, and tells in which order.
async fn work_off(world: &World, submission: &WorkflowSubmission, outcome: impl Fn(&str) -> Outcome) -> Vec<String> {
    let names: BTreeMap<JobId, &StepName> = submission.steps.iter().map(|(name, id, _)| (*id, name)).collect();
    let worker = world.worker().await;
    let mut order = vec![];
    loop {
        let claimed = world.waiting(ClaimAsk { max: 1, ..ask(worker, Duration::ZERO) }).await.await.unwrap();
        let Some(claimed) = claimed.first() else { return order };
        let name = names.get(&claimed.job.id).map_or("callback".to_owned(), |name| name.to_string());
        world.settle(claimed, outcome(&name)).await;
        order.push(name);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_diamond_runs_in_order_and_its_callback_last() {
    let world = World::running().await;
    let submission = accepted(&world, diamond()).await;
    let states: Vec<(String, State)> =
        submission.steps.iter().map(|(name, _, state)| (name.to_string(), *state)).collect();
    let expected = [("d", State::Blocked), ("b", State::Blocked), ("c", State::Blocked), ("a", State::Ready)];
    assert_eq!(states, expected.map(|(name, state)| (name.to_owned(), state)), "in the order of the draft");

    let callback = submission.callback.expect("it was asked for");
    let explained = world.engine.explain(&tenant(), callback).await.unwrap().unwrap();
    assert_eq!(explained.reasons, [Reason::WaitsForSteps { workflow: submission.id, unfinished: 4 }]);
    let order = work_off(&world, &submission, |_| Outcome::Succeeded { result: None }).await;
    assert_eq!(order, ["a", "b", "c", "d", "callback"]);
    let status = world.engine.workflow(&tenant(), submission.id, None, 100).await.unwrap().unwrap();
    assert_eq!((status.view.counts.succeeded, status.view.unfinished(), status.jobs.len()), (4, 0, 5));
}

#[tokio::test]
async fn a_failed_step_takes_its_children_along_and_the_callback_runs() {
    let world = World::running().await;
    let submission = accepted(&world, diamond()).await;
    let never = || Outcome::Failed { error: Failure::new("no"), retry: RetryWish::Never };
    let outcome = |name: &str| if name == "b" { never() } else { Outcome::Succeeded { result: None } };
    assert_eq!(work_off(&world, &submission, outcome).await, ["a", "b", "c", "callback"]);
    let counts = world.engine.workflow(&tenant(), submission.id, None, 1).await.unwrap().unwrap().view.counts;
    assert_eq!((counts.succeeded, counts.dead, counts.cancelled), (2, 1, 1));
}

#[tokio::test]
async fn a_key_that_is_seen_again_answers_the_workflow_it_made() {
    let world = World::still();
    let key = |fingerprint| {
        let key = IdempotencyKey::parse("once").unwrap();
        Some(IdempotencyAsk { key, fingerprint: [fingerprint; 16], retention: seconds(3600) })
    };
    let made = accepted(&world, WorkflowDraft { idempotency: key(1), ..diamond() }).await;
    let again = world.engine.submit_workflow(WorkflowDraft { idempotency: key(1), ..diamond() }).await.unwrap();
    let WorkflowSubmitted::Duplicate(again) = again else { panic!("{again:?}") };
    let sorted = |submission: &WorkflowSubmission| {
        let mut steps = submission.steps.clone();
        steps.sort();
        (submission.id, submission.callback, steps)
    };
    assert_eq!(sorted(&again), sorted(&made));
    let other = world.engine.submit_workflow(WorkflowDraft { idempotency: key(2), ..diamond() }).await.unwrap();
    assert_eq!(other, WorkflowSubmitted::Mismatch { workflow: made.id });
}

#[tokio::test]
async fn what_cannot_run_is_refused_as_a_whole() {
    let world = World::still();
    let circle = workflow(vec![step("a", &["b"]), step("b", &["a"])]);
    let refused = world.engine.submit_workflow(circle).await;
    assert!(matches!(refused, Err(Error::Graph(BadGraph::Cycle { .. }))), "{refused:?}");
    assert!(world.engine.submit_workflow(workflow(vec![])).await.is_err(), "nothing is no workflow");

    let mut draft = diamond();
    draft.steps[1].draft.depends_on = vec![Dependency { parent: JobId::MIN, on_failure: OnFailure::Run }];
    let refused = world.engine.submit_workflow(draft).await.unwrap();
    let answer = Submitted::UnknownParent { parent: JobId::MIN };
    assert_eq!(refused, WorkflowSubmitted::Refused { step: name("b"), answer });
    let page = Query { tenant: tenant(), filter: Filter::default(), below: None, limit: 10 };
    assert_eq!(world.ground.store.find(page).await.unwrap().jobs, []);
}

#[tokio::test]
async fn a_cancelled_workflow_stops_and_its_callback_tells() {
    let world = World::running().await;
    let submission = accepted(&world, diamond()).await;
    let reason = || "enough".to_owned();
    let bulk = world.engine.cancel_workflow(&tenant(), submission.id, reason()).await.unwrap().unwrap();
    assert_eq!((bulk.done, bulk.more), (4, false));
    assert_eq!(work_off(&world, &submission, |_| Outcome::Succeeded { result: None }).await, ["callback"]);
    let other = WorkflowId(uuid::Uuid::nil());
    assert_eq!(world.engine.cancel_workflow(&tenant(), other, reason()).await.unwrap(), None);
}

#[tokio::test]
async fn ten_thousand_steps_go_in_with_one_request() {
    let world = World::still();
    let steps = (0..mainspring_core::limits::WORKFLOW_JOBS_MAX).map(|n| match n {
        0 => step("s0", &[]),
        n => step(&format!("s{n}"), &[&format!("s{}", n / 2)]),
    });
    let submission = accepted(&world, workflow(steps.collect())).await;
    let view = world.ground.store.workflow(&tenant(), submission.id).await.unwrap().unwrap();
    assert_eq!((view.counts.ready, view.counts.blocked), (1, 9_999));
}
