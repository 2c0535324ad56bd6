//! What people ask of jobs, queues and workers, and whom it concerns. Checks no rights: the door does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::store::{self, Command, Commanded, Filter, GateCommand, JobCommand, Query, QueueCommand};
use mainspring_core::time::Time;

use crate::announce::News;
use crate::error::{Error, Result};
use crate::events::{Event, EventKind};
use crate::measure::Call;
use crate::node::Node;

/// Jobs that are found and moved in one step of a command for many.
const BULK_JOBS_MAX: usize = 500;

/// What became of a command for many jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bulk {
    /// Jobs that were moved, or asked to stop.
    pub done: u64,
    /// It stopped at its maximum: there may be more.
    pub more: bool,
}

impl Node {
    pub(crate) async fn command(self: &Arc<Node>, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        if self.closing.is_raised() {
            return Err(Error::Closed);
        }
        // On a task of its own: a caller that hangs up must not keep others from hearing what was done.
        let applied = tokio::spawn(self.clone().apply_commands(commands)).await;
        Ok(applied.expect("commands do not panic")?)
    }

    pub(crate) async fn command_found(
        self: &Arc<Node>,
        tenant: TenantName,
        filter: Filter,
        what: JobCommand,
        max: u64,
    ) -> Result<Bulk> {
        let mut bulk = Bulk::default();
        let mut below = None;
        while bulk.done < max {
            let left = usize::try_from(max - bulk.done).unwrap_or(usize::MAX);
            let query = Query { tenant: tenant.clone(), filter: filter.clone(), below, limit: left.min(BULK_JOBS_MAX) };
            let page = self.store.find(query).await?;
            let command = |view: JobView| Command::Job { tenant: tenant.clone(), id: view.job.id, what: what.clone() };
            let commands: Vec<Command> = page.jobs.into_iter().map(command).collect();
            if !commands.is_empty() {
                let answers = self.command(commands).await?;
                let moved = |answer: &&Commanded| matches!(answer, Commanded::Done | Commanded::Asked);
                bulk.done += answers.iter().filter(moved).count() as u64;
            }
            match page.next {
                Some(next) => below = Some(next),
                None => return Ok(bulk),
            }
        }
        Ok(Bulk { more: true, ..bulk })
    }

    async fn apply_commands(self: Arc<Node>, commands: Vec<Command>) -> store::Result<Vec<Commanded>> {
        let now = self.clock.now();
        let call = self.store.command(now, commands.clone());
        let answers = self.meters.time(Call::Command, call).await?;
        let done: Vec<Command> = commands
            .into_iter()
            .zip(&answers)
            .filter(|(_, answer)| matches!(answer, Commanded::Done | Commanded::Asked))
            .map(|(command, _)| command)
            .collect();
        self.tell_workers_and_queues(&done);
        self.tell_gates_changed(now, &done).await;
        if done.iter().any(|command| matches!(command, Command::Job { what: JobCommand::Cancel { .. }, .. })) {
            self.plan.release();
        }
        // The commands are done; that nobody hears of it at once is no error of theirs.
        match self.views_of(&done).await {
            Ok(views) => self.tell_of_jobs(now, done, &views),
            Err(error) => tracing::warn!(%error, "could not read what commands have moved"),
        }
        Ok(answers)
    }

    fn tell_workers_and_queues(self: &Arc<Node>, done: &[Command]) {
        for command in done {
            match command {
                Command::Worker { id, .. } => self.poll.wake_worker(self, *id),
                Command::Queue { queue, what: QueueCommand::Resume } => self.poll.probe(self, [queue.clone()]),
                Command::Queue { .. } | Command::Job { .. } | Command::Gate { .. } => {}
            }
        }
    }

    /// A limit that changed lets go whatever it lets go; which jobs that are, nobody knows.
    async fn tell_gates_changed(self: &Arc<Node>, now: Time, done: &[Command]) {
        let tenants: BTreeSet<TenantName> = done
            .iter()
            .filter_map(|command| match command {
                Command::Gate { tenant, .. } => Some(tenant.clone()),
                Command::Job { .. } | Command::Queue { .. } | Command::Worker { .. } => None,
            })
            .collect();
        if tenants.is_empty() {
            return;
        }
        self.gated.note();
        match self.behind_gates(tenants).await {
            Ok(queues) => {
                let mut news = News::default();
                news.opened(queues);
                self.announce(now, news);
            }
            Err(error) => tracing::warn!(%error, "could not read which queues a limit holds back"),
        }
    }

