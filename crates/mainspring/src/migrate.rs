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
    /// The database: postgres://user@host/database; may be given more than once
    #[arg(long, global = true, value_name = "STORE")]
    store: Vec<StoreKind>,
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

/// One migration, and whether a database has it.
#[derive(Debug, Serialize)]
struct Row {
    /// Which of several databases.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<usize>,
    number: i32,
    name: &'static str,
    applied: bool,
}

impl MigrateArgs {
    pub async fn run(self, format: Format) -> anyhow::Result<()> {
        let each = self.options()?;
        let mut rows = Vec::new();
        for (place, options) in each.iter().enumerate() {
            let database = (each.len() > 1).then_some(place + 1);
            let shown = database.map_or("the database".to_owned(), |number| format!("database {number}"));
            if let MigrateCommand::Up = self.command {
                match postgres::migrate_up(options).await?.as_slice() {
                    [] => eprintln!("{shown} was up to date"),
                    steps => steps.iter().for_each(|step| eprintln!("{shown}: applied {step}")),
                }
            }
            let status = postgres::migration_status(options).await?;
            rows.extend(MIGRATIONS.iter().enumerate().map(|(at, step)| Row {
                database,
                number: step.number,
                name: step.name,
                applied: at < status.applied,
            }));
        }
        format.print(&rows, |rows| as_table(rows))
    }

    fn options(&self) -> anyhow::Result<Vec<postgres::Options>> {
        let flags = Flags { store: self.store.clone(), ..Flags::default() };
        let config = Config::load(self.config.as_deref(), &flags).map_err(|error| Usage(format!("{error:#}")))?;
        match &config.store.kind {
            StoreKind::Postgres(addresses) => {
                addresses.iter().map(|address| postgres_options(&config.store, address)).collect()
            }
            other => Err(Usage(format!(
                "the store is {other}, which needs no migrations; name a database with --store postgres://user@host/database"
            ))
            .into()),
        }
    }
}

fn as_table(rows: &[Row]) -> Table {
    let is_set = rows.iter().any(|row| row.database.is_some());
    let head = ["DATABASE", "MIGRATION", "STATUS"];
    let mut shown = table(head.into_iter().skip(usize::from(!is_set)));
    for row in rows {
        let database = row.database.map(|number| number.to_string());
        let cells = [row.name.to_owned(), if row.applied { "applied" } else { "pending" }.to_owned()];
        shown.add_row(database.into_iter().chain(cells));
    }
    shown
}
