//! Moves schedules on, with the jobs and the ledger rows of that step. Decides nothing: what a schedule becomes is the caller's.
//!
//! Isolation: READ COMMITTED. The schedules of a call are held before their versions are looked at, so of two nodes that turn
//! one, the second sees what the first made of it. One that is new cannot be held: if two nodes make it, the second comes
//! short in its insert, begins anew, and sees it.

mod write;

use std::collections::{BTreeMap, HashSet};

use mainspring_core::job::Job;
use mainspring_core::name::ScheduleName;
use mainspring_core::schedule::{Schedule, ScheduleRef, Standing};
use mainspring_core::store::{Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use super::Postgres;
use super::error::{Fault, Result, damaged};
use super::pipeline::ask;
use super::plan::Plan;
use super::pool::{Transaction, transact};
use super::submit;
use super::warrant::Epochs;

pub(super) async fn turn(store: &Postgres, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
    let answers = transact!(store.pool, |txn| {
        let jobs: Vec<&Job> = turns.iter().flat_map(|turn| &turn.jobs).collect();
        let epochs = Epochs::of_all(&txn, turns.iter().map(|turn| turn.warrant)).await?;
        let known = hold(&txn, &turns).await?;
        let plan = submit::read(store, &txn, now, &jobs).await?;
        let mut table = Table { epochs, known, plan, answers: Vec::with_capacity(turns.len()), done: Vec::new() };
        let mut rest = turns.as_slice();
        while !rest.is_empty() {
            let (round, later) = rest.split_at(round_of(rest));
            table.play(&txn, round).await?;
            rest = later;
        }
        write::write(&txn, store.placement, &table.known, &table.done).await?;
        submit::write(store, &txn, table.plan, Vec::new()).await?;
        table.answers
    });
    Ok(answers)
}

/// A schedule, as it was and as it has become so far.
#[derive(Debug, Default)]
struct Known<'t> {
    was_there: bool,
    /// `None` if it is not there now.
    version: Option<u64>,
    spec: Option<&'t Schedule>,
    standing: Option<&'t Standing>,
}

/// A turn that is made.
#[derive(Debug)]
struct Done<'t> {
    turn: &'t Turn,
    version: u64,
}

#[derive(Debug)]
struct Table<'t> {
    epochs: Epochs,
    known: BTreeMap<&'t ScheduleRef, Known<'t>>,
    plan: Plan<'t>,
    answers: Vec<Turned>,
    done: Vec<Done<'t>>,
}

/// How many turns there are before one of a schedule that is turned already: what that one sees is known only after the
/// first has its version.
fn round_of(turns: &[Turn]) -> usize {
    let mut turned = HashSet::new();
    turns.iter().position(|turn| !turned.insert(&turn.schedule)).unwrap_or(turns.len())
}

async fn hold<'t>(txn: &Transaction<'_>, turns: &'t [Turn]) -> Result<BTreeMap<&'t ScheduleRef, Known<'t>>, Fault> {
    let mut known: BTreeMap<&ScheduleRef, Known<'t>> = BTreeMap::new();
    for turn in turns {
        known.entry(&turn.schedule).or_default();
    }
    let (tenants, names): (Vec<&str>, Vec<&str>) =
        known.keys().map(|schedule| (schedule.tenant.as_str(), schedule.name.as_str())).unzip();
    for row in ask(txn, include_str!("sql/turn_hold.sql"), &[&tenants, &names]).await? {
        let schedule = ScheduleRef {
            tenant: submit::tenant(row.get(0))?,
            name: ScheduleName::parse(row.get(1)).map_err(|error| damaged(format!("a schedule: {error}")))?,
        };
        if let Some(known) = known.get_mut(&schedule) {
            known.was_there = true;
            known.version = Some(row.get::<_, i64>(2).unsigned_abs());
        }
    }
    Ok(known)
}

impl<'t> Table<'t> {
    /// Each schedule is turned at most once in a round.
    async fn play(&mut self, txn: &Transaction<'_>, turns: &'t [Turn]) -> Result<(), Fault> {
        let decided: Vec<Result<Vec<Submitted>, Turned>> = turns.iter().map(|turn| self.decide(turn)).collect();
        let count = decided.iter().filter(|decided| decided.is_ok()).count() as i64;
        // Only for those that are made: a version that nobody has is no harm, but it would tell of a refusal.
        let rows = match count {
            0 => Vec::new(),
            count => ask(txn, include_str!("sql/turn_versions.sql"), &[&count]).await?,
        };
        let mut versions: Vec<u64> = rows.iter().map(|row| row.get::<_, i64>(0).unsigned_abs()).collect();
        versions.sort_unstable();
        let mut versions = versions.into_iter();
        for (turn, decided) in turns.iter().zip(decided) {
            let answer = match decided {
                Err(answer) => answer,
                Ok(jobs) => {
                    let version = versions.next().ok_or_else(|| damaged("too few versions"))?;
                    self.make(turn, version);
                    Turned::Done { version, jobs }
                }
            };
            self.answers.push(answer);
        }
        Ok(())
    }

    /// What its jobs are answered, or why it is not made.
    fn decide(&mut self, turn: &'t Turn) -> Result<Vec<Submitted>, Turned> {
        if !self.epochs.stands(turn.warrant) {
            return Err(Turned::Deposed);
        }
        let version = self.known[&turn.schedule].version;
        let needs_it = !matches!(turn.to, To::Put { .. });
        if version != turn.expect || needs_it && version.is_none() {
            return Err(Turned::Lost { version });
        }
        let mark = self.plan.mark();
        let mut answers = Vec::with_capacity(turn.jobs.len());
        for (at, job) in turn.jobs.iter().enumerate() {
            match self.plan.together(std::slice::from_ref(job)).remove(0) {
                answer @ (Submitted::Accepted { .. } | Submitted::Duplicate { .. }) => answers.push(answer),
                answer => {
                    self.plan.rewind(mark);
                    return Err(Turned::Refused { at, answer });
                }
            }
        }
        Ok(answers)
    }

    fn make(&mut self, turn: &'t Turn, version: u64) {
        let known = self.known.get_mut(&turn.schedule).expect("every schedule of the call is known");
        match &turn.to {
            To::Put { schedule, standing } => {
                known.version = Some(version);
                known.spec = Some(schedule);
                known.standing = Some(standing);
            }
            To::Move(standing) => {
                known.version = Some(version);
                known.standing = Some(standing);
            }
            To::Gone => *known = Known { was_there: known.was_there, ..Known::default() },
        }
        self.done.push(Done { turn, version });
    }
}
