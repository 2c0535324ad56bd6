//! Clients: they submit jobs and children of jobs, try again under the same key when nobody answers, and now and then say twice what was
//! answered, or something else under the same key.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, OnFailure};
use mainspring_core::name::IdempotencyKey;
use mainspring_core::store::Submitted;
use mainspring_engine::{Draft, IdempotencyAsk};

use super::draft::draft;
use super::{LONELY, SERVED, TENANTS, queue, tenant, workflows};
use crate::world::{Chance, World, sleep};

/// A client that gets no answer tries so often.
const TRIES: usize = 4;

/// Submits for as long as the storm lasts.
pub async fn submit(world: Arc<World>, index: usize, chance: Chance) {
    let pause_max = *chance.pick(&[500, 1_200, 3_000]);
    let mut accepted: Vec<JobId> = Vec::new();
    let tenant_name = *chance.pick(&[TENANTS[0], TENANTS[0], TENANTS[1], TENANTS[2]]);
    for round in 0u64.. {
        sleep(chance.ms(10, pause_max)).await;
        if world.weather.is_clear() || world.is_over() {
            return;
        }
        if chance.percent(6) {
            workflows::submit(&world, &chance, tenant_name).await;
            continue;
        }
        let mut drafts = some_drafts(&world, &chance, tenant_name, &accepted);
        let has_keys = chance.percent(60);
        if has_keys {
            let key = |number: usize| format!("client-{index}-{round}-{number}");
            drafts
                .iter_mut()
                .enumerate()
                .for_each(|(number, draft)| draft.idempotency = Some(under(&chance, &key(number))));
        }
        accepted.extend(until_answered(&world, &chance, drafts.clone()).await);
        if has_keys && chance.percent(10) {
            if chance.percent(50) {
                drafts.iter_mut().flat_map(|draft| &mut draft.idempotency).for_each(|said| said.fingerprint = [8; 16]);
            }
            sleep(chance.ms(0, 5_000)).await;
            until_answered(&world, &chance, drafts).await;
        }
    }
}

fn some_drafts(world: &World, chance: &Chance, tenant_name: &str, accepted: &[JobId]) -> Vec<Draft> {
    let one = |_| {
        let name = if chance.percent(4) { LONELY } else { *chance.pick(&SERVED) };
        draft(world, chance, tenant(tenant_name), queue(name))
    };
    let mut drafts: Vec<Draft> = (0..chance.between(1, 4)).map(one).collect();
    if chance.percent(25) && !accepted.is_empty() {
        let parent = *chance.pick(accepted);
        let on_failure = if chance.percent(50) { OnFailure::Run } else { OnFailure::Cancel };
        drafts[0].depends_on = vec![Dependency { parent, on_failure }];
        // It must come to an end, too, whatever becomes of those it waits for.
        drafts[0].queue = queue(SERVED[0]);
        drafts[0].expires = None;
    }
    drafts
}

/// Mostly remembered for longer than the world lasts.
fn under(chance: &Chance, key: &str) -> IdempotencyAsk {
    let key = IdempotencyKey::parse(key).expect("a key");
    let retention = if chance.percent(80) { Duration::from_secs(24 * 3600) } else { chance.ms(500, 8_000) };
    IdempotencyAsk { key, fingerprint: [7; 16], retention }
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
