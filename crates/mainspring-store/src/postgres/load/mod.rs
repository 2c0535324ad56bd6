//! Moving house into this store: takes pages of what another store remembers, and reads all of it back. Works on a database that
//! nothing else is in; a server does not start on it before the move is verified.
//!
//! Each page is one transaction with how far the move has come, so one that was killed at any instant goes on where it was. `jobs`
//! and `rest` write rows as the verbs do, `back` reads them as readers do.

mod back;
mod jobs;
mod rest;

use std::path::Path;

use mainspring_core::placement::Placement;
use mainspring_core::store::Error;
use mainspring_core::time::Time;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::error::{Fault, Result, damaged, said};
use super::numbers::ms;
use super::open::{self, OpenError};
use super::packed::{pack, unpack};
use super::pipeline::ask;
use super::pool::{Pool, transact};
use super::{Options, Postgres};
use crate::moving::{Items, Stage, Tally};

/// Only one who moves into a database at a time. The number is ours: "moving" in ASCII.
const LOCK: i64 = 0x6d6f_7669_6e67;
/// A former run that was killed holds the lock until the server has noticed.
const LOCK_WAIT_MS: u64 = 3_000;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] Error),
    #[error("{place} is not empty: it holds {what}; name a database that nothing is in")]
    NotEmpty { place: String, what: &'static str },
    #[error("node {node} works on {place}; stop every server there first")]
    InUse { place: String, node: uuid::Uuid },
    #[error("another `mainspring migrate-store` is moving into {place}; let it finish")]
    Busy { place: String },
    #[error(
        "{place} holds a move from {from} as it was then ({was}), and now it is another store or was written to ({is}); \
         to begin anew, empty the database (DROP SCHEMA mainspring CASCADE) and run this again"
    )]
    AnotherSource { place: String, from: String, was: String, is: String },
}

/// How far a move has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// `None` once everything is copied.
    pub stage: Option<Stage>,
    pub after: Option<Vec<u8>>,
    /// What was read from the source so far.
    pub tally: Tally,
    pub is_finished: bool,
}

/// A database that is being moved into.
#[derive(Debug)]
pub struct Loader {
    store: Postgres,
    now: Time,
    /// Holds [`LOCK`] for as long as it is there.
    _lock: Client,
}

impl Loader {
    /// Opens a database for a move from this source: an empty one, or one that the same move was begun in. `now` is what alarms of
    /// limits are set by, and what tells which nodes are alive.
    pub async fn open(
        options: &Options,
        now: Time,
        dir: &Path,
        identity: &str,
    ) -> Result<(Loader, Progress), LoadError> {
        let (address, tls) = open::target(options)?;
        let client = open::ready(&address, &tls).await?;
        let unavailable = |error: tokio_postgres::Error| LoadError::Store(Error::Unavailable(said(&error)));
        let place = address.place();
        client.batch_execute(&format!("SET lock_timeout = {LOCK_WAIT_MS}")).await.map_err(unavailable)?;
        match client.query_one("SELECT pg_advisory_lock($1)", &[&LOCK]).await {
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => return Err(LoadError::Busy { place }),
            locked => drop(locked.map_err(unavailable)?),
        }
        let connect = |connections_max| Pool::new(&address, tls.clone(), connections_max);
        let loader = Loader { store: Postgres::new(connect, options, Placement::ONE), now, _lock: client };
        if let Some(row) = loader.moving().await? {
            let was: String = row.get(0);
            if was != identity {
                return Err(LoadError::AnotherSource { place, from: row.get(1), was, is: identity.to_owned() });
            }
            return Ok((loader, progress(&row)?));
        }
        loader.refuse_others(&place).await?;
        let begun = loader.begin(dir, identity).await?;
        Ok((loader, begun))
    }

    async fn moving(&self) -> Result<Option<tokio_postgres::Row>> {
        let connection = self.store.pool.get().await?;
        let rows = super::pipeline::ask(&connection, include_str!("../sql/moving.sql"), &[]).await?;
        Ok(rows.into_iter().next())
    }

