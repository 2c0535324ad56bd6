//! The heads of the lots, and which lots may have somebody who can go. Knows no gates and no tables.
//!
//! A lot is *open* until its head was asked and its gate did not let it in. From then on it is *shut*: no claim looks at it,
//! until somebody opens it because something has changed: the gate, the head, or the time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use mainspring_core::id::JobId;
use mainspring_core::rank::{Aging, Priority, Rank};
use mainspring_core::time::Time;

/// A queue and the hash of a gate.
pub type LotName = (u32, u64);

#[derive(Debug, Default)]
pub struct Lots {
    lots: HashMap<LotName, Lot>,
    /// By queue, best head first.
    open: BTreeMap<u32, BTreeSet<(Rank, u64)>>,
    /// When whoever keeps a lot shut is past its expiry.
    expiries: BTreeSet<(Time, LotName)>,
    /// Shut lots with somebody before their front, who has expired.
    passed: BTreeSet<LotName>,
}

/// A place in a lane of a lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub lane: Priority,
    pub ready_at: Time,
    pub id: JobId,
}

#[derive(Debug)]
struct Lot {
    /// The first of each lane that has any.
    heads: BTreeMap<Priority, (Time, JobId)>,
    /// Of the best of them.
    rank: Rank,
    shut: Option<Shut>,
}

/// Who was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shut {
    /// The first of the lot that has not expired.
    pub front: Rank,
    pub expires_at: Option<Time>,
}

impl Lots {
    /// The lanes of a lot that have jobs.
    pub fn lanes(&self, lot: LotName) -> Vec<Priority> {
        self.lots.get(&lot).map(|lot| lot.heads.keys().copied().collect()).unwrap_or_default()
    }

    /// The open lot of a queue that comes after this one.
    pub fn next_open(&self, queue: u32, after: Option<(Rank, u64)>) -> Option<(Rank, u64)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.open.get(&queue)?.range((from, Bound::Unbounded)).next().copied()
    }

    /// Queues with an open lot.
    pub fn open_queues(&self) -> impl Iterator<Item = u32> {
        self.open.keys().copied()
    }

    /// Who keeps a lot shut, if it is.
    pub fn front(&self, lot: LotName) -> Option<Rank> {
        self.lots.get(&lot)?.shut.map(|shut| shut.front)
    }

    /// Somebody came to stand there. Only a better head than before is a reason to look again. Whether the lot is new.
    pub fn join(&mut self, name: LotName, spot: Spot, aging: Aging) -> bool {
        let rank = Rank::new(spot.lane, spot.ready_at, aging, spot.id);
        let Some(lot) = self.lots.get_mut(&name) else {
            let heads = BTreeMap::from([(spot.lane, (spot.ready_at, spot.id))]);
            self.lots.insert(name, Lot { heads, rank, shut: None });
            self.open.entry(name.0).or_default().insert((rank, name.1));
            return true;
        };
        let head = lot.heads.entry(spot.lane).or_insert((spot.ready_at, spot.id));
        *head = (*head).min((spot.ready_at, spot.id));
        if rank < lot.rank {
            self.move_head(name, rank);
        }
        false
    }

    /// Whether this is the first of its lane.
    pub fn is_head(&self, name: LotName, spot: Spot) -> bool {
        self.lots.get(&name).is_some_and(|lot| lot.heads.get(&spot.lane) == Some(&(spot.ready_at, spot.id)))
    }

    /// The first of a lane is now this one, or nobody. Whether the lot still has anybody.
    pub fn set_head(&mut self, name: LotName, lane: Priority, head: Option<(Time, JobId)>, aging: Aging) -> bool {
        let Some(lot) = self.lots.get_mut(&name) else { return false };
        match head {
            Some(head) => lot.heads.insert(lane, head),
            None => lot.heads.remove(&lane),
        };
        match lot.best(aging) {
            Some(rank) => self.move_head(name, rank),
            None => {
                self.leave_order(name);
                self.lots.remove(&name);
                return false;
            }
        }
        true
    }

    /// Its gate did not let in its front.
    pub fn shut(&mut self, name: LotName, shut: Shut) {
        self.leave_order(name);
        if let Some(lot) = self.lots.get_mut(&name) {
            if shut.front != lot.rank {
                self.passed.insert(name);
            }
            lot.shut = Some(shut);
            self.expiries.extend(shut.expires_at.map(|at| (at, name)));
        }
    }

    /// Something has changed: look again.
    pub fn open(&mut self, name: LotName) {
        if let Some(rank) = self.lots.get(&name).map(|lot| lot.rank) {
            self.move_head(name, rank);
        }
    }

    /// The clock went back: who had expired may not have.
    pub fn step_back(&mut self) {
        while let Some(&name) = self.passed.first() {
            self.open(name);
        }
    }

    /// Opens lots whose front is past its expiry.
    pub fn ring(&mut self, now: Time) {
        while let Some(&(at, name)) = self.expiries.first()
            && at <= now
        {
            self.open(name);
        }
    }

    /// The queue orders otherwise from now on.
    pub fn rerank(&mut self, queue: u32, aging: Aging) {
        let lots = self.lots.keys().filter(|(of, _)| *of == queue);
        let lots: Vec<LotName> = lots.copied().collect();
        for name in lots {
            if let Some(rank) = self.lots[&name].best(aging) {
                self.move_head(name, rank);
            }
        }
    }

    /// Gives a lot its place in the order, open.
    fn move_head(&mut self, name: LotName, rank: Rank) {
        self.leave_order(name);
        if let Some(lot) = self.lots.get_mut(&name) {
            lot.rank = rank;
            self.open.entry(name.0).or_default().insert((rank, name.1));
        }
    }

    fn leave_order(&mut self, name: LotName) {
        let Some(lot) = self.lots.get_mut(&name) else { return };
        if let Some(shut) = lot.shut.take() {
            self.passed.remove(&name);
            if let Some(at) = shut.expires_at {
                self.expiries.remove(&(at, name));
            }
            return;
        }
        if let Some(open) = self.open.get_mut(&name.0) {
            open.remove(&(lot.rank, name.1));
            if open.is_empty() {
                self.open.remove(&name.0);
            }
        }
    }
}

