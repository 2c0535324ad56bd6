//! Lets jobs into their gates and out again. Asks nobody: whether they may enter was found out before.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_core::gate::{Ask, BreakerChange, Ending, Entry, GateName, GateRef, Leave, Part, Rule};
use mainspring_core::id::JobId;
use mainspring_core::name::QueueRef;
use mainspring_core::store::{GateNews, Result};
use mainspring_core::time::Time;

use super::super::batch::Batch;
use super::super::mirror::{Mirror, Queue};
use super::super::read;
use super::super::rows::{LeaseRow, Slip, Ways};
use super::rules::count_if_idle;
use super::{Gate, GateKey, Gates};

/// All gates of a job, in their order.
pub fn passes(queue: &Queue, slip: &Slip) -> impl Iterator<Item = (GateKey, Part)> + use<> {
    let tenant = queue.tenant;
    let wide = [(queue.tenant_gate(), Part::Both), (queue.own_gate(), Part::Both)];
    let narrow = slip.ways.passes().map(move |(hash, part)| (GateKey { tenant, hash }, part));
    wide.into_iter().chain(narrow)
}

impl Gates {
    /// Counts a job into all its gates.
    pub fn enter(&mut self, queue: &Queue, slip: &Slip, now: Time) {
        for (key, part) in passes(queue, slip) {
            let gate = self.gate(key);
            gate.state.enter(&gate.rule(), Ask { now, weight: slip.ways.weight, part });
            if gate.has_memory() {
                self.touch(key, now);
            }
        }
    }

    /// Counts what runs, from the leases: while nothing is limited, nobody does.
    pub fn count<'l>(&mut self, queues: &[Queue], leases: impl Iterator<Item = &'l LeaseRow>) {
        for lease in leases {
            let queue = &queues[lease.slip.queue as usize];
            for (key, part) in passes(queue, &lease.slip) {
                if part.has_concurrency() {
                    self.gate(key).state.running += u64::from(lease.slip.ways.weight);
                }
            }
        }
    }
}

/// What the end of leases did to gates.
#[derive(Debug, Default)]
pub struct News {
    opened: BTreeSet<u32>,
    breakers: Vec<(GateRef, BreakerChange)>,
    closed: Option<(GateRef, Time)>,
}

impl News {
    /// Nothing, if there is nothing to tell.
    pub fn told(self, queues: &[Queue]) -> Option<Box<GateNews>> {
        if self.opened.is_empty() && self.breakers.is_empty() && self.closed.is_none() {
            return None;
        }
        let mut opened: Vec<QueueRef> =
            self.opened.iter().map(|&number| queues[number as usize].name.clone()).collect();
        opened.sort();
        Some(Box::new(GateNews { opened, breakers: self.breakers, closed: self.closed }))
    }
}

/// Takes a job whose lease has ended out of all its gates.
pub fn leave(
    batch: &mut Batch<'_>,
    now: Time,
    (id, lease): (JobId, &LeaseRow),
    ending: Ending,
    news: &mut News,
) -> Result<()> {
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    if gates.is_idle() {
        return Ok(());
    }
    let heaviest = gates.heaviest;
    let queue = &queues[lease.slip.queue as usize];
    gates.know_all(&batch.txn, batch.tables, queue, (id, &lease.slip))?;
    let (weight, claimed_at) = (lease.slip.ways.weight, Time::from_millis(lease.claimed_ms));
    for (key, part) in passes(queue, &lease.slip) {
        let gate = gates.gate(key);
        let rule = gate.rule();
        let was_tight = gate.rule.is_some() && gate.is_tight(&rule, now, heaviest);
        let change = gate.state.leave(&rule, Leave { now, weight, part, claimed_at, ending });
        if let (Some(change), Some(name)) = (change, &gate.name) {
            news.breakers.push((name.clone(), change));
        }
        let is_left = gate.rule.is_none() && gate.state.running == 0;
        let lets_in = was_tight && gate.lets_in_somebody(&rule, now);
        if gate.has_memory() {
            gates.touch(key, now);
        }
        if lets_in {
            gates.open_lots(key);
            gates.add_behind(queues, queue, key, &mut news.opened);
        }
        if is_left {
            gates.drop_if_nothing(key);
        }
    }
    Ok(())
}

