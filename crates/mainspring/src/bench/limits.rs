//! What limits cost. First lifecycles without a rule and with two rules that hold nobody back, in turns on the same server, so that
//! a slow minute of the machine slows both. Then claims of jobs without a limit: before anything is parked, and then with very many
//! jobs parked behind one key of the same queue, in turn with claims from an empty queue. Never measures what a limit that is reached does to its own jobs: that is what it is for.

use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use mainspring_wire::{LimitRate, LimitRule, Span};
use mainspring_worker::Client;

use crate::bench::figures::{Figures, Latencies};
use crate::bench::fill::{Fill, Times, fill};
use crate::bench::hand::{Ask, Hand};
use crate::bench::lifecycle::{self, Form, Load};
use crate::bench::target::Target;
use crate::bench::{Common, queue_name};

#[derive(Args, Clone, Debug)]
pub struct LimitsArgs {
    /// Lifecycles of each turn
    #[arg(long, default_value_t = 100_000)]
    jobs: usize,
    /// How often without a rule and with two takes its turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    turns: u16,
    /// Jobs in a request
    #[arg(long, default_value_t = 100, value_parser = crate::bench::batch_size)]
    batch: usize,
    /// Connections that submit; twice as many claim and settle
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Jobs parked behind one key
    #[arg(long, default_value_t = 1_000_000)]
    parked: usize,
    /// Claims with none parked, and with all
    #[arg(long, default_value_t = 2_000)]
    claims: usize,
}

/// As much as there can be: nobody is held back.
const PLENTY: u32 = 1_000_000;
/// Jobs in a request of the loading.
const LOAD_BATCH: usize = 500;

impl LimitsArgs {
    pub async fn measure(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let client = Client::new(&format!("http://{}", target.address()))?;
        let mut figures = self.rules(&client, target, common).await?;
        figures.extend("", self.parked(&client, target, common).await?);
        Ok(figures)
    }

    async fn rules(&self, client: &Client, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let (mut bare, mut ruled) = (Rates::default(), Rates::default());
        for turn in 1..=self.turns {
            eprintln!("lifecycles without and with two rules, {turn}/{} …", self.turns);
            bare.add(&lifecycle::measure(Form::Joined, target.address(), &self.load(common)).await?);
            let load = self.load(common);
            let rules = two_rules(&load);
            for (reach, rule) in &rules {
                client.set_limit(reach, rule).await.with_context(|| format!("could not set {reach}"))?;
            }
            let measured = lifecycle::measure(Form::Joined, target.address(), &load).await;
            for (reach, _) in &rules {
                client.remove_limit(reach).await.with_context(|| format!("could not remove {reach}"))?;
            }
            ruled.add(&measured?);
        }
        let mut figures = Figures::default();
        figures.add("two_rules_ratio", ruled.mean() / bare.mean());
        figures.add("no_rule_jobs_per_second", bare.mean());
        figures.add("two_rules_jobs_per_second", ruled.mean());
        Ok(figures)
    }

    /// The jobs have a key in both turns: only the rules make the difference.
    fn load(&self, common: &Common) -> Load {
        let queue = queue_name("limits");
        Load {
            key: Some(queue.clone()),
            queue,
            jobs: self.jobs,
            batch: self.batch,
            connections: self.connections,
            workers: crate::bench::WORKERS_PER_SUBMITTER * self.connections,
            in_flight: crate::bench::in_flight(None, self.batch, self.connections),
            payload_bytes: common.payload,
        }
    }

