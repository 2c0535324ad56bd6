//! Full lifecycles: submit → claim → settle over HTTP, with submitters and workers at once, as in production. Every job is
//! counted when its settlement was taken.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use mainspring_wire::Timestamp;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bench::body::{Due, Shape, Template};
use crate::bench::figures::{Figures, Latencies};
use crate::bench::hand::{Ask, Hand, Round, Submitter};
use crate::clock;

/// How long a claim waits for the pipeline to bring something.
const CLAIM_WAIT: Duration = Duration::from_secs(5);
/// No run goes on for longer.
const RUN_TIME_MAX: Duration = Duration::from_secs(1800);

#[derive(Clone, Debug)]
pub struct Load {
    pub queue: String,
    pub jobs: usize,
    /// Jobs in a request; with 1, the single-job calls are used and each connection goes round by itself.
    pub batch: usize,
    /// As many submitters.
    pub connections: usize,
    /// Connections that claim and settle; with single-job calls each submitter is its own.
    pub workers: usize,
    /// Jobs between submit and settle; what bounds the wait in the queue.
    pub in_flight: usize,
    pub payload_bytes: usize,
    /// What all of them share limits by.
    pub key: Option<String>,
}

/// How a worker settles and claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With a request for each.
    Apart,
    /// What it holds is settled by the request that claims the next, as the SDK does it.
    Joined,
}

pub async fn measure(form: Form, address: SocketAddr, load: &Load) -> anyhow::Result<Figures> {
    ensure!(load.jobs >= load.batch && load.batch > 0 && load.connections > 0, "there is nothing to measure");
    let mut walkers = JoinSet::new();
    let run = Arc::new(Run::new(load));
    let ask = Ask { queue: &load.queue, max: load.batch.min(crate::bench::CLAIM_MAX), wait: CLAIM_WAIT };
    let shape =
        Shape { queue: &load.queue, payload_bytes: load.payload_bytes, due: Due::Now, key: load.key.as_deref() };
    for _ in 0..load.connections {
        if load.batch == 1 {
            let template = Template::single(shape);
            let submitter = Submitter::singles(address, template).await?;
            let hand = Hand::register(address, ask).await?;
            match form {
                Form::Apart => walkers.spawn(round_and_round(run.clone(), submitter, hand)),
                Form::Joined => walkers.spawn(turn_after_turn(run.clone(), submitter, hand)),
            };
        } else {
            let template = Template::batch(shape, load.batch);
            walkers.spawn(submit_all(run.clone(), Submitter::batches(address, template).await?));
        }
    }
    let workers = if load.batch == 1 { 0 } else { load.workers.max(1) };
    for _ in 0..workers {
        let hand = Hand::register(address, ask).await?;
        match form {
            Form::Apart => walkers.spawn(settle_all(run.clone(), hand)),
            Form::Joined => walkers.spawn(turn_all(run.clone(), hand)),
        };
    }
    let started = clock::instant();
    run.start.cancel();
    let finish = async {
        let mut times = Times::new();
        while let Some(walked) = walkers.join_next().await {
            times.merge(&walked.context("a connection panicked")??);
        }
        anyhow::Ok(times)
    };
    let times = tokio::time::timeout(RUN_TIME_MAX, finish).await.context("the run took too long")??;
    // The last settlement ended the run; what came after is its news reaching the others.
    let elapsed = started.elapsed();
    Ok(times.figures(run.total as f64 / elapsed.as_secs_f64()))
}

#[derive(Debug)]
struct Run {
    total: usize,
    batch: usize,
    submitted: AtomicUsize,
    settled: AtomicUsize,
    room: Semaphore,
    start: CancellationToken,
    done: CancellationToken,
}

impl Run {
    fn new(load: &Load) -> Run {
        Run {
            total: load.jobs / load.batch * load.batch,
            batch: load.batch,
            submitted: AtomicUsize::new(0),
            settled: AtomicUsize::new(0),
            room: Semaphore::new(load.in_flight.max(load.batch * load.connections)),
            start: CancellationToken::new(),
            done: CancellationToken::new(),
        }
    }

    /// Whether there is another batch to submit.
    fn take_batch(&self) -> bool {
        self.submitted.fetch_add(self.batch, Ordering::Relaxed) < self.total
    }

    fn settled(&self, jobs: usize) {
        self.room.add_permits(jobs);
        if self.settled.fetch_add(jobs, Ordering::Relaxed) + jobs >= self.total {
            self.done.cancel();
        }
    }
}

async fn submit_all(run: Arc<Run>, mut submitter: Submitter) -> anyhow::Result<Times> {
    let mut times = Times::new();
    run.start.cancelled().await;
    while run.take_batch() {
        run.room.acquire_many(u32::try_from(run.batch)?).await?.forget();
        times.submit.record(submitter.submit(at_once).await?);
    }
    Ok(times)
}

async fn settle_all(run: Arc<Run>, mut hand: Hand) -> anyhow::Result<Times> {
    let mut times = Times::new();
    let mut sent = Vec::with_capacity(run.batch);
    run.start.cancelled().await;
    loop {
        sent.clear();
        let round = tokio::select! {
            round = hand.claim(|held| sent.push(held.sent_us())) => round?,
            () = run.done.cancelled() => return Ok(times),
        };
        let round = hand.settle(round).await?;
        times.round(round.jobs, round.claim_us, round.settle_us, &sent);
        run.settled(round.jobs);
    }
}

