//! Operators: they pause and resume queues and jobs, cancel, run at once, patch, revive, delete, change how a queue ages, and send workers
//! home. When the storm is over they let everything go on.

use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::job::Json;
use mainspring_core::lifecycle::Status;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::store::{Command, Commanded, Filter, JobCommand, Order, Query, QueueCommand, Views};

use super::{SERVED, TENANTS, queue, some_queue, some_tenant, tenant};
use crate::hop::at_once;
use crate::world::{Chance, World, sleep};

/// A queue that takes no more than so many.
const BOUNDED: (&str, u64) = ("c", 8);

/// Meddles for as long as the storm lasts.
pub async fn meddle(world: Arc<World>, chance: Chance) {
    let bound = QueueCommand::SetMaxDepth(Some(BOUNDED.1));
    let bounded = QueueRef { tenant: tenant(TENANTS[0]), queue: queue(BOUNDED.0) };
    tell(&world, &chance, Command::Queue { queue: bounded, what: bound }).await;
    while !world.weather.is_clear() {
        sleep(chance.ms(300, 3_000)).await;
        if world.weather.is_clear() {
            return;
        }
        let owner = some_tenant(&chance);
        match chance.below(100) {
            0..20 => {
                let at = QueueRef { tenant: owner, queue: some_queue(&chance) };
                tell(&world, &chance, Command::Queue { queue: at, what: some_setting(&chance) }).await;
            }
            20..28 => send_home(&world, &chance).await,
            28..31 => sweep_away(&world, &chance, owner).await,
            _ => {
                if let Some(id) = some_job(&world, &chance, &owner) {
                    order(&world, &chance, owner, id).await;
                }
            }
        }
    }
}

fn some_setting(chance: &Chance) -> QueueCommand {
    match chance.below(10) {
        0..4 => QueueCommand::Pause,
        4..8 => QueueCommand::Resume,
        _ => QueueCommand::SetAging(*chance.pick(&[Aging::STRICT, Aging::DEFAULT, Aging::from_point_ms(500)])),
    }
}

/// Tells a worker to go quiet, or to terminate.
async fn send_home(world: &World, chance: &Chance) {
    let workers = at_once(world.court.ground().workers()).unwrap_or_default();
    if !workers.is_empty() {
        let order = if chance.percent(50) { Order::Quiet } else { Order::Terminate };
        tell(world, chance, Command::Worker { id: chance.pick(&workers).id, order }).await;
    }
}

/// Cancels a few jobs of a queue at once.
async fn sweep_away(world: &World, chance: &Chance, owner: TenantName) {
    let filter = Filter { queue: Some(some_queue(chance)), ..Filter::default() };
    let what = JobCommand::Cancel { reason: "swept away".into() };
    let max = chance.between(1, 5);
    let _ = world.ask(chance, |engine| async move { engine.command_found(owner, filter, what, max).await }).await;
}

async fn order(world: &World, chance: &Chance, tenant: TenantName, id: JobId) {
    let what = match chance.below(12) {
        0 | 1 => JobCommand::Pause,
        2 => JobCommand::Resume,
        3 | 4 => JobCommand::Cancel { reason: "no longer wanted".into() },
        5 => JobCommand::Revive { data: chance.percent(50).then(|| some_data(chance)) },
        6 => JobCommand::Delete,
        7..10 => JobCommand::Update {
            data: chance.percent(50).then(|| some_data(chance)),
            priority: chance.percent(50).then(|| Priority::new(chance.between(0, 20) as i64).expect("in range")),
            run_at: chance.percent(40).then(|| world.now().after(chance.ms(0, 8_000))),
        },
        // A child would run before its parents, as it was told to; the checker could not tell.
        _ if has_parents(world, &tenant, id) => return,
        _ => JobCommand::RunNow,
    };
    let cancels = matches!(what, JobCommand::Cancel { .. });
    let answer = tell(world, chance, Command::Job { tenant, id, what }).await;
    if cancels && answer == Some(Commanded::Done) {
        world.acks().cancelled.insert(id);
    }
}

fn some_data(chance: &Chance) -> Json {
    Json(chance.between(0, 9).to_string().into())
}

fn has_parents(world: &World, tenant: &TenantName, id: JobId) -> bool {
    let found = at_once(world.court.ground().get(tenant, vec![id])).unwrap_or_default();
    found.iter().flatten().any(|view| !view.job.depends_on.is_empty() || view.job.workflow.is_some())
}

/// Any job that is there, rather one that is not over.
fn some_job(world: &World, chance: &Chance, tenant: &TenantName) -> Option<JobId> {
    let (mut open, mut over) = (Vec::new(), Vec::new());
    world.court.ground().each_job(|job, standing| {
        if job.tenant == *tenant {
            let ids = if standing.state.is_final() { &mut over } else { &mut open };
            ids.push(job.id);
        }
    });
    let ids = if open.is_empty() || chance.percent(25) { &over } else { &open };
    (!ids.is_empty()).then(|| *chance.pick(ids))
}

async fn tell(world: &World, chance: &Chance, command: Command) -> Option<Commanded> {
    let commands = vec![command];
    let answer = world.ask(chance, |engine| async move { engine.command(commands).await }).await;
    answer.ok()?.ok()?.pop()
}

/// Resumes every queue and every job, however often it takes.
pub async fn resume_all(world: &World, chance: &Chance) {
    for owner in TENANTS.map(tenant) {
        for name in SERVED {
            let at = QueueRef { tenant: owner.clone(), queue: queue(name) };
            insist(world, chance, Command::Queue { queue: at, what: QueueCommand::Resume }).await;
        }
        let filter = Filter { statuses: vec![Status::Paused], ..Filter::default() };
        loop {
            let query = Query { tenant: owner.clone(), filter: filter.clone(), below: None, limit: 100 };
            let paused = at_once(world.court.ground().find(query)).expect("the reference store always answers").jobs;
            if paused.is_empty() {
                break;
            }
            for view in paused {
                let what = JobCommand::Resume;
                insist(world, chance, Command::Job { tenant: owner.clone(), id: view.job.id, what }).await;
            }
        }
    }
}

/// Until somebody answers.
pub async fn insist(world: &World, chance: &Chance, command: Command) {
    while tell(world, chance, command.clone()).await.is_none() {
        sleep(chance.ms(50, 300)).await;
    }
}
