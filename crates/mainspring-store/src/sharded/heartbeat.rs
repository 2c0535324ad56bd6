//! Beats in every database, so that a worker may hold jobs of any. A worker lives in the database of its tenant, and that one's
//! word counts; in the others it is a guest: one that forgot it takes back what it held there, and one that cannot be reached ends
//! nothing.

use std::collections::BTreeSet;

use mainspring_core::id::LeaseId;
use mainspring_core::placement::Shard;
use mainspring_core::store::{Beat, BeatKind, GateNews, Order, Pulse, Result};
use mainspring_core::time::Time;

use super::Sharded;

impl Sharded {
    pub(super) async fn heartbeat_all(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        if beats.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self
            .ask_all(|database| {
                let part = beats.iter().map(|beat| self.part_of(beat, database.shard)).collect();
                async move { database.store.heartbeat(now, part).await }
            })
            .await?;
        let mut pulses: Vec<_> = answers.0.into_iter().map(|pulses| pulses.map(Vec::into_iter)).collect();
        let merged = beats.iter().map(|beat| {
            let said = pulses.iter_mut().map(|pulses| pulses.as_mut().and_then(Iterator::next)).collect();
            self.merge_pulses(beat, said)
        });
        Ok(merged.collect())
    }

    /// What concerns one database: the leases of its own jobs.
    fn part_of(&self, beat: &Beat, shard: Shard) -> Beat {
        let BeatKind::Holding { leases, claimed_before } = &beat.kind else { return beat.clone() };
        let is_there = |lease: &&LeaseId| self.placement.shard_of(lease.job.segment()) == shard;
        let leases = leases.iter().filter(is_there).copied().collect();
        Beat { kind: BeatKind::Holding { leases, claimed_before: *claimed_before }, ..beat.clone() }
    }

    fn merge_pulses(&self, beat: &Beat, said: Vec<Option<Pulse>>) -> Pulse {
        if let Some(Pulse::Unknown) = said[self.placement.home(&beat.tenant).index()] {
            return Pulse::Unknown;
        }
        let mut whole = Whole::default();
        for (shard, pulse) in self.placement.shards().zip(said) {
            match pulse {
                Some(Pulse::Unknown) => whole.lost.extend(held_at(&self.part_of(beat, shard))),
                Some(pulse) => whole.add(pulse),
                None => {}
            }
        }
        whole.told(beat)
    }
}

/// What a worker says that it holds.
fn held_at(beat: &Beat) -> &[LeaseId] {
    if let BeatKind::Holding { leases, .. } = &beat.kind { leases } else { &[] }
}

/// What the databases say together.
#[derive(Default)]
struct Whole {
    order: Order,
    held: u64,
    cancel: BTreeSet<LeaseId>,
    lost: BTreeSet<LeaseId>,
    released: BTreeSet<mainspring_core::name::QueueRef>,
    gates: Option<Box<GateNews>>,
}

impl Whole {
    fn add(&mut self, pulse: Pulse) {
        let Pulse::Alive { order, held, cancel, lost, released, gates } = pulse else { return };
        self.order = stricter(self.order, order);
        self.held += held;
        self.cancel.extend(cancel);
        self.lost.extend(lost);
        self.released.extend(released);
        self.gates = match (self.gates.take(), gates) {
            (Some(mut one), Some(other)) => {
                one.opened.extend(other.opened);
                one.breakers.extend(other.breakers);
                one.closed = one.closed.or(other.closed);
                Some(one)
            }
            (one, other) => one.or(other),
        };
    }

    fn told(self, beat: &Beat) -> Pulse {
        Pulse::Alive {
            order: self.order,
            held: self.held,
            cancel: self.cancel.into_iter().collect(),
            lost: held_at(beat).iter().filter(|lease| self.lost.contains(lease)).copied().collect(),
            released: self.released.into_iter().collect(),
            gates: self.gates,
        }
    }
}

fn stricter(one: Order, other: Order) -> Order {
    match (one, other) {
        (Order::Terminate, _) | (_, Order::Terminate) => Order::Terminate,
        (Order::Quiet, _) | (_, Order::Quiet) => Order::Quiet,
        _ => Order::Work,
    }
}
