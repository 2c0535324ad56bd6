//! What should be, against what is: schedules, queues and limits that a file describes, the difference to the server, and carrying it out.
//! A file knows no order and no history; running it twice changes nothing the second time.
//!
//! - `file`: reads TOML, by line and column. `calendars`: lists of exclusions that schedules name. `json`: TOML as JSON.
//! - `facts`: all that a schedule says, field by field, so that two can be compared. `mark`: which schedules came from where.
//! - `plan`: the difference. `show`: the difference for people. `confirm`: asks them. `carry_out`: makes it so.

mod calendars;
mod carry_out;
mod confirm;
mod facts;
mod file;
mod json;
mod mark;
mod plan;
mod show;

use std::collections::BTreeMap;

use anyhow::Result;
use mainspring_wire::{LimitRule, NewSchedule};
use mainspring_worker::Client;
use serde::Serialize;

use crate::exit::Differs;
use crate::output::{Format, print_json, print_text};

pub use file::read_all;
pub use mark::{Source, source_of};
pub use plan::Plan;

/// What should be.
#[derive(Debug, Default)]
pub struct Wanted {
    pub schedules: BTreeMap<String, NewSchedule>,
    pub queues: BTreeMap<String, WantedQueue>,
    pub limits: BTreeMap<String, LimitRule>,
}

/// What should be of a queue. What is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedQueue {
    pub paused: Option<bool>,
    /// `Some(None)` is no bound.
    pub max_depth: Option<Option<u64>>,
    pub age_factor: Option<f64>,
}

/// How far to go.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Manner {
    /// Only show what would change; ends with 2 if something would, with 0 if nothing would
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Also remove schedules that were applied from this source before and are not in it any more. Queues and limits carry no
    /// mark of where they came from, and stay
    #[arg(long)]
    prune: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    applied: bool,
}

/// Shows the difference, asks, and makes it so.
pub async fn apply(client: &Client, wanted: Wanted, source: &Source, manner: Manner, format: Format) -> Result<()> {
    let plan = Plan::make(client, wanted, source, manner.prune).await?;
    if format == Format::Table {
        print_text(&show::text(&plan, show::Paint::of_stdout()))?;
    }
    let changes = plan.changes();
    let go_on = changes > 0 && !manner.dry_run;
    if go_on && !manner.yes {
        confirm::ask(changes)?;
    }
    if go_on {
        carry_out::carry_out(client, &plan).await?;
    }
    if format == Format::Json {
        print_json(&Report { plan: &plan, applied: go_on })?;
    } else if go_on {
        eprintln!("done: {changes} changed");
    }
    if manner.dry_run && changes > 0 { Err(Differs.into()) } else { Ok(()) }
}
