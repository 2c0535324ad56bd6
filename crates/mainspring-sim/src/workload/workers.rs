//! Workers: they register, claim, beat and settle, at any node that answers. Some die, some freeze past their lease and come back late,
//! some leave in order or because they were told to. A worker is one incarnation after the other.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mainspring_core::id::{LeaseId, WorkerId};
use mainspring_core::job::Claimed;
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::store::{ClaimAnswer, Order, Pulse, Settled, Whose, WorkerInfo};
use mainspring_core::verdict::Outcome;
use mainspring_engine::{AttemptEnd, ClaimAsk};

use super::{SERVED, TENANTS, attempt, queue, tenant};
use crate::world::{Chance, Life, World, sleep};

/// A worker that gets no answer tries so often to settle.
const SETTLE_TRIES: usize = 30;
/// Jobs that it works on at a time.
const AT_ONCE_MAX: usize = 3;

/// One run of a worker process.
#[derive(Debug)]
pub struct Incarnation {
    pub world: Arc<World>,
    id: WorkerId,
    tenant: TenantName,
    whose: Whose,
    queues: Vec<QueueName>,
    pub life: Life,
    /// What it holds, and whose that is.
    held: Mutex<BTreeMap<LeaseId, TenantName>>,
    order: Mutex<Order>,
    pub chance: Chance,
}

/// Works until the world is over.
pub async fn work(world: Arc<World>, index: usize, chance: Chance) {
    // Every queue of every tenant has somebody who lives.
    let tenant_name = TENANTS[index % TENANTS.len()];
    let whose = if index >= TENANTS.len() && index.is_multiple_of(2) { Whose::All } else { Whose::Own };
    let mut queues: Vec<QueueName> = SERVED.map(queue).to_vec();
    if index >= 2 * TENANTS.len() && chance.percent(50) {
        queues.remove(chance.below(queues.len()));
    }
    let lease = world.plan.lease;
    while !world.is_over() {
        let (info, owner) = (WorkerInfo::default(), tenant(tenant_name));
        let registered = world.ask(&chance, |engine| async move { engine.register(owner, info, Some(lease)).await });
        let Ok(Ok(registration)) = registered.await else {
            sleep(chance.ms(100, 1_500)).await;
            continue;
        };
        let incarnation = Arc::new(Incarnation {
            world: world.clone(),
            id: registration.worker,
            tenant: tenant(tenant_name),
            whose,
            queues: queues.clone(),
            life: Life::begin(),
            held: Mutex::default(),
            order: Mutex::default(),
            chance: chance.fork(),
        });
        tokio::spawn(incarnation.clone().beat(registration.heartbeat_every));
        tokio::spawn(incarnation.clone().suffer(lease, chance.fork()));
        incarnation.clone().claim().await;
        sleep(chance.ms(100, 4_000)).await;
    }
}

impl Incarnation {
    /// Claims and works until its life is over.
    async fn claim(self: Arc<Incarnation>) {
        loop {
            tokio::select! {
                biased;
                () = self.life.over() => return,
                () = self.claim_once() => {}
            }
            if self.world.is_over() {
                self.life.end();
            }
        }
    }

    async fn claim_once(self: &Arc<Incarnation>) {
        self.life.awake().await;
        if self.order() != Order::Work {
            return self.wind_up().await;
        }
        let room = AT_ONCE_MAX - self.held().len().min(AT_ONCE_MAX);
        if room == 0 {
            return sleep(self.chance.ms(50, 400)).await;
        }
        let ask = self.ask(room, self.chance.ms(0, 9_000));
        match self.world.ask(&self.chance, |engine| async move { engine.claim(ask).await }).await {
            Ok(Ok(answer)) => self.take(answer).await,
            Ok(Err(_)) | Err(_) => sleep(self.chance.ms(50, 800)).await,
        }
    }

    fn ask(&self, room: usize, wait: Duration) -> ClaimAsk {
        ClaimAsk {
            worker: self.id,
            tenant: self.tenant.clone(),
            whose: self.whose,
            queues: self.queues.clone(),
            max: self.chance.between(1, room as u64) as usize,
            wait,
        }
    }

    /// Sets to work on what it was given.
    async fn take(self: &Arc<Incarnation>, answer: ClaimAnswer) {
        match answer {
            ClaimAnswer::Jobs(jobs) => {
                for claimed in jobs {
                    self.held().insert(claimed.lease_id(), claimed.job.tenant.clone());
                    tokio::spawn(self.clone().attempt(claimed, self.chance.fork()));
                }
                sleep(Duration::from_millis(1)).await;
            }
            ClaimAnswer::UnknownWorker => self.life.end(),
            ClaimAnswer::Quiet => self.hear(Order::Quiet),
        }
    }

