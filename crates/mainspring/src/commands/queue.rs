//! `mainspring queue …`: counts, pause and resume, settings.

use clap::{Args, Subcommand};
use mainspring_wire::QueuePatch;
use mainspring_worker::Client;

use crate::commands::show;
use crate::exit::Usage;
use crate::output::Format;

#[derive(Subcommand, Debug)]
pub enum QueueCommand {
    /// Every queue with its counts
    List,
    /// One queue with its counts
    Get { name: String },
    /// Nothing is claimed from it until it is resumed
    Pause { name: String },
    /// Let a paused queue go on
    Resume { name: String },
    /// Change its settings
    Set(SetArgs),
}

#[derive(Args, Debug)]
pub struct SetArgs {
    name: String,
    /// Priority gained per second of waiting; 0 is strict order
    #[arg(long)]
    age_factor: Option<f64>,
    /// Submits past this many unfinished jobs are pushed back
    #[arg(long, conflicts_with = "no_max_depth")]
    max_depth: Option<u64>,
    /// Take any number of jobs
    #[arg(long)]
    no_max_depth: bool,
}

impl QueueCommand {
    pub async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let queue = match self {
            QueueCommand::List => return format.print(&client.queues().await?, show::queues),
            QueueCommand::Get { name } => client.queue(&name).await?,
            QueueCommand::Pause { name } => client.pause_queue(&name).await?,
            QueueCommand::Resume { name } => client.resume_queue(&name).await?,
            QueueCommand::Set(args) => client.patch_queue(&args.name, &args.patch()?).await?,
        };
        format.print(&queue, show::queue)
    }
}

impl SetArgs {
    fn patch(&self) -> Result<QueuePatch, Usage> {
        let max_depth = if self.no_max_depth { Some(None) } else { self.max_depth.map(Some) };
        if self.age_factor.is_none() && max_depth.is_none() {
            return Err(Usage("nothing to set: give --age-factor, --max-depth or --no-max-depth".into()));
        }
        Ok(QueuePatch { age_factor: self.age_factor, max_depth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_changed() {
        let check = |age_factor, max_depth, no_max_depth, json: &str| {
            let args = SetArgs { name: "q".into(), age_factor, max_depth, no_max_depth };
            let patch = args.patch().expect("something is set");
            assert_eq!(serde_json::to_string(&patch).expect("a patch prints"), json);
        };
        check(Some(0.5), None, false, r#"{"age_factor":0.5}"#);
        check(None, Some(9), false, r#"{"max_depth":9}"#);
        check(None, None, true, r#"{"max_depth":null}"#);
        let nothing = SetArgs { name: "q".into(), age_factor: None, max_depth: None, no_max_depth: false };
        assert!(nothing.patch().is_err());
    }
}
