//! One running node: what its verbs and actors share, how it starts and how it ends. Does no work itself.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::{LeaseId, NodeId};
use mainspring_core::job::Job;
use mainspring_core::seats::{Role, Seats};
use mainspring_core::store::{Beat, Claim, Hold, Pulse, Report, Settled, Settlement, Store, Submitted};
use mainspring_core::time::Time;
use mainspring_core::wakeups::{Wakeup, Wakeups};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

use crate::actor::{self, Actor};
use crate::calm::Calm;
use crate::clock::Clock;
use crate::dispatch::{Backstop, Handful, Poll, Turn, Turned, give_back};
use crate::engine::Parts;
use crate::error::{Error, Result};
use crate::events::{Events, Stage};
use crate::gated::Gated;
use crate::gather::{Bounds, Gathering, STUCK_AFTER};
use crate::health::{Chart, Health};
use crate::lanes::{Lanes, lanes};
use crate::measure::Meters;
use crate::mint::Mint;
use crate::nudge::Nudge;
use crate::ownership::{Holdings, Ownership, Post};
use crate::schedule::Calendars;
use crate::settings::Settings;
use crate::signal::Signal;
use crate::sweep::Sweep;
use crate::trigger::{Plan, Rounds, Trigger, Turner};
use crate::{relay, settle};

/// How long a node that shuts down waits for its seats to be given up. Their terms end by themselves.
const LEAVE_MAX: Duration = Duration::from_secs(2);

/// What verbs and actors share.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) started_at: Time,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) seats: Arc<dyn Seats>,
    pub(crate) wakeups: Arc<dyn Wakeups>,
    pub(crate) clock: Arc<dyn Clock>,

    pub(crate) mint: Mint,
    pub(crate) meters: Meters,
    pub(crate) stage: Stage,
    pub(crate) chart: Chart,
    pub(crate) holdings: Holdings,
    pub(crate) post: Post,

    pub(crate) submits: Lanes<Job, Submitted>,
    pub(crate) claims: Lanes<Claim, Handful>,
    pub(crate) settles: Lanes<Settlement, Settled>,
    pub(crate) turns: Lanes<Turn, Turned>,
    pub(crate) reports: Lanes<Report, Hold>,
    pub(crate) beats: Lanes<Beat, Pulse>,

    pub(crate) poll: Poll,
    pub(crate) plan: Plan,
    pub(crate) gated: Gated,
    /// Nudges for the actors; the trigger's is the plan's.
    pub(crate) ownership: Arc<Nudge>,
    pub(crate) sweep: Arc<Nudge>,
    /// Due schedules on their way from the trigger to the one that turns them.
    pub(crate) rounds: Rounds,
    pub(crate) calendars: Calendars,
    pub(crate) calm: Calm,
    /// Held by whoever moves the clock.
    pub(crate) walk: Mutex<()>,
    /// Claimed jobs that did not reach their worker.
    pub(crate) dropped: mpsc::UnboundedSender<Vec<LeaseId>>,
    pub(crate) hints: mpsc::Sender<Vec<Wakeup>>,

    /// Stop what you are doing.
    pub(crate) closing: Signal,
    /// Everything that could drop a claimed job has stopped.
    ended: Signal,
}

/// The receiving ends of what a node owns.
pub(crate) struct Ends {
    submits: Vec<Gathering<Job, Submitted>>,
    claims: Vec<Gathering<Claim, Handful>>,
    settles: Vec<Gathering<Settlement, Settled>>,
    turns: Vec<Gathering<Turn, Turned>>,
    reports: Vec<Gathering<Report, Hold>>,
    beats: Vec<Gathering<Beat, Pulse>>,
    dropped: mpsc::UnboundedReceiver<Vec<LeaseId>>,
    hints: mpsc::Receiver<Vec<Wakeup>>,
}

impl Node {
    pub(crate) fn new(parts: Parts, settings: Settings) -> (Arc<Node>, Ends) {
        let now = parts.clock.now();
        let (mint, meters) = (Mint::new(settings.seed, settings.placement), Meters::new());
        let bounds = Bounds {
            call_max: settings.gather_jobs_max,
            eager_max: settings.gather_eager_max,
            calls_max: settings.gather_calls_max,
            waiting_max: settings.inflight_max,
            drop_abandoned: false,
        };
        let (placement, rejected) = (settings.placement, &meters.rejected_busy);
        let (submits, submits_end) = lanes(placement, bounds, rejected);
        // Jobs claimed for a worker that has hung up would only have to be given back.
        let (claims, claims_end) = lanes(placement, Bounds { drop_abandoned: true, ..bounds }, rejected);
        let (settles, settles_end) = lanes(placement, bounds, rejected);
        let (turns, turns_end) = lanes(placement, bounds, rejected);
        let (reports, reports_end) = lanes(placement, bounds, rejected);
        let (beats, beats_end) = lanes(placement, bounds, rejected);
        let (dropped, dropped_end) = mpsc::unbounded_channel();
        let (hints, hints_end) = mpsc::channel(relay::HINTS_MAX);

        let id = mint.lock().node();
        let node = Node {
            id,
            started_at: now,
            plan: Plan::new(now, settings.look_ahead),
            settings,
            store: parts.store,
            seats: parts.seats,
            wakeups: parts.wakeups,
            clock: parts.clock,
            mint,
            meters,
            stage: Stage::new(),
            chart: Chart::new(now),
            holdings: Holdings::none(),
            post: Post::default(),
            submits,
            claims,
            settles,
            turns,
            reports,
            beats,
            poll: Poll::new(),
            gated: Gated::default(),
            ownership: Arc::default(),
            sweep: Arc::default(),
            rounds: Rounds::new(),
            calendars: Calendars::new(),
            calm: Calm::new(),
            walk: Mutex::default(),
            dropped,
            hints,
            closing: Signal::new(),
            ended: Signal::new(),
        };
        let ends = Ends {
            submits: submits_end,
            claims: claims_end,
            settles: settles_end,
            turns: turns_end,
            reports: reports_end,
            beats: beats_end,
            dropped: dropped_end,
            hints: hints_end,
        };
        (Arc::new(node), ends)
    }

