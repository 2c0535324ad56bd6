//! What those outside do: clients submit, workers work, operators meddle, schedules fire. They trust no answer that they did not get, and
//! write down those that they did.

mod attempt;
mod clients;
mod draft;
mod limits;
mod operators;
mod schedules;
mod workers;
mod workflows;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::time::Time;
use tokio::task::JoinHandle;

use crate::checkers::Poisoned;
use crate::world::{Chance, World, sleep};

pub const TENANTS: [&str; 3] = ["default", "other", "third"];
/// Queues that workers serve.
const SERVED: [&str; 3] = ["a", "b", "c"];
/// A queue that nobody serves: what is in it must harm nobody.
const LONELY: &str = "lonely";

pub fn unserved() -> BTreeSet<QueueName> {
    BTreeSet::from([queue(LONELY)])
}

/// A tenant or a queue in which everything goes wrong, in some worlds.
pub fn poisoned(chance: &Chance) -> Poisoned {
    match chance.below(6) {
        0 => Poisoned { tenant: Some(some_tenant(chance)), queue: None },
        1 => Poisoned { tenant: None, queue: Some(some_queue(chance)) },
        _ => Poisoned::default(),
    }
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).expect("a name")
}

/// A queue that somebody serves.
fn some_queue(chance: &Chance) -> QueueName {
    let name: &&str = chance.pick(&SERVED);
    queue(name)
}

fn tenant(name: &str) -> TenantName {
    TenantName::parse(name).expect("a name")
}

fn some_tenant(chance: &Chance) -> TenantName {
    tenant(TENANTS[chance.below(TENANTS.len())])
}

/// Those outside, at work.
#[derive(Debug)]
pub struct Outside {
    chance: Chance,
    /// Those who may still have a word under way when the storm is over.
    meddlers: Vec<JoinHandle<()>>,
}

/// What a node was told to do is done by then, also if nobody waits for its answer any more.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Sends everybody to work.
pub fn begin(world: &Arc<World>, chance: &Chance) -> Outside {
    let mut meddlers = vec![
        tokio::spawn(schedules::meddle(world.clone(), chance.fork())),
        tokio::spawn(limits::meddle(world.clone(), chance.fork())),
        tokio::spawn(operators::meddle(world.clone(), chance.fork())),
    ];
    for index in 0..world.plan.clients {
        meddlers.push(tokio::spawn(clients::submit(world.clone(), index, chance.fork())));
    }
    for index in 0..world.plan.workers {
        tokio::spawn(workers::work(world.clone(), index, chance.fork()));
    }
    Outside { chance: chance.fork(), meddlers }
}

impl Outside {
    /// Everything that was paused or shut goes on, and no schedule fires any more. Answers since when.
    pub async fn calm_down(self, world: &Arc<World>) -> Time {
        for meddler in self.meddlers {
            meddler.await.expect("nobody panics outside");
        }
        sleep(LAST_WORDS).await;
        limits::relent(world, &self.chance).await;
        operators::resume_all(world, &self.chance).await;
        schedules::pause_all(world, &self.chance).await
    }
}
