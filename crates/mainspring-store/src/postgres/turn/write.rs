//! Writes what schedules have become, and their ledger rows, in one round trip.

use std::collections::BTreeMap;

use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, place_of, segment_of};

use super::{Done, Known};
use crate::embedded::rows::LedgerEntry;
use crate::postgres::error::Fault;
use crate::postgres::numbers::ms;
use crate::postgres::packed::pack;
use crate::postgres::pipeline::{Step, pipeline};
use crate::postgres::pool::Transaction;
use crate::postgres::schedules::{pack_spec, pack_standing};

pub(super) async fn write(
    txn: &Transaction<'_>,
    placement: Placement,
    known: &BTreeMap<&ScheduleRef, Known<'_>>,
    done: &[Done<'_>],
) -> Result<(), Fault> {
    let (mut new, mut moved, mut specs, mut gone) =
        (Standings::default(), Standings::default(), Specs::default(), Names::default());
    for (schedule, known) in known {
        match (known.version, known.standing) {
            (Some(version), Some(standing)) => {
                let to = if known.was_there { &mut moved } else { &mut new };
                to.names.push(schedule);
                to.versions.push(version as i64);
                to.segments.push(i16::from(segment_of(schedule, placement).index()));
                to.places.push(place_of(schedule) as i32);
                to.wakes.push(standing.wake_at.map(ms));
                to.standings.push(pack_standing(version, standing));
            }
            (None, _) if known.was_there => gone.push(schedule),
            // Never there, or not turned.
            _ => {}
        }
        if let Some(spec) = known.spec {
            specs.names.push(schedule);
            specs.specs.push(pack_spec(spec));
        }
    }
    let rows = Rows::of(done);
    let new_count = new.versions.len() as i64;
    let mut steps = Vec::new();
    if new_count > 0 {
        let Standings { names, versions, segments, places, wakes, standings } = &new;
        steps.push(Step::new(
            include_str!("../sql/turn_make.sql"),
            vec![&new_count, &names.tenants, &names.names, versions, segments, places, wakes, standings],
        ));
    }
    if !moved.versions.is_empty() {
        let Standings { names, versions, segments, places, wakes, standings } = &moved;
        steps.push(Step::new(
            include_str!("../sql/turn_move.sql"),
            vec![&names.tenants, &names.names, versions, segments, places, wakes, standings],
        ));
    }
    if !specs.specs.is_empty() {
        let Specs { names, specs } = &specs;
        steps.push(Step::new(include_str!("../sql/turn_specs.sql"), vec![&names.tenants, &names.names, specs]));
    }
    if !gone.tenants.is_empty() {
        steps.push(Step::new(include_str!("../sql/turn_gone.sql"), vec![&gone.tenants, &gone.names]));
    }
    if !rows.rows.is_empty() {
        let Rows { names, occurrences, versions, indexes, at, rows } = &rows;
        steps.push(Step::new(
            include_str!("../sql/turn_ledger.sql"),
            vec![&names.tenants, &names.names, occurrences, versions, indexes, at, rows],
        ));
    }
    pipeline(txn, &steps).await?;
    Ok(())
}

#[derive(Debug, Default)]
struct Names<'a> {
    tenants: Vec<&'a str>,
    names: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn push(&mut self, schedule: &'a ScheduleRef) {
        self.tenants.push(schedule.tenant.as_str());
        self.names.push(schedule.name.as_str());
    }
}

#[derive(Debug, Default)]
struct Standings<'a> {
    names: Names<'a>,
    versions: Vec<i64>,
    segments: Vec<i16>,
    places: Vec<i32>,
    wakes: Vec<Option<i64>>,
    standings: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Specs<'a> {
    names: Names<'a>,
    specs: Vec<Vec<u8>>,
}

/// Ledger rows, by column.
#[derive(Debug, Default)]
struct Rows<'a> {
    names: Names<'a>,
    occurrences: Vec<i64>,
    versions: Vec<i64>,
    indexes: Vec<i32>,
    at: Vec<i64>,
    rows: Vec<Vec<u8>>,
}

impl<'a> Rows<'a> {
    fn of(done: &'a [Done<'_>]) -> Rows<'a> {
        let mut rows = Rows::default();
        for Done { turn, version } in done {
            for (index, row) in (0..).zip(&turn.rows) {
                rows.names.push(&turn.schedule);
                rows.occurrences.push(ms(row.occurrence));
                rows.versions.push(*version as i64);
                rows.indexes.push(index);
                rows.at.push(ms(row.at));
                rows.rows.push(pack(&LedgerEntry::of(row)));
            }
        }
        rows
    }
}
