//! `mainspring schedule …`: create, look at, change, and what became of each run. `spec`: flags to a document. `show`: answers as
//! tables.

mod show;
mod spec;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use mainspring_wire::{
    Backfill, BackfillAnswer, LedgerQuery, NewSchedule, PreviewQuery, RawValue, SchedulePause, ScheduleQuery, Span,
    Timestamp,
};
use mainspring_worker::{Client, Expect};

use crate::commands::submit::Payload;
use crate::exit::Usage;
use crate::output::{Format, print_json, print_text};

use spec::{SpecArgs, TimingArgs};

/// No back-fill takes more calls.
const STEPS_MAX: usize = 10_000;

#[derive(Subcommand, Debug)]
pub enum ScheduleCommand {
    /// Create a schedule; one by this name must not be there
    Create(Box<WriteArgs>),
    /// Everything there is to see of a schedule
    Get { name: String },
    /// Schedules by name
    List(ListArgs),
    /// Say all of a schedule anew; it is created if it is not there
    Replace(Box<WriteArgs>),
    /// Change some of a schedule
    Patch {
        name: String,
        /// A JSON merge patch such as {"cron": "0 4 * * *", "note": null}; @FILE, or - for stdin
        #[arg(value_name = "JSON")]
        patch: Payload,
        #[command(flatten)]
        guard: Guard,
    },
    /// Remove a schedule; its jobs and its ledger stay
    Delete {
        name: String,
        #[command(flatten)]
        guard: Guard,
    },
    /// Nothing fires until it is resumed
    Pause {
        name: String,
        /// Why
        #[arg(long)]
        note: Option<String>,
        /// It resumes by itself after this long
        #[arg(long = "for", value_name = "DURATION")]
        span: Option<Span>,
        /// It resumes by itself then
        #[arg(long, value_name = "TIME", conflicts_with = "span")]
        until: Option<Timestamp>,
    },
    /// Let a paused schedule go on
    Resume { name: String },
    /// Make one job now, beside the occurrences
    Trigger { name: String },
    /// Make the jobs of past occurrences that have none
    Backfill(BackfillArgs),
    /// When it will fire: a schedule by name, or one that is not stored, by its flags
    Preview(PreviewArgs),
    /// What became of its occurrences, latest first
    Ledger {
        name: String,
        /// Rows on a page
        #[arg(long)]
        limit: Option<u32>,
        /// Where the page before ended
        #[arg(long)]
        cursor: Option<String>,
    },
}

#[derive(Args, Debug)]
pub struct WriteArgs {
    /// What it is called
    name: String,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    guard: Guard,
}

/// What must hold for a change to be made.
#[derive(Args, Clone, Copy, Debug)]
pub struct Guard {
    /// Only if it still has this revision
    #[arg(long, value_name = "REVISION")]
    if_revision: Option<u64>,
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// Only those that are paused, or only those that are not
    #[arg(long, value_name = "true|false")]
    paused: Option<bool>,
    /// Schedules on a page
    #[arg(long)]
    limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Args, Debug)]
pub struct BackfillArgs {
    name: String,
    /// The first instant of the range
    #[arg(long, value_name = "TIME")]
    from: Timestamp,
    /// The last instant of the range
    #[arg(long, value_name = "TIME")]
    to: Timestamp,
    /// At most this many occurrences
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    max: Option<u64>,
    /// Only show what would be made
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args, Debug)]
pub struct PreviewArgs {
    /// A stored schedule
    #[arg(conflicts_with = "timing", required_unless_present = "timing")]
    name: Option<String>,
    #[command(flatten)]
    timing: TimingArgs,
    /// How many occurrences
    #[arg(short = 'n', long, default_value_t = 10)]
    count: u32,
    /// Occurrences after this instant, instead of now
    #[arg(long, value_name = "TIME")]
    after: Option<Timestamp>,
}

impl Guard {
    fn expect(self) -> Expect {
        self.if_revision.map_or(Expect::Anything, Expect::Revision)
    }
}

