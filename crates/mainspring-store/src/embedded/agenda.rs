//! How many waiting jobs fall due when. A snapshot that looks at a bounded number of jobs, and at no far bucket outside the
//! asked span.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use mainspring_core::id::JobId;
use mainspring_core::store::{Agenda, AgendaAsk, Result};
use mainspring_core::time::Time;

use super::cascade;
use super::read::Reader;
use super::rows::{self, Slip};
use super::storage;
use super::tables;

impl Reader {
    pub fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let mut count =
            Count { reader: self, ask: &ask, left: ask.jobs_max, due: BTreeMap::new(), ours: HashMap::new() };
        if ask.from >= ask.until {
            return Ok(Agenda::default());
        }
        let (first, end) = (tables::timed(ask.from, JobId::MIN), tables::timed(ask.until, JobId::MIN));
        for row in
            tables.waiting.range(&txn, &(Bound::Included(&first[..]), Bound::Excluded(&end[..]))).map_err(storage)?
        {
            let (key, bytes) = row.map_err(storage)?;
            let (ready_at, _) = tables::read_timed(key);
            if !count.look(ready_at, &rows::decode("waiting", bytes)?)? {
                return Ok(count.agenda(true));
            }
        }
        for level in 0..cascade::LEVELS {
            let first = tables::far(level, cascade::bucket(level, ask.from), JobId::MIN);
            let end = tables::far(level, ask.until, JobId::MIN);
            for row in
                tables.far.range(&txn, &(Bound::Included(&first[..]), Bound::Excluded(&end[..]))).map_err(storage)?
            {
                let (ready_ms, slip): (u64, Slip) = rows::decode("far", row.map_err(storage)?.1)?;
                if !count.look(Time::from_millis(ready_ms), &slip)? {
                    return Ok(count.agenda(true));
                }
            }
        }
        Ok(count.agenda(false))
    }
}

struct Count<'a> {
    reader: &'a Reader,
    ask: &'a AgendaAsk,
    left: u64,
    due: BTreeMap<Time, u64>,
    /// Which queues belong to the asked tenant.
    ours: HashMap<u32, bool>,
}

impl Count<'_> {
    /// Counts a job if it is one of those asked for; whether it could still be looked at.
    fn look(&mut self, ready_at: Time, slip: &Slip) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        if ready_at >= self.ask.from && ready_at < self.ask.until && self.is_ours(slip.queue)? {
            *self.due.entry(self.ask.step_of(ready_at)).or_default() += 1;
        }
        Ok(true)
    }

    fn is_ours(&mut self, queue: u32) -> Result<bool> {
        let Some(tenant) = &self.ask.tenant else { return Ok(true) };
        if let Some(&known) = self.ours.get(&queue) {
            return Ok(known);
        }
        let ours = self.reader.name(queue)?.tenant == *tenant;
        self.ours.insert(queue, ours);
        Ok(ours)
    }

    fn agenda(self, partial: bool) -> Agenda {
        Agenda { due: self.due.into_iter().collect(), partial }
    }
}
