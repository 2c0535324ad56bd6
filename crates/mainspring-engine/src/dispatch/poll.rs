//! The claim: ask the store, and if there is nothing, wait for a wake. Ranks nothing: the store hands out the best.
//!
//! Each claim asks once by itself. After that it is parked, and a wake of n jobs takes as many waiters to the store (`serve`)
//! as n jobs can serve, in one request.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mainspring_core::id::WorkerId;
use mainspring_core::job::Claimed;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{self, Claim, ClaimAnswer, Whose};
use mainspring_core::time::Time;
use tokio::sync::oneshot;

use super::handful::Handful;
use super::parking::{Line, Parked, Parking, Waiter};
use super::serve::{Along, Wake, send_away, serve_all};
use crate::error::{Error, Result};
use crate::events::{Event, EventKind};
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

/// What a worker asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimAsk {
    pub worker: WorkerId,
    pub tenant: TenantName,
    pub whose: Whose,
    pub queues: Vec<QueueName>,
    pub max: usize,
    /// How long to wait for the first job.
    pub wait: Duration,
}

impl gather::Item for Claim {
    fn weight(&self) -> usize {
        self.max.max(1)
    }
}

impl Node {
    pub(crate) async fn claim(&self, ask: ClaimAsk) -> Result<ClaimAnswer> {
        let (claim, patience) = self.claim_of(ask);
        let generation = self.poll.generation(&claim);
        let handful = self.ask_once(&claim).await?;
        self.wait_for_more(handful, claim, generation, patience).await
    }

    /// What the store is asked, and how long a claim that finds nothing waits.
    pub(super) fn claim_of(&self, ask: ClaimAsk) -> (Claim, Patience) {
        let wait = ask.wait.min(self.settings.claim_wait_max);
        let claim =
            Claim { worker: ask.worker, tenant: ask.tenant, whose: ask.whose, queues: ask.queues, max: ask.max };
        (claim, Patience { wait, until: self.clock.now().after(wait) })
    }

    async fn ask_once(&self, claim: &Claim) -> Result<Handful> {
        Ok(self.claims.ask(vec![claim.clone()]).await?.pop().expect("one answer for one claim"))
    }

    /// Takes what the store gave; if that is nothing, waits for a wake. `generation` was noted before the store was asked.
    pub(super) async fn wait_for_more(
        &self,
        mut handful: Handful,
        claim: Claim,
        mut generation: u64,
        patience: Patience,
    ) -> Result<ClaimAnswer> {
        loop {
            if !handful.is_empty() || self.clock.now() >= patience.until {
                return Ok(handful.take());
            }
            let (reply, answer) = oneshot::channel();
            let over = Arc::new(AtomicBool::new(false));
            match self.poll.parking.park(Waiter::new(claim.clone(), reply, over.clone()), generation) {
                Parked::Waiting { ticket } => {
                    self.look_at_gates();
                    let place = Place { parking: &self.poll.parking, ticket, over };
                    return self.wait(place, answer, patience.wait).await;
                }
                Parked::Changed(_) => {}
                Parked::Over(_) => return Ok(handful.take()),
            }
            generation = self.poll.generation(&claim);
            handful = self.ask_once(&claim).await?;
        }
    }

    async fn wait(
        &self,
        place: Place<'_>,
        mut answer: oneshot::Receiver<Result<Handful>>,
        wait: Duration,
    ) -> Result<ClaimAnswer> {
        tokio::select! {
            biased;
            answer = &mut answer => return answer.unwrap_or(Err(Error::Closed)).map(Handful::take),
            () = self.clock.patience(wait) => {}
        }
        if place.leave() {
            return Ok(ClaimAnswer::Jobs(vec![]));
        }
        // It is being served just now: what is found is taken along.
        answer.await.unwrap_or(Err(Error::Closed)).map(Handful::take)
    }

    /// One gathered call.
    pub(crate) async fn apply_claims(&self, claims: Vec<Claim>) -> store::Result<Vec<Handful>> {
        let now = self.clock.now();
        let answers = self.meters.time_gathered(Call::Claim, claims.len(), self.store.claim(now, claims)).await?;
        Ok(self.handfuls(answers))
    }

    /// What the store handed out, counted and told.
    pub(super) fn handfuls(&self, answers: Vec<ClaimAnswer>) -> Vec<Handful> {
        let handful = |answer| Handful::new(answer, self.dropped.clone());
        let handfuls: Vec<Handful> = answers.into_iter().map(handful).collect();
        self.count_claimed(&handfuls);
        handfuls
    }