    /// Refuses what this node was not started for.
    pub(crate) fn needs(&self, role: Role) -> Result<()> {
        if self.settings.roles.has(role) { Ok(()) } else { Err(Error::Elsewhere { role: role.as_str() }) }
    }

    pub(crate) fn health(&self) -> Health {
        self.chart.read(self.closing.is_raised())
    }

    pub(crate) fn subscribe(&self) -> Events {
        self.stage.subscribe(self.closing.listen(), self.clock.clone())
    }
}

/// A node with its tasks. They stop when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) node: Arc<Node>,
    tasks: Mutex<Option<Tasks>>,
}

#[derive(Debug)]
struct Tasks {
    /// End when the node closes.
    working: Vec<JoinHandle<()>>,
    /// Ends after them.
    last: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(parts: Parts, settings: Settings) -> Result<Running> {
        let (node, ends) = Node::new(parts, settings);
        let mut ownership = Ownership::new(node.clone());
        let mut trigger = Trigger::new(node.clone());
        node.learn_limits().await?;
        let now = node.clock.now();
        let renew_at = ownership.tick(now).await?;
        let fire_at = trigger.tick(now).await?;

        let sweep = Sweep::new(node.clone(), now);
        let mut running = Running::verbs_alone(node.clone(), ends);
        let tasks = running.tasks.get_mut().as_mut().expect("has just been made");
        tasks.working.extend([
            actor::spawn(ownership, &node, node.ownership.clone(), renew_at),
            actor::spawn(trigger, &node, node.plan.nudge(), fire_at),
            actor::spawn(Turner::new(node.clone()), &node, node.rounds.nudge(), now),
            actor::spawn(sweep, &node, node.sweep.clone(), now),
            actor::spawn(Backstop::new(node.clone()), &node, Arc::default(), now),
        ]);
        Ok(running)
    }

    /// Answers callers and does nothing by itself.
    pub(crate) fn verbs_alone(node: Arc<Node>, ends: Ends) -> Running {
        let mut working =
            vec![tokio::spawn(relay::tell(node.clone(), ends.hints)), tokio::spawn(relay::hear(node.clone()))];
        let gathers = [
            spawn_gather(&node, ends.submits, |node, jobs| node.apply_submits(jobs)),
            spawn_gather(&node, ends.claims, |node, claims| async move { node.apply_claims(claims).await }),
            spawn_gather(&node, ends.settles, |node, ends| async move { settle::apply(&node, ends).await }),
            spawn_gather(&node, ends.turns, |node, turns| node.apply_turns(turns)),
            spawn_gather(&node, ends.reports, |node, reports| async move { node.apply_reports(reports).await }),
            spawn_gather(&node, ends.beats, |node, beats| node.apply_beats(beats)),
        ];
        working.extend(gathers.into_iter().flatten());
        let last = tokio::spawn(give_back(node.clone(), ends.dropped, node.ended.listen()));
        Running { node, tasks: Mutex::new(Some(Tasks { working, last })) }
    }

    pub(crate) async fn shutdown(&self) {
        let mut tasks = self.tasks.lock().await;
        let Some(Tasks { working, last }) = tasks.take() else { return };
        let node = &self.node;
        // First the seats: while this node finishes what it has, others do already what falls due.
        match tokio::time::timeout(LEAVE_MAX, node.hand_over()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not give up the seats; their terms will end"),
            Err(_) => tracing::warn!("giving up the seats took too long; their terms will end"),
        }
        node.closing.raise();
        node.poll.close();
        for task in working {
            join(task).await;
        }
        node.ended.raise();
        join(last).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.node.closing.raise();
        self.node.ended.raise();
    }
}

fn spawn_gather<I, A, F>(
    node: &Arc<Node>,
    ends: Vec<Gathering<I, A>>,
    apply: fn(Arc<Node>, Vec<I>) -> F,
) -> Vec<JoinHandle<()>>
where
    I: crate::gather::Item,
    A: Send + 'static,
    F: Future<Output = mainspring_core::store::Result<Vec<A>>> + Send + 'static,
{
    let spawn = |end: Gathering<I, A>| {
        let (node, closing) = (node.clone(), node.closing.listen());
        let clock = node.clock.clone();
        let stuck = move || {
            let clock = clock.clone();
            async move { clock.patience(STUCK_AFTER).await }
        };
        tokio::spawn(end.run(move |items| apply(node.clone(), items), closing, stuck))
    };
    ends.into_iter().map(spawn).collect()
}

/// A task that panicked has said so; the others still end in order.
async fn join(task: JoinHandle<()>) {
    if let Err(error) = task.await {
        tracing::error!(%error, "a task of the node has failed");
    }
}