    /// The jobs that may be ready or due at another time now, or let others pass; with a listener, all of them.
    async fn views_of(&self, done: &[Command]) -> store::Result<BTreeMap<JobId, JobView>> {
        let (all, gated) = (self.stage.listening(), self.gated.is_known());
        let mut wanted: BTreeMap<&TenantName, Vec<JobId>> = BTreeMap::new();
        for command in done {
            if let Command::Job { tenant, id, what } = command
                && (all || moves_in_time(what) || gated && steps_aside(what))
            {
                wanted.entry(tenant).or_default().push(*id);
            }
        }
        let mut views = BTreeMap::new();
        for (tenant, ids) in wanted {
            let found = self.store.get(tenant, ids).await?;
            views.extend(found.into_iter().flatten().map(|view| (view.job.id, view)));
        }
        Ok(views)
    }

    fn tell_of_jobs(self: &Arc<Node>, now: Time, done: Vec<Command>, views: &BTreeMap<JobId, JobView>) {
        let mut news = News::default();
        for command in &done {
            let Command::Job { id, what, .. } = command else { continue };
            let Some(view) = views.get(id) else { continue };
            if self.gated.is_known() && steps_aside(what) {
                news.opened([view.job.queue_ref()]);
            }
            if !moves_in_time(what) {
                continue;
            }
            match view.standing.state {
                State::Ready if !view.standing.paused => news.ready(&view.job.tenant, &view.job.queue),
                State::Waiting if !view.standing.paused => news.due(view.standing.ready_at),
                _ => {}
            }
        }
        self.announce(now, news);
        self.stage.say(|| done.into_iter().filter_map(|command| event(now, command, views)));
    }
}

/// Whether a job may be ready, or due at another time, after this.
fn moves_in_time(what: &JobCommand) -> bool {
    match what {
        JobCommand::RunNow | JobCommand::Resume | JobCommand::Revive { .. } | JobCommand::Update { .. } => true,
        JobCommand::Pause | JobCommand::Cancel { .. } | JobCommand::Delete => false,
    }
}

/// Whether a job that stood first before a gate, and kept others from passing it, may be out of their way after this.
fn steps_aside(what: &JobCommand) -> bool {
    match what {
        JobCommand::Pause | JobCommand::Cancel { .. } | JobCommand::Update { .. } => true,
        JobCommand::RunNow | JobCommand::Resume | JobCommand::Revive { .. } | JobCommand::Delete => false,
    }
}

fn event(now: Time, command: Command, views: &BTreeMap<JobId, JobView>) -> Option<Event> {
    match command {
        Command::Worker { .. } => None,
        Command::Gate { tenant, reach, what } => {
            let kind = match what {
                GateCommand::Set(_) => EventKind::LimitChanged,
                GateCommand::Clear => EventKind::LimitRemoved,
                GateCommand::Reopen => EventKind::LimitReopened,
            };
            Some(Event::new(now, kind).of_limit(tenant, reach))
        }
        Command::Queue { queue, what } => {
            let kind = match what {
                QueueCommand::Pause => EventKind::QueuePaused,
                QueueCommand::Resume => EventKind::QueueResumed,
                QueueCommand::SetAging(_) | QueueCommand::SetMaxDepth(_) => return None,
            };
            Some(Event::new(now, kind).of_queue(queue))
        }
        Command::Job { tenant, id, what } => {
            let view = views.get(&id);
            let kind = match what {
                // One that runs is cancelled when its worker says so, and told of then.
                JobCommand::Cancel { .. } if view.is_some_and(|view| view.standing.state == State::Running) => {
                    return None;
                }
                JobCommand::Cancel { .. } => EventKind::Cancelled,
                JobCommand::RunNow | JobCommand::Update { .. } => EventKind::Updated,
                JobCommand::Pause => EventKind::Paused,
                JobCommand::Resume => EventKind::Resumed,
                JobCommand::Revive { .. } => EventKind::Revived,
                JobCommand::Delete => EventKind::Deleted,
            };
            let event = Event { tenant: Some(tenant), ..Event::new(now, kind).of_job(id) };
            Some(match view {
                Some(view) => event.of_queue(view.job.queue_ref()),
                None => event,
            })
        }
    }
}
