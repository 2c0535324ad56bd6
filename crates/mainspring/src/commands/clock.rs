//! `mainspring clock`: what time it is on the server, and moving on a clock that is virtual.

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use comfy_table::Table;
use mainspring_wire::{Advance, ClockView, Span, Timestamp};
use mainspring_worker::Client;

use crate::output::{Format, facts};

/// No way takes more calls.
const STEPS_MAX: usize = 10_000;

#[derive(Args, Debug)]
pub struct ClockArgs {
    #[command(subcommand)]
    command: Option<ClockCommand>,
}

#[derive(Subcommand, Debug)]
enum ClockCommand {
    /// Move a virtual clock on; all that falls due on the way happens
    Advance {
        /// By this long, such as 90s or 1h
        #[arg(value_name = "DURATION", required_unless_present = "to")]
        by: Option<Span>,
        /// To this instant, such as 2026-12-01T09:00:00Z
        #[arg(long, value_name = "TIME", conflicts_with = "by")]
        to: Option<Timestamp>,
    },
}

impl ClockArgs {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let clock = match self.command {
            None => client.clock().await?,
            Some(ClockCommand::Advance { by, to }) => advance(client, by, to).await?,
        };
        format.print(&clock, table)
    }
}

/// A way with very much on it is gone in several steps.
async fn advance(client: &Client, by: Option<Span>, to: Option<Timestamp>) -> Result<ClockView> {
    let goal = match to {
        Some(to) => to,
        None => Timestamp(client.clock().await?.now.0.saturating_add(by.unwrap_or_default().as_millis())),
    };
    for _ in 0..STEPS_MAX {
        let clock = client.advance_clock(&Advance { by: None, to: Some(goal) }).await?;
        if clock.now >= goal {
            return Ok(clock);
        }
    }
    bail!("the clock did not come to {goal} in {STEPS_MAX} steps")
}

fn table(clock: &ClockView) -> Table {
    let kind = if clock.is_virtual { "virtual: it stands still until it is advanced" } else { "the machine's" };
    facts([("now", Some(clock.now.to_string())), ("clock", Some(kind.to_owned()))])
}
