//! Moves schedules on, each with the jobs and the ledger rows of that step: first everything is weighed, then everything is
//! written, in the one transaction of the batch. Decides nothing: what a schedule becomes is the caller's.

use mainspring_core::job::Job;
use mainspring_core::schedule::{LedgerRow, ScheduleRef, Standing};
use mainspring_core::store::{LedgerPlace, Result, Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use super::batch::Batch;
use super::cascade;
use super::mirror::VERSION_KEY;
use super::rows::{self, LedgerEntry, ScheduleRow, StandingRow};
use super::storage;
use super::submit;
use super::tables;
use super::weigh::{self, Ahead, Intake, Weighed};

/// Whether it takes up room for good.
pub fn needs_room(turns: &[Turn]) -> bool {
    turns.iter().any(|turn| !turn.jobs.is_empty() || matches!(turn.to, To::Put { .. }))
}

/// The inner result is the caller's mistake, found before anything is written.
pub fn turn(batch: &mut Batch<'_>, now: Time, turns: Vec<Turn>) -> Result<Result<Vec<Turned>>> {
    if let Err(refused) = submit::has_room_for(batch, turns.iter().flat_map(|turn| &turn.jobs)) {
        return Ok(Err(refused));
    }
    cascade::begin(batch, now);
    let before = batch.mirror.last_version;
    let answers = turns.into_iter().map(|turn| turn_one(batch, now, turn)).collect::<Result<_>>()?;
    if batch.mirror.last_version != before {
        let version = batch.mirror.last_version;
        batch.put(batch.tables.meta, VERSION_KEY, &version)?;
    }
    Ok(Ok(answers))
}

fn turn_one(batch: &mut Batch<'_>, now: Time, turn: Turn) -> Result<Turned> {
    if !batch.mirror.roster.stands(turn.warrant) {
        return Ok(Turned::Deposed);
    }
    let key = tables::schedule(&turn.schedule);
    let known = standing(batch, &key)?;
    let version = known.as_ref().map(|row| row.version);
    if version != turn.expect || (version.is_none() && !matches!(turn.to, To::Put { .. })) {
        return Ok(Turned::Lost { version });
    }
    let intakes = match weigh_all(batch, now, &turn.jobs)? {
        Ok(intakes) => intakes,
        Err((at, answer)) => return Ok(Turned::Refused { at, answer }),
    };
    let take_in = |(job, intake): (&Job, _)| match intake {
        Ok(intake) => submit::take_in(batch, now, job, &intake),
        Err(answer) => Ok(answer),
    };
    let jobs = turn.jobs.iter().zip(intakes).map(take_in).collect::<Result<_>>()?;

    batch.mirror.last_version += 1;
    let version = batch.mirror.last_version;
    for (index, row) in (0..).zip(&turn.rows) {
        enter(batch, &turn.schedule, LedgerPlace { occurrence: row.occurrence, version, index }, row)?;
    }
    let woken_at = known.and_then(|row| row.wake_ms).map(Time::from_millis);
    match turn.to {
        To::Put { schedule, standing } => {
            batch.put(batch.tables.schedules, &tables::schedule_name(&turn.schedule), &ScheduleRow::of(&schedule))?;
            stand(batch, &key, woken_at, version, &standing)?;
        }
        To::Move(standing) => stand(batch, &key, woken_at, version, &standing)?,
        To::Gone => {
            batch.delete(batch.tables.schedules, &tables::schedule_name(&turn.schedule))?;
            batch.delete(batch.tables.standings, &key)?;
            wake(batch, &key, woken_at, None)?;
        }
    }
    Ok(Turned::Done { version, jobs })
}

fn standing(batch: &Batch<'_>, key: &[u8]) -> Result<Option<StandingRow>> {
    let bytes = batch.tables.standings.get(&batch.txn, key).map_err(storage)?;
    bytes.map(|bytes| rows::decode("standings", bytes)).transpose()
}

/// How each job is taken in, or what it is answered instead.
type Intakes = Vec<std::result::Result<Intake, Submitted>>;

/// How all of them are taken in, or which one cannot be.
fn weigh_all(
    batch: &mut Batch<'_>,
    now: Time,
    jobs: &[Job],
) -> Result<std::result::Result<Intakes, (usize, Submitted)>> {
    let mut ahead = Ahead::default();
    let mut intakes = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        match weigh::weigh(batch, now, job, &ahead)? {
            Weighed::New(intake) => {
                ahead.add(job, &intake);
                intakes.push(Ok(intake));
            }
            Weighed::Known(answer) | Weighed::Refused(answer @ Submitted::Duplicate { .. }) => {
                intakes.push(Err(answer))
            }
            Weighed::Refused(answer) => return Ok(Err((at, answer))),
        }
    }
    Ok(Ok(intakes))
}

fn stand(batch: &mut Batch<'_>, key: &[u8], woken_at: Option<Time>, version: u64, standing: &Standing) -> Result<()> {
    batch.put(batch.tables.standings, key, &StandingRow::of(version, standing))?;
    wake(batch, key, woken_at, standing.wake_at)
}

/// Moves the instant at which a schedule is due.
fn wake(batch: &mut Batch<'_>, key: &[u8], before: Option<Time>, after: Option<Time>) -> Result<()> {
    if before == after {
        return Ok(());
    }
    if let Some(before) = before {
        batch.delete(batch.tables.wakes, &tables::wake(before, key))?;
    }
    match after {
        Some(after) => batch.put(batch.tables.wakes, &tables::wake(after, key), &()),
        None => Ok(()),
    }
}

fn enter(batch: &mut Batch<'_>, schedule: &ScheduleRef, place: LedgerPlace, row: &LedgerRow) -> Result<()> {
    let key = tables::ledger(schedule, place);
    batch.put(batch.tables.ledger, &key, &LedgerEntry::of(row))?;
    batch.put_bytes(batch.tables.ledger_order, &tables::ledger_order(row.at, place), &key)
}
