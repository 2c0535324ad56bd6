//! `mainspring bench`: the figures, measured the same way everywhere: over HTTP, on one machine, against a server that runs or
//! one it starts. Every loop is bounded in count and time, and nothing leaves loopback.
//!
//! - The tools: `conn` (a lean connection), `body` (requests written once), `hand` (submit, claim, settle), `server` and `target`
//!   (whom to measure), `figures` and `prometheus` (numbers), `report` (printing).
//! - The moves: `fill` loads a queue, `drain` empties it.
//! - The scenarios: `lifecycle`, `burst`, `lateness`, `backlog`, `claim_cost`, `schedules`, `limits`.

mod backlog;
mod body;
mod burst;
mod claim_cost;
mod conn;
mod drain;
mod figures;
mod fill;
mod hand;
mod lateness;
mod lifecycle;
mod limits;
mod prometheus;
mod report;
mod schedules;
mod server;
mod target;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use mainspring_core::limits as bounds;
use mainspring_wire::Span;

use crate::bench::figures::Figures;
use crate::bench::report::Report;
use crate::bench::target::Target;
use crate::clock;
use crate::output::Format;
use crate::store_kind::StoreKind;

/// A worker makes two calls for each one of a submitter.
const WORKERS_PER_SUBMITTER: usize = 2;

/// Jobs in one claim, whatever the batch.
const CLAIM_MAX: usize = bounds::CLAIM_JOBS_MAX;

#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    #[command(subcommand)]
    scenario: Scenario,
    #[command(flatten)]
    common: Common,
}

#[derive(Subcommand, Clone, Debug)]
enum Scenario {
    /// Submit → claim → settle: completed jobs a second, and how long each call takes
    Lifecycle(LifecycleArgs),
    /// Very many jobs due at one instant: how soon all are ready, how fast they drain
    Burst(burst::BurstArgs),
    /// How late timers fire, and how soon a submit reaches a waiting claim
    Lateness(lateness::LatenessArgs),
    /// What millions of pending jobs cost: lifecycles, submits, restart, memory
    Backlog(backlog::BacklogArgs),
    /// What a claim costs with few and with very many ready jobs
    ClaimCost(claim_cost::ClaimCostArgs),
    /// What very many schedules cost, how soon many that are due at once have fired, and how late a stream of them is
    Schedules(schedules::SchedulesArgs),
    /// What limits cost: two rules that hold nobody back, and very many jobs parked behind one key
    Limits(limits::LimitsArgs),
}

/// What every scenario takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Bytes of a job's data
    #[arg(long, global = true, default_value_t = 400, value_parser = payload_size)]
    payload: usize,
    /// How often; the median is printed too
    #[arg(long, global = true, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    runs: u16,
    /// Print JSON, as -o json does
    #[arg(long, global = true)]
    json: bool,
    /// Where the server it starts keeps its data, in a folder of its own; the machine's temporary folder if left out
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Which store the server it starts uses: embedded, memory, or the address of a PostgreSQL database of its own
    #[arg(long, global = true, default_value = "embedded")]
    store: StoreKind,
    /// Threads of the client. Client and server share the cores, so few are best
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
}

#[derive(Args, Clone, Debug)]
struct LifecycleArgs {
    /// How many jobs
    #[arg(long, default_value_t = 300_000)]
    jobs: usize,
    /// Jobs in a request; with 1 the single-job calls are used, and each connection goes submit → settle and claim the next
    #[arg(long, default_value_t = 100, value_parser = batch_size)]
    batch: usize,
    /// Connections that submit; with --batch 1 each also claims and settles
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Connections that claim and settle; twice as many as submit if left out, because they make twice as many calls
    #[arg(long)]
    workers: Option<usize>,
    /// Jobs between submit and settle; four batches a connection if left out
    #[arg(long)]
    in_flight: Option<usize>,
    /// Settle and claim with a request for each. Left out, one request settles what is held and claims the next, as the
    /// workers of the SDK do, and its time counts as claim and as settle
    #[arg(long)]
    apart: bool,
}

impl BenchArgs {
    pub fn threads(&self) -> usize {
        usize::from(self.common.threads)
    }

