//! What the asked queues offer: for each lot and lane its jobs in order of rank, read as far as a claim comes. Asks no gates.
//!
//! A claim request walks over the offers, best rank first, and takes some; the next request of the batch begins anew with the
//! rest. Within a request, a lot whose gate is shut is passed by as a whole, and so is a queue.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use mainspring_core::name::QueueRef;
use mainspring_core::rank::{Aging, Rank};
use tokio_postgres::Row;
use uuid::Uuid;

use super::super::error::{Fault, Result};
use super::super::numbers::ms;
use super::super::pipeline::ask;
use super::super::pool::Transaction;
use super::super::slip::Slip;
use super::{Facts, House};

/// How many jobs of each lot are read at first.
const LOT_STEP: i64 = 8;
/// How many are read when a lot or lane goes on.
const NEXT_STEP: i64 = 64;

#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub rank: Rank,
    pub slip: Slip,
    pub facts: Arc<Facts>,
}

/// A lot and lane of a queue.
type Key = (i32, i64, i16);

#[derive(Debug, Default)]
struct Stream {
    offers: Vec<Offer>,
    /// How far this request has come.
    at: usize,
    /// The last that was read, taken or not.
    last: Option<(i64, Uuid)>,
    is_whole: bool,
    /// Passed by for the rest of this request.
    is_passed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    names: HashMap<i32, QueueRef>,
    streams: BTreeMap<Key, Stream>,
    /// Those that went to another lot in this transaction, by queue; each is looked at by itself.
    moved: HashMap<i32, Stream>,
    passed_queues: HashSet<i32>,
}

/// Where an offer was found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Stream(Key),
    Moved(i32),
}