    async fn parked(&self, client: &Client, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let queue = queue_name("parked");
        let [before] = self.claim_free(target, common, [&queue]).await?;

        let reach = format!("key:{queue}");
        client.set_limit(&reach, &LimitRule { concurrency: Some(1), ..LimitRule::default() }).await?;
        let batch = LOAD_BATCH.min(self.parked);
        let load = self.fill(&queue, common, self.parked.next_multiple_of(batch), batch);
        fill(target.address(), &Fill { key: Some(queue.clone()), ..load }).await?;
        let mut holder = Hand::register(target.address(), ask(&queue)).await?;
        let held = holder.claim(|_| {}).await?;
        ensure!(held.jobs == 1, "the key lets one go, and {} were claimed", held.jobs);

        let in_turn = self.claim_free(target, common, [&queue, &queue_name("empty")]).await;
        // The parked ones stay where they are: nobody claims from this queue again, and they should not run by accident.
        holder.settle(held).await?;
        client.set_limit(&reach, &LimitRule { concurrency: Some(0), ..LimitRule::default() }).await?;
        let [behind, empty] = in_turn?;
        let mut figures = Figures::default();
        for (name, other) in [("parked_to_before", &before), ("parked_to_empty", &empty)] {
            for (quantile, end) in [(0.50, "p50"), (0.99, "p99")] {
                let ratio = behind.quantile_ms(quantile) / other.quantile_ms(quantile).max(0.001);
                figures.add(format!("{name}_ratio_{end}"), ratio);
            }
        }
        before.put(&mut figures, "claim_before");
        empty.put(&mut figures, "claim_from_empty");
        behind.put(&mut figures, "claim_with_all_parked");
        Ok(figures)
    }

    /// Claims jobs without a limit, one at a time, from each queue in turn.
    async fn claim_free<const QUEUES: usize>(
        &self,
        target: &Target,
        common: &Common,
        queues: [&str; QUEUES],
    ) -> anyhow::Result<[Latencies; QUEUES]> {
        let batch = LOAD_BATCH.min(self.claims);
        let jobs = self.claims.next_multiple_of(batch);
        let mut hands = Vec::with_capacity(QUEUES);
        for queue in queues {
            fill(target.address(), &self.fill(queue, common, jobs, batch)).await?;
            hands.push(Hand::register(target.address(), ask(queue)).await?);
        }
        let mut latencies = std::array::from_fn(|_| Latencies::new());
        for _ in 0..jobs {
            for (hand, latencies) in hands.iter_mut().zip(&mut latencies) {
                let round = hand.claim(|_| {}).await?;
                ensure!(round.jobs == 1, "a claim of one brought {}", round.jobs);
                latencies.record(round.claim_us);
                hand.settle(round).await?;
            }
        }
        Ok(latencies)
    }

    fn fill(&self, queue: &str, common: &Common, jobs: usize, batch: usize) -> Fill {
        Fill {
            queue: queue.to_owned(),
            jobs,
            batch,
            connections: 4,
            payload_bytes: common.payload,
            key: None,
            times: Times::Now,
        }
    }
}

fn ask(queue: &str) -> Ask<'_> {
    Ask { queue, max: 1, wait: Duration::ZERO }
}

/// How many may run in the queue, and how fast they may start by their key.
fn two_rules(load: &Load) -> [(String, LimitRule); 2] {
    let concurrency = LimitRule { concurrency: Some(PLENTY), ..LimitRule::default() };
    let rate = LimitRate { permits: PLENTY, per: Span::from_secs(1), burst: Some(PLENTY) };
    let rate = LimitRule { rate: Some(rate), ..LimitRule::default() };
    [(format!("queue:{}", load.queue), concurrency), (format!("key:{}", load.queue), rate)]
}

/// Every turn has as many jobs, so that what took longer counts for more: the harmonic mean.
#[derive(Debug, Default)]
struct Rates {
    turns: f64,
    seconds_per_job: f64,
}

impl Rates {
    fn add(&mut self, figures: &Figures) {
        self.turns += 1.0;
        self.seconds_per_job += 1.0 / figures.get("jobs_per_second").unwrap_or_default().max(f64::MIN_POSITIVE);
    }

    fn mean(&self) -> f64 {
        self.turns / self.seconds_per_job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_turn_counts_for_the_time_it_took() {
        let mut rates = Rates::default();
        for rate in [10.0, 30.0] {
            let mut figures = Figures::default();
            figures.add("jobs_per_second", rate);
            rates.add(&figures);
        }
        assert!((rates.mean() - 15.0).abs() < 1e-9, "{}", rates.mean());
    }
}
