//! Seats beside the jobs: what is written in a seat's name is checked in the same transaction. Assigns nothing.
//!
//! Epochs, holders and the assignment are on disk. How long a term still runs and which nodes are there is not: one
//! process has the directory, and when it is opened again all of them are gone. So a renewal, every few seconds, writes
//! nothing.

use async_trait::async_trait;
use heed::RoTxn;
use mainspring_core::id::NodeId;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::segment::Segment;
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::rows::{self, SeatRow};
use super::tables::Tables;
use super::{Embedded, storage};
use crate::roster::{Kept, Roster};

#[async_trait]
impl Seats for Embedded {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        self.writer.call(move |batch| Ok(batch.mirror.roster.renew(now, node, until))).await?
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        let take =
            move |roster: &mut Roster| seats.into_iter().map(|seat| roster.take(now, node, seat, until)).collect();
        self.writer.call(move |batch| change(batch, take)).await
    }

    async fn give_up(&self, _: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        let give_up = move |roster: &mut Roster| seats.into_iter().for_each(|seat| roster.give_up(node, seat));
        self.writer.call(move |batch| change(batch, give_up)).await
    }

    async fn assign(&self, _: Time, assign: Assign) -> Result<Assigned> {
        self.writer.call(move |batch| change(batch, |roster| roster.assign(assign))).await
    }

    async fn leave(&self, _: Time, node: NodeId) -> Result<()> {
        self.writer.call(move |batch| change(batch, |roster| roster.leave(node))).await
    }

    async fn roll(&self) -> Result<Roll> {
        self.writer.call(|batch| Ok(batch.mirror.roster.roll())).await
    }

    /// It reads no clock.
    async fn clock(&self) -> Result<Option<Time>> {
        Ok(None)
    }
}

/// Changes the roster and writes down what must be kept of that.
fn change<T>(batch: &mut Batch<'_>, change: impl FnOnce(&mut Roster) -> T) -> Result<T> {
    let before = batch.mirror.roster.kept();
    let answer = change(&mut batch.mirror.roster);
    for (seat, kept) in batch.mirror.roster.kept() {
        if before.get(&seat) != Some(&kept) {
            batch.put(batch.tables.seats, &[key(seat)], &SeatRow::of(kept))?;
        }
    }
    Ok(answer)
}

pub fn load(txn: &RoTxn<'_>, tables: &Tables) -> Result<Roster> {
    let mut kept: Vec<(Seat, Kept)> = Vec::new();
    for row in tables.seats.iter(txn).map_err(storage)? {
        let (key, bytes) = row.map_err(storage)?;
        kept.push((read_key(key)?, rows::decode::<SeatRow>("seats", bytes)?.kept()));
    }
    Ok(Roster::of(kept))
}

/// One byte: the segment, or one that no segment has.
fn key(seat: Seat) -> u8 {
    seat.segment().map_or(u8::MAX, Segment::index)
}

fn read_key(key: &[u8]) -> Result<Seat> {
    match *key {
        [u8::MAX] => Ok(Seat::Leader),
        [index] if index < Segment::COUNT => Ok(Seat::Segment(Segment::wrap(index))),
        _ => Err(Error::Damaged(format!("table seats has a key that is no seat: {key:?}"))),
    }
}
