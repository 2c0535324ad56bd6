//! The timing wheel on disk. A job far ahead is appended to a coarse bucket of time; as the bucket comes near, its jobs
//! move into finer buckets, and at last into the exact index. So a submit with a scattered due time touches one of a
//! few dozen growing pages instead of a random leaf: with 10M pending, the random leaves cost five sixths of the speed.

use std::ops::Bound;

use heed::RoTxn;
use mainspring_core::id::JobId;
use mainspring_core::store::Result;
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::rows::{self, Slip};
use super::storage;
use super::tables::{self, Tables};

pub const LEVELS: u8 = 3;

const HOUR_MS: u64 = 3600 * 1000;
/// How wide a bucket of each level is.
const WIDTHS_MS: [u64; LEVELS as usize] = [HOUR_MS, 24 * HOUR_MS, 32 * 24 * HOUR_MS];

/// Jobs moved in one call, so that nobody waits long behind a cascade. Two in tests, so that lockstep sees cascades
/// that are under way.
const STEP_JOBS: usize = if cfg!(test) { 2 } else { 2_000 };

/// Where each level begins: earlier instants are kept in finer places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Horizons([u64; LEVELS as usize]);

impl Horizons {
    /// Where they should be: each place covers at least one bucket of the level above it.
    fn target(now: Time) -> Horizons {
        Horizons(WIDTHS_MS.map(|width| (now.as_millis() / width + 2) * width))
    }

    /// The level whose buckets hold this instant; none if it belongs into the exact index.
    pub fn level_of(&self, at: Time) -> Option<u8> {
        self.level_below(LEVELS, at)
    }

    fn level_below(&self, level: u8, at: Time) -> Option<u8> {
        (0..level).rev().find(|&finer| at.as_millis() >= self.0[finer as usize])
    }
}

pub fn bucket(level: u8, at: Time) -> Time {
    let width = WIDTHS_MS[level as usize];
    Time::from_millis(at.as_millis() / width * width)
}

/// Sets the horizons of a new store, so that its first jobs go where they belong.
pub fn begin(batch: &mut Batch<'_>, now: Time) {
    if batch.mirror.meta.horizons == Horizons::default() {
        batch.mirror.meta.horizons = Horizons::target(now);
    }
}

/// Whether something due may still be in a bucket: then it is too early to promote in order.
pub fn lags(batch: &Batch<'_>, now: Time) -> bool {
    batch.mirror.meta.horizons.level_of(now).is_some()
}

/// Moves the horizons towards where they should be at `now`, coarse levels first. Answers whether there is more to do.
pub fn advance(batch: &mut Batch<'_>, now: Time) -> Result<bool> {
    let target = Horizons::target(now);
    let mut budget = STEP_JOBS;
    for level in (0..LEVELS).rev() {
        let at = level as usize;
        while batch.mirror.meta.horizons.0[at] < target.0[at] {
            if budget == 0 {
                return Ok(true);
            }
            let entries = head(batch, level, Time::from_millis(target.0[at]), budget)?;
            if entries.is_empty() {
                batch.mirror.meta.horizons.0[at] = target.0[at];
                break;
            }
            budget -= entries.len();
            refine(batch, level, entries)?;
        }
    }
    Ok(false)
}

/// Whether a job waits for this instant, near or far. A cascade that is under way leaves no gap: each of its steps is
/// one transaction.
pub fn is_waiting(txn: &RoTxn<'_>, tables: &Tables, ready_at: Time, id: JobId) -> Result<bool> {
    if tables.waiting.get(txn, &tables::timed(ready_at, id)).map_err(storage)?.is_some() {
        return Ok(true);
    }
    for level in 0..LEVELS {
        let key = tables::far(level, bucket(level, ready_at), id);
        if tables.far.get(txn, &key).map_err(storage)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Entry {
    key: tables::FarKey,
    ready_at: Time,
    id: JobId,
    slip: Slip,
}

/// The first entries of a level that lie before `end`.
fn head(batch: &Batch<'_>, level: u8, end: Time, limit: usize) -> Result<Vec<Entry>> {
    let (first, end) = (tables::far(level, Time::ZERO, JobId::MIN), tables::far(level, end, JobId::MIN));
    let range = (Bound::Included(&first[..]), Bound::Excluded(&end[..]));
    let rows = batch.tables.far.range(&batch.txn, &range).map_err(storage)?;
    rows.take(limit)
        .map(|row| {
            let (key, bytes) = row.map_err(storage)?;
            let (ready_ms, slip): (u64, Slip) = rows::decode("far", bytes)?;
            let key: tables::FarKey = key.try_into().expect("keys of far have one length");
            Ok(Entry { ready_at: Time::from_millis(ready_ms), id: tables::read_id(&key[7..]), key, slip })
        })
        .collect()
}

fn refine(batch: &mut Batch<'_>, level: u8, mut entries: Vec<Entry>) -> Result<()> {
    let (first, last) = (entries[0].key, entries[entries.len() - 1].key);
    batch.delete_through(batch.tables.far, &first, &last)?;
    entries.sort_unstable_by_key(|entry| (entry.ready_at, entry.id));
    for Entry { ready_at, id, slip, .. } in entries {
        // The level's own horizon moves once its buckets are empty, so ask the finer ones alone.
        match batch.mirror.meta.horizons.level_below(level, ready_at) {
            None => batch.put(batch.tables.waiting, &tables::timed(ready_at, id), &slip)?,
            Some(finer) => {
                let key = tables::far(finer, bucket(finer, ready_at), id);
                batch.put(batch.tables.far, &key, &(ready_at.as_millis(), slip))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_instant_has_one_place(now in 0u64..1 << 45, at in 0u64..1 << 45) {
            let horizons = Horizons::target(Time::from_millis(now));
            let at = Time::from_millis(at);
            match horizons.level_of(at) {
                None => prop_assert!(at.as_millis() < horizons.0[0]),
                Some(level) => {
                    prop_assert!(at.as_millis() >= horizons.0[level as usize]);
                    prop_assert!(bucket(level, at) <= at && bucket(level, at).as_millis() >= horizons.0[level as usize]);
                }
            }
        }

        #[test]
        fn what_is_due_within_an_hour_is_in_the_exact_index(now in 0u64..1 << 45, ahead in 0u64..=HOUR_MS) {
            prop_assert_eq!(Horizons::target(Time::from_millis(now)).level_of(Time::from_millis(now + ahead)), None);
        }
    }
}
