//! Ends attempts. The core decides what an end means, the store applies it if the fence still matches; here is only
//! the way between them, and who is told.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_core::id::{Fence, JobId, LeaseId};
use mainspring_core::job::{ExecutionOutcome, JobView};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{self, GateNews, Settled, Settlement};
use mainspring_core::time::Time;
use mainspring_core::verdict::{self, Attempt, Outcome, Verdict};

use crate::announce::News;
use crate::error::Result;
use crate::events::{Event, EventKind};
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

/// How an attempt went, as its worker says.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEnd {
    pub lease: LeaseId,
    pub tenant: TenantName,
    pub outcome: Outcome,
}

/// A fence that no store hands out: what is settled under it is answered as stale.
const NEVER: Fence = Fence(0);

impl gather::Item for Settlement {}

impl Node {
    pub(crate) async fn settle(&self, ends: Vec<AttemptEnd>) -> Result<Vec<Settled>> {
        let settlements = self.settlements(ends).await?;
        self.settles.ask(settlements).await
    }

    /// What the ends mean.
    pub(crate) async fn settlements(&self, ends: Vec<AttemptEnd>) -> Result<Vec<Settlement>> {
        let views = self.views_for(&ends).await?;
        let now = self.clock.now();
        let settle = |end: AttemptEnd| {
            let verdict = self.decide(views.get(&(end.tenant, end.lease.job)), end.lease, end.outcome, now);
            match verdict {
                Some(verdict) => Settlement { lease: end.lease, verdict },
                None => Settlement { lease: LeaseId { fence: NEVER, ..end.lease }, verdict: Verdict::Release },
            }
        };
        Ok(ends.into_iter().map(settle).collect())
    }

    /// The jobs whose policy matters. A success needs none, and most ends are successes.
    async fn views_for(&self, ends: &[AttemptEnd]) -> Result<BTreeMap<(TenantName, JobId), JobView>> {
        let mut wanted: BTreeMap<&TenantName, Vec<JobId>> = BTreeMap::new();
        for end in ends.iter().filter(|end| !matches!(end.outcome, Outcome::Succeeded { .. })) {
            wanted.entry(&end.tenant).or_default().push(end.lease.job);
        }
        let mut views = BTreeMap::new();
        for (tenant, ids) in wanted {
            let found = self.store.get(tenant, ids).await?;
            views.extend(found.into_iter().flatten().map(|view| ((tenant.clone(), view.job.id), view)));
        }
        Ok(views)
    }

    /// `None` if this tenant has no job that is held so: whatever its worker says is stale.
    fn decide(&self, view: Option<&JobView>, lease: LeaseId, outcome: Outcome, now: Time) -> Option<Verdict> {
        if let Outcome::Succeeded { result } = outcome {
            return Some(Verdict::Succeed { result });
        }
        let held = |view: &&JobView| view.standing.lease.as_ref().is_some_and(|held| held.fence == lease.fence);
        let view = view.filter(held)?;
        let cancel_asked = view.standing.lease.as_ref().and_then(|held| held.cancel_asked.as_deref());
        let attempt = Attempt { job: &view.job, tally: view.standing.tally, cancel_asked };
        Some(verdict::decide(attempt, outcome, now, self.mint.lock().seed()))
    }
}

/// One call, and all that follows from it, whether the callers still listen or not.
pub(crate) async fn apply(node: &Arc<Node>, settlements: Vec<Settlement>) -> store::Result<Vec<Settled>> {
    let now = node.clock.now();
    let story = Story::of(node, &settlements);
    let call = node.store.settle(now, settlements);
    let answers = node.meters.time_gathered(Call::Settle, story.len(), call).await?;
    story.tell(node, now, &answers);
    Ok(answers)
}

/// What settlements said, kept until the store has answered.
pub(crate) struct Story {
    outcomes: Vec<ExecutionOutcome>,
    /// If anybody listens.
    said: Option<Vec<(JobId, Option<String>)>>,
}

impl Story {
    pub(crate) fn of(node: &Node, settlements: &[Settlement]) -> Story {
        let say = |settlement: &Settlement| {
            (settlement.lease.job, settlement.verdict.error().map(|error| error.message.clone()))
        };
        Story {
            outcomes: settlements.iter().map(|settlement| settlement.verdict.outcome()).collect(),
            said: node.stage.listening().then(|| settlements.iter().map(say).collect()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// All that follows from the answers.
    pub(crate) fn tell(self, node: &Arc<Node>, now: Time, answers: &[Settled]) {
        let Story { outcomes, said } = self;
        node.count_settled(answers, &outcomes);
        node.announce(now, news(now, answers));
        if answers.iter().any(|answer| matches!(answer, Settled::Applied { awaited: true, .. })) {
            node.plan.release();
        }
        if let Some(said) = said {
            node.stage.say(|| {
                let told = said.into_iter().zip(answers.iter().zip(&outcomes));
                told.filter_map(|((job, error), (answer, &outcome))| event(now, job, error, answer, outcome))
            });
        }
        answers.iter().filter_map(gates_of).for_each(|gates| node.tell_gates(now, gates));
    }
}

fn news(now: Time, answers: &[Settled]) -> News {
    let mut news = News::default();
    for answer in answers {
        if let Some(gates) = gates_of(answer) {
            news.gates(gates);
            if gates.closed.as_ref().is_some_and(|&(_, until)| until > now) {
                // It is ready and stands before the gate that it has closed.
                continue;
            }
        }
        match answer {
            Settled::Applied { state: State::Ready, queue, .. } => news.ready(&queue.tenant, &queue.queue),
            Settled::Applied { state: State::Waiting, ready_at, .. } => news.due(*ready_at),
            Settled::Applied { .. } | Settled::Stale => {}
        }
    }
    news
}

fn gates_of(answer: &Settled) -> Option<&GateNews> {
    match answer {
        Settled::Applied { gates, .. } => gates.as_deref(),
        Settled::Stale => None,
    }
}

impl Node {
    fn count_settled(&self, answers: &[Settled], outcomes: &[ExecutionOutcome]) {
        let mut stale = 0;
        let mut run: Option<(&QueueRef, ExecutionOutcome, u64)> = None;
        let count = |(queue, outcome, len): (&QueueRef, ExecutionOutcome, u64)| {
            self.meters.queue(&queue.queue).settled(outcome).increment(len);
        };
        for (answer, &outcome) in answers.iter().zip(outcomes) {
            let Settled::Applied { queue, .. } = answer else {
                stale += 1;
                continue;
            };
            match &mut run {
                Some((last, kind, len)) if *kind == outcome && last.queue == queue.queue => *len += 1,
                _ => {
                    run.replace((queue, outcome, 1)).map(count);
                }
            }
        }
        run.map(count);
        if stale > 0 {
            self.meters.stale.increment(stale);
        }
    }
}

fn event(now: Time, job: JobId, error: Option<String>, answer: &Settled, outcome: ExecutionOutcome) -> Option<Event> {
    let Settled::Applied { state, queue, .. } = answer else { return None };
    let kind = match (outcome, state) {
        (_, State::Succeeded) => EventKind::Completed,
        (_, State::Dead) => EventKind::Failed,
        (_, State::Cancelled) => EventKind::Cancelled,
        (ExecutionOutcome::Snoozed, _) => EventKind::Snoozed,
        (ExecutionOutcome::RateLimited, _) => EventKind::RateLimited,
        (ExecutionOutcome::Released, _) => EventKind::Released,
        _ => EventKind::Retrying,
    };
    Some(Event { error, ..Event::new(now, kind).of_queue(queue.clone()).of_job(job) })
}