impl Lot {
    fn best(&self, aging: Aging) -> Option<Rank> {
        self.heads.iter().map(|(&lane, &(ready_at, id))| Rank::new(lane, ready_at, aging, id)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOT: LotName = (7, 42);

    fn spot(lane: i64, ready_ms: u64) -> Spot {
        let ready_at = Time::from_millis(ready_ms);
        Spot { lane: Priority::new(lane).unwrap(), ready_at, id: JobId::from_bytes([ready_ms as u8; 16]) }
    }

    fn rank(spot: Spot) -> Rank {
        Rank::new(spot.lane, spot.ready_at, Aging::STRICT, spot.id)
    }

    fn shut_by(spot: Spot, expires_at: Option<Time>) -> Shut {
        Shut { front: rank(spot), expires_at }
    }

    fn lots(spots: &[Spot]) -> Lots {
        let mut lots = Lots::default();
        for &spot in spots {
            lots.join(LOT, spot, Aging::STRICT);
        }
        lots
    }

    #[test]
    fn only_a_better_head_opens_a_shut_lot() {
        let mut lots = lots(&[spot(5, 20)]);
        lots.shut(LOT, shut_by(spot(5, 20), None));
        lots.join(LOT, spot(5, 30), Aging::STRICT);
        assert_eq!(lots.next_open(7, None), None);
        assert_eq!(lots.front(LOT), Some(rank(spot(5, 20))));
        lots.join(LOT, spot(5, 10), Aging::STRICT);
        assert_eq!(lots.next_open(7, None), Some((rank(spot(5, 10)), 42)));
        assert_eq!(lots.front(LOT), None);
    }

    #[test]
    fn a_lot_that_lost_its_head_is_looked_at_again_and_an_empty_one_is_gone() {
        let (head, other) = (spot(5, 20), spot(3, 10));
        let mut lots = lots(&[head, other]);
        lots.shut(LOT, shut_by(head, None));
        assert!(lots.is_head(LOT, head));
        assert!(lots.set_head(LOT, head.lane, None, Aging::STRICT));
        assert_eq!(lots.next_open(7, None), Some((rank(other), 42)));
        assert!(!lots.set_head(LOT, other.lane, None, Aging::STRICT));
        assert_eq!((lots.lots.len(), lots.next_open(7, None)), (0, None));
    }

    #[test]
    fn a_lot_opens_when_its_front_expires() {
        let mut lots = lots(&[spot(5, 20)]);
        lots.shut(LOT, shut_by(spot(5, 20), Some(Time::from_millis(50))));
        lots.ring(Time::from_millis(49));
        assert_eq!(lots.next_open(7, None), None);
        lots.ring(Time::from_millis(50));
        assert!(lots.next_open(7, None).is_some());
    }

    #[test]
    fn a_lot_with_somebody_expired_before_its_front_opens_when_the_clock_steps_back() {
        let (expired, front) = (spot(5, 10), spot(5, 20));
        let mut lots = lots(&[expired, front]);
        lots.shut(LOT, shut_by(front, None));
        lots.step_back();
        assert_eq!(lots.next_open(7, None), Some((rank(expired), 42)));
        lots.shut(LOT, shut_by(expired, None));
        lots.step_back();
        assert_eq!(lots.next_open(7, None), None);
    }

    #[test]
    fn another_aging_is_another_order() {
        let (old, urgent) = (spot(3, 10), spot(5, 20));
        let mut lots = lots(&[old, urgent]);
        assert_eq!(lots.next_open(7, None), Some((rank(urgent), 42)));
        let quick = Aging::from_point_ms(1);
        lots.rerank(7, quick);
        let best = Rank::new(old.lane, old.ready_at, quick, old.id);
        assert_eq!(lots.next_open(7, None), Some((best, 42)));
    }
}
