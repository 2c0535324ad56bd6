//! Workflows: a chain with side arms and perhaps a callback, submitted under a key and again when nobody answers.

use std::time::Duration;

use mainspring_core::job::OnFailure;
use mainspring_core::name::{IdempotencyKey, StepName};
use mainspring_engine::{IdempotencyAsk, StepDraft, WorkflowDraft, WorkflowSubmitted};

use super::draft::draft;
use super::{some_queue, tenant};
use crate::world::{Chance, World, sleep};

/// A client that gets no answer tries so often.
const TRIES: usize = 4;

/// Submits one for this tenant.
pub async fn submit(world: &World, chance: &Chance, tenant_name: &str) {
    let draft = some_workflow(world, chance, tenant_name);
    let tries = if draft.idempotency.is_some() { TRIES } else { 1 };
    for _ in 0..tries {
        let asked = draft.clone();
        let answer = world.ask(chance, |engine| async move { engine.submit_workflow(asked).await }).await;
        if let Ok(Ok(answer)) = answer {
            if let WorkflowSubmitted::Accepted(taken) | WorkflowSubmitted::Duplicate(taken) = answer {
                let steps = taken.steps.iter().map(|(_, id, _)| *id);
                world.acks().accepted.extend(steps.chain(taken.callback));
            }
            return;
        }
        sleep(chance.ms(50, 1_000)).await;
    }
}

fn some_workflow(world: &World, chance: &Chance, tenant_name: &str) -> WorkflowDraft {
    let name = |number: usize| StepName::parse(&format!("step-{number}")).expect("a name");
    let one = || {
        let mut draft = draft(world, chance, tenant(tenant_name), some_queue(chance));
        draft.expires = None;
        draft
    };
    let steps = (0..chance.between(2, 5) as usize).map(|number| {
        let on_failure = if chance.percent(50) { OnFailure::Run } else { OnFailure::Cancel };
        let after = (number > 0).then(|| (name(chance.below(number)), on_failure));
        StepDraft { name: name(number), draft: one(), after: after.into_iter().collect() }
    });
    let steps = steps.collect();
    let key = || IdempotencyAsk {
        key: IdempotencyKey::parse(&format!("workflow-{}", chance.seed())).expect("a key"),
        fingerprint: [3; 16],
        retention: Duration::from_secs(24 * 3600),
    };
    WorkflowDraft {
        tenant: tenant(tenant_name),
        steps,
        callback: chance.percent(50).then(one),
        idempotency: chance.percent(60).then(key),
    }
}
