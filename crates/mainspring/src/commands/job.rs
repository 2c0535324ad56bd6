//! `mainspring job …`: submit, look at, change. Submitting has its own file.

use clap::{Args, Subcommand};
use mainspring_wire::{CancelRequest, JobQuery, RetryRequest, Status};
use mainspring_worker::Client;
use uuid::Uuid;

use crate::commands::submit::{Payload, SubmitArgs};
use crate::commands::{show, wait};
use crate::output::Format;

#[derive(Subcommand, Debug)]
pub enum JobCommand {
    /// Submit a job
    Submit(Box<SubmitArgs>),
    /// Everything there is to see of a job
    Get { id: Uuid },
    /// Find jobs, newest first
    List(ListArgs),
    /// Cancel a job; a running one is told through its worker
    Cancel {
        id: Uuid,
        /// Kept with the job
        #[arg(long)]
        reason: Option<String>,
    },
    /// Set a job aside
    Pause { id: Uuid },
    /// Let a paused job go on
    Resume { id: Uuid },
    /// Try again: a dead letter from the start, a retrying job at once
    Retry {
        id: Uuid,
        /// Instead of the data it failed with: JSON, @FILE, or - for stdin
        #[arg(long, value_name = "JSON", allow_negative_numbers = true)]
        data: Option<Payload>,
    },
    /// Run a scheduled job now
    Run { id: Uuid },
    /// Why a job is not running
    Explain { id: Uuid },
    /// The attempts at a job, oldest first
    Executions { id: Uuid },
    /// Wait until a job has ended
    Wait { id: Uuid },
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// One status, or several with commas between them
    #[arg(long, value_delimiter = ',', ignore_case = true)]
    status: Vec<StatusWord>,
    #[arg(long)]
    queue: Option<String>,
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[arg(long)]
    tag: Option<String>,
    /// Made by this schedule
    #[arg(long)]
    schedule: Option<String>,
    /// Part of this workflow
    #[arg(long)]
    workflow: Option<Uuid>,
    /// Jobs on a page
    #[arg(long)]
    limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    cursor: Option<String>,
}

/// A status in either case.
#[derive(Clone, Copy, Debug)]
struct StatusWord(Status);

impl std::str::FromStr for StatusWord {
    type Err = mainspring_wire::ParseError;

    fn from_str(text: &str) -> Result<StatusWord, mainspring_wire::ParseError> {
        text.to_uppercase().parse().map(StatusWord)
    }
}

impl JobCommand {
    pub async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let job = match self {
            JobCommand::Submit(args) => return args.run(client, format).await,
            JobCommand::List(args) => return args.run(client, format).await,
            JobCommand::Wait { id } => return wait::until_ended(client, id, format).await,
            JobCommand::Explain { id } => return format.print(&client.explain(id).await?, show::explanation),
            JobCommand::Executions { id } => return format.print(&client.executions(id).await?, show::executions),
            JobCommand::Get { id } => client.job(id).await?,
            JobCommand::Cancel { id, reason } => client.cancel(id, &CancelRequest { reason }).await?,
            JobCommand::Pause { id } => client.pause(id).await?,
            JobCommand::Resume { id } => client.resume(id).await?,
            JobCommand::Retry { id, data } => {
                let data = data.map(Payload::read).transpose()?;
                client.retry(id, &RetryRequest { data }).await?
            }
            JobCommand::Run { id } => client.run(id).await?,
        };
        format.print(&job, show::job)
    }
}

impl ListArgs {
    async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let statuses: Vec<&str> = self.status.iter().map(|word| word.0.as_str()).collect();
        let query = JobQuery {
            status: Some(statuses.join(",")).filter(|statuses| !statuses.is_empty()),
            queue: self.queue,
            kind: self.kind,
            tag: self.tag,
            schedule: self.schedule,
            workflow: self.workflow,
            limit: self.limit,
            cursor: self.cursor,
        };
        let page = client.jobs(&query).await?;
        format.print(&page, show::jobs)?;
        show::say_more(&page, format);
        Ok(())
    }
}