async fn round_and_round(run: Arc<Run>, mut submitter: Submitter, mut hand: Hand) -> anyhow::Result<Times> {
    let mut times = Times::new();
    let mut sent = Vec::with_capacity(1);
    run.start.cancelled().await;
    while run.take_batch() {
        times.submit.record(submitter.submit(at_once).await?);
        // One job for each submit; another connection's is as good as our own.
        loop {
            sent.clear();
            let round = hand.claim(|held| sent.push(held.sent_us())).await?;
            let round = hand.settle(round).await?;
            times.round(round.jobs, round.claim_us, round.settle_us, &sent);
            run.settled(round.jobs);
            if round.jobs > 0 {
                break;
            }
        }
    }
    Ok(times)
}

/// As [`settle_all`], joined.
async fn turn_all(run: Arc<Run>, mut hand: Hand) -> anyhow::Result<Times> {
    let mut times = Times::new();
    let mut load = Armful::default();
    run.start.cancelled().await;
    loop {
        // The run is not done while a hand holds something, so this drops no settlement.
        load = tokio::select! {
            next = turn(&run, &mut hand, load, &mut times) => next?,
            () = run.done.cancelled() => return Ok(times),
        };
    }
}

/// As [`round_and_round`], joined. The last job has no claim to go with and is settled by itself.
async fn turn_after_turn(run: Arc<Run>, mut submitter: Submitter, mut hand: Hand) -> anyhow::Result<Times> {
    let mut times = Times::new();
    let mut load = Armful::default();
    run.start.cancelled().await;
    while run.take_batch() {
        times.submit.record(submitter.submit(at_once).await?);
        loop {
            load = turn(&run, &mut hand, load, &mut times).await?;
            if load.round.jobs > 0 {
                break;
            }
        }
    }
    let round = hand.settle(load.round).await?;
    times.round(round.jobs, round.claim_us, round.settle_us, &load.sent);
    run.settled(round.jobs);
    Ok(times)
}

/// What a hand holds from one request to the next.
#[derive(Debug, Default)]
struct Armful {
    round: Round,
    sent: Vec<u64>,
}

/// One joined request: what was held is settled and counted, what came is held.
async fn turn(run: &Run, hand: &mut Hand, held: Armful, times: &mut Times) -> anyhow::Result<Armful> {
    let mut sent = Vec::with_capacity(run.batch);
    let (settled, round) = hand.settle_and_claim(held.round, |held| sent.push(held.sent_us())).await?;
    times.round(settled.jobs, settled.claim_us, settled.settle_us, &held.sent);
    run.settled(settled.jobs);
    Ok(Armful { round, sent })
}

fn at_once() -> Timestamp {
    Timestamp::default()
}

#[derive(Debug)]
struct Times {
    submit: Latencies,
    claim: Latencies,
    settle: Latencies,
    /// From sending the submit to the answer of the settlement.
    whole: Latencies,
}

impl Times {
    fn new() -> Times {
        Times { submit: Latencies::new(), claim: Latencies::new(), settle: Latencies::new(), whole: Latencies::new() }
    }

    fn round(&mut self, jobs: usize, claim_us: u64, settle_us: u64, sent: &[u64]) {
        if jobs == 0 {
            return;
        }
        self.claim.record(claim_us);
        self.settle.record(settle_us);
        let now_us = clock::unix_us();
        sent.iter().for_each(|sent_us| self.whole.record(now_us.saturating_sub(*sent_us)));
    }

    fn merge(&mut self, other: &Times) {
        self.submit.merge(&other.submit);
        self.claim.merge(&other.claim);
        self.settle.merge(&other.settle);
        self.whole.merge(&other.whole);
    }

    fn figures(&self, jobs_per_second: f64) -> Figures {
        let mut figures = Figures::default();
        figures.add("jobs_per_second", jobs_per_second);
        self.whole.put(&mut figures, "submit_to_settled");
        self.submit.put(&mut figures, "submit");
        self.claim.put(&mut figures, "claim");
        self.settle.put(&mut figures, "settle");
        figures
    }
}

#[cfg(test)]
mod tests {
    use mainspring_core::name::{QueueName, QueueRef, TenantName};
    use mainspring_engine::{Engine, Parts, Settings, SystemClock};
    use mainspring_http::{Options, router, serve};
    use mainspring_store::memory::{Alone, Memory};
    use tokio::net::TcpListener;

    use super::*;

    /// A run against a server in this process; every job must have been settled once when it ends.
    async fn check(form: Form, jobs: usize, batch: usize) {
        let store = Arc::new(Memory::new());
        let parts =
            Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock: Arc::new(SystemClock) };
        let engine = Engine::start(parts, Settings::default()).await.expect("the memory store starts");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let server = tokio::spawn(serve(listener, router(engine.clone(), Options::default()), std::future::pending()));
        let load = Load {
            queue: "q".into(),
            jobs,
            batch,
            connections: 3,
            workers: 4,
            in_flight: 3 * batch,
            payload_bytes: 400,
            key: Some("k".into()),
        };
        let figures = measure(form, address, &load).await.expect("the run ends");
        for figure in ["jobs_per_second", "submit_to_settled_p99_ms", "claim_p99_ms", "settle_p99_ms"] {
            assert!(figures.get(figure).is_some_and(|value| value > 0.0), "{figure} of {form:?}: {figures:?}");
        }
        let queue = QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::parse("q").expect("a name") };
        let queues = engine.store().queues(Some(&queue.tenant)).await.expect("the store answers");
        let counts = queues.iter().find(|view| view.queue == queue).expect("it was used").counts;
        assert_eq!((counts.succeeded, counts.running, counts.ready), (jobs as u64, 0, 0), "{form:?}");
        server.abort();
    }

    #[tokio::test]
    async fn every_job_is_settled_once_in_either_form() {
        for form in [Form::Apart, Form::Joined] {
            check(form, 50, 1).await;
            check(form, 100, 10).await;
        }
    }
}
