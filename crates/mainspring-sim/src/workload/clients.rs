//! Clients: they submit jobs, children of jobs and workflows, and try again under the same key when nobody answers.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, OnFailure};
use mainspring_core::name::{IdempotencyKey, StepName};
use mainspring_core::store::Submitted;
use mainspring_engine::{Draft, IdempotencyAsk, StepDraft, WorkflowDraft, WorkflowSubmitted};

use super::draft::draft;
use super::{LONELY, SERVED, TENANTS, queue, some_queue, tenant};
use crate::world::{Chance, World, sleep};

/// A client that gets no answer tries so often.
const TRIES: usize = 4;

/// Submits for as long as the storm lasts.
pub async fn submit(world: Arc<World>, index: usize, chance: Chance) {
    let pause_max = *chance.pick(&[300, 900, 2_500]);
    let mut accepted: Vec<JobId> = Vec::new();
    let tenant_name = if chance.percent(75) { TENANTS[0] } else { TENANTS[1] };
    for round in 0u64.. {
        sleep(chance.ms(10, pause_max)).await;
        if world.weather.is_clear() || world.is_over() {
            return;
        }
        if chance.percent(6) {
            workflow(&world, &chance, tenant_name).await;
            continue;
        }
        let mut drafts: Vec<Draft> = (0..chance.between(1, 4))
            .map(|_| {
                let name = if chance.percent(5) { LONELY } else { *chance.pick(&SERVED) };
                draft(&chance, tenant(tenant_name), queue(name))
            })
            .collect();
        if chance.percent(25) && !accepted.is_empty() {
            let parent = *chance.pick(&accepted);
            let on_failure = if chance.percent(50) { OnFailure::Run } else { OnFailure::Cancel };
            drafts[0].depends_on = vec![Dependency { parent, on_failure }];
            // It must come to an end, too, whatever becomes of those it waits for.
            drafts[0].queue = queue(SERVED[0]);
            drafts[0].expires = None;
        }
        if chance.percent(60) {
            let key = |number: usize| format!("client-{index}-{round}-{number}");
            for (number, draft) in drafts.iter_mut().enumerate() {
                draft.idempotency = Some(under(&key(number)));
            }
        }
        accepted.extend(until_answered(&world, &chance, drafts).await);
    }
}

fn under(key: &str) -> IdempotencyAsk {
    let key = IdempotencyKey::parse(key).expect("a key");
    IdempotencyAsk { key, fingerprint: [7; 16], retention: Duration::from_secs(24 * 3600) }
}

/// Answers those that are surely there and that somebody serves.
async fn until_answered(world: &World, chance: &Chance, drafts: Vec<Draft>) -> Vec<JobId> {
    let may_repeat = drafts.iter().all(|draft| draft.idempotency.is_some());
    for _ in 0..if may_repeat { TRIES } else { 1 } {
        let asked = drafts.clone();
        if let Ok(Ok(answers)) = world.ask(chance, |engine| async move { engine.submit(asked).await }).await {
            let is_there =
                |answer: &Submitted| matches!(answer, Submitted::Accepted { .. } | Submitted::Duplicate { .. });
            let there = answers.iter().zip(&drafts).filter(|(submission, _)| is_there(&submission.answer));
            world.acks().accepted.extend(there.clone().map(|(submission, _)| submission.id));
            let served = there.filter(|(_, draft)| draft.queue.as_str() != LONELY);
            return served.map(|(submission, _)| submission.id).collect();
        }
        sleep(chance.ms(50, 1_000)).await;
    }
    Vec::new()
}

/// A chain with a side arm and a callback.
async fn workflow(world: &World, chance: &Chance, tenant_name: &str) {
    let name = |number: usize| StepName::parse(&format!("step-{number}")).expect("a name");
    let one = || {
        let mut draft = draft(chance, tenant(tenant_name), some_queue(chance));
        draft.expires = None;
        draft
    };
    let steps = (0..chance.between(2, 5) as usize).map(|number| {
        let on_failure = if chance.percent(50) { OnFailure::Run } else { OnFailure::Cancel };
        let after = (number > 0).then(|| (name(chance.below(number)), on_failure));
        StepDraft { name: name(number), draft: one(), after: after.into_iter().collect() }
    });
    let draft = WorkflowDraft {
        tenant: tenant(tenant_name),
        steps: steps.collect(),
        callback: chance.percent(50).then(one),
        idempotency: None,
    };
    let answer = world.ask(chance, |engine| async move { engine.submit_workflow(draft).await }).await;
    if let Ok(Ok(WorkflowSubmitted::Accepted(taken))) = answer {
        let steps = taken.steps.iter().map(|(_, id, _)| *id);
        world.acks().accepted.extend(steps.chain(taken.callback));
    }
}
