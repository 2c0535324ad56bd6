//! What a claim costs with few and with very many ready jobs: it should be the same.

use std::time::Duration;

use anyhow::ensure;
use clap::Args;

use crate::bench::figures::{Figures, Latencies};
use crate::bench::fill::{Fill, Times, fill};
use crate::bench::hand::{Ask, Hand};
use crate::bench::target::Target;
use crate::bench::{Common, queue_name};

#[derive(Args, Clone, Debug)]
pub struct ClaimCostArgs {
    /// Ready jobs, the few
    #[arg(long, default_value_t = 1_000)]
    few: usize,
    /// Ready jobs, the many
    #[arg(long, default_value_t = 1_000_000)]
    many: usize,
    /// Claims at each depth
    #[arg(long, default_value_t = 500)]
    claims: usize,
    /// Jobs in a claim
    #[arg(long, default_value_t = 1, value_parser = crate::bench::batch_size)]
    batch: usize,
}

/// Jobs in a request of the loading.
const LOAD_BATCH: usize = 500;

impl ClaimCostArgs {
    pub async fn measure(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let few = self.at_depth(target, common, self.few).await?;
        let many = self.at_depth(target, common, self.many).await?;
        let mut figures = Figures::default();
        figures.add("ratio_p50", many.quantile_ms(0.5) / few.quantile_ms(0.5).max(0.001));
        few.put(&mut figures, "claim_with_few");
        many.put(&mut figures, "claim_with_many");
        Ok(figures)
    }

    /// Loads what the claims will take on top, so that there are never fewer ready jobs than the depth.
    async fn at_depth(&self, target: &Target, common: &Common, depth: usize) -> anyhow::Result<Latencies> {
        let address = target.address();
        let queue = queue_name(&format!("claims-{depth}"));
        let batch = LOAD_BATCH.min(depth);
        let spare = (self.claims * self.batch).next_multiple_of(batch);
        let jobs = depth.next_multiple_of(batch) + spare;
        let load = Fill {
            queue: queue.clone(),
            jobs,
            batch,
            connections: 4,
            payload_bytes: common.payload,
            key: None,
            times: Times::Now,
        };
        fill(address, &load).await?;
        let ask = Ask { queue: &queue, max: self.batch, wait: Duration::ZERO };
        let mut hand = Hand::register(address, ask).await?;
        let mut latencies = Latencies::new();
        for _ in 0..self.claims {
            let round = hand.claim(|_| {}).await?;
            ensure!(round.jobs == self.batch, "a claim of {} brought {}", self.batch, round.jobs);
            latencies.record(round.claim_us);
            hand.settle(round).await?;
        }
        Ok(latencies)
    }
}
