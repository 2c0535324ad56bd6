//! `mainspring-sim`: runs simulated clusters, replays one, and shows that the mutants are caught.
//!
//! ```text
//! cargo run --release -p mainspring-sim -- run --seeds 0..10000
//! cargo run --release -p mainspring-sim -- run --seed 42 --lines
//! cargo run --release -p mainspring-sim -- run --mutants
//! ```

use std::ops::Range;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use mainspring_sim::run::{self, History, Keep};
use mainspring_sim::{Finding, Mutant, seeds};

/// A mutant that is not caught by so many worlds is not caught.
const CATCH_SEEDS: u64 = 50;
/// More broken histories than this show nothing new.
const BROKEN_MAX: usize = 10;

/// Whole clusters in one thread, from one seed
#[derive(Parser, Debug)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Live through histories and check every promise
    Run(RunArgs),
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct What {
    /// Seeds from the first to before the last, such as 0..10000
    #[arg(long, value_parser = range)]
    seeds: Option<Range<u64>>,
    /// One seed, replayed
    #[arg(long)]
    seed: Option<u64>,
    /// The seeds that once failed
    #[arg(long)]
    kept: bool,
    /// Stores that break a promise each: all must be caught
    #[arg(long)]
    mutants: bool,
}

#[derive(Args, Debug)]
struct RunArgs {
    #[command(flatten)]
    what: What,
    /// With --seed: print every call
    #[arg(long, requires = "seed")]
    lines: bool,
    /// Histories at a time [default: the number of cores]
    #[arg(long)]
    threads: Option<usize>,
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (first, end) = text.split_once("..").ok_or("expected FIRST..END, such as 0..10000")?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| format!("{text:?} is no number"));
    let range = number(first)?..number(end)?;
    if range.is_empty() { Err(format!("{text} has no seed in it")) } else { Ok(range) }
}

fn main() -> ExitCode {
    let Command::Run(args) = Cli::parse().command;
    match args.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

impl RunArgs {
    fn run(&self) -> anyhow::Result<()> {
        match &self.what {
            What { seed: Some(seed), .. } => self.replay(*seed),
            What { seeds: Some(seeds), .. } => self.many(seeds.clone()),
            What { mutants: true, .. } => mutants(),
            _ => seeds::kept().into_iter().try_for_each(|seed| self.many(seed..seed + 1)),
        }
    }

    fn replay(&self, seed: u64) -> anyhow::Result<()> {
        let history = run::history(seed, None, Keep { digest: true, lines: self.lines });
        history.lines.iter().for_each(|line| println!("{line}"));
        let History { deeds, jobs, lasted, digest, findings, .. } = history;
        eprintln!("seed {seed}: {deeds} calls, {jobs} jobs, {lasted:?}, digest {digest:016x}");
        show(&findings);
        if findings.is_empty() { Ok(()) } else { bail!("a promise was broken") }
    }

    fn many(&self, seeds: Range<u64>) -> anyhow::Result<()> {
        let cores = std::thread::available_parallelism().context("could not count the cores")?.get();
        let bar = bar(seeds.end - seeds.start)?;
        let summary = run::many(seeds, self.threads.unwrap_or(cores), BROKEN_MAX, || bar.inc(1));
        let took = bar.elapsed();
        bar.finish_and_clear();
        for (seed, history) in &summary.broken {
            eprintln!("seed {seed}:");
            show(&history.findings);
        }
        println!(
            "{} histories, {} calls, {} jobs in {took:.1?}; {} broke a promise",
            summary.histories,
            summary.deeds,
            summary.jobs,
            summary.broken.len()
        );
        match summary.broken.first() {
            None => Ok(()),
            Some((seed, _)) => bail!("replay one with --seed {seed} --lines, and keep it in seeds.txt"),
        }
    }
}

fn mutants() -> anyhow::Result<()> {
    let bar = bar(Mutant::ALL.len() as u64)?;
    let mut free = Vec::new();
    for mutant in Mutant::ALL {
        match run::catch(mutant, 0..CATCH_SEEDS) {
            Some((seed, history)) => {
                let Finding { promise, what, .. } = &history.findings[0];
                bar.suspend(|| println!("{mutant:?}: caught by seed {seed}: {promise}: {what}"));
            }
            None => free.push(mutant),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if free.is_empty() { Ok(()) } else { bail!("not caught within {CATCH_SEEDS} seeds: {free:?}") }
}

fn show(findings: &[Finding]) {
    for finding in findings {
        eprintln!("  {:?} {}: {}", finding.at, finding.promise, finding.what);
    }
}

fn bar(length: u64) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta}")?;
    Ok(ProgressBar::new(length).with_style(style))
}
