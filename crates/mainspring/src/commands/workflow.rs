//! `mainspring workflow …`: jobs that wait for each other, submitted from a file.

use anyhow::Result;
use clap::Subcommand;
use comfy_table::Table;
use mainspring_wire::{CancelRequest, NewWorkflow, WorkflowCancelled, WorkflowQuery, WorkflowSubmitted, WorkflowView};
use mainspring_worker::Client;
use uuid::Uuid;

use crate::commands::submit::Payload;
use crate::exit::Usage;
use crate::output::{Format, facts, or_dash, print_json, print_text, table};

/// No cancel takes more calls.
const STEPS_MAX: usize = 10_000;

#[derive(Subcommand, Debug)]
pub enum WorkflowCommand {
    /// Submit the jobs of a JSON file, all or none
    Submit {
        /// {"jobs": [{"name": "a", "type": …}, {"name": "b", "type": …, "after": ["a"]}], "callback": {…}}; - for stdin
        #[arg(value_name = "FILE.json")]
        file: String,
    },
    /// Where it is, and its jobs
    Get {
        id: Uuid,
        /// Jobs on a page
        #[arg(long)]
        limit: Option<u32>,
        /// Where the page before ended
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Cancel every job of it that has not ended
    Cancel {
        id: Uuid,
        /// Kept with the jobs
        #[arg(long)]
        reason: Option<String>,
    },
}

impl WorkflowCommand {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        match self {
            WorkflowCommand::Submit { file } => {
                let submitted = client.submit_workflow(&read(&file)?).await?;
                format.print(&submitted, shown_submitted)
            }
            WorkflowCommand::Get { id, limit, cursor } => {
                let view = client.workflow(id, &WorkflowQuery { limit, cursor }).await?;
                match format {
                    Format::Json => print_json(&view)?,
                    Format::Table => print_text(&shown(&view))?,
                }
                if let (Some(cursor), Format::Table) = (&view.next_cursor, format) {
                    eprintln!("there is more: --cursor {cursor}");
                }
                Ok(())
            }
            WorkflowCommand::Cancel { id, reason } => {
                let sum = cancel(client, id, &CancelRequest { reason }).await?;
                format.print(&sum, |sum| facts([("cancelled", Some(sum.cancelled.to_string()))]))
            }
        }
    }
}

fn read(file: &str) -> Result<NewWorkflow> {
    let payload = if file == "-" { Payload::Stdin } else { Payload::File(file.into()) };
    let json = payload.read()?;
    serde_json::from_str(json.get()).map_err(|error| Usage(format!("{file} is no workflow: {error}")).into())
}

async fn cancel(client: &Client, id: Uuid, request: &CancelRequest) -> Result<WorkflowCancelled> {
    let mut sum = WorkflowCancelled::default();
    for _ in 0..STEPS_MAX {
        let step = client.cancel_workflow(id, request).await?;
        sum.cancelled += step.cancelled;
        sum.more = step.more;
        // A step that did nothing would do nothing again.
        if !step.more || step.cancelled == 0 {
            break;
        }
    }
    Ok(sum)
}

fn shown_submitted(submitted: &WorkflowSubmitted) -> Table {
    let mut rows = facts([
        ("workflow_id", Some(submitted.workflow_id.to_string())),
        ("duplicate", submitted.duplicate.then(|| "yes: this key was used before".to_owned())),
    ]);
    for (name, job_id) in &submitted.jobs {
        rows.add_row([name.clone(), job_id.to_string()]);
    }
    if let Some(callback) = submitted.callback_id {
        rows.add_row(["(callback)".to_owned(), callback.to_string()]);
    }
    rows
}

fn shown(view: &WorkflowView) -> String {
    let counts = &view.counts;
    let by_status = [
        ("blocked", counts.blocked),
        ("scheduled", counts.scheduled),
        ("pending", counts.pending),
        ("paused", counts.paused),
        ("running", counts.running),
        ("completed", counts.completed),
        ("failed", counts.failed),
        ("cancelled", counts.cancelled),
    ];
    let by_status = by_status.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}"));
    let whole = facts([
        ("workflow_id", Some(view.workflow_id.to_string())),
        ("status", Some(view.status.to_string())),
        ("jobs", Some(by_status.collect::<Vec<_>>().join(", "))),
        ("submitted_at", Some(view.submitted_at.to_string())),
    ]);
    let mut rows = table(["STEP", "JOB", "TYPE", "STATUS", "ATTEMPTS", "AFTER", "ERROR"]);
    for job in &view.jobs {
        let callback = view.callback_id == Some(job.job_id);
        let after = match (callback, job.depends_on.len()) {
            (true, _) => "all".to_owned(),
            (false, 0) => "-".to_owned(),
            (false, count) => count.to_string(),
        };
        rows.add_row([
            if callback { "(callback)".to_owned() } else { or_dash(job.step.as_ref()) },
            job.job_id.to_string(),
            job.kind.clone(),
            job.status.to_string(),
            job.attempts.to_string(),
            after,
            or_dash(job.error.as_ref().map(|error| error.message.lines().next().unwrap_or_default().to_owned())),
        ]);
    }
    format!("{whole}\n\n{rows}")
}
