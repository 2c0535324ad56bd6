//! The command line as a whole: the global flags and the nouns. What a noun does is in its own file.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Arg, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use mainspring_worker::Client;

use crate::bench::BenchArgs;
use crate::commands::{
    apply, clock, cluster, dead, doctor, events, forecast, import, job, limit, queue, schedule, worker, workflow,
};
use crate::config::{Config, Flags};
use crate::exit::{self, Usage};
use crate::migrate::MigrateArgs;
use crate::migrate_store::MigrateStoreArgs;
use crate::output::Format;
use crate::serve;

const SERVER_DEFAULT: &str = "http://127.0.0.1:7710";
const SERVER_VARIABLE: &str = "MAINSPRING_SERVER";
const TENANT_VARIABLE: &str = "MAINSPRING_TENANT";

/// Mainspring, a job scheduler: one binary that never misses a job.
#[derive(Parser, Debug)]
#[command(version, after_help = exit::HELP, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// The server to ask, or nodes of a cluster with commas between them [env: MAINSPRING_SERVER] [default: http://127.0.0.1:7710]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    /// Whose jobs, queues, schedules and limits [env: MAINSPRING_TENANT] [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    tenant: Option<String>,
    /// How answers are shown
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "table")]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a server
    Serve(ServeArgs),
    /// Submit jobs, look at them, change them
    #[command(subcommand)]
    Job(job::JobCommand),
    /// Schedules: create, change, preview, what became of each run
    #[command(subcommand)]
    Schedule(schedule::ScheduleCommand),
    /// Workflows: jobs that wait for each other
    #[command(subcommand)]
    Workflow(workflow::WorkflowCommand),
    /// Queues: counts, pause, resume, settings
    #[command(subcommand)]
    Queue(queue::QueueCommand),
    /// Limits: what may run at once, how fast, and how it stands
    #[command(subcommand)]
    Limit(limit::LimitCommand),
    /// Run a program for each job, or look at workers and tell them what to do
    Worker(worker::WorkerArgs),
    /// Dead letters: list, replay, purge
    #[command(subcommand)]
    Dead(dead::DeadCommand),
    /// What will fire in the days ahead, and where many fire at once
    Forecast(forecast::ForecastArgs),
    /// Make schedules, queues and limits as TOML files say
    Apply(apply::ApplyArgs),
    /// Take over what another scheduler did
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// What time it is on the server; moves a virtual clock
    Clock(clock::ClockArgs),
    /// Who is there, who leads, and who has which segments
    Cluster(cluster::ClusterArgs),
    /// What is wrong with the server, its cluster and its store, and what to do
    Doctor(doctor::DoctorArgs),
    /// Follow what happens, as it happens
    Events(events::EventsArgs),
    /// Bring a PostgreSQL database up to date, or show whether it is
    Migrate(MigrateArgs),
    /// Move what a data directory remembers into a PostgreSQL database
    MigrateStore(MigrateStoreArgs),
    /// Measure a server
    #[command(arg = bench_server())]
    Bench(BenchArgs),
    /// Print completions for a shell
    Completions { shell: Shell },
}

#[derive(clap::Args, Debug)]
struct ServeArgs {
    /// A TOML file; see docs/config.md
    #[arg(long, value_name = "FILE", env = "MAINSPRING_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
}

