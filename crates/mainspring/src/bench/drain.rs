//! Emptying a queue: workers that claim batches, do nothing, and settle. And how many jobs a queue has in each state.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bench::conn::Conn;
use crate::bench::figures::{Figures, Latencies};
use crate::bench::fill::bar;
use crate::bench::hand::{Ask, Hand};
use crate::clock;

const CLAIM_WAIT: Duration = Duration::from_secs(5);
const DRAIN_TIME_MAX: Duration = Duration::from_secs(3600);
const POLL_EVERY: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct Drain {
    pub queue: String,
    pub jobs: usize,
    pub batch: usize,
    pub connections: usize,
}

/// Answers `jobs_per_second` and the latencies of claim and settle.
pub async fn drain(address: SocketAddr, drain: &Drain) -> anyhow::Result<Figures> {
    let ask = Ask { queue: &drain.queue, max: drain.batch.min(crate::bench::CLAIM_MAX), wait: CLAIM_WAIT };
    let mut hands = Vec::new();
    for _ in 0..drain.connections {
        hands.push(Hand::register(address, ask).await?);
    }
    let bar = bar(drain.jobs, "draining");
    let (settled, done, total) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new(), drain.jobs);
    let started = clock::instant();
    let mut workers = JoinSet::new();
    for mut hand in hands {
        let (settled, done, bar) = (settled.clone(), done.clone(), bar.clone());
        workers.spawn(async move {
            let (mut claims, mut settles) = (Latencies::new(), Latencies::new());
            loop {
                let round = tokio::select! {
                    round = hand.claim(|_| {}) => round?,
                    () = done.cancelled() => return anyhow::Ok((claims, settles)),
                };
                let round = hand.settle(round).await?;
                if round.jobs > 0 {
                    claims.record(round.claim_us);
                    settles.record(round.settle_us);
                }
                bar.inc(round.jobs as u64);
                if settled.fetch_add(round.jobs, Ordering::Relaxed) + round.jobs >= total {
                    done.cancel();
                }
            }
        });
    }
    let finish = async {
        let (mut claims, mut settles) = (Latencies::new(), Latencies::new());
        while let Some(worked) = workers.join_next().await {
            let (claimed, settled) = worked.context("a connection panicked")??;
            claims.merge(&claimed);
            settles.merge(&settled);
        }
        anyhow::Ok((claims, settles))
    };
    let (claims, settles) = tokio::time::timeout(DRAIN_TIME_MAX, finish).await.context("the drain took too long")??;
    let elapsed = started.elapsed();
    bar.finish_and_clear();
    let mut figures = Figures::default();
    figures.add("jobs_per_second", total as f64 / elapsed.as_secs_f64());
    claims.put(&mut figures, "claim");
    settles.put(&mut figures, "settle");
    Ok(figures)
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Counts {
    pub scheduled: u64,
    pub pending: u64,
}

/// Looks every 20 ms until nothing of the queue is scheduled any more; at most until `until_us`.
pub async fn wait_until_promoted(address: SocketAddr, queue: &str, until_us: u64) -> anyhow::Result<Counts> {
    let mut conn = Conn::open(address).await?;
    let path = format!("/v1/queues/{queue}");
    loop {
        let counts: Counts = serde_json::from_slice(conn.get(&path).await?).context("a queue was not readable")?;
        if counts.scheduled == 0 {
            return Ok(counts);
        }
        if clock::unix_us() > until_us {
            bail!("{} jobs were still not ready", counts.scheduled);
        }
        clock::sleep(POLL_EVERY).await;
    }
}
