//! Opens a store: connects, migrates a fresh database, and refuses one that this program must not work on.

use std::sync::Arc;

use mainspring_core::segment::Segment;
use tokio_postgres::Client;

use super::error::said;
use super::migrate::{self, MigrateError, Status};
use super::options::{Address, BadAddress, Options};
use super::pool::Pool;
use super::tls::{self, BadRoots};
use super::{Postgres, PostgresSeats, PostgresWakeups};

#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    BadAddress(#[from] BadAddress),
    #[error(transparent)]
    BadRoots(#[from] BadRoots),
    #[error("could not connect to {place}: {why}")]
    Unreachable { place: String, why: String },
    #[error("{place} runs PostgreSQL {found}; {} or later is needed", Postgres::SERVER_VERSION_MIN)]
    TooOld { place: String, found: String },
    #[error("{place} is {behind} migrations behind this program; run `mainspring migrate up --store …` first")]
    Older { place: String, behind: usize },
    #[error("cannot work on {place}: {why}")]
    Migration { place: String, why: MigrateError },
    #[error(
        "{place} was made with {found} segments, this program has {}; nodes of both kinds must not share a database",
        Segment::COUNT
    )]
    Segments { place: String, found: i16 },
    #[error(
        "{place} is in the middle of a move from {from}; finish it with \
         `mainspring migrate-store --from {from} --to …` before a server works on it"
    )]
    Moving { place: String, from: String },
}

/// A store and what nodes that share it need.
#[derive(Debug)]
pub struct Opened {
    pub store: Arc<Postgres>,
    pub seats: PostgresSeats,
    pub wakeups: PostgresWakeups,
}

impl Postgres {
    /// `MERGE` and `NULLS NOT DISTINCT` came with it.
    pub const SERVER_VERSION_MIN: u32 = 15;

    /// Opens a store alone.
    pub async fn open(options: &Options) -> Result<Postgres, OpenError> {
        let (address, tls) = target(options)?;
        let client = ready(&address, &tls).await?;
        let unreachable = |error| OpenError::Unreachable { place: address.place(), why: said(&error) };
        if let Some(row) =
            client.query_opt(include_str!("sql/moving_unfinished.sql"), &[]).await.map_err(unreachable)?
        {
            return Err(OpenError::Moving { place: address.place(), from: row.get(0) });
        }
        let pool = Pool::new(&address, tls, options.connections_max.max(Options::CONNECTIONS_MIN));
        Ok(Postgres::new(pool, options))
    }

    /// Opens a store with its seats and wakeups.
    pub async fn open_shared(options: &Options) -> Result<Opened, OpenError> {
        let (address, tls) = target(options)?;
        let store = Arc::new(Postgres::open(options).await?);
        let seats = store.seats();
        let wakeups = PostgresWakeups::start(address, tls);
        Ok(Opened { store, seats, wakeups })
    }
}

/// What has been done to a database.
pub async fn migration_status(options: &Options) -> Result<Status, OpenError> {
    let (address, tls) = target(options)?;
    let client = connect(&address, &tls).await?;
    migrate::status(&client).await.map_err(|why| OpenError::Migration { place: address.place(), why })
}

/// Brings a database up to date; which steps that took.
pub async fn migrate_up(options: &Options) -> Result<Vec<&'static str>, OpenError> {
    let (address, tls) = target(options)?;
    let mut client = connect(&address, &tls).await?;
    migrate::up(&mut client, false).await.map_err(|why| OpenError::Migration { place: address.place(), why })
}

pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;

pub(super) fn target(options: &Options) -> Result<(Address, Tls), OpenError> {
    let mut address = Address::parse(&options.url)?;
    if let Some(password) = &options.password {
        address.config.password(password);
    }
    let tls = tls::connector(&address)?;
    Ok((address, tls))
}

pub(super) async fn ready(address: &Address, tls: &Tls) -> Result<Client, OpenError> {
    let mut client = connect(address, tls).await?;
    let place = address.place();
    let migration = |why| OpenError::Migration { place: place.clone(), why };
    migrate::up(&mut client, true).await.map_err(migration)?;
    let status = migrate::status(&client).await.map_err(migration)?;
    if !status.pending().is_empty() {
        return Err(OpenError::Older { place, behind: status.pending().len() });
    }
    let unreachable = |error| OpenError::Unreachable { place: place.clone(), why: said(&error) };
    let charter = client.query_one(include_str!("sql/charter.sql"), &[]).await.map_err(unreachable)?;
    let found: i16 = charter.get(0);
    if found != i16::from(Segment::COUNT) {
        return Err(OpenError::Segments { place, found });
    }
    Ok(client)
}

/// One connection of its own, which ends when the client is dropped.
async fn connect(address: &Address, tls: &Tls) -> Result<Client, OpenError> {
    let unreachable = |error| OpenError::Unreachable { place: address.place(), why: said(&error) };
    let (client, connection) = address.config.connect(tls.clone()).await.map_err(unreachable)?;
    // An error of the connection is also the answer of whatever waits on the client.
    tokio::spawn(async move { drop(connection.await) });
    let version = client.query_one("SHOW server_version_num", &[]).await.map_err(unreachable)?;
    let number: u32 = version.get::<_, &str>(0).parse().unwrap_or_default();
    if number / 10_000 < Postgres::SERVER_VERSION_MIN {
        let found = format!("{}.{}", number / 10_000, number % 10_000);
        return Err(OpenError::TooOld { place: address.place(), found });
    }
    Ok(client)
}
