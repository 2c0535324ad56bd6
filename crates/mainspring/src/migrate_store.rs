//! `mainspring migrate-store`: moves what a data directory remembers into a PostgreSQL database, and proves it. Asks no server: none
//! may run on either side.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use comfy_table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use mainspring_core::time::Time;
use mainspring_store::embedded::Dump;
use mainspring_store::moving::{Kind, Move, Moved, Stage, Step};
use serde::Serialize;

use crate::clock;
use crate::config::{Config, Flags};
use crate::exit::Usage;
use crate::output::{Format, table};
use crate::serve::postgres_options;
use crate::store_kind::StoreKind;

#[derive(Args, Debug)]
pub struct MigrateStoreArgs {
    /// The data directory of a server that is stopped; nothing in it is changed
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The database to move into, with nothing in it: postgres://user@host/database
    #[arg(long, value_name = "STORE")]
    to: StoreKind,
    /// A TOML file for what the address does not say, such as store.password_file; see docs/config.md
    #[arg(long, value_name = "FILE", env = "MAINSPRING_CONFIG")]
    config: Option<PathBuf>,
}

/// What was moved, for programs.
#[derive(Debug, Serialize)]
struct Summary {
    from: String,
    to: String,
    already_done: bool,
    seconds: f64,
    kinds: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    copied: u64,
    verified: u64,
}

impl MigrateStoreArgs {
    pub async fn run(self, format: Format) -> anyhow::Result<()> {
        let flags = Flags { store: vec![self.to.clone()], ..Flags::default() };
        let config = Config::load(self.config.as_deref(), &flags).map_err(|error| Usage(format!("{error:#}")))?;
        let address = match &self.to {
            StoreKind::Postgres(addresses) => addresses.first(),
            StoreKind::Embedded | StoreKind::Memory => None,
        };
        let Some(address) = address else {
            return Err(Usage(format!(
                "--to is {}, and a store is moved into a database; name one: --to postgres://user@host/database",
                self.to
            ))
            .into());
        };
        let options = postgres_options(&config.store, address)?;
        let started = clock::instant();
        let now = Time::from_millis(clock::now().as_millis());
        let dump = Dump::open(&self.from)?;
        let mut moving = Move::open(dump, &self.from, &options, now).await?;
        let (items, copied) = moving.items()?;
        if copied > 0 && !moving.is_finished() {
            eprintln!("going on where a former run was: {copied} of {items} are copied");
        }
        let mut talk = Talk::new("copying", items, copied);
        while let Step::Copied(stage, count) = moving.step().await? {
            talk.copied(stage, count);
        }
        talk.end();
        let mut talk = Talk::new("verifying", items, 0);
        let moved = moving.verify(&mut |count| talk.seen(count)).await?;
        talk.end();
        if moved.was_done {
            eprintln!("a former run had moved and verified all of it; nothing was done");
        }
        format.print(&self.summary(&moved, started), as_table)
    }

    fn summary(&self, moved: &Moved, started: Instant) -> Summary {
        // What was read back is the same, or there would be no summary.
        let row = |kind: &Kind| {
            let items = moved.tally.of(*kind).items;
            Row { kind: kind.name(), copied: items, verified: items }
        };
        Summary {
            from: self.from.display().to_string(),
            to: self.to.to_string(),
            already_done: moved.was_done,
            seconds: started.elapsed().as_secs_f64(),
            kinds: Kind::ALL.iter().map(row).collect(),
        }
    }
}

fn as_table(summary: &Summary) -> Table {
    let mut shown = table(["KIND", "COPIED", "VERIFIED"]);
    for row in &summary.kinds {
        shown.add_row([row.kind.to_owned(), row.copied.to_string(), row.verified.to_string()]);
    }
    shown
}

/// How far it is: a bar where somebody watches, a line a stage where a log is written.
struct Talk {
    what: &'static str,
    bar: Option<ProgressBar>,
    stage: Option<Stage>,
    count: u64,
    since: Instant,
}

impl Talk {
    fn new(what: &'static str, items: u64, done: u64) -> Talk {
        let style = "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
        let style = ProgressStyle::with_template(style).expect("the template is well formed");
        let bar = || ProgressBar::new(items).with_style(style).with_message(what).with_position(done);
        let bar = std::io::stderr().is_terminal().then(bar);
        if let Some(bar) = &bar {
            // What a former run copied says nothing about the speed of this one.
            bar.reset_eta();
        }
        Talk { what, bar, stage: None, count: 0, since: clock::instant() }
    }

    fn copied(&mut self, stage: Stage, count: u64) {
        if self.stage != Some(stage) {
            self.tell();
            self.stage = Some(stage);
        }
        self.seen(count);
    }

    fn seen(&mut self, count: u64) {
        self.count += count;
        if let Some(bar) = &self.bar {
            bar.inc(count);
        }
    }

    /// A line about the stage that is over, if something was in it.
    fn tell(&mut self) {
        let count = std::mem::take(&mut self.count);
        if self.bar.is_some() || count == 0 {
            return;
        }
        let seconds = self.since.elapsed().as_secs_f64();
        let stage = self.stage.map(|stage| format!(" {stage:?}").to_lowercase()).unwrap_or_default();
        eprintln!("{}{stage}: {count} in {seconds:.1} s, {:.0}/s", self.what, count as f64 / seconds.max(0.001));
        self.since = clock::instant();
    }

    fn end(mut self) {
        self.tell();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
