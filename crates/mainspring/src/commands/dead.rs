//! `mainspring dead …`: list, replay, purge. Replay and purge go on in the server's steps until all that was meant is done.

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use mainspring_wire::{DeadQuery, Purge, Purged, Replay, Replayed};
use mainspring_worker::Client;
use uuid::Uuid;

use crate::commands::show;
use crate::exit::Usage;
use crate::output::{Format, facts};

/// No replay or purge takes more calls.
const STEPS_MAX: usize = 100_000;

#[derive(Subcommand, Debug)]
pub enum DeadCommand {
    /// Find dead letters, newest first
    List(ListArgs),
    /// Run dead letters again
    Replay(Selection),
    /// Delete dead letters for good
    Purge(PurgeArgs),
}

#[derive(Args, Debug)]
pub struct ListArgs {
    #[arg(long)]
    queue: Option<String>,
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[arg(long)]
    tag: Option<String>,
    /// Jobs on a page
    #[arg(long)]
    limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    cursor: Option<String>,
}

/// Which dead letters: by id, by filter, or all.
#[derive(Args, Clone, Debug, Default)]
pub struct Selection {
    /// These
    #[arg(conflicts_with_all = ["queue", "kind", "tag", "all"])]
    ids: Vec<Uuid>,
    #[arg(long)]
    queue: Option<String>,
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[arg(long)]
    tag: Option<String>,
    /// Every one
    #[arg(long)]
    all: bool,
    /// At most this many
    #[arg(long)]
    max: Option<u64>,
}

#[derive(Args, Debug)]
pub struct PurgeArgs {
    #[command(flatten)]
    selection: Selection,
    /// Yes, delete all that the filter finds
    #[arg(long)]
    yes: bool,
}

impl DeadCommand {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        match self {
            DeadCommand::List(args) => args.run(client, format).await,
            DeadCommand::Replay(selection) => replay(client, selection, format).await,
            DeadCommand::Purge(args) => {
                if args.selection.ids.is_empty() && !args.yes {
                    bail!(Usage("this deletes every dead letter that the filter finds, for good: add --yes".into()));
                }
                purge(client, args.selection, format).await
            }
        }
    }
}

impl ListArgs {
    async fn run(self, client: &Client, format: Format) -> Result<()> {
        let ListArgs { queue, kind, tag, limit, cursor } = self;
        let page = client.dead(&DeadQuery { queue, kind, tag, limit, cursor }).await?;
        format.print(&page, show::dead)?;
        show::say_more(&page, format);
        Ok(())
    }
}

impl Selection {
    fn check(&self) -> Result<(), Usage> {
        let filtered = self.queue.is_some() || self.kind.is_some() || self.tag.is_some();
        match self.ids.is_empty() && !filtered && !self.all {
            true => Err(Usage("which ones? give ids, --queue, --type, --tag or --all".into())),
            false => Ok(()),
        }
    }

    fn ids(&self) -> Option<Vec<Uuid>> {
        Some(self.ids.clone()).filter(|ids| !ids.is_empty())
    }

    /// How many may still be done; `None` for all.
    fn left(&self, done: u64) -> Option<u64> {
        self.max.map(|max| max.saturating_sub(done))
    }
}

async fn replay(client: &Client, selection: Selection, format: Format) -> Result<()> {
    selection.check()?;
    let mut sum = Replayed::default();
    for _ in 0..STEPS_MAX {
        let Selection { queue, kind, tag, .. } = selection.clone();
        let max = selection.left(sum.replayed);
        let step = client.replay(&Replay { ids: selection.ids(), queue, kind, tag, max }).await?;
        sum.replayed += step.replayed;
        sum.missing = step.missing;
        sum.more = step.more;
        if !step.more || step.replayed == 0 || selection.left(sum.replayed) == Some(0) {
            break;
        }
    }
    format.print(&sum, |sum| facts([("replayed", Some(sum.replayed.to_string())), ("missing", missing(&sum.missing))]))
}

async fn purge(client: &Client, selection: Selection, format: Format) -> Result<()> {
    selection.check()?;
    let mut sum = Purged::default();
    for _ in 0..STEPS_MAX {
        let Selection { queue, kind, tag, .. } = selection.clone();
        let max = selection.left(sum.purged);
        let step = client.purge(&Purge { ids: selection.ids(), queue, kind, tag, max }).await?;
        sum.purged += step.purged;
        sum.missing = step.missing;
        sum.more = step.more;
        if !step.more || step.purged == 0 || selection.left(sum.purged) == Some(0) {
            break;
        }
    }
    format.print(&sum, |sum| facts([("purged", Some(sum.purged.to_string())), ("missing", missing(&sum.missing))]))
}

fn missing(ids: &[Uuid]) -> Option<String> {
    let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
    Some(ids.join(", ")).filter(|ids| !ids.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replayed_or_purged_that_was_not_named() {
        assert!(Selection::default().check().is_err());
        assert!(Selection { max: Some(1), ..Selection::default() }.check().is_err());
        assert!(Selection { all: true, ..Selection::default() }.check().is_ok());
        assert!(Selection { queue: Some("q".into()), ..Selection::default() }.check().is_ok());
        assert!(Selection { ids: vec![Uuid::nil()], ..Selection::default() }.check().is_ok());
    }

    #[test]
    fn a_maximum_holds_over_all_steps() {
        let selection = Selection { max: Some(10), ..Selection::default() };
        assert_eq!((selection.left(0), selection.left(7), selection.left(12)), (Some(10), Some(3), Some(0)));
        assert_eq!(Selection::default().left(7), None);
    }
}
