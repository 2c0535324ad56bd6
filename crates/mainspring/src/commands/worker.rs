//! `mainspring worker …`: run a program for each job, list workers, tell one what to do.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{ArgGroup, Args, Subcommand};
use mainspring_wire::{Order, Span};
use mainspring_worker::{Client, Worker, shutdown_signal};
use uuid::Uuid;

use crate::clock;
use crate::commands::show;
use crate::config::Log;
use crate::exec::{EXIT_CODES_HELP, ExecHandler, Program, ShellHandler, Surroundings};
use crate::exit::Usage;
use crate::output::Format;
use crate::serve;

/// On top of `--kill-after`: for hearing the last of the output and settling.
const STOP_MARGIN: Duration = Duration::from_secs(3);

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXIT_CODES_HELP)]
pub struct WorkerArgs {
    #[command(subcommand)]
    command: Option<WorkerCommand>,
    #[command(flatten)]
    run: Option<RunArgs>,
}

#[derive(Subcommand, Debug)]
enum WorkerCommand {
    /// Run a program or a command for each job, as `worker --exec` and `worker --shell` do
    #[command(after_help = EXIT_CODES_HELP)]
    Run(RunArgs),
    /// The registered workers; a silent one has its jobs taken over soon
    List,
    /// Tell a worker to work, to go quiet, or to terminate; it hears it with its next heartbeat
    Order { id: Uuid, order: Order },
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).args(["exec", "shell"]))]
struct RunArgs {
    /// The program to run for each job
    #[arg(long, value_name = "PROGRAM")]
    exec: Option<OsString>,
    /// Run the shell command in each job's data, as `import crontab` writes it. Whoever can submit to the queue can run anything
    #[arg(long)]
    shell: bool,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS", conflicts_with = "shell")]
    args: Vec<OsString>,
    /// Where to take jobs from; may be given several times [default: default]
    #[arg(long = "queue", value_name = "QUEUE")]
    queues: Vec<String>,
    /// The jobs of every tenant that has such queues, in fair turns; MAINSPRING_TENANT tells the program whose each is
    #[arg(long)]
    all_tenants: bool,
    /// How many run at once
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: u16,
    /// What people see it as
    #[arg(long)]
    name: Option<String>,
    /// How long one run may take, if it is to be shorter than the job's own timeout
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Span>,
    /// How long after SIGTERM a run is killed, with all it started
    #[arg(long, value_name = "DURATION", default_value = "5s")]
    kill_after: Span,
    /// How long "not now" (exit code 75) is
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    later: Span,
    /// How long runs may go on when the worker is told to end
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    grace: Span,
    /// How long the worker may be silent before its jobs go to others; the server's choice if left out
    #[arg(long, value_name = "DURATION")]
    lease: Option<Span>,
    /// What is logged
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: String,
}

impl WorkerArgs {
    pub async fn run(self, client: Client, format: Format) -> Result<()> {
        match (self.command, self.run) {
            (Some(WorkerCommand::List), _) => {
                let workers = client.workers().await?;
                format.print(&workers, |workers| show::workers(workers, clock::now()))
            }
            (Some(WorkerCommand::Order { id, order }), _) => {
                client.order(id, order).await?;
                eprintln!("worker {id} will hear `{order}` with its next heartbeat");
                Ok(())
            }
            (Some(WorkerCommand::Run(args)), _) | (None, Some(args)) => args.run(client).await,
            (None, None) => {
                Err(Usage("what should it run? give --exec PROGRAM or --shell, or see `worker --help`".into()).into())
            }
        }
    }
}

impl RunArgs {
    async fn run(self, client: Client) -> Result<()> {
        if let Some(program) = &self.exec {
            // Asked first: a worker without its program would fail every job it claims.
            find_program(program, std::env::var_os("PATH").as_deref())?;
        }
        serve::start_log(&Log { level: self.log_level.clone(), ..Log::default() })?;
        let mut worker = Worker::new(client.clone())
            .version(env!("CARGO_PKG_VERSION"))
            .concurrency(usize::from(self.concurrency))
            .grace(self.grace.into())
            .stop_grace(self.kill_after.duration() + STOP_MARGIN);
        if let Some(lease) = self.lease {
            worker = worker.lease(lease.into());
        }
        if self.all_tenants {
            worker = worker.all_tenants();
        }
        worker = self.queues.iter().cloned().fold(worker, Worker::queue);
        tracing::info!("working for {}; Ctrl-C ends it", client.urls().join(","));
        Ok(self.handled_by(worker, client).run_until(shutdown_signal()).await?)
    }

    fn handled_by(self, worker: Worker, client: Client) -> Worker {
        let timeout = self.timeout.map(Span::duration);
        let surroundings = Surroundings { timeout, later: self.later.into(), client };
        let kill_after = self.kill_after.into();
        let name = |default: &str| self.name.clone().unwrap_or_else(|| default.to_owned());
        match self.exec {
            Some(path) => {
                let program = Arc::new(Program { path, args: self.args, kill_after });
                let handler = ExecHandler { program, surroundings };
                worker.name(name("mainspring worker --exec")).handle_any(move |ctx| handler.clone().handle(ctx))
            }
            None => {
                let handler = ShellHandler { surroundings, kill_after };
                worker.name(name("mainspring worker --shell")).handle_any(move |ctx| handler.clone().handle(ctx))
            }
        }
    }
}

/// A path as it is, or a name on the path of programs.
fn find_program(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Usage> {
    let named = Path::new(program);
    let found = if named.components().count() > 1 {
        Some(named.to_owned()).filter(|path| is_program(path))
    } else {
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        folders.map(|folder| folder.join(named)).find(|path| is_program(path))
    };
    found.ok_or_else(|| Usage(format!("{} is not a program that can be run", named.display())))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_path_or_by_name() {
        let path = Some(OsStr::new("/nowhere:/bin:/usr/bin"));
        assert!(find_program(OsStr::new("sh"), path).expect("sh is there").ends_with("sh"));
        assert_eq!(find_program(OsStr::new("/bin/sh"), None).expect("sh is there"), Path::new("/bin/sh"));
        let missing = find_program(OsStr::new("no-such-program"), path).expect_err("is not there");
        assert_eq!(missing.0, "no-such-program is not a program that can be run");
        assert!(find_program(OsStr::new("/etc/passwd"), path).is_err(), "not everything is a program");
        assert!(find_program(OsStr::new("/bin"), path).is_err(), "a folder is none either");
    }
}
