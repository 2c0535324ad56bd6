//! Where claims wait for a wake: by queue, first come first served. Asks no store and reads no clock.
//!
//! No wake is lost: a claim notes the *generation* of its queues before it asks the store, a wake that finds too few
//! waiters raises the generation, and a claim whose generation has changed is not parked but asks again. A wake that
//! is served by those who wait disturbs nobody else.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mainspring_core::id::WorkerId;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::Claim;
use tokio::sync::oneshot;

use super::handful::Handful;
use crate::error::Result;

/// Queues share generations by hash. A collision costs a needless look into the store.
const GENERATIONS: usize = 1_024;

#[derive(Debug)]
pub(super) struct Parking {
    generations: Box<[AtomicU64]>,
    hasher: RandomState,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    closed: bool,
    next_ticket: u64,
    waiters: HashMap<u64, Waiter>,
    /// Tickets by queue. The lowest came first; one that is woken for nothing keeps its place.
    queues: HashMap<QueueRef, BTreeSet<u64>>,
}

/// A claim that waits, and where its answer goes.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) claim: Claim,
    pub(super) reply: oneshot::Sender<Result<Handful>>,
    /// Its time is over: it must not be parked again.
    over: Arc<AtomicBool>,
    ticket: Option<u64>,
}

/// A waiter that was woken: by which queue, and for how many of its jobs.
#[derive(Debug)]
pub(super) struct Woken {
    pub(super) waiter: Waiter,
    pub(super) by: Option<(QueueRef, u64)>,
}

/// What became of a claim that wanted to wait.
#[derive(Debug)]
pub(super) enum Parked {
    Waiting {
        ticket: u64,
    },
    /// Something was woken since: ask the store again.
    Changed(Waiter),
    /// No waiting any more.
    Over(Waiter),
}

impl Waiter {
    pub(super) fn new(claim: Claim, reply: oneshot::Sender<Result<Handful>>, over: Arc<AtomicBool>) -> Waiter {
        Waiter { claim, reply, over, ticket: None }
    }

    fn queues(&self) -> impl Iterator<Item = QueueRef> {
        self.claim.queues.iter().map(|queue| QueueRef { tenant: self.claim.tenant.clone(), queue: queue.clone() })
    }
}

impl Parking {
    pub(super) fn new() -> Parking {
        let generations = (0..GENERATIONS).map(|_| AtomicU64::new(0)).collect();
        Parking { generations, hasher: RandomState::new(), places: Mutex::default() }
    }

    /// Changes with every wake of the claim's queues that nobody took. Note it before asking the store.
    pub(super) fn generation(&self, claim: &Claim) -> u64 {
        let of = |queue| self.generation_of(&claim.tenant, queue).load(Ordering::SeqCst);
        claim.queues.iter().map(of).fold(0, u64::wrapping_add)
    }

    /// Parks a claim that found nothing, unless something was woken since `generation`.
    pub(super) fn park(&self, mut waiter: Waiter, generation: u64) -> Parked {
        let mut places = self.places();
        if places.closed || waiter.over.load(Ordering::Relaxed) || waiter.reply.is_closed() {
            return Parked::Over(waiter);
        }
        if self.generation(&waiter.claim) != generation {
            return Parked::Changed(waiter);
        }
        let ticket = waiter.ticket.unwrap_or(places.next_ticket);
        waiter.ticket = Some(ticket);
        places.next_ticket = places.next_ticket.max(ticket + 1);
        for queue in waiter.queues() {
            places.queues.entry(queue).or_default().insert(ticket);
        }
        places.waiters.insert(ticket, waiter);
        Parked::Waiting { ticket }
    }

    /// Takes a claim out because its time is over. False if it is being served just now: its answer will come.
    pub(super) fn leave(&self, ticket: u64, over: &AtomicBool) -> bool {
        let mut places = self.places();
        over.store(true, Ordering::Relaxed);
        places.take(ticket).is_some()
    }

    /// The waiters that so many ready jobs can serve, first come first.
    pub(super) fn wake(&self, ready: &[(QueueRef, u64)]) -> Vec<Woken> {
        let mut places = self.places();
        let mut woken = Vec::new();
        for (queue, count) in ready {
            if places.serve(queue, *count, &mut woken) > 0 {
                self.generation_of(&queue.tenant, &queue.queue).fetch_add(1, Ordering::SeqCst);
            }
        }
        woken
    }

    /// Takes the waiters that so many jobs could serve, before anybody knows whether they come. A later [`Parking::wake`]
    /// must tell of what these leave.
    pub(super) fn take(&self, ready: &[(QueueRef, u64)]) -> Vec<Woken> {
        let mut places = self.places();
        let mut taken = Vec::new();
        for (queue, count) in ready {
            places.serve(queue, *count, &mut taken);
        }
        taken
    }

    /// The waiting claims of a worker: it was given an order.
    pub(super) fn wake_worker(&self, worker: WorkerId) -> Vec<Woken> {
        let mut places = self.places();
        let of_worker = places.waiters.iter().filter(|(_, waiter)| waiter.claim.worker == worker);
        let tickets: Vec<u64> = of_worker.map(|(&ticket, _)| ticket).collect();
        let waiters = tickets.into_iter().filter_map(|ticket| places.take(ticket));
        waiters.map(|waiter| Woken { waiter, by: None }).collect()
    }

    /// Every queue somebody waits for.
    pub(super) fn queues(&self) -> Vec<QueueRef> {
        self.places().queues.keys().cloned().collect()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.places().waiters.len()
    }

    /// Nobody waits from here on; answers those who did.
    pub(super) fn close(&self) -> Vec<Waiter> {
        let mut places = self.places();
        places.closed = true;
        places.queues.clear();
        places.waiters.drain().map(|(_, waiter)| waiter).collect()
    }

    fn generation_of(&self, tenant: &TenantName, queue: &QueueName) -> &AtomicU64 {
        let hash = self.hasher.hash_one((tenant.as_str(), queue.as_str()));
        &self.generations[hash as usize % GENERATIONS]
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().expect("nobody panics while parking")
    }
}

impl Places {
    /// Wakes the first in line for a queue until so many jobs are given out. Answers how many are left over.
    fn serve(&mut self, queue: &QueueRef, count: u64, woken: &mut Vec<Woken>) -> u64 {
        let mut left = count;
        while left > 0 {
            let Some(waiter) = self.first(queue) else { break };
            if waiter.reply.is_closed() {
                continue;
            }
            let share = left.min(waiter.claim.max.max(1) as u64);
            left -= share;
            woken.push(Woken { waiter, by: Some((queue.clone(), share)) });
        }
        left
    }

    fn first(&mut self, queue: &QueueRef) -> Option<Waiter> {
        let ticket = *self.queues.get(queue)?.first()?;
        self.take(ticket)
    }

    /// Takes a waiter out of all its queues. A queue that nobody waits for leaves no trace.
    fn take(&mut self, ticket: u64) -> Option<Waiter> {
        let waiter = self.waiters.remove(&ticket)?;
        for queue in waiter.queues() {
            if let Some(tickets) = self.queues.get_mut(&queue) {
                tickets.remove(&ticket);
                if tickets.is_empty() {
                    self.queues.remove(&queue);
                }
            }
        }
        Some(waiter)
    }
}

#[cfg(test)]
#[path = "parking_tests.rs"]
mod tests;