    /// `server` is what was given on the command line; without it, one is started for each run.
    pub async fn run(&self, server: Option<&str>, format: Format) -> anyhow::Result<()> {
        let options = server::Options { store: self.common.store.clone(), within: self.common.data_dir.clone() };
        let mut report = Report::new(self.scenario.name(), self.common.payload);
        for run in 1..=self.common.runs {
            let mut target = Target::open(server, &options).await?;
            if let Some(warning) = target.warning().filter(|_| run == 1) {
                eprintln!("warning: {warning}");
            }
            report.measured_on(&target.ready);
            eprintln!("{} {run}/{} on {}", self.scenario.name(), self.common.runs, target.ready.store);
            let before = server::own_usage()?;
            let mut figures = self.measure(&mut target).await?;
            target.put_usage(&mut figures)?;
            // The client's share of the cores: what it burns, the server lacks.
            figures.add("client_cpu_seconds", server::own_usage()?.cpu_seconds - before.cpu_seconds);
            target.close().await?;
            report.add(figures);
        }
        let format = if self.common.json { Format::Json } else { format };
        report.print(format)
    }

    async fn measure(&self, target: &mut Target) -> anyhow::Result<Figures> {
        match &self.scenario {
            Scenario::Lifecycle(args) => {
                lifecycle::measure(args.form(), target.address(), &args.load(&self.common)).await
            }
            Scenario::Burst(args) => args.measure(target, &self.common).await,
            Scenario::Lateness(args) => args.measure(target, &self.common).await,
            Scenario::Backlog(args) => args.measure(target, &self.common).await,
            Scenario::ClaimCost(args) => args.measure(target, &self.common).await,
            Scenario::Schedules(args) => args.measure(target, &self.common).await,
            Scenario::Limits(args) => args.measure(target, &self.common).await,
        }
    }
}

impl Scenario {
    fn name(&self) -> &'static str {
        match self {
            Scenario::Lifecycle(args) if args.apart => "lifecycle-apart",
            Scenario::Lifecycle(_) => "lifecycle",
            Scenario::Burst(_) => "burst",
            Scenario::Lateness(_) => "lateness",
            Scenario::Backlog(_) => "backlog",
            Scenario::ClaimCost(_) => "claim-cost",
            Scenario::Schedules(_) => "schedules",
            Scenario::Limits(_) => "limits",
        }
    }
}

impl LifecycleArgs {
    fn form(&self) -> lifecycle::Form {
        if self.apart { lifecycle::Form::Apart } else { lifecycle::Form::Joined }
    }

    fn load(&self, common: &Common) -> lifecycle::Load {
        lifecycle::Load {
            queue: queue_name("lifecycle"),
            jobs: self.jobs,
            batch: self.batch,
            connections: self.connections,
            workers: self.workers.unwrap_or(WORKERS_PER_SUBMITTER * self.connections),
            in_flight: in_flight(self.in_flight, self.batch, self.connections),
            payload_bytes: common.payload,
            key: None,
        }
    }
}

fn in_flight(given: Option<usize>, batch: usize, connections: usize) -> usize {
    given.unwrap_or(4 * batch * connections)
}

/// A queue of its own for each run, so that nothing left by another is claimed.
fn queue_name(what: &str) -> String {
    format!("bench.{what}.{}", clock::unix_us())
}

/// How far ahead jobs are set that must all be loaded before the first is due, in milliseconds.
fn lead(given: Option<Span>, jobs: usize) -> u64 {
    const LOADED_PER_MS: u64 = 30;
    const MARGIN_MS: u64 = 5000;
    given.map_or(jobs as u64 / LOADED_PER_MS + MARGIN_MS, Span::as_millis)
}

fn batch_size(text: &str) -> Result<usize, String> {
    within(text, 1, bounds::BATCH_JOBS_MAX)
}

fn payload_size(text: &str) -> Result<usize, String> {
    within(text, body::PAYLOAD_BYTES_MIN, bounds::DATA_BYTES_MAX)
}

fn within(text: &str, min: usize, max: usize) -> Result<usize, String> {
    let number: Option<usize> = text.parse().ok();
    number
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| format!("{text} is not a number from {min} to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_past_the_limits_are_refused_before_anything_runs() {
        assert_eq!(batch_size("10000"), Ok(10_000));
        assert_eq!(batch_size("0"), Err("0 is not a number from 1 to 10000".into()));
        assert_eq!(batch_size("10001"), Err("10001 is not a number from 1 to 10000".into()));
        assert!(payload_size("3").is_err());
        assert_eq!(payload_size("400"), Ok(400));
        assert!(payload_size("x").is_err());
    }

    #[test]
    fn the_lead_grows_with_what_is_loaded() {
        assert_eq!(lead(None, 3_000_000), 105_000);
        assert_eq!(lead(Some(Span::from_secs(7)), 3_000_000), 7000);
    }
}