    /// An error if anything is in the database, or anybody works on it.
    async fn refuse_others(&self, place: &str) -> Result<(), LoadError> {
        let connection = self.store.pool.get().await?;
        let sql = include_str!("../sql/moving_others.sql");
        let rows = super::pipeline::ask(&connection, sql, &[&ms(self.now)]).await.map_err(Error::from)?;
        let place = place.to_owned();
        let row = &rows[0];
        if let Some(node) = row.get::<_, Option<uuid::Uuid>>(0) {
            return Err(LoadError::InUse { place, node });
        }
        const KINDS: [&str; 6] = ["jobs", "queues", "schedules", "limits", "workers", "idempotency keys"];
        match KINDS.into_iter().enumerate().find(|(at, _)| row.get(at + 1)) {
            Some((_, what)) => Err(LoadError::NotEmpty { place, what }),
            None => Ok(()),
        }
    }

    async fn begin(&self, dir: &Path, identity: &str) -> Result<Progress> {
        let tally = Tally::default();
        let (dir, packed) = (dir.display().to_string(), pack(&tally));
        let stage = Stage::ALL[0];
        transact!(self.store.pool, |txn| {
            ask(&txn, include_str!("../sql/moving_begin.sql"), &[&identity, &dir, &stage.number(), &packed]).await?;
        });
        Ok(Progress { stage: Some(stage), after: None, tally, is_finished: false })
    }

    /// Writes a page, and that the move has come so far.
    pub async fn load(&self, items: &Items, progress: &Progress) -> Result<()> {
        transact!(self.store.pool, |txn| {
            self.write(&txn, items).await?;
            note(&txn, progress).await?;
        });
        Ok(())
    }

    async fn write(&self, txn: &super::pool::Transaction<'_>, items: &Items) -> Result<(), Fault> {
        match items {
            Items::Jobs(jobs) => jobs::write(&self.store, txn, self.now, jobs).await,
            Items::Queues(queues) => rest::queues(txn, queues).await,
            Items::Rules(rules) => rest::rules(txn, rules).await,
            Items::Gates(gates) => rest::gates(&self.store, txn, self.now, gates).await,
            Items::Workers(workers) => rest::workers(txn, workers).await,
            Items::Keys(keys) => rest::keys(txn, keys).await,
            Items::Edges(edges) => rest::edges(txn, edges).await,
            Items::Releases(releases) => rest::releases(txn, releases).await,
            Items::Workflows(workflows) => rest::workflows(txn, workflows).await,
            Items::Schedules(schedules) => rest::schedules(txn, schedules).await,
            Items::Ledger(rows) => rest::ledger(txn, rows).await,
            Items::Numbers(numbers) => rest::numbers(txn, *numbers).await,
        }
    }

    /// Lets the planner know what is here now, before the first server asks.
    pub async fn analyze(&self) -> Result<()> {
        let connection = self.store.pool.get().await?;
        let done = connection.batch_execute(include_str!("../sql/moving_analyze.sql")).await;
        done.map_err(|error| super::error::sorted(&error))
    }

    /// The move is verified: servers may work on this database from now on.
    pub async fn finish(&self) -> Result<()> {
        transact!(self.store.pool, |txn| {
            ask(&txn, include_str!("../sql/moving_finish.sql"), &[&ms(self.now)]).await?;
        });
        Ok(())
    }

    /// Reads everything back through what readers read with, and says now and then how many items more it has seen.
    pub async fn read_back(&self, seen: &mut (dyn FnMut(u64) + Send)) -> Result<Tally> {
        back::read(&self.store, seen).await
    }
}

async fn note(txn: &super::pool::Transaction<'_>, progress: &Progress) -> Result<(), Fault> {
    let stage = progress.stage.map_or(Stage::ALL.len() as i16, Stage::number);
    let packed = pack(&progress.tally);
    ask(txn, include_str!("../sql/moving_note.sql"), &[&stage, &progress.after, &packed]).await?;
    Ok(())
}

fn progress(row: &tokio_postgres::Row) -> Result<Progress> {
    let stage: i16 = row.get(2);
    if !(0..=Stage::ALL.len() as i16).contains(&stage) {
        return Err(damaged(format!("a move in stage {stage}, which there is not")));
    }
    Ok(Progress {
        stage: Stage::of(stage),
        after: row.get(3),
        tally: unpack("moving", row.get(4))?,
        is_finished: row.get::<_, Option<i64>>(5).is_some(),
    })
}
