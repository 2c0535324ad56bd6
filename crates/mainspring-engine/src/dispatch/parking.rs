//! Where claims wait for a wake: in a line for each queue, first come first served. Asks no store and reads no clock.
//!
//! A claim for every tenant stands in the line of the queue's name, and is woken by any tenant's queue of that name. Who came
//! first is served first, whichever of the two lines it stands in.
//!
//! No wake is lost: a claim notes the *generation* of its queues before it asks the store, a wake that finds too few
//! waiters raises the generation, and a claim whose generation has changed is not parked but asks again. A wake that
//! is served by those who wait disturbs nobody else.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mainspring_core::id::WorkerId;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{Claim, Whose};
use tokio::sync::oneshot;

use super::handful::Handful;
use crate::error::Result;

/// Queues share generations by hash. A collision costs a needless look into the store.
const GENERATIONS: usize = 1_024;

#[derive(Debug)]
pub(super) struct Parking {
    generations: Box<[AtomicU64]>,
    /// The same in every process, so that a run can be replayed. Whoever makes names that collide has others look in vain.
    hasher: BuildHasherDefault<DefaultHasher>,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    closed: bool,
    next_ticket: u64,
    waiters: BTreeMap<u64, Waiter>,
    /// Tickets by line. The lowest came first; one that is woken for nothing keeps its place.
    lines: BTreeMap<Line, BTreeSet<u64>>,
}

/// What a claim waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Line {
    /// A queue of its tenant.
    Queue(QueueRef),
    /// The queues of this name, of every tenant.
    Name(QueueName),
}

impl Line {
    /// Whether a job of this queue is what it stands for.
    pub(super) fn has(&self, tenant: &TenantName, queue: &QueueName) -> bool {
        match self {
            Line::Queue(of) => of.queue == *queue && of.tenant == *tenant,
            Line::Name(name) => name == queue,
        }
    }
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

/// A waiter that was woken: by what, and for how many jobs of it.
#[derive(Debug)]
pub(super) struct Woken {
    pub(super) waiter: Waiter,
    pub(super) by: Option<(Line, u64)>,
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

    fn lines(&self) -> impl Iterator<Item = Line> {
        let Claim { whose, tenant, queues, .. } = &self.claim;
        queues.iter().cloned().map(move |queue| match whose {
            Whose::Own => Line::Queue(QueueRef { tenant: tenant.clone(), queue }),
            Whose::All => Line::Name(queue),
        })
    }
}

impl Parking {
    pub(super) fn new() -> Parking {
        let generations = (0..GENERATIONS).map(|_| AtomicU64::new(0)).collect();
        Parking { generations, hasher: BuildHasherDefault::default(), places: Mutex::default() }
    }

    /// Changes with every wake of the claim's queues that nobody took. Note it before asking the store.
    pub(super) fn generation(&self, claim: &Claim) -> u64 {
        let tenant = match claim.whose {
            Whose::Own => Some(&claim.tenant),
            Whose::All => None,
        };
        let of = |queue| self.generation_of(tenant, queue).load(Ordering::SeqCst);
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
        for line in waiter.lines() {
            places.lines.entry(line).or_default().insert(ticket);
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
        let lines: Vec<(Line, u64)> = ready.iter().map(|(queue, count)| (Line::Queue(queue.clone()), *count)).collect();
        self.wake_lines(&lines)
    }

    /// The same, also by the name alone: then those who wait for every tenant are served.
    pub(super) fn wake_lines(&self, ready: &[(Line, u64)]) -> Vec<Woken> {
        let mut places = self.places();
        let mut woken = Vec::new();
        for (line, count) in ready {
            if places.serve(line, *count, &mut woken) > 0 {
                self.raise(line);
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
            places.serve(&Line::Queue(queue.clone()), *count, &mut taken);
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

    /// Every line somebody stands in.
    pub(super) fn lines(&self) -> Vec<Line> {
        self.places().lines.keys().cloned().collect()
    }

    /// Whether a wake of this queue would find somebody.
    pub(super) fn is_waited_for(&self, queue: &QueueRef) -> bool {
        let lines = &self.places().lines;
        lines.contains_key(&Line::Queue(queue.clone())) || lines.contains_key(&Line::Name(queue.queue.clone()))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.places().waiters.len()
    }

    /// Nobody waits from here on; answers those who did.
    pub(super) fn close(&self) -> Vec<Waiter> {
        let mut places = self.places();
        places.closed = true;
        places.lines.clear();
        std::mem::take(&mut places.waiters).into_values().collect()
    }

    /// Something of this line was woken that nobody took: whoever is about to park there must ask again.
    fn raise(&self, line: &Line) {
        let raise = |tenant, queue| self.generation_of(tenant, queue).fetch_add(1, Ordering::SeqCst);
        match line {
            Line::Queue(of) => {
                raise(Some(&of.tenant), &of.queue);
                raise(None, &of.queue);
            }
            Line::Name(name) => {
                raise(None, name);
            }
        }
    }

    /// Without a tenant: of those who wait for every tenant.
    fn generation_of(&self, tenant: Option<&TenantName>, queue: &QueueName) -> &AtomicU64 {
        let hash = self.hasher.hash_one((tenant.map(TenantName::as_str), queue.as_str()));
        &self.generations[hash as usize % GENERATIONS]
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().expect("nobody panics while parking")
    }
}

impl Places {
    /// Wakes the first in line until so many jobs are given out. Answers how many are left over.
    fn serve(&mut self, line: &Line, count: u64, woken: &mut Vec<Woken>) -> u64 {
        let mut left = count;
        while left > 0 {
            let Some(waiter) = self.first(line) else { break };
            if waiter.reply.is_closed() {
                continue;
            }
            let share = left.min(waiter.claim.max.max(1) as u64);
            left -= share;
            woken.push(Woken { waiter, by: Some((line.clone(), share)) });
        }
        left
    }

    fn first(&mut self, line: &Line) -> Option<Waiter> {
        let first_of = |line: &Line| self.lines.get(line)?.first().copied();
        let every = match line {
            Line::Queue(of) => first_of(&Line::Name(of.queue.clone())),
            Line::Name(_) => None,
        };
        let ticket = first_of(line).into_iter().chain(every).min()?;
        self.take(ticket)
    }

    /// Takes a waiter out of all its lines. A line that nobody stands in leaves no trace.
    fn take(&mut self, ticket: u64) -> Option<Waiter> {
        let waiter = self.waiters.remove(&ticket)?;
        for line in waiter.lines() {
            if let Some(tickets) = self.lines.get_mut(&line) {
                tickets.remove(&ticket);
                if tickets.is_empty() {
                    self.lines.remove(&line);
                }
            }
        }
        Some(waiter)
    }
}

#[cfg(test)]
#[path = "parking_tests.rs"]
mod tests;
