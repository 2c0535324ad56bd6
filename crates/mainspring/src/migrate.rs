//! `mainspring migrate`: what has been done to a database, and bringing it up to date. Asks the database itself, no server.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::Table;
use mainspring_store::postgres::{self, MIGRATIONS};
use serde::Serialize;

use crate::config::{Config, Flags};
use crate::exit::Usage;
use crate::output::{Format, table};
use crate::serve::postgres_options;
use crate::store_kind::StoreKind;

#[derive(Args, Debug)]
pub struct MigrateArgs {
    /// A TOML file; see docs/config.md
    #[arg(long, global = true, value_name = "FILE", env = "MAINSPRING_CONFIG")]
    config: Option<PathBuf>,
    /// The database: postgres://user@host/database
    #[arg(long, global = true, value_name = "STORE")]
    store: Option<StoreKind>,
    #[command(subcommand)]
    command: MigrateCommand,
}

#[derive(Subcommand, Debug)]
enum MigrateCommand {
    /// Bring the database up to date. Nodes of the version before may go on running
    Up,
    /// Show what has been done to the database and what has not
    Status,
}

/// One migration, and whether the database has it.
#[derive(Debug, Serialize)]
struct Row {
    number: i32,
    name: &'static str,
    applied: bool,
}

impl MigrateArgs {
    pub async fn run(self, format: Format) -> anyhow::Result<()> {
        let options = self.options()?;
        if let MigrateCommand::Up = self.command {
            match postgres::migrate_up(&options).await?.as_slice() {
                [] => eprintln!("the database was up to date"),
                steps => steps.iter().for_each(|step| eprintln!("applied {step}")),
            }
        }
        let status = postgres::migration_status(&options).await?;
        let row = |(at, step): (usize, &postgres::Migration)| Row {
            number: step.number,
            name: step.name,
            applied: at < status.applied,
        };
        format.print(&MIGRATIONS.iter().enumerate().map(row).collect::<Vec<_>>(), |rows| as_table(rows))
    }

    fn options(&self) -> anyhow::Result<postgres::Options> {
        let flags = Flags { store: self.store.clone(), ..Flags::default() };
        let config = Config::load(self.config.as_deref(), &flags).map_err(|error| Usage(format!("{error:#}")))?;
        match &config.store.kind {
            StoreKind::Postgres(address) => postgres_options(&config.store, address),
            other => Err(Usage(format!(
                "the store is {other}, which needs no migrations; name a database with --store postgres://user@host/database"
            ))
            .into()),
        }
    }
}

fn as_table(rows: &[Row]) -> Table {
    let mut shown = table(["MIGRATION", "STATUS"]);
    for row in rows {
        shown.add_row([row.name, if row.applied { "applied" } else { "pending" }]);
    }
    shown
}
