//! Operators: they pause and resume queues and jobs, cancel, run at once, revive. When the storm is over they let everything go on.

use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::Status;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Command, Commanded, Filter, JobCommand, Query, QueueCommand, Views};

use super::{SERVED, TENANTS, queue, some_queue, tenant};
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
        sleep(chance.ms(300, 4_000)).await;
        if world.weather.is_clear() {
            return;
        }
        let owner = tenant(TENANTS[chance.below(TENANTS.len())]);
        if chance.percent(30) {
            let at = QueueRef { tenant: owner, queue: some_queue(&chance) };
            let what = if chance.percent(50) { QueueCommand::Pause } else { QueueCommand::Resume };
            tell(&world, &chance, Command::Queue { queue: at, what }).await;
        } else if let Some(id) = some_job(&world, &chance, &owner) {
            order(&world, &chance, owner, id).await;
        }
    }
}

async fn order(world: &World, chance: &Chance, tenant: TenantName, id: JobId) {
    let what = match chance.below(6) {
        0 => JobCommand::Pause,
        1 => JobCommand::Resume,
        2 | 3 => JobCommand::Cancel { reason: "no longer wanted".into() },
        4 => JobCommand::Revive { data: None },
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

fn has_parents(world: &World, tenant: &TenantName, id: JobId) -> bool {
    let found = at_once(world.court.ground().get(tenant, vec![id])).unwrap_or_default();
    found.iter().flatten().any(|view| !view.job.depends_on.is_empty() || view.job.workflow.is_some())
}

/// A job that has not been done yet, or is dead.
fn some_job(world: &World, chance: &Chance, tenant: &TenantName) -> Option<JobId> {
    let statuses = vec![Status::Scheduled, Status::Retrying, Status::Pending, Status::Paused, Status::Failed];
    let filter = Filter { statuses, ..Filter::default() };
    let query = Query { tenant: tenant.clone(), filter, below: None, limit: 50 };
    let page = at_once(world.court.ground().find(query)).ok()?;
    (!page.jobs.is_empty()).then(|| chance.pick(&page.jobs).job.id)
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

async fn insist(world: &World, chance: &Chance, command: Command) {
    while tell(world, chance, command.clone()).await.is_none() {
        sleep(chance.ms(50, 300)).await;
    }
}
