//! `mainspring-sim`: runs simulated clusters, replays one, and shows that the mutants are caught.
//!
//! ```text
//! cargo run --release -p mainspring-sim -- run --seeds 0..10000
//! cargo run --release -p mainspring-sim -- run --seeds 0..10000 --keep crates/mainspring-sim/seeds.txt
//! cargo run --release -p mainspring-sim -- run --seed 42 --lines
//! cargo run --release -p mainspring-sim -- run --mutants
//! ```

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use mainspring_sim::run::{self, CATCH_SEEDS, History, Keep, Summary};
use mainspring_sim::{Finding, Mutant, seeds};

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
    /// With --seeds: write seeds that fail into this file, one a line, as seeds.txt is written
    #[arg(long, value_name = "FILE", requires = "seeds")]
    keep: Option<PathBuf>,
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
            What { mutants: true, .. } => self.mutants(),
            _ => seeds::kept().into_iter().try_for_each(|seed| self.replay(seed)),
        }
    }

    fn threads(&self) -> anyhow::Result<usize> {
        let cores = std::thread::available_parallelism().context("could not count the cores")?.get();
        Ok(self.threads.unwrap_or(cores))
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
        let progress = Progress::new(seeds.end - seeds.start)?;
        let summary = run::many(seeds, self.threads()?, BROKEN_MAX, |summary| progress.tell(summary));
        let took = progress.bar.elapsed();
        progress.bar.finish_and_clear();
        for (seed, history) in &summary.broken {
            eprintln!("seed {seed}:");
            show(&history.findings);
        }
        if let Some(file) = &self.keep {
            keep(file, &summary.broken)?;
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

    fn mutants(&self) -> anyhow::Result<()> {
        let progress = Progress::new(Mutant::ALL.len() as u64)?;
        let free = run::hunt(0..CATCH_SEEDS, self.threads()?, |mutant, caught| {
            if let Some((seed, history)) = caught {
                let Finding { promise, what, .. } = &history.findings[0];
                progress.bar.suspend(|| println!("{mutant:?}: caught by seed {seed}: {promise}: {what}"));
            }
            progress.bar.inc(1);
        });
        progress.bar.finish_and_clear();
        if !free.is_empty() {
            bail!("not caught within {CATCH_SEEDS} seeds: {free:?}");
        }
        println!("all {} mutants were caught", Mutant::ALL.len());
        Ok(())
    }
}

/// Writes seeds down behind those that are there.
fn keep(file: &Path, broken: &[(u64, History)]) -> anyhow::Result<()> {
    let context = || format!("could not keep the seeds in {}", file.display());
    let mut kept = OpenOptions::new().create(true).append(true).open(file).with_context(context)?;
    for (seed, history) in broken {
        writeln!(kept, "{}", seeds::line(*seed, &history.findings)).with_context(context)?;
    }
    Ok(())
}

fn show(findings: &[Finding]) {
    for finding in findings {
        eprintln!("  {:?} {}: {}", finding.at, finding.promise, finding.what);
    }
}

/// How far a run has come: a bar for people who watch, lines for those who read later.
struct Progress {
    bar: ProgressBar,
    is_watched: bool,
}

/// Lines of a run that nobody watches.
const LINES: u64 = 20;

impl Progress {
    fn new(length: u64) -> anyhow::Result<Progress> {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta} {msg}")?;
        Ok(Progress { bar: ProgressBar::new(length).with_style(style), is_watched: std::io::stderr().is_terminal() })
    }

    fn tell(&self, summary: &Summary) {
        let (done, broken) = (summary.histories, summary.broken.len());
        self.bar.set_position(done);
        if broken > 0 {
            self.bar.set_message(format!("{broken} broke a promise"));
        }
        let length = self.bar.length().unwrap_or(done);
        if !self.is_watched && done.is_multiple_of(length.div_ceil(LINES)) {
            let took = self.bar.elapsed().as_secs_f64();
            let per_second = done as f64 / took.max(0.001);
            eprintln!("{done} of {length} after {took:.0} s, {per_second:.1} a second; {broken} broke a promise");
        }
    }
}
