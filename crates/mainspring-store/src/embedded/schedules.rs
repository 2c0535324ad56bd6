//! What is asked of schedules and their ledger: what is due, what comes next, pages for readers. Changes nothing, and
//! keeps nothing in memory: a million schedules cost the disk only.

use std::ops::Bound;

use heed::RoTxn;
use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, ScheduleView, segment_of};
use mainspring_core::segment::Segments;
use mainspring_core::store::{Error, LedgerPage, LedgerQuery, Result, SchedulePage, ScheduleQuery};
use mainspring_core::time::Time;

use super::read::Reader;
use super::rows::{self, LedgerEntry, ScheduleRow, StandingRow};
use super::storage;
use super::tables::{self, Tables};

/// Schedules whose time has come, and whether there are more than `limit`.
pub fn due(
    txn: &RoTxn<'_>,
    tables: &Tables,
    now: Time,
    segments: Segments,
    limit: usize,
) -> Result<(Vec<ScheduleView>, bool)> {
    let mut due = Vec::new();
    if limit == 0 {
        return Ok((due, false));
    }
    let end = tables::after(now);
    for row in tables.wakes.range(txn, &(Bound::Unbounded, Bound::Excluded(&end[..]))).map_err(storage)? {
        let (key, _) = row.map_err(storage)?;
        let schedule = read_name(&key[10..])?;
        if segments != Segments::ALL && !segments.contains(segment_of(&schedule, Placement::ONE)) {
            continue;
        }
        if due.len() == limit {
            return Ok((due, true));
        }
        let view = view(txn, tables, schedule)?;
        due.push(view.ok_or_else(|| Error::Damaged("a schedule that is to wake is not there".into()))?);
    }
    Ok((due, false))
}

/// The next distinct instants after `now` and up to `until` at which a schedule of these segments is due.
pub fn upcoming(
    txn: &RoTxn<'_>,
    tables: &Tables,
    now: Time,
    until: Time,
    segments: Segments,
    limit: usize,
) -> Result<Vec<Time>> {
    let mut instants = Vec::new();
    let mut from = tables::after(now).to_vec();
    while instants.len() < limit {
        let next = tables.wakes.get_greater_than_or_equal_to(txn, &from).map_err(storage)?;
        let Some((key, _)) = next else { break };
        let at = tables::read_instant(&key[..6]);
        if at > until {
            break;
        }
        if segments == Segments::ALL || segments.contains(segment_of(&read_name(&key[10..])?, Placement::ONE)) {
            instants.push(at);
            from = tables::after(at).to_vec();
        } else {
            from = [key, &[0]].concat();
        }
    }
    Ok(instants)
}

fn view(txn: &RoTxn<'_>, tables: &Tables, schedule: ScheduleRef) -> Result<Option<ScheduleView>> {
    let said = tables.schedules.get(txn, &tables::schedule_name(&schedule)).map_err(storage)?;
    said.map(|said| view_of(txn, tables, &schedule, said)).transpose()
}

pub fn view_of(txn: &RoTxn<'_>, tables: &Tables, schedule: &ScheduleRef, said: &[u8]) -> Result<ScheduleView> {
    let said: ScheduleRow<'_> = rows::decode("schedules", said)?;
    let standing = tables.standings.get(txn, &tables::schedule(schedule)).map_err(storage)?;
    let standing = standing.ok_or_else(|| Error::Damaged(format!("schedule {} has no standing", schedule.name)))?;
    let standing: StandingRow = rows::decode("standings", standing)?;
    let version = standing.version;
    Ok(ScheduleView { schedule: said.schedule(schedule)?, standing: standing.standing(), version })
}

pub fn read_name(key: &[u8]) -> Result<ScheduleRef> {
    let damaged = |what: &dyn std::fmt::Display| Error::Damaged(format!("a schedule has a bad name: {what}"));
    let text = std::str::from_utf8(key).map_err(|error| damaged(&error))?;
    let (tenant, name) = text.split_once('\0').ok_or_else(|| damaged(&"it has no tenant"))?;
    Ok(ScheduleRef {
        tenant: TenantName::parse(tenant).map_err(|error| damaged(&error))?,
        name: ScheduleName::parse(name).map_err(|error| damaged(&error))?,
    })
}

impl Reader {
    pub fn schedule(&self, schedule: ScheduleRef) -> Result<Option<ScheduleView>> {
        let txn = self.txn()?;
        view(&txn, &self.disk.tables, schedule)
    }

    pub fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        let txn = self.txn()?;
        let tables = &self.disk.tables;
        let (first, end) = tables::schedules_of(&query.tenant);
        let above = query.above.map(|name| tables::schedule_name(&ScheduleRef { tenant: query.tenant.clone(), name }));
        let start = above.as_deref().map_or(Bound::Included(&first[..]), Bound::Excluded);
        let mut page = SchedulePage::default();
        for row in tables.schedules.range(&txn, &(start, Bound::Excluded(&end[..]))).map_err(storage)? {
            let (key, said) = row.map_err(storage)?;
            if page.schedules.len() == query.limit {
                page.next = page.schedules.last().map(|view| view.schedule.name.clone());
                break;
            }
            page.schedules.push(view_of(&txn, tables, &read_name(key)?, said)?);
        }
        Ok(page)
    }

    pub fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        let txn = self.txn()?;
        let (first, end) = tables::ledger_of(&query.schedule);
        let below = query.below.map_or(end, |place| tables::ledger(&query.schedule, place));
        let range = (Bound::Included(&first[..]), Bound::Excluded(&below[..]));
        let mut page = LedgerPage::default();
        let mut last = None;
        for row in self.disk.tables.ledger.rev_range(&txn, &range).map_err(storage)? {
            let (key, bytes) = row.map_err(storage)?;
            if page.rows.len() == query.limit {
                page.next = last;
                break;
            }
            let place = tables::read_ledger(key);
            let entry: LedgerEntry = rows::decode("ledger", bytes)?;
            page.rows.push(entry.row(place.occurrence));
            last = Some(place);
        }
        Ok(page)
    }
}
