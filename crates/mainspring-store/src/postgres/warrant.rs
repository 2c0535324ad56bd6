//! In whose name a write is made: checked in the transaction of the write, before anything else of it.

use std::collections::BTreeMap;

use mainspring_core::seats::{Seat, Warrant};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::Promote;

use super::error::{Fault, Result, damaged};
use super::numbers;
use super::pipeline::{Step, pipeline};
use super::pool::Transaction;

/// Held in common by those who write in the name of a seat, alone by those who take one.
pub(super) const SEATS_LOCK: i64 = 0x6d61_696e_7365_6174;

/// The number of the leader's seat; those of segments are their index.
const LEADER: i16 = -1;

pub(super) fn number(seat: Seat) -> i16 {
    match seat {
        Seat::Leader => LEADER,
        Seat::Segment(segment) => i16::from(segment.index()),
    }
}

pub(super) fn seat(number: i16) -> Result<Seat> {
    if number == LEADER {
        return Ok(Seat::Leader);
    }
    let segment = u8::try_from(number).ok().and_then(Segment::new);
    segment.map(Seat::Segment).ok_or_else(|| damaged(format!("a seat numbered {number}")))
}

/// The epochs that stand, and go on standing until the transaction ends.
#[derive(Debug, Default)]
pub(super) struct Epochs(BTreeMap<i16, u64>);

impl Epochs {
    pub async fn of(txn: &Transaction<'_>, seats: Vec<i16>) -> Result<Epochs, Fault> {
        if seats.is_empty() {
            return Ok(Epochs::default());
        }
        // The lock is a statement of its own: the snapshot that reads the epochs must be younger than it.
        let steps = [
            Step::new(include_str!("sql/seats_lock.sql"), vec![&SEATS_LOCK]),
            Step::new(include_str!("sql/seats_epochs.sql"), vec![&seats]),
        ];
        let found = pipeline(txn, &steps).await?.remove(1);
        Ok(Epochs(found.iter().map(|row| (row.get(0), row.get::<_, i64>(1) as u64)).collect()))
    }

    pub async fn of_all(
        txn: &Transaction<'_>,
        warrants: impl IntoIterator<Item = Option<Warrant>>,
    ) -> Result<Epochs, Fault> {
        let mut seats: Vec<i16> = warrants.into_iter().flatten().map(|warrant| number(warrant.seat)).collect();
        seats.sort_unstable();
        seats.dedup();
        Epochs::of(txn, seats).await
    }

    /// Zero if nobody ever took it.
    fn epoch(&self, seat: Seat) -> u64 {
        self.0.get(&number(seat)).copied().unwrap_or(0)
    }

    /// Whether something may be done in this name.
    pub fn stands(&self, warrant: Option<Warrant>) -> bool {
        warrant.is_none_or(|warrant| warrant.epoch == self.epoch(warrant.seat))
    }
}

pub(super) async fn stands(txn: &Transaction<'_>, warrant: Option<Warrant>) -> Result<bool, Fault> {
    Ok(Epochs::of_all(txn, [warrant]).await?.stands(warrant))
}

/// Those of the segments that a promote asks for and may not have.
pub(super) async fn refused(txn: &Transaction<'_>, asked: &Promote) -> Result<Segments, Fault> {
    if asked.warrants.epochs().is_none() {
        return Ok(Segments::NONE);
    }
    let epochs = Epochs::of(txn, numbers::segments(asked.segments)).await?;
    Ok(asked.warrants.refused(asked.segments, |segment| epochs.epoch(Seat::Segment(segment))))
}
