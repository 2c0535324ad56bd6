//! What people ask of jobs, queues, workers and gates. Stops no running attempt by itself: its worker is asked to.

use std::collections::BTreeSet;

use mainspring_core::id::JobId;
use mainspring_core::job::{Ended, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, Error, GateCommand, JobCommand, QueueCommand, Result};
use mainspring_core::time::Time;

use super::book::{Book, Entry, Settings};
use super::submit::due;

impl Book {
    pub(super) fn command(&mut self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.has_room_for(commands.iter().filter_map(|command| match command {
            Command::Queue { queue, .. } => Some(queue.clone()),
            _ => None,
        }))?;
        self.has_room_for_rules(&commands)?;
        Ok(commands.into_iter().map(|command| self.command_one(now, command)).collect())
    }

    fn command_one(&mut self, now: Time, command: Command) -> Commanded {
        match command {
            Command::Job { tenant, id, what: JobCommand::Delete } => self.delete(&tenant, id),
            Command::Job { tenant, id, what } => match self.jobs.get_mut(&id) {
                Some(entry) if entry.job.tenant == tenant => {
                    let (from, was_on_offer) = (entry.standing.state, entry.is_on_offer());
                    let is_update = matches!(what, JobCommand::Update { .. });
                    let answer = entry.command(now, what);
                    if entry.is_on_offer() && (is_update || !was_on_offer) {
                        self.place(now, id);
                    }
                    self.moved(id, from);
                    answer
                }
                _ => Commanded::Missing,
            },
            Command::Queue { queue, what } => {
                self.queues.entry(queue).or_default().command(what);
                Commanded::Done
            }
            Command::Gate { tenant, reach, what } => self.gates.command(now, tenant, reach, what),
            Command::Worker { id, order } => match self.workers.get_mut(&id) {
                Some(worker) => {
                    worker.order = order;
                    Commanded::Done
                }
                None => Commanded::Missing,
            },
        }
    }

    /// Whether there is room for all rules that are to be set, those that are here already included.
    fn has_room_for_rules(&self, commands: &[Command]) -> Result<()> {
        let set = commands.iter().filter_map(|command| match command {
            Command::Gate { tenant, reach, what: GateCommand::Set(_) } => Some((tenant, reach)),
            _ => None,
        });
        let rules = &self.gates.rules;
        let new: BTreeSet<_> = set.filter(|(tenant, reach)| rules.get(tenant, reach).is_none()).collect();
        if rules.len() + new.len() > limits::RULES_MAX {
            return Err(Error::Invalid(format!(
                "there are {} limits, {} more would be past the bound of {}; clear some first",
                rules.len(),
                new.len(),
                limits::RULES_MAX
            )));
        }
        Ok(())
    }

    fn delete(&mut self, tenant: &TenantName, id: JobId) -> Commanded {
        match self.job_of(tenant, id) {
            None => Commanded::Missing,
            Some(entry) if !entry.standing.state.is_final() => entry.refuse(),
            Some(_) => {
                self.forget(id);
                Commanded::Done
            }
        }
    }
}

impl Settings {
    fn command(&mut self, what: QueueCommand) {
        match what {
            QueueCommand::Pause => self.paused = true,
            QueueCommand::Resume => self.paused = false,
            QueueCommand::SetAging(aging) => self.aging = aging,
            QueueCommand::SetMaxDepth(max_depth) => self.max_depth = max_depth,
        }
    }
}

impl Entry {
    fn command(&mut self, now: Time, what: JobCommand) -> Commanded {
        let before_start = matches!(self.standing.state, State::Blocked | State::Waiting | State::Ready);
        match what {
            JobCommand::RunNow if self.is_on_offer() => {}
            JobCommand::RunNow if self.is_waiting() || self.is_blocked() => {
                self.standing.state = State::Ready;
                self.standing.ready_at = now;
            }
            JobCommand::Pause if before_start => self.standing.paused = true,
            JobCommand::Resume if before_start => self.resume(now),
            JobCommand::Cancel { reason } if before_start => {
                self.end(State::Cancelled, Ended { at: now, result: None, reason: Some(reason) });
            }
            JobCommand::Cancel { reason } if self.standing.state == State::Running => {
                self.standing.lease.as_mut().expect("a running job has a lease").cancel_asked.get_or_insert(reason);
                return Commanded::Asked;
            }
            JobCommand::Revive { data } if self.standing.state == State::Dead => {
                self.job.data = data.unwrap_or_else(|| self.job.data.clone());
                self.revive(now);
            }
            JobCommand::Update { data, priority, run_at } if before_start => {
                self.job.data = data.unwrap_or_else(|| self.job.data.clone());
                self.job.priority = priority.unwrap_or(self.job.priority);
                run_at.into_iter().for_each(|at| self.reschedule(now, at));
            }
            _ => return self.refuse(),
        }
        Commanded::Done
    }

    fn refuse(&self) -> Commanded {
        Commanded::Refused { state: self.standing.state, paused: self.standing.paused }
    }

    /// A job whose time passed while it was paused is due at once; one that was not paused waits for promote.
    fn resume(&mut self, now: Time) {
        let standing = &mut self.standing;
        if standing.paused && standing.state == State::Waiting {
            standing.state = due(standing.ready_at, now);
        }
        standing.paused = false;
    }

    /// An expiry that has passed goes, or the sweep would cancel the job before anybody can claim it.
    fn revive(&mut self, now: Time) {
        self.standing.tally = Tally::default();
        if self.is_expired(now) {
            self.job.expires_at = None;
        }
        self.standing.state = State::Ready;
        self.standing.ready_at = now;
        self.standing.ended = None;
    }

    fn reschedule(&mut self, now: Time, at: Time) {
        self.job.run_at = at;
        self.standing.ready_at = at;
        if self.standing.state != State::Blocked {
            self.standing.state = due(at, now);
        }
    }
}
