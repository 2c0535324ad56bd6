//! What a worker does with a job: how long it takes, what it says on the way, and how it ends. Settles nothing: the worker does.

use std::time::Duration;

use mainspring_core::job::{Claimed, Failure, Json, Progress};
use mainspring_core::store::{Hold, Report, ReportKind};
use mainspring_core::verdict::{Outcome, RetryWish};

use super::draft::Kind;
use super::workers::Incarnation;
use crate::world::{Chance, sleep};

/// Steps of a job that comes on step by step.
const STEPS: u64 = 4;

pub async fn run(worker: &Incarnation, claimed: &Claimed, chance: &Chance) -> Outcome {
    if chance.percent(20) {
        say(worker, claimed, ReportKind::Started, chance).await;
    }
    let done = Outcome::Succeeded { result: None };
    match Kind::of(&claimed.job.kind) {
        Kind::Mail => {
            sleep(chance.ms(0, 1_200)).await;
            if chance.percent(12) { failed(chance) } else { done }
        }
        Kind::Broken => {
            sleep(chance.ms(0, 300)).await;
            if chance.percent(80) { failed(chance) } else { done }
        }
        Kind::Lazy if chance.percent(40) => Outcome::Snoozed { wait: chance.ms(100, 3_000) },
        Kind::Lazy if chance.percent(10) => Outcome::Released,
        Kind::Lazy => done,
        Kind::Call => {
            sleep(chance.ms(0, 200)).await;
            if chance.percent(20) { Outcome::RateLimited { wait: chance.ms(200, 3_000) } } else { done }
        }
        Kind::Steps => step_by_step(worker, claimed, chance).await,
        Kind::Poison => {
            worker.life.end();
            std::future::pending().await
        }
        Kind::Slow => {
            sleep(worker.world.plan.lease * 2).await;
            done
        }
        Kind::Hang => {
            sleep(Duration::from_secs(60)).await;
            done
        }
    }
}

fn failed(chance: &Chance) -> Outcome {
    let retry = match chance.below(10) {
        0 => RetryWish::Never,
        1 => RetryWish::After(chance.ms(10, 2_000)),
        _ => RetryWish::AsPolicy,
    };
    Outcome::Failed { error: Failure::new("it went wrong"), retry }
}

/// Goes on where the attempt before was, as far as it wrote that down.
async fn step_by_step(worker: &Incarnation, claimed: &Claimed, chance: &Chance) -> Outcome {
    let from = claimed.checkpoint.as_ref().and_then(|data| data.as_str().parse().ok()).unwrap_or(0);
    for step in from..STEPS {
        sleep(chance.ms(10, 800)).await;
        match chance.below(20) {
            0 => return failed(chance),
            1 => return Outcome::Snoozed { wait: chance.ms(100, 2_000) },
            2 => return Outcome::Released,
            _ => {}
        }
        let progress = Progress { percent: Some((step + 1) as f32 * 25.0), note: None };
        let kind = ReportKind::Checkpoint {
            data: chance.percent(80).then(|| Json((step + 1).to_string().into())),
            progress: Some(progress),
        };
        if say(worker, claimed, kind, chance).await == Some(Hold::Stale) {
            // Somebody else has it by now; what this one says at its end must change nothing.
            break;
        }
    }
    Outcome::Succeeded { result: Some(Json("\"done\"".into())) }
}

async fn say(worker: &Incarnation, claimed: &Claimed, kind: ReportKind, chance: &Chance) -> Option<Hold> {
    worker.life.awake().await;
    let report = Report { lease: claimed.lease_id(), kind };
    let told = worker.world.ask(chance, |engine| async move { engine.report(vec![report]).await }).await;
    told.ok()?.ok()?.pop()
}
