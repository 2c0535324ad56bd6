//! `mainspring apply FILE.toml …`: schedules, queues and limits as files say them.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use mainspring_worker::Client;

use crate::apply::{self, Manner};
use crate::output::Format;

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ApplyArgs {
    /// Files, or directories with .toml files in them
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// What these files are called together; what was applied carries it as the tag `applied:NAME` [default: the name of the only path]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

const HELP: &str = "\
A file has [schedules.NAME] with the fields of the API, [queues.NAME] with paused, max_depth (a number, or \"none\") and age_factor,
[limits.\"REACH\"] with concurrency, rate, breaker and weight, such as [limits.\"key:customer:*\"],
and [calendars.NAME] with exclude = […], which schedules name by exclude = [{ calendar = \"NAME\" }].";

impl ApplyArgs {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let source = apply::source_of(self.source.as_deref(), &self.paths)?;
        let wanted = apply::read_all(&self.paths)?;
        apply::apply(client, wanted, &source, self.manner, format).await
    }
}
