//! `mainspring import crontab FILE`: the lines of a crontab as schedules, for a worker that runs shell commands.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use mainspring_wire::CatchupMode;
use mainspring_worker::Client;

use crate::apply::{self, Manner, Source, Wanted};
use crate::crontab::{self, Crontab, Form, Wishes};
use crate::output::Format;

#[derive(Subcommand, Debug)]
pub enum ImportCommand {
    /// Take over a crontab: each line becomes a schedule
    #[command(after_help = HELP)]
    Crontab(CrontabArgs),
}

const HELP: &str = "\
Each line becomes a schedule named after its command. Run its jobs with a worker, as the user whose crontab it was:
  mainspring worker --shell --queue cron
With --system there is a queue for each user: cron.root, cron.www-data, …";

#[derive(Args, Debug)]
pub struct CrontabArgs {
    /// A file as `crontab -l` prints it; - for stdin
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// The form of /etc/crontab and /etc/cron.d: a user stands between the time and the command
    #[arg(long)]
    system: bool,
    /// The time zone of lines that have no CRON_TZ [default: this machine's]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// Where the jobs wait; with --system, .USER is put behind it
    #[arg(long, default_value = "cron")]
    queue: String,
    /// Put before the names of the schedules
    #[arg(long, default_value = "cron.")]
    prefix: String,
    /// Which runs that were missed are made up for: none, as cron does, latest or all
    #[arg(long, default_value = "none", value_name = "MODE")]
    catchup: CatchupMode,
    /// What this crontab is called; what was imported carries it as the tag `applied:NAME` [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl ImportCommand {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let ImportCommand::Crontab(args) = self;
        args.run(client, format).await
    }
}

impl CrontabArgs {
    async fn run(self, client: &Client, format: Format) -> Result<()> {
        let source = self.source()?;
        let crontab = self.read()?;
        let shown = self.path.display();
        for remark in &crontab.remarks {
            eprintln!("{shown}:{}: {}", remark.line, remark.text);
        }
        let wishes = self.wishes(&crontab, &source);
        let named = crontab.schedules(&wishes)?.into_iter();
        let schedules = named.map(|schedule| (schedule.schedule_id.clone().unwrap_or_default(), schedule)).collect();
        let wanted = Wanted { schedules, ..Wanted::default() };
        apply::apply(client, wanted, &source, self.manner, format).await
    }

    fn source(&self) -> Result<Source> {
        let stdin = self.path == Path::new("-");
        let given = self.source.as_deref().or(stdin.then_some("crontab"));
        Ok(apply::source_of(given, std::slice::from_ref(&self.path))?)
    }

    fn read(&self) -> Result<Crontab> {
        let text = match self.path == Path::new("-") {
            false => std::fs::read_to_string(&self.path)
                .with_context(|| format!("could not read {}", self.path.display()))?,
            true => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).context("could not read stdin")?;
                text
            }
        };
        let form = if self.system { Form::System } else { Form::User };
        match crontab::read(&text, form) {
            Ok(crontab) => Ok(crontab),
            Err(bad) => {
                let shown = self.path.display();
                let lines: Vec<String> = bad.iter().map(|line| format!("{shown}:{line}")).collect();
                bail!("{}", lines.join("\n       "))
            }
        }
    }

    fn wishes(&self, crontab: &Crontab, source: &Source) -> Wishes {
        let zone = self.tz.clone().or_else(crontab::of_this_machine).unwrap_or_else(|| "UTC".to_owned());
        if self.tz.is_none() && crontab.entries.iter().any(|entry| entry.zone.is_none()) {
            eprintln!("times without CRON_TZ are taken as {zone}; say --tz ZONE for another");
        }
        Wishes {
            prefix: self.prefix.clone(),
            queue: self.queue.clone(),
            zone,
            catchup: self.catchup,
            note: format!("imported from {}", source.name()),
        }
    }
}