impl Streams {
    /// Reads the heads of everything that these queues offer, so many of each lane.
    pub async fn open(
        txn: &Transaction<'_>,
        house: &mut House,
        names: HashMap<i32, QueueRef>,
        counts: &BTreeMap<i32, i64>,
        asks_gates: bool,
    ) -> Result<Streams, Fault> {
        let queues: Vec<i32> = counts.keys().copied().collect();
        let wanted: Vec<i64> = counts.values().copied().collect();
        let now = ms(house.now);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&queues, &wanted, &LOT_STEP, &now];
        let rows = ask(txn, include_str!("../sql/limits_streams.sql"), &params).await?;
        let mut streams = Streams { names, ..Streams::default() };
        let offers: Vec<Offer> = rows.iter().map(|row| streams.read(row)).collect::<Result<_, _>>()?;
        if asks_gates {
            house.look_at(txn, gates_of(&offers)).await?;
        }
        for offer in offers {
            let key = (offer.slip.queue, offer.slip.lot, offer.slip.lane);
            let stream = streams.streams.entry(key).or_default();
            stream.last = Some((ms(offer.slip.ready_at), offer.slip.id.uuid()));
            stream.offers.push(offer);
        }
        for ((queue, lot, _), stream) in &mut streams.streams {
            let wanted = counts.get(queue).copied().unwrap_or_default();
            let limit = if *lot == 0 { wanted } else { wanted.min(LOT_STEP) };
            stream.is_whole = (stream.offers.len() as i64) < limit;
        }
        Ok(streams)
    }

    fn read(&self, row: &Row) -> Result<Offer, Fault> {
        let mut slip = Slip::read(row);
        slip.lot = row.get(10);
        let aging = Aging::from_point_ms(u64::try_from(row.get::<_, i64>(9)).unwrap_or_default());
        let rank = Rank::new(slip.priority(), slip.ready_at, aging, slip.id);
        let facts = Facts::read(row, 11, &self.names[&slip.queue])?;
        Ok(Offer { rank, slip, facts: Arc::new(facts) })
    }

    /// A new request begins.
    pub fn rewind(&mut self) {
        for stream in self.streams.values_mut().chain(self.moved.values_mut()) {
            stream.at = 0;
            stream.is_passed = false;
        }
        for stream in self.moved.values_mut() {
            stream.offers.sort_by_key(|offer| offer.rank);
        }
        self.passed_queues.clear();
    }

    /// The best offer of these queues that this request has not passed.
    pub async fn best(
        &mut self,
        txn: &Transaction<'_>,
        house: &mut House,
        queues: &[i32],
    ) -> Result<Option<(Found, Offer)>, Fault> {
        let mut best: Option<(Found, Offer)> = None;
        let mut consider = |found: Found, offer: &Offer| {
            if best.as_ref().is_none_or(|(_, other)| offer.rank < other.rank) {
                best = Some((found, offer.clone()));
            }
        };
        let asked: Vec<i32> = queues.iter().copied().filter(|queue| !self.passed_queues.contains(queue)).collect();
        for queue in asked {
            if let Some(offer) = self.moved.get(&queue).and_then(|moved| moved.offers.get(moved.at)) {
                consider(Found::Moved(queue), offer);
            }
            let keys = (queue, i64::MIN, i16::MIN)..=(queue, i64::MAX, i16::MAX);
            let ended: Vec<Key> = self
                .streams
                .range(keys.clone())
                .filter(|(_, stream)| !stream.is_passed && !stream.is_whole && stream.at >= stream.offers.len())
                .map(|(key, _)| *key)
                .collect();
            for key in ended {
                self.go_on(txn, house, key).await?;
            }
            for (key, stream) in self.streams.range(keys).filter(|(_, stream)| !stream.is_passed) {
                if let Some(offer) = stream.offers.get(stream.at) {
                    consider(Found::Stream(*key), offer);
                }
            }
        }
        Ok(best)
    }

    /// Reads more of a lot and lane.
    async fn go_on(&mut self, txn: &Transaction<'_>, house: &mut House, key: Key) -> Result<(), Fault> {
        let (queue, lot, lane) = key;
        let (ready_at, id) = self.streams[&key].last.unwrap_or((-1, Uuid::nil()));
        let now = ms(house.now);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
            [&queue, &lot, &lane, &ready_at, &id, &NEXT_STEP, &now];
        let rows = ask(txn, include_str!("../sql/limits_stream.sql"), &params).await?;
        let offers: Vec<Offer> = rows.iter().map(|row| self.read(row)).collect::<Result<_, _>>()?;
        house.look_at(txn, gates_of(&offers)).await?;
        let stream = self.streams.get_mut(&key).expect("it was found ended");
        stream.is_whole = (offers.len() as i64) < NEXT_STEP;
        if let Some(last) = offers.last() {
            stream.last = Some((ms(last.slip.ready_at), last.slip.id.uuid()));
        }
        stream.offers.extend(offers);
        Ok(())
    }

    /// Passes by one that stays where it is.
    pub fn pass(&mut self, found: Found) {
        self.stream(found).at += 1;
    }

    /// Takes out one that goes.
    pub fn take(&mut self, found: Found) {
        let stream = self.stream(found);
        stream.offers.remove(stream.at);
    }

    /// Passes by one that stands elsewhere from now on: this request does not come upon it again.
    pub fn move_to(&mut self, found: Found, lot: i64) {
        let stream = self.stream(found);
        let mut offer = stream.offers.remove(stream.at);
        offer.slip.lot = lot;
        let moved = self.moved.entry(offer.slip.queue).or_default();
        // Before what this request has passed: it is sorted in when the next one begins.
        moved.offers.insert(moved.at, offer);
        moved.at += 1;
    }

    /// Nobody in this lot and lane is asked any more. One that stands there by itself is just passed.
    pub fn pass_lot(&mut self, found: Found) {
        match found {
            Found::Moved(_) => self.pass(found),
            Found::Stream(key) => {
                let (queue, lot, _) = key;
                let keys = (queue, lot, i16::MIN)..=(queue, lot, i16::MAX);
                self.streams.range_mut(keys).for_each(|(_, stream)| stream.is_passed = true);
            }
        }
    }

    /// Nobody in these queues is asked any more.
    pub fn pass_queues(&mut self, is_meant: impl Fn(&QueueRef) -> bool) {
        let meant = self.names.iter().filter(|(_, queue)| is_meant(queue)).map(|(id, _)| *id);
        self.passed_queues.extend(meant);
    }

    fn stream(&mut self, found: Found) -> &mut Stream {
        match found {
            Found::Stream(key) => self.streams.get_mut(&key).expect("an offer was found in it"),
            Found::Moved(queue) => self.moved.get_mut(&queue).expect("an offer was found in it"),
        }
    }
}

fn gates_of(offers: &[Offer]) -> impl Iterator<Item = &mainspring_core::gate::GateRef> {
    offers.iter().flat_map(|offer| &offer.facts.passes).map(|(gate, _)| gate)
}