impl Cli {
    pub fn run(self) -> anyhow::Result<()> {
        let server = self.server.as_deref();
        let client = || client(server, self.tenant.as_deref());
        let format = self.output;
        match self.command {
            Command::Serve(args) => {
                let config =
                    Config::load(args.config.as_deref(), &args.flags).map_err(|error| Usage(format!("{error:#}")))?;
                threads(None)?.block_on(serve::serve(config))
            }
            Command::Bench(args) => threads(Some(args.threads()))?.block_on(args.run(server, format)),
            Command::Migrate(args) => threads(Some(1))?.block_on(args.run(format)),
            Command::MigrateStore(args) => threads(None)?.block_on(args.run(format)),
            Command::Completions { shell } => {
                clap_complete::generate(shell, &mut Cli::command(), "mainspring", &mut std::io::stdout());
                Ok(())
            }
            Command::Worker(args) => threads(None)?.block_on(args.run(client()?, format)),
            Command::Job(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Queue(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Limit(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Dead(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Schedule(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Workflow(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Forecast(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
            Command::Apply(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
            Command::Import(command) => threads(Some(1))?.block_on(command.run(&client()?, format)),
            Command::Clock(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
            Command::Cluster(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
            Command::Doctor(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
            Command::Events(args) => threads(Some(1))?.block_on(args.run(&client()?, format)),
        }
    }
}

/// `--server` as `bench` takes it: it follows no variable and has no default, so its help must not speak of them.
fn bench_server() -> Arg {
    let help = "The server to measure; one is started for it if left out";
    Arg::new("server").long("server").value_name("URL").global(true).help(help)
}

/// As many threads as cores if nothing is said; one that asks needs one.
fn threads(count: Option<usize>) -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = match count {
        Some(1) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if let Some(count) = count.filter(|count| *count > 1) {
        builder.worker_threads(count);
    }
    builder.enable_all().build().context("could not start the runtime")
}

/// The variables are read here and not by clap, because `bench` must not follow them to a server that is in use.
fn client(server: Option<&str>, tenant: Option<&str>) -> anyhow::Result<Client> {
    let from_env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (server_said, tenant_said) = (from_env(SERVER_VARIABLE), from_env(TENANT_VARIABLE));
    let client = Client::new(server.or(server_said.as_deref()).unwrap_or(SERVER_DEFAULT))?;
    match tenant.or(tenant_said.as_deref()) {
        Some(tenant) => Ok(client.with_tenant(tenant)?),
        None => Ok(client),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    fn parse(line: &str) -> Result<Cli, String> {
        let words = std::iter::once("mainspring").chain(line.split_whitespace());
        Cli::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn every_command_is_read() {
        for line in [
            "serve --listen 127.0.0.1:0 --data-dir d --store memory --retention 2d --lease 10s --log-format json",
            "serve --max-size 10GiB --allow-remote --config f.toml --dead-retention PT1H --log-level debug",
            "job submit mail --data {} --queue q --delay 5m --priority -3 --tag a --tag b --retry fixed:5s --wait",
            "serve --virtual-clock --store memory",
            "serve --virtual-clock=2026-12-01T09:00:00Z",
            "job submit mail --depends-on 01980000-0000-7000-8000-000000000001:run --concurrency-key c --rate-key r --weight 2",
            "job get 01980000-0000-7000-8000-000000000001 -o json",
            "job list --status PENDING,FAILED --limit 5",
            "job cancel 01980000-0000-7000-8000-000000000001 --reason late",
            "queue set mail --age-factor 0.5 --max-depth 100",
            "limit list -o json",
            "limit get key:customer:42",
            "limit set key:customer:* --concurrency 2 --rate 100/1m --burst 20 --breaker 50%/1m",
            "limit set type:a --breaker 0.5 --min-attempts 5 --cooldown 10s --probes 2 --closes-after 3",
            "--tenant acme limit set tenant --weight 3",
            "limit remove queue:mail",
            "limit reopen key:* --tenant acme",
            "bench limits --jobs 1000 --parked 1000 --claims 10",
            "worker --exec cat --all-tenants",
            "worker --exec cat --queue a --queue b --concurrency 3",
            "worker run --exec sh -- -c true",
            "worker --shell --queue cron",
            "schedule create nightly --cron 0_3_*_*_* --tz Europe/Berlin --type report --data {} --catchup all --overlap skip",
            "schedule create s --every 90s --type t --exclude 2026-12-25 --jitter 5s --max-runs 3 --pause-on-failure",
            "schedule create s --weekly MON,FRI@09:00 --type t --dst-gap skip --dst-overlap both --if-revision 3",
            "schedule replace s --monthly 1,-1@00:00 --type t",
            "schedule replace s --file s.json",
            "schedule patch s {} --if-revision 3",
            "schedule list --paused true --limit 5",
            "schedule pause s --note holiday --for 2d",
            "schedule resume s",
            "schedule trigger s",
            "schedule backfill s --from 2026-12-01T00:00:00Z --to 2026-12-02T00:00:00Z --dry-run",
            "schedule preview s -n 5",
            "schedule preview --daily 09:00 --tz Asia/Tokyo -n 10",
            "schedule ledger s",
            "schedule delete s",
            "workflow submit w.json",
            "workflow get 01980000-0000-7000-8000-000000000001",
            "workflow cancel 01980000-0000-7000-8000-000000000001 --reason late",
            "forecast --days 2 --jitter 5m",
            "clock",
            "cluster -o json",
            "doctor --all",
            "serve --roles api,scheduler",
            "clock advance 1h",
            "clock advance --to 2026-12-01T09:00:00Z",
            "import crontab /etc/crontab --system --dry-run --tz UTC",
            "apply a.toml conf.d --source team --prune --yes",
            "worker list",
            "worker order 01980000-0000-7000-8000-000000000001 quiet",
            "dead replay --queue q --max 3",
            "dead purge --all --yes",
            "events --queue q",
            "bench lifecycle --jobs 1000 --batch 1 --connections 64 --runs 1 --json",
            "bench --server http://127.0.0.1:7710 backlog --pending 1000 --drain",
            "serve --store postgres://u@h/d",
            "bench --store postgres://u@h/d lifecycle",
            "migrate up --store postgres://u@h/d",
            "migrate --config f.toml status -o json",
            "migrate-store --from data --to postgres://u@h/d -o json",
            "completions bash",
        ] {
            parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    #[test]
    fn bench_takes_a_server_and_speaks_of_no_variable_that_it_ignores() {
        for line in ["bench --help", "bench lifecycle --help"] {
            let help = parse(line).expect_err("help is no command");
            assert!(help.contains("The server to measure"), "{help}");
            assert!(!help.contains(SERVER_VARIABLE), "{help}");
        }
        assert!(parse("job list --help").expect_err("help is no command").contains(SERVER_VARIABLE));
        for line in ["bench --server s burst", "bench burst --server s", "--server s bench burst"] {
            assert_eq!(parse(line).expect("is read").server.as_deref(), Some("s"), "{line}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_the_reason() {
        let refused = |line: &str, words: &str| {
            let error = parse(line).expect_err("is refused");
            assert!(error.contains(words), "{line}: {error:?} does not say {words:?}");
        };
        refused("serve --listen nowhere", "invalid socket address");
        refused("serve --lease soon", "is not a duration");
        refused("job get seven", "invalid value 'seven'");
        refused("job submit", "required");
        refused("worker", "--exec");
        refused("worker list --exec cat", "unexpected argument");
        refused("worker --exec cat --shell", "cannot be used with");
        refused("worker --shell -- x", "cannot be used with");
        refused("serve --virtual-clock=soon", "is not a time");
        refused("serve --roles api,cook", "is no role");
        refused("schedule create s --type t --weekly FRI", "days@times");
        refused("schedule preview s --cron x", "cannot be used with");
        refused("clock advance", "required");
        refused("limit set", "<REACH>");
        refused("limit set q --rate 100", "such as 100/1m");
        refused("limit set q --breaker half", "such as 50% or 0.5");
        refused("limit set q --burst 3", "--rate");
        refused("limit set q --cooldown 3s", "--breaker");
        refused("apply --yes", "FILE");
        refused("apply a --yes --dry-run", "cannot be used with");
        refused("bench burst --batch 0", "not a number from 1");
        refused("serve --store disk", "is no store");
        refused("migrate", "Usage");
        refused("migrate-store --to postgres://u@h/d", "--from");
        refused("completions tcl", "possible values");
    }
}
