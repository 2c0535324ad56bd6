//! The walk of a move: page after page, then everything read back and compared. Each step is durable before the next begins, so
//! whoever drops it in between, or is killed, begins again where it was.

use std::path::Path;
use std::sync::Arc;

use mainspring_core::store::Error;
use mainspring_core::time::Time;
use tokio::task::JoinHandle;

use super::{Kind, Page, Stage, Tally};
use crate::embedded::{Dump, OpenError};
use crate::postgres::{LoadError, Loader, Options, Progress};

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Source(#[from] OpenError),
    #[error("could not read {dir}: {why}")]
    Read { dir: String, why: Error },
    #[error(transparent)]
    Target(#[from] LoadError),
    #[error("could not write to the database; what is copied stays, run the same command again to go on: {0}")]
    Write(Error),
    #[error(
        "{}: {} were read from the source and {} were read back, {}; no server starts on this database. \
         Run the same command to compare again; to begin anew, empty the database first (DROP SCHEMA mainspring CASCADE)",
        kind.name(), read.items, back.items,
        if read.items == back.items { "and they are not the same" } else { "which is not as many" }
    )]
    Differs { kind: Kind, read: super::Sum, back: super::Sum },
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many items were written, of this stage.
    Copied(Stage, u64),
    /// Nothing is left to be copied.
    AllCopied,
}

/// What came of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// What was read from the source; the same was read back.
    pub tally: Tally,
    /// A former run had finished it: nothing was done.
    pub was_done: bool,
}

/// A move from a data directory into a database.
#[derive(Debug)]
pub struct Move {
    dump: Arc<Dump>,
    loader: Loader,
    progress: Progress,
    dir: String,
    /// The next page, which is read while the one before is written.
    ahead: Option<JoinHandle<Result<Page, Error>>>,
}

impl Move {
    /// Opens both sides, and goes on where a former run of the same move was.
    pub async fn open(dump: Dump, dir: &Path, target: &Options, now: Time) -> Result<Move, MoveError> {
        let (loader, progress) = Loader::open(target, now, dir, dump.identity()).await?;
        Ok(Move { dump: Arc::new(dump), loader, progress, dir: dir.display().to_string(), ahead: None })
    }

    /// How many items there are, and how many of them a former run has copied.
    pub fn items(&self) -> Result<(u64, u64), MoveError> {
        let travels_along = [Kind::Attempts, Kind::Leases];
        let kinds = Kind::ALL.iter().filter(|kind| !travels_along.contains(kind));
        let copied = kinds.map(|kind| self.progress.tally.of(*kind).items).sum();
        Ok((self.dump.items().map_err(|why| self.unread(why))?, copied))
    }

    pub fn is_finished(&self) -> bool {
        self.progress.is_finished
    }

    /// Copies the next page.
    pub async fn step(&mut self) -> Result<Step, MoveError> {
        let Some(stage) = self.progress.stage else { return Ok(Step::AllCopied) };
        let ahead = self.ahead.take();
        let ahead = ahead.unwrap_or_else(|| self.read_ahead(stage, self.progress.after.clone()));
        let page = ahead.await.unwrap_or_else(|cut| Err(Error::Unavailable(format!("a read was cut off: {cut}"))));
        let Page { items, after } = page.map_err(|why| self.unread(why))?;

        let mut progress = self.progress.clone();
        progress.stage = if after.is_some() { Some(stage) } else { stage.next() };
        progress.after = after;
        self.ahead = progress.stage.map(|stage| self.read_ahead(stage, progress.after.clone()));
        progress.tally.page(&items);
        self.loader.load(&items, &progress).await.map_err(MoveError::Write)?;
        self.progress = progress;
        Ok(Step::Copied(stage, items.len()))
    }

    fn read_ahead(&self, stage: Stage, after: Option<Vec<u8>>) -> JoinHandle<Result<Page, Error>> {
        let dump = Arc::clone(&self.dump);
        tokio::task::spawn_blocking(move || dump.page(stage, after.as_deref()))
    }

    /// Reads everything back and compares it; if all is there, servers may start. `seen` is told now and then how much more has
    /// been read.
    pub async fn verify(self, seen: &mut (dyn FnMut(u64) + Send)) -> Result<Moved, MoveError> {
        let tally = self.progress.tally;
        if self.progress.is_finished {
            return Ok(Moved { tally, was_done: true });
        }
        self.loader.analyze().await.map_err(MoveError::Write)?;
        let back = self.loader.read_back(seen).await.map_err(|why| MoveError::Target(why.into()))?;
        if let Some(kind) = tally.difference(&back) {
            return Err(MoveError::Differs { kind, read: tally.of(kind), back: back.of(kind) });
        }
        self.loader.finish().await.map_err(MoveError::Write)?;
        Ok(Moved { tally, was_done: false })
    }

    /// Leaves it as it is, for another run to go on with; the directory is free when this is done.
    pub async fn close(self) {
        if let Some(ahead) = self.ahead {
            drop(ahead.await);
        }
    }

    fn unread(&self, why: Error) -> MoveError {
        MoveError::Read { dir: self.dir.clone(), why }
    }
}
