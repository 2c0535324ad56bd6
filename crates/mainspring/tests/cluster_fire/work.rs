//! A worker that says every word itself, and writes down what was acknowledged: heartbeats, claims, ends of every sort. Now and then it
//! vanishes with what it holds, comes back as another, and settles much later what it held before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainspring_wire::{
    ClaimRequest, ClaimedJob, ErrorView, Heartbeat, Holding, Outcome, RawValue, Register, SettleRequest, Settled,
    SettledAs, Settlement, Span, Tenants,
};
use mainspring_worker::{Client, Error, Result};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::Form;
use crate::book::{Book, Hold};
use crate::produce::{DOOMED, FLAKY, QUEUES, SLOW, is_broken};
use crate::watch;

const CLAIM_WAIT: Duration = Duration::from_millis(1_000);
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// About one round in so many ends with the worker gone, beside the first one in which it holds something.
const VANISHES_IN: u32 = 150;

pub struct Worker {
    client: Client,
    book: Arc<Book>,
    form: Form,
    random: StdRng,
    id: Option<Uuid>,
    held: Vec<Held>,
    /// Said without an answer: to be said again, word by word.
    unanswered: Vec<Settlement>,
    /// Held by one that it was before, until then.
    late: Vec<(Held, Instant)>,
    has_vanished: bool,
}

struct Held {
    holding: Holding,
    kind: String,
    since: Instant,
    /// How many rounds it is still worked on.
    rounds: u32,
    cancelled: bool,
}

impl Worker {
    pub fn new(client: Client, book: Arc<Book>, form: Form, number: u64) -> Worker {
        let random = StdRng::seed_from_u64(form.seed * 10_000 + number);
        let (held, unanswered, late) = Default::default();
        Worker { client, book, form, random, id: None, held, unanswered, late, has_vanished: false }
    }

