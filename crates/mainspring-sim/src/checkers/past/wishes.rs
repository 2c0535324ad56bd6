//! What people asked for and were told that it is done.

use mainspring_core::id::JobId;
use mainspring_core::job::Tally;
use mainspring_core::lifecycle::State;
use mainspring_core::store::{Command, Commanded, JobCommand, Order, QueueCommand};
use mainspring_core::time::Time;

use super::Past;

impl Past {
    pub(super) fn commanded(&mut self, now: Time, command: &Command, answer: &Commanded) {
        match (command, answer) {
            (Command::Job { id, what, .. }, Commanded::Done | Commanded::Asked) => self.wished(now, *id, what, answer),
            (Command::Queue { queue, what }, Commanded::Done) => {
                let known = self.queues.entry(queue.clone()).or_default();
                match *what {
                    QueueCommand::Pause => known.paused = true,
                    QueueCommand::Resume => known.paused = false,
                    QueueCommand::SetAging(aging) => known.aging = aging,
                    QueueCommand::SetMaxDepth(max_depth) => known.max_depth = max_depth,
                }
            }
            (Command::Worker { id, order }, Commanded::Done) => {
                match order {
                    Order::Work => self.orders.remove(id),
                    Order::Quiet | Order::Terminate => self.orders.insert(*id, *order),
                };
            }
            (Command::Gate { tenant, reach, what }, Commanded::Done) => self.gates.command(now, tenant, reach, *what),
            _ => {}
        }
    }

    fn wished(&mut self, now: Time, id: JobId, what: &JobCommand, answer: &Commanded) {
        let Some(known) = self.jobs.get_mut(&id) else { return };
        match what {
            JobCommand::Cancel { .. } if *answer == Commanded::Asked => known.cancel_asked = true,
            JobCommand::Cancel { .. } => known.end(State::Cancelled, now),
            JobCommand::Revive { data } => {
                known.ended = None;
                known.revived = true;
                known.due_at = now;
                known.tally = Tally::default();
                // One that is past would be cancelled before anybody can claim it.
                known.job.expires_at = known.job.expires_at.filter(|at| *at > now);
                known.job.data = data.clone().unwrap_or_else(|| known.job.data.clone());
            }
            JobCommand::Delete => known.gone = true,
            JobCommand::Update { data, priority, run_at } => {
                known.job.data = data.clone().unwrap_or_else(|| known.job.data.clone());
                known.job.priority = priority.unwrap_or(known.job.priority);
                if let Some(at) = *run_at {
                    known.job.run_at = at;
                    known.due_at = at;
                }
            }
            JobCommand::RunNow => known.due_at = known.due_at.min(now),
            JobCommand::Pause => known.paused = true,
            JobCommand::Resume => known.paused = false,
        }
    }
}