    fn count_claimed(&self, handfuls: &[Handful]) {
        let now = self.clock.now();
        let claimed = || handfuls.iter().filter_map(Handful::jobs).flatten();
        let all: Vec<&Claimed> = claimed().collect();
        for run in all.chunk_by(|a, b| a.job.queue == b.job.queue) {
            self.meters.queue(&run[0].job.queue).claimed.increment(run.len() as u64);
        }
        // A retry does not say since when it has been due.
        let due_at = |claimed: &&Claimed| claimed.job.run_at.max(claimed.job.submitted_at);
        let first: Vec<&Claimed> =
            all.iter().copied().filter(|claimed| claimed.tally.attempts == 1 && claimed.tally.retries() == 0).collect();
        for run in first.chunk_by(|a, b| due_at(a) == due_at(b)) {
            self.meters.claim_latency.record_many(now.since(due_at(&run[0])), run.len());
        }
        self.stage.say(|| {
            all.iter().map(|claimed| Event {
                job_type: Some(claimed.job.kind.clone()),
                worker: Some(claimed.lease.worker),
                attempt: Some(claimed.tally.attempts),
                ..Event::new(now, EventKind::Claimed).of_queue(claimed.job.queue_ref()).of_job(claimed.job.id)
            })
        });
    }
}

/// How long a claim that finds nothing waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    wait: Duration,
    until: Time,
}

/// A parked claim's hold on its place. Left when the request is dropped.
struct Place<'a> {
    parking: &'a Parking,
    ticket: u64,
    over: Arc<AtomicBool>,
}

impl Place<'_> {
    fn leave(&self) -> bool {
        self.parking.leave(self.ticket, &self.over)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The claims that wait.
#[derive(Debug)]
pub(crate) struct Poll {
    pub(super) parking: Parking,
}

impl Poll {
    pub(crate) fn new() -> Poll {
        Poll { parking: Parking::new() }
    }

    /// To be noted before the store is asked.
    pub(super) fn generation(&self, claim: &Claim) -> u64 {
        self.parking.generation(claim)
    }

    /// So many jobs of these queues are ready.
    pub(crate) fn wake(&self, node: &Arc<Node>, ready: &[(QueueRef, u64)]) {
        serve_all(node, self.parking.wake(ready), Wake::Counted);
    }

    /// Takes claims that wait for these queues along with the submit that brings the jobs: both reach the store together,
    /// and a job goes from its client to its worker in one commit in place of two.
    pub(crate) fn take_along(&self, coming: &[(QueueRef, u64)]) -> Along {
        Along(self.parking.take(coming))
    }

    /// Some jobs of these queues may be ready.
    pub(crate) fn probe(&self, node: &Arc<Node>, queues: impl IntoIterator<Item = QueueRef>) {
        self.probe_as(Wake::Probe, node, queues.into_iter().map(Line::Queue));
    }

    /// Gates of these queues have opened, as the trigger or another node has just seen. What names too much keeps nobody busy.
    pub(crate) fn probe_opened(&self, node: &Arc<Node>, queues: impl IntoIterator<Item = QueueRef>) {
        self.probe_as(Wake::Opened, node, queues.into_iter().map(Line::Queue));
    }

    /// Whatever somebody waits for may be ready.
    pub(super) fn probe_all(&self, node: &Arc<Node>) {
        self.probe_as(Wake::Probe, node, self.parking.lines());
    }

    fn probe_as(&self, wake: Wake, node: &Arc<Node>, lines: impl IntoIterator<Item = Line>) {
        let one_each: Vec<(Line, u64)> = lines.into_iter().map(|line| (line, 1)).collect();
        serve_all(node, self.parking.wake_lines(&one_each), wake);
    }

    /// Whether a claim that this queue can serve waits on this node.
    pub(crate) fn is_waited_for(&self, queue: &QueueRef) -> bool {
        self.parking.is_waited_for(queue)
    }

    /// A worker was given an order: its waiting claims must hear of it.
    pub(crate) fn wake_worker(&self, node: &Arc<Node>, worker: WorkerId) {
        serve_all(node, self.parking.wake_worker(worker), Wake::Counted);
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.parking.len()
    }

    pub(crate) fn close(&self) {
        self.parking.close().into_iter().for_each(send_away);
    }
}
