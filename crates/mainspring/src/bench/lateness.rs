//! How late things are: timers from due to ready and from due to delivered, and, at light load, from submit to delivered. A
//! claim is always waiting; client and server read the same clock.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use mainspring_wire::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bench::body::{Due, Shape, Template};
use crate::bench::conn::Conn;
use crate::bench::figures::{Figures, Latencies};
use crate::bench::hand::{Ask, Hand, Submitter};
use crate::bench::prometheus::Buckets;
use crate::bench::target::Target;
use crate::bench::{Common, queue_name};
use crate::clock;

const CLAIM_WAIT: Duration = Duration::from_secs(10);
/// How long ahead of its due time a timer is submitted.
const AHEAD_US: u64 = 3_000_000;
/// One submit carries the timers of this long.
const SUBMIT_EVERY_US: u64 = 100_000;
/// No job may be missing for longer after the last one was due.
const MISSING_WAIT: Duration = Duration::from_secs(30);
const LATENESS_METRIC: &str = "mainspring_fire_lateness_seconds";

#[derive(Args, Clone, Debug)]
pub struct LatenessArgs {
    /// Timers a second
    #[arg(long, default_value_t = 500)]
    rate: u64,
    /// How long each of the two parts goes on
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Submits a second in the second part
    #[arg(long, default_value_t = 50)]
    light_rate: u64,
    /// Waiting claims
    #[arg(long, default_value_t = 16)]
    connections: usize,
}

impl LatenessArgs {
    pub async fn measure(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        ensure!(self.rate > 0 && self.light_rate > 0 && self.seconds > 0, "there is nothing to measure");
        let address = target.address();
        let mut figures = Figures::default();

        let before = lateness_buckets(address).await?;
        let due_to_delivered = self.timers(address, common).await.context("could not measure timers")?;
        let fired = lateness_buckets(address).await?.since(&before);
        if let (Some(p50), Some(p99)) = (fired.quantile(0.50), fired.quantile(0.99)) {
            figures.add("due_to_ready_p50_at_most_ms", p50 * 1000.0);
            figures.add("due_to_ready_p99_at_most_ms", p99 * 1000.0);
        }
        due_to_delivered.put(&mut figures, "due_to_delivered");

        let submit_to_delivered = self.light(address, common).await.context("could not measure light load")?;
        submit_to_delivered.put(&mut figures, "submit_to_delivered");
        Ok(figures)
    }

    /// Jobs whose due times are spread evenly, submitted a few seconds ahead while earlier ones fire.
    async fn timers(&self, address: SocketAddr, common: &Common) -> anyhow::Result<Latencies> {
        let queue = queue_name("timers");
        let batch = (self.rate * SUBMIT_EVERY_US / 1_000_000).max(1);
        let total = (self.rate * self.seconds).next_multiple_of(batch);
        let waiting = Waiting::start(address, &queue, self.connections, Since::Due).await?;
        let template = Template::batch(shape(&queue, Due::At, common), usize::try_from(batch)?);
        let mut submitter = Submitter::batches(address, template).await?;
        let first_due_us = clock::unix_us() + AHEAD_US;
        let mut submitted = 0;
        while submitted < total {
            let due_us = |index: u64| first_due_us + index * 1_000_000 / self.rate;
            clock::sleep_until_unix_us(due_us(submitted).saturating_sub(AHEAD_US)).await;
            submitter
                .submit(|| {
                    submitted += 1;
                    Timestamp(due_us(submitted - 1) / 1000)
                })
                .await?;
        }
        waiting.collect(total).await
    }

    /// Single submits, one at a time.
    async fn light(&self, address: SocketAddr, common: &Common) -> anyhow::Result<Latencies> {
        let queue = queue_name("light");
        let waiting = Waiting::start(address, &queue, self.connections, Since::Submit).await?;
        let template = Template::single(shape(&queue, Due::Now, common));
        let mut submitter = Submitter::singles(address, template).await?;
        let (total, started_us) = (self.light_rate * self.seconds, clock::unix_us());
        for index in 0..total {
            clock::sleep_until_unix_us(started_us + index * 1_000_000 / self.light_rate).await;
            submitter.submit(Timestamp::default).await?;
        }
        waiting.collect(total).await
    }
}

/// From when lateness is counted.
#[derive(Clone, Copy, Debug)]
enum Since {
    Due,
    Submit,
}

/// Hands with claims that wait.
#[derive(Debug)]
struct Waiting {
    hands: JoinSet<anyhow::Result<()>>,
    late_us: mpsc::UnboundedReceiver<u64>,
    done: CancellationToken,
}

impl Waiting {
    async fn start(address: SocketAddr, queue: &str, hands: usize, since: Since) -> anyhow::Result<Waiting> {
        let (delivered, late_us) = mpsc::unbounded_channel();
        let mut waiting = Waiting { hands: JoinSet::new(), late_us, done: CancellationToken::new() };
        for _ in 0..hands {
            let hand = Hand::register(address, Ask { queue, max: 64, wait: CLAIM_WAIT }).await?;
            waiting.hands.spawn(deliver(hand, since, delivered.clone(), waiting.done.clone()));
        }
        Ok(waiting)
    }

    async fn collect(mut self, total: u64) -> anyhow::Result<Latencies> {
        let mut latencies = Latencies::new();
        for received in 0..total {
            let next = tokio::time::timeout(MISSING_WAIT, self.late_us.recv());
            let late_us = next.await.with_context(|| format!("only {received} of {total} jobs came"))?;
            latencies.record(late_us.context("the hands gave up")?);
        }
        self.done.cancel();
        while let Some(hand) = self.hands.join_next().await {
            hand.context("a connection panicked")??;
        }
        Ok(latencies)
    }
}

async fn deliver(
    mut hand: Hand,
    since: Since,
    delivered: mpsc::UnboundedSender<u64>,
    done: CancellationToken,
) -> anyhow::Result<()> {
    loop {
        let mut late = Vec::new();
        let round = tokio::select! {
            round = hand.claim(|held| {
                let from_us = match since {
                    Since::Due => held.run_at.as_millis() * 1000,
                    Since::Submit => held.sent_us(),
                };
                late.push(clock::unix_us().saturating_sub(from_us));
            }) => round?,
            () = done.cancelled() => return Ok(()),
        };
        hand.settle(round).await?;
        late.into_iter().for_each(|late_us| {
            // The receiver is gone only when the bench has failed already.
            let _ = delivered.send(late_us);
        });
    }
}

async fn lateness_buckets(address: SocketAddr) -> anyhow::Result<Buckets> {
    let mut conn = Conn::open(address).await?;
    let text = conn.get("/metrics").await?;
    Ok(Buckets::read(std::str::from_utf8(text)?, LATENESS_METRIC))
}

fn shape<'a>(queue: &'a str, due: Due, common: &Common) -> Shape<'a> {
    Shape { queue, payload_bytes: common.payload, due, key: None }
}
