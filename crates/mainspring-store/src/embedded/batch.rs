//! One transaction of the writer: the tables, the mirror, and the moves that the verbs share. Every write goes through
//! here, so that a batch that changed nothing costs no commit.

use heed::{PutFlags, RwTxn};
use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::Result;
use mainspring_core::time::Time;
use serde::Serialize;

use super::cascade;
use super::gates::{self, Spot};
use super::mirror::{META_KEY, Mirror};
use super::rows::{self, Marks, Slip, Who};
use super::storage;
use super::tables::{self, Table, Tables};
use super::workflow::{self, Workflows};

pub struct Batch<'e> {
    pub txn: RwTxn<'e>,
    pub tables: &'e Tables,
    pub mirror: &'e mut Mirror,
    pub workflows: Workflows,
    dirty: bool,
    buffer: Vec<u8>,
}

impl<'e> Batch<'e> {
    pub fn new(txn: RwTxn<'e>, tables: &'e Tables, mirror: &'e mut Mirror) -> Batch<'e> {
        Batch { txn, tables, mirror, workflows: Workflows::default(), dirty: false, buffer: Vec::with_capacity(1024) }
    }

    /// Makes all of it durable. A batch that wrote nothing is just closed.
    pub fn commit(mut self) -> Result<()> {
        if !self.dirty && !self.mirror.gates.is_changed() {
            self.txn.abort();
            return Ok(());
        }
        workflow::write(&mut self)?;
        gates::write(&mut self)?;
        for number in std::mem::take(&mut self.mirror.touched) {
            let queue = &mut self.mirror.queues[number as usize];
            queue.touched = false;
            let row = queue.row();
            self.put(self.tables.queues, &number.to_be_bytes(), &row)?;
        }
        let meta = self.mirror.meta;
        self.put(self.tables.meta, META_KEY, &meta)?;
        self.txn.commit().map_err(storage)
    }

    pub fn put<T: Serialize>(&mut self, table: Table, key: &[u8], row: &T) -> Result<()> {
        self.dirty = true;
        table.put(&mut self.txn, key, rows::encode(row, &mut self.buffer)).map_err(storage)
    }

    /// For keys above every key of the table: fills pages instead of splitting them.
    pub fn append<T: Serialize>(&mut self, table: Table, key: &[u8], row: &T) -> Result<()> {
        self.dirty = true;
        let bytes = rows::encode(row, &mut self.buffer);
        table.put_with_flags(&mut self.txn, PutFlags::APPEND, key, bytes).map_err(storage)
    }

    pub fn put_bytes(&mut self, table: Table, key: &[u8], bytes: &[u8]) -> Result<()> {
        self.dirty = true;
        table.put(&mut self.txn, key, bytes).map_err(storage)
    }

    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let found = table.delete(&mut self.txn, key).map_err(storage)?;
        self.dirty |= found;
        Ok(found)
    }

    pub fn delete_through(&mut self, table: Table, first: &[u8], last: &[u8]) -> Result<()> {
        let range = (std::ops::Bound::Included(first), std::ops::Bound::Included(last));
        let deleted = table.delete_range(&mut self.txn, &range).map_err(storage)?;
        self.dirty |= deleted > 0;
        Ok(())
    }

    /// Counts a job into a state, in its queue and in its workflow.
    pub fn enter(&mut self, who: Who, state: State, paused: bool) -> Result<()> {
        *self.mirror.queue(who.queue).counts.of(state, paused) += 1;
        if who.marks.has(Marks::MEMBER) { workflow::enter(self, who.id, state, paused) } else { Ok(()) }
    }

    /// Counts a job out of a state.
    pub fn leave(&mut self, who: Who, state: State, paused: bool) -> Result<()> {
        *self.mirror.queue(who.queue).counts.of(state, paused) -= 1;
        if who.marks.has(Marks::MEMBER) { workflow::leave(self, who.id, state, paused) } else { Ok(()) }
    }

    /// Puts a job where one of this state and time belongs at `now`, Waiting or Ready, and counts it there.
    pub fn place(&mut self, now: Time, id: JobId, state: State, ready_at: Time, slip: &Slip) -> Result<()> {
        self.enter(slip.who(id), state, false)?;
        if state == State::Ready {
            return self.place_ready(now, id, ready_at, slip);
        }
        match self.mirror.meta.horizons.level_of(ready_at) {
            None => self.put(self.tables.waiting, &tables::timed(ready_at, id), slip),
            Some(level) => {
                let key = tables::far(level, cascade::bucket(level, ready_at), id);
                self.put(self.tables.far, &key, &(ready_at.as_millis(), slip))
            }
        }
    }

    fn place_ready(&mut self, now: Time, id: JobId, ready_at: Time, slip: &Slip) -> Result<()> {
        let lane = slip.lane();
        if slip.ways.weight > self.mirror.meta.heaviest {
            self.mirror.meta.heaviest = slip.ways.weight;
            self.mirror.gates.note_heaviest(slip.ways.weight);
        }
        if let Some(gate) = gates::place::lot_of(self, now, id, slip)? {
            return gates::place::park(self, gate, Spot { lane, ready_at, id }, slip);
        }
        self.mirror.queue(slip.queue).lanes.insert(lane);
        self.put(self.tables.ready, &tables::ready(slip.queue, lane, ready_at, id), slip)
    }

    /// Has an unstarted job found when its expiry comes. Repeated whenever it is placed again, since the sweep drops the
    /// entry of a job that it finds running.
    pub fn put_expiry(&mut self, job: &Job, tally: Tally) -> Result<()> {
        match job.expires_at {
            Some(expires_at) if tally.attempts == 0 => {
                self.put(self.tables.expiry, &tables::timed(expires_at, job.id), &())
            }
            _ => Ok(()),
        }
    }

    /// Takes a Waiting or Ready job out of wherever it is, and out of the count of its state.
    pub fn displace(&mut self, id: JobId, state: State, ready_at: Time, slip: &Slip) -> Result<()> {
        self.leave(slip.who(id), state, false)?;
        if state == State::Ready {
            let spot = Spot { lane: slip.lane(), ready_at, id };
            let is_in_lane = self.delete(self.tables.ready, &tables::ready(slip.queue, spot.lane, ready_at, id))?;
            return if is_in_lane { Ok(()) } else { self.displace_parked(spot, slip) };
        }
        // A cascade that is under way has moved some of a bucket and not the rest: look in both places.
        if self.delete(self.tables.waiting, &tables::timed(ready_at, id))? {
            return Ok(());
        }
        for level in 0..cascade::LEVELS {
            if self.delete(self.tables.far, &tables::far(level, cascade::bucket(level, ready_at), id))? {
                break;
            }
        }
        Ok(())
    }

    /// It stands before one of its gates.
    fn displace_parked(&mut self, spot: Spot, slip: &Slip) -> Result<()> {
        for (gate, _) in slip.ways.passes() {
            if gates::place::unpark(self, gate, spot, slip.queue)? {
                break;
            }
        }
        Ok(())
    }
}
