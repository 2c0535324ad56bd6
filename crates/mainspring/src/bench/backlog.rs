//! What a large backlog costs: the lifecycle figure before and after, the submits into it, the restart, the memory; and, with
//! `--drain`, how fast the backlog itself is worked off when it falls due in an order unrelated to its ids.

use anyhow::{Context, ensure};
use clap::Args;
use mainspring_wire::Span;

use crate::bench::drain::{Drain, drain, wait_until_promoted};
use crate::bench::figures::Figures;
use crate::bench::fill::{Fill, Times, fill};
use crate::bench::lifecycle::{self, Form, Load};
use crate::bench::server::End;
use crate::bench::target::Target;
use crate::bench::{Common, lead, queue_name};
use crate::clock;

const DAY_MS: u64 = 86_400_000;
/// The backlog is due from here on: far enough that none of it falls due while the lifecycles are measured.
const FROM_MS: u64 = 3_600_000;
const PROMOTE_WAIT_US: u64 = 600_000_000;

#[derive(Args, Clone, Debug)]
pub struct BacklogArgs {
    /// How many jobs are pending
    #[arg(long, default_value_t = 10_000_000)]
    pending: usize,
    /// Their due times are scattered over so many days
    #[arg(long, default_value_t = 30)]
    days: u64,
    /// Lifecycles before and after
    #[arg(long, default_value_t = 300_000)]
    jobs: usize,
    /// Jobs in a request
    #[arg(long, default_value_t = 100, value_parser = crate::bench::batch_size)]
    batch: usize,
    /// Connections that submit, or drain; twice as many claim and settle
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Jobs in a request while the backlog is loaded and drained
    #[arg(long, default_value_t = 500, value_parser = crate::bench::batch_size)]
    load_batch: usize,
    /// Draws the due times
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead: let the whole backlog fall due within a short window, and drain it
    #[arg(long)]
    drain: bool,
    /// With --drain: the window
    #[arg(long, default_value = "10s", value_name = "DURATION")]
    window: Span,
    /// With --drain: how far ahead the window is; as long as the loading needs if left out
    #[arg(long, value_name = "DURATION")]
    lead: Option<Span>,
}

impl BacklogArgs {
    pub async fn measure(&self, target: &mut Target, common: &Common) -> anyhow::Result<Figures> {
        ensure!(self.pending >= self.load_batch, "fewer jobs than one batch");
        if self.drain { self.measure_drain(target, common).await } else { self.measure_weight(target, common).await }
    }

    async fn measure_weight(&self, target: &mut Target, common: &Common) -> anyhow::Result<Figures> {
        let mut figures = Figures::default();
        let empty = lifecycle::measure(Form::Joined, target.address(), &self.lifecycles("before", common)).await?;
        let from_ms = clock::unix_us() / 1000 + FROM_MS;
        let times = Times::Scattered { from_ms, window_ms: self.days * DAY_MS, seed: self.seed };
        let loaded = fill(target.address(), &self.backlog(queue_name("backlog"), times, common)).await?;
        let full = lifecycle::measure(Form::Joined, target.address(), &self.lifecycles("after", common)).await?;
        let rate = |figures: &Figures| figures.get("jobs_per_second").unwrap_or_default();
        figures.add("lifecycle_ratio", rate(&full) / rate(&empty));
        figures.extend("load_", loaded);
        figures.extend("empty_", empty);
        figures.extend("full_", full);
        if let Some(own) = &mut target.own {
            let usage = own.usage()?;
            figures.add("rss_anon_before_restart_mib", usage.rss_anon_bytes as f64 / f64::from(1 << 20));
            figures.add("restart_seconds", own.restart(End::Asked).await?.as_secs_f64());
            figures.add("restart_after_kill_seconds", own.restart(End::Killed).await?.as_secs_f64());
        }
        Ok(figures)
    }

    async fn measure_drain(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let queue = queue_name("backlog");
        let window_ms = self.window.as_millis();
        let from_ms = clock::unix_us() / 1000 + lead(self.lead, self.pending);
        let until_us = (from_ms + window_ms) * 1000;
        let times = Times::Scattered { from_ms, window_ms, seed: self.seed };
        let load = self.backlog(queue.clone(), times, common);
        let loaded = fill(target.address(), &load).await?;
        ensure!(clock::unix_us() / 1000 < from_ms, "the loading took longer than the lead: give a longer --lead");

        eprintln!("waiting until all of it is due …");
        clock::sleep_until_unix_us(until_us).await;
        wait_until_promoted(target.address(), &queue, until_us + PROMOTE_WAIT_US).await?;
        let promoted_us = clock::unix_us().saturating_sub(until_us);
        let jobs = load.jobs / load.batch * load.batch;
        let work = Drain { queue, jobs, batch: self.load_batch, connections: self.connections };
        let drained = drain(target.address(), &work).await.context("could not drain")?;
        let mut figures = Figures::default();
        figures.extend("drain_", drained);
        figures.add("promoted_after_window_seconds", promoted_us as f64 / 1e6);
        figures.extend("load_", loaded);
        Ok(figures)
    }

    fn lifecycles(&self, when: &str, common: &Common) -> Load {
        Load {
            queue: queue_name(when),
            jobs: self.jobs,
            batch: self.batch,
            connections: self.connections,
            workers: crate::bench::WORKERS_PER_SUBMITTER * self.connections,
            in_flight: crate::bench::in_flight(None, self.batch, self.connections),
            payload_bytes: common.payload,
            key: None,
        }
    }

    fn backlog(&self, queue: String, times: Times, common: &Common) -> Fill {
        let (batch, connections) = (self.load_batch, self.connections);
        Fill { queue, jobs: self.pending, batch, connections, payload_bytes: common.payload, key: None, times }
    }
}