/// Closes the key that a job names for that, because its worker was told to come back later.
pub fn close(batch: &mut Batch<'_>, now: Time, id: JobId, wait: Duration, news: &mut News) -> Result<()> {
    let (job, number) = read::job(batch, id)?;
    let Some(key) = job.keys.closing() else { return Ok(()) };
    let name = GateRef { tenant: job.tenant.clone(), gate: GateName::Key(key.clone()) };
    let hash = Ways::hash_of(&name.gate);
    count_if_idle(batch.mirror);
    let Mirror { queues, gates, .. } = &mut *batch.mirror;
    let queue = &queues[number as usize];
    gates.know(&batch.txn, batch.tables, queue, id, hash)?;
    let key = queue.gate(hash);
    let gate = gates.gate(key);
    gate.name.get_or_insert_with(|| name.clone());
    gate.state.close(now, wait);
    let until = gate.state.closed_until;
    if gate.rule.is_none() {
        gates.mark_unsorted(queues, queue.tenant);
    }
    gates.touch(key, now);
    news.closed = until.map(|until| (name, until));
    Ok(())
}

impl Gates {
    /// Lets the lots before a gate be looked at again.
    pub fn open_lots(&mut self, key: GateKey) {
        let Gates { live, lots, .. } = self;
        if let Some(gate) = live.get(&key) {
            gate.lots.iter().for_each(|&queue| lots.open((queue, key.hash)));
        }
    }

    /// The queues that may have somebody who passes a gate that has opened: those with a lot before it, those with a lot
    /// that nobody has asked since, and those whose lanes are not sorted. For the gate of a queue or a tenant, what is
    /// ready there.
    pub fn add_behind(&self, queues: &[Queue], queue: &Queue, key: GateKey, behind: &mut BTreeSet<u32>) {
        if key == queue.own_gate() {
            behind.extend(queue.has_ready().then_some(queue.number));
            return;
        }
        if key == queue.tenant_gate() {
            let of_tenant = queues.iter().filter(|other| other.tenant == key.tenant && other.has_ready());
            behind.extend(of_tenant.map(|other| other.number));
            return;
        }
        self.add_behind_narrow(queues, key, behind);
    }

    pub fn add_behind_narrow(&self, queues: &[Queue], key: GateKey, behind: &mut BTreeSet<u32>) {
        behind.extend(self.live.get(&key).into_iter().flat_map(|gate| &gate.lots));
        let elsewhere = self.lots.open_queues().chain(self.unsorted.iter().copied());
        behind.extend(elsewhere.filter(|&number| queues[number as usize].tenant == key.tenant));
    }

    /// Jobs may stand in the lanes of this tenant that pass a gate which is limited only now.
    pub fn mark_unsorted(&mut self, queues: &[Queue], tenant: u32) {
        let with_lanes = queues.iter().filter(|queue| queue.tenant == tenant && !queue.lanes.is_empty());
        self.unsorted.extend(with_lanes.map(|queue| queue.number));
    }

    /// The lanes of a queue are empty.
    pub fn mark_sorted(&mut self, queue: u32) {
        self.unsorted.remove(&queue);
    }
}

impl Gate {
    /// Whether there may be somebody whom it does not let in. The heaviest is let in last.
    fn is_tight(&self, rule: &Rule, now: Time, heaviest: u16) -> bool {
        self.state.entry(rule, Ask { now, weight: heaviest.max(1), part: Part::Both }) != Entry::Open
    }

    /// Whether there may be somebody whom it lets in. The lightest is let in first.
    fn lets_in_somebody(&self, rule: &Rule, now: Time) -> bool {
        [Part::Concurrency, Part::Rate]
            .into_iter()
            .any(|part| self.state.entry(rule, Ask { now, weight: 1, part }) == Entry::Open)
    }
}
