//! Workers: they register, claim, beat and settle, at any node that answers. Some die, some freeze past their lease and come back late,
//! some leave in order. A worker is one incarnation after the other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mainspring_core::id::{LeaseId, WorkerId};
use mainspring_core::job::{Claimed, Failure};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::store::{ClaimAnswer, Pulse, Settled, Whose, WorkerInfo};
use mainspring_core::verdict::{Outcome, RetryWish};
use mainspring_engine::{AttemptEnd, ClaimAsk};

use super::draft::Kind;
use super::{SERVED, TENANTS, queue, tenant};
use crate::world::{Chance, Life, World, sleep};

/// A worker that gets no answer tries so often to settle.
const SETTLE_TRIES: usize = 30;
/// Jobs that it works on at a time.
const AT_ONCE_MAX: usize = 3;

/// One run of a worker process.
#[derive(Debug)]
struct Incarnation {
    world: Arc<World>,
    id: WorkerId,
    tenant: TenantName,
    queues: Vec<QueueName>,
    life: Life,
    held: Mutex<BTreeSet<LeaseId>>,
    chance: Chance,
}

/// Works until the world is over.
pub async fn work(world: Arc<World>, index: usize, chance: Chance) {
    // Every queue of every tenant has somebody who lives.
    let tenant_name = TENANTS[usize::from(index % 3 == 2)];
    let mut queues: Vec<QueueName> = SERVED.map(queue).to_vec();
    if index >= 3 && chance.percent(50) {
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
            queues: queues.clone(),
            life: Life::begin(),
            held: Mutex::default(),
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
        let room = AT_ONCE_MAX - self.held().len().min(AT_ONCE_MAX);
        if room == 0 {
            return sleep(self.chance.ms(20, 300)).await;
        }
        let ask = ClaimAsk {
            worker: self.id,
            tenant: self.tenant.clone(),
            whose: Whose::Own,
            queues: self.queues.clone(),
            max: self.chance.between(1, room as u64) as usize,
            wait: self.chance.ms(0, 6_000),
        };
        match self.world.ask(&self.chance, |engine| async move { engine.claim(ask).await }).await {
            Ok(Ok(ClaimAnswer::Jobs(jobs))) => {
                for claimed in jobs {
                    self.held().insert(claimed.lease_id());
                    tokio::spawn(self.clone().attempt(claimed, self.chance.fork()));
                }
                sleep(Duration::from_millis(1)).await;
            }
            Ok(Ok(ClaimAnswer::UnknownWorker)) => self.life.end(),
            Ok(Ok(ClaimAnswer::Quiet)) | Ok(Err(_)) | Err(_) => sleep(self.chance.ms(50, 800)).await,
        }
    }

    /// Says that it lives, and what it holds. Stops what it is told to stop.
    async fn beat(self: Arc<Incarnation>, every: Duration) {
        while !self.life.is_over() {
            sleep(every).await;
            self.life.awake().await;
            let (worker, owner) = (self.id, self.tenant.clone());
            let holding = self.held().iter().copied().collect();
            let beaten = self
                .world
                .ask(&self.chance, |engine| async move { engine.heartbeat(owner, worker, Some(holding)).await });
            match beaten.await {
                Ok(Ok(Pulse::Unknown)) => self.life.end(),
                Ok(Ok(Pulse::Alive { cancel, lost, .. })) => {
                    let mut held = self.held();
                    held.retain(|lease| !lost.contains(lease));
                    drop(held);
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
            _ => {
                let (worker, owner) = (self.id, self.tenant.clone());
                self.held().clear();
                let _ = self.world.ask(&chance, |engine| async move { engine.leave(owner, worker).await }).await;
                self.life.end();
            }
        }
    }

    async fn attempt(self: Arc<Incarnation>, claimed: Claimed, chance: Chance) {
        let working = async {
            let outcome = self.run(&claimed, &chance).await;
            self.life.awake().await;
            self.clone().settle(claimed.lease_id(), outcome).await;
        };
        tokio::select! {
            biased;
            () = self.life.over() => {}
            () = working => {}
        }
    }

    async fn run(&self, claimed: &Claimed, chance: &Chance) -> Outcome {
        let done = Outcome::Succeeded { result: None };
        let failed = || Outcome::Failed { error: Failure::new("it went wrong"), retry: RetryWish::AsPolicy };
        match Kind::of(&claimed.job.kind) {
            Kind::Mail => {
                sleep(chance.ms(0, 1_200)).await;
                if chance.percent(12) { failed() } else { done }
            }
            Kind::Lazy if chance.percent(40) => Outcome::Snoozed { wait: chance.ms(100, 3_000) },
            Kind::Lazy => done,
            Kind::Poison => {
                self.life.end();
                std::future::pending().await
            }
            Kind::Slow => {
                sleep(self.world.plan.lease * 2).await;
                done
            }
            Kind::Hang => {
                sleep(Duration::from_secs(60)).await;
                done
            }
        }
    }

    /// Until somebody says what became of it. A late one tries all the same, and must be told that it is late.
    async fn settle(self: Arc<Incarnation>, lease: LeaseId, outcome: Outcome) {
        for _ in 0..SETTLE_TRIES {
            let end = AttemptEnd { lease, tenant: self.tenant.clone(), outcome: outcome.clone() };
            match self.world.ask(&self.chance, |engine| async move { engine.settle(vec![end]).await }).await {
                Ok(Ok(answers)) => {
                    if let Some(Settled::Applied { state: State::Succeeded, .. }) = answers.first() {
                        self.world.acks().succeeded.insert(lease.job);
                    }
                    break;
                }
                Ok(Err(_)) | Err(_) => sleep(self.chance.ms(50, 1_500)).await,
            }
            self.life.awake().await;
        }
        self.held().remove(&lease);
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<LeaseId>> {
        self.held.lock().expect("nobody panics at work")
    }
}
