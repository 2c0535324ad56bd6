//! Very many jobs due at one instant: how long until all are ready, and how fast they are worked off then.

use anyhow::{Context, ensure};
use clap::Args;
use mainspring_wire::Span;

use crate::bench::drain::{Drain, drain, wait_until_promoted};
use crate::bench::figures::Figures;
use crate::bench::fill::{Fill, Times, fill};
use crate::bench::target::Target;
use crate::bench::{Common, lead, queue_name};
use crate::clock;

/// No burst takes longer to become ready; one that does is a failure, not a figure.
const PROMOTE_WAIT_US: u64 = 300_000_000;

#[derive(Args, Clone, Debug)]
pub struct BurstArgs {
    /// How many jobs fall due at once
    #[arg(long, default_value_t = 1_000_000)]
    jobs: usize,
    /// Jobs in a request
    #[arg(long, default_value_t = 500, value_parser = crate::bench::batch_size)]
    batch: usize,
    /// Connections that load, then drain
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// How far ahead of the first submit they are due; as long as the loading needs if left out
    #[arg(long, value_name = "DURATION")]
    lead: Option<Span>,
}

impl BurstArgs {
    pub async fn measure(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let address = target.address();
        let (queue, jobs) = (queue_name("burst"), self.jobs / self.batch * self.batch);
        ensure!(jobs > 0, "fewer jobs than one batch");
        let due_ms = clock::unix_us() / 1000 + lead(self.lead, jobs);
        let times = Times::At { ms: due_ms };
        let (batch, connections, payload_bytes) = (self.batch, self.connections, common.payload);
        let load = Fill { queue: queue.clone(), jobs, batch, connections, payload_bytes, key: None, times };
        let loaded = fill(address, &load).await?;
        ensure!(clock::unix_us() / 1000 < due_ms, "the loading took longer than the lead: give a longer --lead");

        eprintln!("waiting for the instant they are due …");
        clock::sleep_until_unix_us(due_ms * 1000).await;
        let counts = wait_until_promoted(address, &queue, due_ms * 1000 + PROMOTE_WAIT_US).await?;
        let promoted_us = clock::unix_us().saturating_sub(due_ms * 1000);
        ensure!(counts.pending == jobs as u64, "{} jobs are pending, not {jobs}", counts.pending);
        let drained = drain(address, &Drain { queue, jobs, batch, connections }).await.context("could not drain")?;

        let mut figures = Figures::default();
        figures.add("promoted_within_seconds", promoted_us as f64 / 1e6);
        figures.extend("drain_", drained);
        figures.extend("load_", loaded);
        Ok(figures)
    }
}
