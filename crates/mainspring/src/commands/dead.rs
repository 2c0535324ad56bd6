//! `mainspring dead …`: list, replay, purge. Replay and purge go on in the server's steps until all that was meant is done.

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use mainspring_http::limits::DEAD_STEP_JOBS_MAX;
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
    #[arg(conflicts_with_all = ["queue", "kind", "tag", "all", "max"])]
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
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
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

    /// How many the next step may do, after so many were done; `None` where the ids say it.
    fn step(&self, done: u64) -> Option<u64> {
        let left = self.max.map_or(DEAD_STEP_JOBS_MAX, |max| max.saturating_sub(done));
        self.ids.is_empty().then_some(left.min(DEAD_STEP_JOBS_MAX))
    }

    /// Whether another step is wanted. A step that did nothing would do nothing again.
    fn goes_on(&self, more: bool, in_this_step: u64, done: u64) -> bool {
        more && in_this_step > 0 && self.step(done).is_some_and(|left| left > 0)
    }
}

async fn replay(client: &Client, selection: Selection, format: Format) -> Result<()> {
    selection.check()?;
    let mut sum = Replayed::default();
    for _ in 0..STEPS_MAX {
        let Selection { queue, kind, tag, .. } = selection.clone();
        let max = selection.step(sum.replayed);
        let step = client.replay(&Replay { ids: selection.ids(), queue, kind, tag, max }).await?;
        sum.replayed += step.replayed;
        sum.missing = step.missing;
        sum.more = step.more;
        if !selection.goes_on(step.more, step.replayed, sum.replayed) {
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
        let max = selection.step(sum.purged);
        let step = client.purge(&Purge { ids: selection.ids(), queue, kind, tag, max }).await?;
        sum.purged += step.purged;
        sum.missing = step.missing;
        sum.more = step.more;
        if !selection.goes_on(step.more, step.purged, sum.purged) {
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
        let selection = Selection { max: Some(25_000), ..Selection::default() };
        let steps = [0, 10_000, 20_000, 25_000, 30_000].map(|done| selection.step(done));
        assert_eq!(steps, [Some(10_000), Some(10_000), Some(5_000), Some(0), Some(0)]);
        assert!(selection.goes_on(true, 10_000, 20_000));
        assert!(!selection.goes_on(true, 5_000, 25_000), "the maximum is reached");
        assert!(!selection.goes_on(false, 10_000, 20_000), "there is no more");
        assert!(!selection.goes_on(true, 0, 20_000), "it did nothing");
    }

    #[test]
    fn without_a_maximum_it_goes_on_until_nothing_is_left_and_ids_take_one_step() {
        let all = Selection { all: true, ..Selection::default() };
        assert_eq!(all.step(1_000_000), Some(10_000));
        assert!(all.goes_on(true, 10_000, 1_000_000));
        let named = Selection { ids: vec![Uuid::nil()], ..Selection::default() };
        assert_eq!(named.step(0), None);
        assert!(!named.goes_on(true, 1, 1));
    }
}