impl ScheduleCommand {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let view = match self {
            ScheduleCommand::List(args) => return args.run(client, format).await,
            ScheduleCommand::Backfill(args) => return args.run(client, format).await,
            ScheduleCommand::Preview(args) => return args.run(client, format).await,
            ScheduleCommand::Ledger { name, limit, cursor } => {
                let page = client.ledger(&name, &LedgerQuery { limit, cursor }).await?;
                format.print(&page, show::ledger)?;
                show::say_more(page.next_cursor.as_deref(), format);
                return Ok(());
            }
            ScheduleCommand::Trigger { name } => {
                return format.print(&client.trigger_schedule(&name).await?, crate::commands::show::submitted);
            }
            ScheduleCommand::Delete { name, guard } => {
                client.delete_schedule(&name, guard.expect()).await?;
                eprintln!("schedule {name} is gone; its jobs and its ledger stay");
                return Ok(());
            }
            ScheduleCommand::Create(args) => {
                if args.guard.if_revision.is_some() {
                    bail!(Usage("--if-revision is for a schedule that is there: use `schedule replace`".into()));
                }
                client.put_schedule(&args.name, &args.spec.document()?, Expect::Absent).await?
            }
            ScheduleCommand::Replace(args) => {
                let expect = args.guard.expect();
                client.put_schedule(&args.name, &args.spec.document()?, expect).await?
            }
            ScheduleCommand::Patch { name, patch, guard } => {
                let patch: Box<RawValue> = patch.read()?;
                client.patch_schedule(&name, &patch, guard.expect()).await?
            }
            ScheduleCommand::Get { name } => client.schedule(&name).await?,
            ScheduleCommand::Pause { name, note, span, until } => {
                client.pause_schedule(&name, &SchedulePause { note, until, span }).await?
            }
            ScheduleCommand::Resume { name } => client.resume_schedule(&name).await?,
        };
        format.print(&view, show::schedule)
    }
}

impl ListArgs {
    async fn run(self, client: &Client, format: Format) -> Result<()> {
        let ListArgs { paused, limit, cursor } = self;
        let page = client.schedules(&ScheduleQuery { paused, limit, cursor }).await?;
        format.print(&page, show::schedules)?;
        show::say_more(page.next_cursor.as_deref(), format);
        Ok(())
    }
}

impl BackfillArgs {
    /// Goes on in the server's steps until the range or the maximum is used up.
    async fn run(self, client: &Client, format: Format) -> Result<()> {
        let mut sum = BackfillAnswer::default();
        let mut from = self.from;
        for _ in 0..STEPS_MAX {
            let left = self.max.map(|max| max.saturating_sub(sum.occurrences.len() as u64));
            let max = left.map(|left| u32::try_from(left).unwrap_or(u32::MAX));
            let step = client
                .backfill_schedule(&self.name, &Backfill { from, to: self.to, max, dry_run: self.dry_run })
                .await?;
            sum.more = step.more;
            let Some(last) = step.occurrences.last() else { break };
            from = Timestamp(last.occurrence.0 + 1);
            sum.occurrences.extend(step.occurrences);
            if !step.more || self.max.is_some_and(|max| sum.occurrences.len() as u64 >= max) {
                break;
            }
        }
        format.print(&sum, show::backfill)
    }
}

impl PreviewArgs {
    async fn run(self, client: &Client, format: Format) -> Result<()> {
        let query = PreviewQuery { count: Some(self.count), after: self.after };
        let preview = match self.name {
            Some(name) => client.preview_schedule(&name, &query).await?,
            None => {
                let mut schedule = NewSchedule::default();
                // The times do not depend on it, and a document without a type is none.
                schedule.job.kind = "preview".to_owned();
                self.timing.put(&mut schedule)?;
                client.preview_unsaved(&schedule, &query).await?
            }
        };
        match format {
            Format::Json => print_json(&preview),
            Format::Table => print_text(&show::preview(&preview)),
        }
    }
}
