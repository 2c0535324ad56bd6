//! The claim: ask the store, and if there is nothing, wait for a wake. Ranks nothing: the store hands out the best.
//!
//! Each claim asks once by itself. After that it is parked, and a wake of n jobs takes as many waiters to the store as n
//! jobs can serve, in one request.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mainspring_core::id::WorkerId;
use mainspring_core::job::Claimed;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{self, Claim, ClaimAnswer};
use mainspring_core::time::Time;
use tokio::sync::oneshot;

use super::handful::Handful;
use super::parking::{Parked, Parking, Waiter, Woken};
use crate::actor::Actor;
use crate::calm::Errand;
use crate::error::{Error, Result};
use crate::events::{Event, EventKind};
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

/// Behind the wakes, for hints that were lost, every queue somebody waits for is looked at so often.
const BACKSTOP_EVERY: Duration = Duration::from_secs(5);

/// What a worker asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimAsk {
    pub worker: WorkerId,
    pub tenant: TenantName,
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
        let claim = Claim { worker: ask.worker, tenant: ask.tenant, queues: ask.queues, max: ask.max };
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
        let handful = |answer| Handful::new(answer, self.dropped.clone());
        let handfuls: Vec<Handful> = answers.into_iter().map(handful).collect();
        self.count_claimed(&handfuls);
        Ok(handfuls)
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
    parking: Parking,
}

/// How a wake knows its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// So many jobs are ready.
    Counted,
    /// Nobody knows: while something is found, look for twice as much.
    Probe,
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
        let one_each: Vec<(QueueRef, u64)> = queues.into_iter().map(|queue| (queue, 1)).collect();
        serve_all(node, self.parking.wake(&one_each), Wake::Probe);
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

/// Claims on their way to the store behind a submit.
#[derive(Debug)]
pub(crate) struct Along(Vec<Woken>);

impl Along {
    /// For how many jobs of a queue they were taken.
    pub(crate) fn share_of(&self, queue: &QueueRef) -> u64 {
        let shares = self.0.iter().filter_map(|woken| woken.by.as_ref());
        shares.filter(|(by, _)| by == queue).map(|(_, share)| share).sum()
    }

    /// Asks the store at once, without gathering. Whoever gets nothing waits on.
    pub(crate) async fn ask(self, node: &Arc<Node>) {
        if !self.0.is_empty() {
            let again = serve_once(node, self.0, Wake::Counted, Way::Direct).await;
            serve_all(node, again, Wake::Counted);
        }
    }
}

/// How woken claims reach the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Gathered,
    Direct,
}

/// Takes woken claims to the store, in requests that fit one call each.
fn serve_all(node: &Arc<Node>, woken: Vec<Woken>, wake: Wake) {
    let mut rest = woken;
    while !rest.is_empty() {
        let mut weight = 0;
        let fits = rest.iter().take_while(|woken| {
            weight += gather::Item::weight(&woken.waiter.claim);
            weight <= node.settings.gather_jobs_max
        });
        let later = rest.split_off(fits.count().max(1));
        let (serving, errand) = (serve(node.clone(), rest, wake), Errand::begin(node));
        tokio::spawn(async move {
            serving.await;
            drop(errand);
        });
        rest = later;
    }
}

async fn serve(node: Arc<Node>, mut woken: Vec<Woken>, wake: Wake) {
    while !woken.is_empty() {
        woken = serve_once(&node, woken, wake, Way::Gathered).await;
    }
}

/// Asks for all of them once. Answers those that must ask again, because something was woken meanwhile.
async fn serve_once(node: &Arc<Node>, woken: Vec<Woken>, wake: Wake, way: Way) -> Vec<Woken> {
    let parking = &node.poll.parking;
    let generations: Vec<u64> = woken.iter().map(|woken| parking.generation(&woken.waiter.claim)).collect();
    let claims = woken.iter().map(|woken| woken.waiter.claim.clone()).collect();
    let asked = match way {
        Way::Gathered => node.claims.ask_patiently(claims).await,
        Way::Direct => node.apply_claims(claims).await.map_err(Error::Store),
    };
    let answers = match asked {
        Ok(answers) => answers,
        Err(Error::Closed) => {
            woken.into_iter().for_each(|woken| send_away(woken.waiter));
            return Vec::new();
        }
        Err(error) => {
            for woken in woken {
                let _ = woken.waiter.reply.send(Err(error.clone()));
            }
            return Vec::new();
        }
    };
    let mut again = Vec::new();
    let mut unspent = Vec::new();
    for ((Woken { waiter, by }, generation), handful) in woken.into_iter().zip(generations).zip(answers) {
        let found = by.as_ref().map_or(0, |(queue, _)| handful.count_of(queue) as u64);
        if let Some((queue, share)) = by {
            let pass_on = match (handful.jobs(), wake) {
                (Some(_), Wake::Probe) => found * 2,
                // Filled up from its other queues, or not one to give jobs to: the next in line is served.
                (Some(jobs), _) if jobs.len() >= waiter.claim.max => share.saturating_sub(found),
                (None, _) => share,
                (Some(_), Wake::Counted) => 0,
            };
            unspent.push((queue, pass_on));
        }
        if !handful.is_empty() {
            // A receiver that is gone drops the handful, and that gives its jobs back.
            let _ = waiter.reply.send(Ok(handful));
            continue;
        }
        match parking.park(waiter, generation) {
            Parked::Waiting { .. } => {}
            Parked::Changed(waiter) => again.push(Woken { waiter, by: None }),
            Parked::Over(waiter) => send_away(waiter),
        }
    }
    unspent.retain(|&(_, count)| count > 0);
    if !unspent.is_empty() {
        serve_all(node, parking.wake(&unspent), wake);
    }
    again
}

fn send_away(waiter: Waiter) {
    let (nothing, _) = tokio::sync::mpsc::unbounded_channel();
    let _ = waiter.reply.send(Ok(Handful::new(ClaimAnswer::Jobs(vec![]), nothing)));
}

/// Looks behind the wakes.
#[derive(Debug)]
pub(crate) struct Backstop {
    node: Arc<Node>,
}

impl Backstop {
    pub(crate) fn new(node: Arc<Node>) -> Backstop {
        Backstop { node }
    }
}

impl Actor for Backstop {
    const NAME: &'static str = "backstop";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        self.node.poll.probe(&self.node, self.node.poll.parking.queues());
        Ok(now.after(BACKSTOP_EVERY))
    }
}