    pub async fn work(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.round().await {
                if error.is_unknown_worker() {
                    self.vanish();
                    continue;
                }
                assert!(error.is_passing() && !is_broken(&error), "a worker was answered: {error}");
                watch::pause(AGAIN_AFTER).await;
            }
        }
        // Everything has ended by now, so whatever it held when it vanished is over.
        while !self.late.is_empty() {
            self.say_late().await.expect("the fire is over");
            watch::pause(AGAIN_AFTER).await;
        }
    }

    async fn round(&mut self) -> Result<()> {
        if self.id.is_none() {
            let register = Register { lease: Some(Span::from(self.form.lease)), ..Register::default() };
            self.id = Some(self.client.register(&register).await?.worker_id);
        }
        self.beat().await?;
        self.say_again().await?;
        self.claim().await?;
        self.say_late().await?;
        if !self.held.is_empty() && (!self.has_vanished || self.random.random_ratio(1, VANISHES_IN)) {
            self.has_vanished = true;
            self.book.pages().vanished += 1;
            self.vanish();
        }
        Ok(())
    }

    async fn beat(&mut self) -> Result<()> {
        let holding: Vec<Holding> = self.held.iter().map(|held| held.holding).collect();
        let beat = Heartbeat { held: None, holding: Some(holding) };
        let answer = self.client.heartbeat(self.id.expect("it is registered"), &beat).await?;
        let (lost, kept) = self.held.drain(..).partition(|held| answer.lost.contains(&held.holding));
        self.held = kept;
        self.lose(lost);
        for held in self.held.iter_mut().filter(|held| answer.cancel.contains(&held.holding)) {
            (held.cancelled, held.rounds) = (true, 0);
        }
        Ok(())
    }

    /// Settles what is finished, by itself or with the next claim.
    async fn claim(&mut self) -> Result<()> {
        let (done, kept) = self.held.drain(..).partition(|held| held.rounds == 0);
        self.held = kept;
        self.held.iter_mut().for_each(|held| held.rounds -= 1);
        let mut settlements: Vec<Settlement> = self.finish(done);
        if self.random.random_bool(0.5) {
            self.settle(std::mem::take(&mut settlements)).await?;
        }
        let claim = ClaimRequest {
            worker_id: self.id.expect("it is registered"),
            queues: QUEUES.map(str::to_owned).to_vec(),
            max: self.random.random_range(1..6),
            tenants: Tenants::Own,
            wait: settlements.is_empty().then(|| CLAIM_WAIT.into()),
            settlements: settlements.clone(),
        };
        let answer = match self.client.claim(&claim).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.unheard(settlements, error)),
        };
        self.told(&settlements, &answer.settled);
        for job in &answer.jobs {
            self.take(job);
        }
        answer.problem.map_or(Ok(()), |problem| match problem.kind == mainspring_wire::problem::UNKNOWN_WORKER {
            true => Err(Error::Refused(Box::new(problem))),
            false => {
                assert_eq!(problem.status, 503, "a claim was refused: {problem}");
                Ok(())
            }
        })
    }

    fn take(&mut self, job: &ClaimedJob) {
        let holding = Holding { job_id: job.job_id, fence: job.fence };
        self.book.deliver(job.job_id, job.fence);
        let rounds = if job.kind == SLOW { self.random.random_range(2..5) } else { self.random.random_range(0..2) };
        self.held.push(Held { holding, kind: job.kind.clone(), since: watch::now(), rounds, cancelled: false });
    }

    /// What is said of these.
    fn finish(&mut self, done: Vec<Held>) -> Vec<Settlement> {
        let mut settlements = Vec::new();
        for held in done {
            let fails = held.cancelled || held.kind == DOOMED || held.kind == FLAKY && self.random.random_bool(0.5);
            settlements.push(if fails { failure(held.holding) } else { success(held.holding) });
            self.release(&held);
        }
        settlements
    }

    async fn settle(&mut self, settlements: Vec<Settlement>) -> Result<()> {
        if settlements.is_empty() {
            return Ok(());
        }
        match self.client.settle(&SettleRequest { settlements: settlements.clone() }).await {
            Ok(answer) => {
                self.told(&settlements, &answer.results);
                Ok(())
            }
            Err(error) => Err(self.unheard(settlements, error)),
        }
    }

    fn told(&mut self, settlements: &[Settlement], results: &[Settled]) {
        assert_eq!(settlements.len(), results.len(), "one answer for each settlement");
        for (settlement, settled) in settlements.iter().zip(results) {
            assert_eq!(settlement.job_id, settled.job_id, "the answers are in order");
            self.book.settle(settlement.job_id, settlement.fence, settled.state);
        }
    }

    fn unheard(&mut self, settlements: Vec<Settlement>, error: Error) -> Error {
        for settlement in &settlements {
            self.book.doubt(settlement.job_id, settlement.fence, settlement.outcome);
        }
        self.unanswered.extend(settlements);
        error
    }

    async fn say_again(&mut self) -> Result<()> {
        let settlements = std::mem::take(&mut self.unanswered);
        self.settle(settlements).await
    }

    /// Settles something that it held when it was another worker.
    async fn say_late(&mut self) -> Result<()> {
        let after = self.form.lease + self.form.lease / 2;
        let Some(at) = self.late.iter().position(|(_, since)| since.elapsed() > after) else { return Ok(()) };
        let holding = self.late[at].0.holding;
        let job = self.client.job(holding.job_id).await?;
        let is_over = job.lease.as_ref().is_none_or(|lease| lease.fence != holding.fence);
        // Whoever takes over from a node that died spares workers that seem silent for a while. Every other one waits for it.
        if !is_over && holding.fence.is_multiple_of(2) {
            self.late[at].1 = watch::now();
            return Ok(());
        }
        let (held, _) = self.late.swap_remove(at);
        // It may be heard all the same, if nobody has taken it back yet.
        let settlement = if held.kind == DOOMED { failure(holding) } else { success(holding) };
        match self.client.settle(&SettleRequest { settlements: vec![settlement.clone()] }).await {
            Ok(answer) => {
                let state = answer.results[0].state;
                if is_over {
                    assert_eq!(state, SettledAs::Stale, "fence {} of job {} is over", holding.fence, holding.job_id);
                    self.book.pages().late += 1;
                }
                self.book.settle(holding.job_id, holding.fence, state);
                Ok(())
            }
            Err(error) => {
                self.book.doubt(holding.job_id, holding.fence, settlement.outcome);
                Err(error)
            }
        }
    }

    /// It is another worker from now on.
    fn vanish(&mut self) {
        self.id = None;
        let held = std::mem::take(&mut self.held);
        self.lose(held);
    }

    fn lose(&mut self, lost: Vec<Held>) {
        for held in lost {
            self.release(&held);
            self.late.push((held, watch::now()));
        }
    }

    /// From here on it may be somebody else's.
    fn release(&self, held: &Held) {
        let Holding { job_id, fence } = held.holding;
        self.book.pages().holds.push(Hold { job: job_id, fence, from: held.since, until: watch::now() });
    }
}

fn success(holding: Holding) -> Settlement {
    let fence = RawValue::from_string(holding.fence.to_string()).expect("a number is JSON");
    Settlement { result: Some(fence), ..Settlement::new(holding.job_id, holding.fence, Outcome::Success) }
}

fn failure(holding: Holding) -> Settlement {
    let error = ErrorView { message: "not this time".into(), ..ErrorView::default() };
    Settlement { error: Some(error), ..Settlement::new(holding.job_id, holding.fence, Outcome::Failure) }
}