    /// It was told to stop: finishes what it holds, or gives it back, and goes.
    async fn wind_up(self: &Arc<Incarnation>) {
        if self.order() == Order::Terminate {
            let held: Vec<LeaseId> = self.held().keys().copied().collect();
            for lease in held {
                self.clone().settle(lease, Outcome::Released).await;
            }
        }
        let holds_nothing = self.held().is_empty();
        match holds_nothing {
            true => self.leave().await,
            false => sleep(self.chance.ms(100, 600)).await,
        }
    }

    async fn leave(&self) {
        let (worker, owner) = (self.id, self.tenant.clone());
        self.held().clear();
        let _ = self.world.ask(&self.chance, |engine| async move { engine.leave(owner, worker).await }).await;
        self.life.end();
    }

    /// Says that it lives, and what it holds. Stops what it is told to stop.
    async fn beat(self: Arc<Incarnation>, every: Duration) {
        while !self.life.is_over() {
            sleep(every).await;
            self.life.awake().await;
            let (worker, owner) = (self.id, self.tenant.clone());
            let holding = self.held().keys().copied().collect();
            let beaten = self
                .world
                .ask(&self.chance, |engine| async move { engine.heartbeat(owner, worker, Some(holding)).await });
            match beaten.await {
                Ok(Ok(Pulse::Unknown)) => self.life.end(),
                Ok(Ok(Pulse::Alive { order, cancel, lost, .. })) => {
                    self.hear(order);
                    self.held().retain(|lease, _| !lost.contains(lease));
                    for lease in cancel {
                        tokio::spawn(self.clone().settle(lease, Outcome::Released));
                    }
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
    }

    /// What happens to the process itself.
    async fn suffer(self: Arc<Incarnation>, lease: Duration, chance: Chance) {
        if self.world.weather.is_clear() {
            return;
        }
        sleep(chance.ms(500, 30_000)).await;
        if self.world.weather.is_clear() {
            return;
        }
        match chance.below(5) {
            0 | 1 => self.life.end(),
            2 | 3 => {
                self.life.freeze();
                sleep(lease * chance.between(1, 3) as u32 + chance.ms(0, 2_000)).await;
                self.life.thaw();
            }
            _ => self.leave().await,
        }
    }

    /// Its end may begin the next one.
    fn attempt(self: Arc<Incarnation>, claimed: Claimed, chance: Chance) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let working = async {
                let outcome = attempt::run(&self, &claimed, &chance).await;
                self.life.awake().await;
                match chance.percent(30) {
                    true => self.clone().settle_and_claim(claimed.lease_id(), outcome).await,
                    false => self.clone().settle(claimed.lease_id(), outcome).await,
                }
            };
            tokio::select! {
                biased;
                () = self.life.over() => {}
                () = working => {}
            }
        })
    }

    /// Until somebody says what became of it. A late one tries all the same, and must be told that it is late.
    async fn settle(self: Arc<Incarnation>, lease: LeaseId, outcome: Outcome) {
        let tenant = self.owner(lease);
        for _ in 0..SETTLE_TRIES {
            let end = AttemptEnd { lease, tenant: tenant.clone(), outcome: outcome.clone() };
            match self.world.ask(&self.chance, |engine| async move { engine.settle(vec![end]).await }).await {
                Ok(Ok(answers)) => {
                    self.settled(lease, answers.first());
                    break;
                }
                Ok(Err(_)) | Err(_) => sleep(self.chance.ms(50, 1_500)).await,
            }
            self.life.awake().await;
        }
        self.held().remove(&lease);
    }

    /// In one request; if nobody answers, the end is told again alone.
    async fn settle_and_claim(self: Arc<Incarnation>, lease: LeaseId, outcome: Outcome) {
        let end = AttemptEnd { lease, tenant: self.owner(lease), outcome: outcome.clone() };
        let ask = self.ask(1, self.chance.ms(0, 500));
        let both = self.world.ask(&self.chance, |engine| async move { engine.settle_and_claim(vec![end], ask).await });
        match both.await {
            Ok(Ok((answers, claimed))) => {
                self.settled(lease, answers.first());
                self.held().remove(&lease);
                if let Ok(answer) = claimed {
                    self.take(answer).await;
                }
            }
            Ok(Err(_)) | Err(_) => self.settle(lease, outcome).await,
        }
    }

    fn settled(&self, lease: LeaseId, answer: Option<&Settled>) {
        if let Some(Settled::Applied { state: State::Succeeded, .. }) = answer {
            self.world.acks().succeeded.insert(lease.job);
        }
    }

    /// Whose job it is.
    fn owner(&self, lease: LeaseId) -> TenantName {
        self.held().get(&lease).unwrap_or(&self.tenant).clone()
    }

    /// Nobody who is to go stays because of a beat that was under way.
    fn hear(&self, order: Order) {
        let mut heard = self.order.lock().expect("nobody panics at work");
        if order != Order::Work {
            *heard = order;
        }
    }

    fn order(&self) -> Order {
        *self.order.lock().expect("nobody panics at work")
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<LeaseId, TenantName>> {
        self.held.lock().expect("nobody panics at work")
    }
}
