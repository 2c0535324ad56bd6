//! Moves schedules on, with the jobs and the ledger rows of that step. Decides nothing: what a schedule becomes is the
//! caller's.

use mainspring_core::job::Job;
use mainspring_core::schedule::ScheduleView;
use mainspring_core::store::{LedgerPlace, Result, Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn turn(&mut self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        self.has_room_for(turns.iter().flat_map(|turn| &turn.jobs).map(Job::queue_ref))?;
        Ok(turns.into_iter().map(|turn| self.turn_one(now, turn)).collect())
    }

    fn turn_one(&mut self, now: Time, turn: Turn) -> Turned {
        if !self.roster.stands(turn.warrant) {
            return Turned::Deposed;
        }
        let known = self.schedules.get(&turn.schedule);
        let version = known.map(|view| view.version);
        if version != turn.expect {
            return Turned::Lost { version };
        }
        let becomes = match (turn.to, known) {
            (To::Put { schedule, standing }, _) => Some((*schedule, standing)),
            (To::Move(standing), Some(view)) => Some((view.schedule.clone(), standing)),
            (To::Gone, Some(_)) => None,
            (To::Move(_) | To::Gone, None) => return Turned::Lost { version: None },
        };

        let before = (turn.jobs.len() > 1).then(|| self.clone());
        let mut jobs = Vec::new();
        for (at, job) in turn.jobs.iter().enumerate() {
            match self.submit_together(now, std::slice::from_ref(job)).remove(0) {
                answer @ (Submitted::Accepted { .. } | Submitted::Duplicate { .. }) => jobs.push(answer),
                answer => {
                    before.into_iter().for_each(|before| *self = before);
                    return Turned::Refused { at, answer };
                }
            }
        }

        let version = self.numbers.version(&turn.schedule);
        for (index, row) in (0..).zip(turn.rows) {
            let place = LedgerPlace { occurrence: row.occurrence, version, index };
            self.ledger.insert((turn.schedule.clone(), place), row);
        }
        match becomes {
            Some((schedule, standing)) => {
                self.schedules.insert(turn.schedule, ScheduleView { schedule, standing, version });
            }
            None => {
                self.schedules.remove(&turn.schedule);
            }
        }
        Turned::Done { version, jobs }
    }
}
