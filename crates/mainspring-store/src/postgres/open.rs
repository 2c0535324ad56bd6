//! Opens a store: connects, migrates a fresh database, and refuses one that this program must not work on.

use std::sync::Arc;

use mainspring_core::limits::SHARDS_MAX;
use mainspring_core::placement::Placement;
use mainspring_core::segment::Segment;
use tokio_postgres::Client;
use uuid::Uuid;

use super::charter::{self, Candidate};
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
    #[error("{asked} databases were given; a cluster has 1 to {SHARDS_MAX} (SHARDS_MAX)")]
    TooMany { asked: usize },
    #[error(
        "stores {first} and {second} lead to the same database, {place}; give each database once, or leave the second out"
    )]
    Twice { place: String, first: usize, second: usize },
    #[error(
        "{place} is {was}, and it is in use; it was asked to be {asked}. Give every node the same --store list in the same \
         order as when the databases were made; how many there are is fixed then. To have another number of them, begin with \
         fresh databases"
    )]
    Dealt { place: String, was: String, asked: String },
    #[error(
        "{place} is database {number} of another cluster, and it is in use; give the databases that were made together, or a \
         fresh one"
    )]
    OtherSet { place: String, number: i32 },
}

/// A store and what nodes that share it need.
#[derive(Debug)]
pub struct Opened {
    pub store: Arc<Postgres>,
    pub seats: PostgresSeats,
    pub wakeups: PostgresWakeups,
}

/// Databases that share the tenants out, in their order.
#[derive(Debug)]
pub struct OpenedSet {
    pub databases: Vec<Opened>,
    pub placement: Placement,
    /// Differs where the number of databases or the set is another: see [`mainspring_core::seats::NodeInfo::shards`].
    pub digest: u64,
}

impl Postgres {
    /// `MERGE` and `NULLS NOT DISTINCT` came with it.
    pub const SERVER_VERSION_MIN: u32 = 15;

    /// Opens a store alone.
    pub async fn open(options: &Options) -> Result<Postgres, OpenError> {
        let mut stores = open_all(std::slice::from_ref(options)).await?.0;
        Ok(stores.remove(0))
    }

    /// Opens a store with its seats and wakeups.
    pub async fn open_shared(options: &Options) -> Result<Opened, OpenError> {
        let mut set = Postgres::open_set(std::slice::from_ref(options)).await?;
        Ok(set.databases.remove(0))
    }

    /// Opens databases that share the tenants out. Refuses those that were not made together, or in this order; fresh ones
    /// are made a set.
    pub async fn open_set(each: &[Options]) -> Result<OpenedSet, OpenError> {
        let (stores, cluster) = open_all(each).await?;
        let mut databases = Vec::new();
        for (options, store) in each.iter().zip(stores) {
            let (address, tls) = target(options)?;
            let seats = store.seats();
            databases.push(Opened { store: Arc::new(store), seats, wakeups: PostgresWakeups::start(address, tls) });
        }
        let placement = Placement::new(each.len()).ok_or(OpenError::TooMany { asked: each.len() })?;
        Ok(OpenedSet { databases, placement, digest: digest(placement, cluster) })
    }
}

/// Which set this is, in a number; 0 for one database.
fn digest(placement: Placement, cluster: Uuid) -> u64 {
    if placement == Placement::ONE {
        return 0;
    }
    let (high, low) = cluster.as_u64_pair();
    // Random enough as it is; the count is in the set's name too, because a set is named when it is dealt.
    (high ^ low).rotate_left(8).wrapping_add(placement.count() as u64).max(1)
}

async fn open_all(each: &[Options]) -> Result<(Vec<Postgres>, Uuid), OpenError> {
    let placement = Placement::new(each.len()).ok_or(OpenError::TooMany { asked: each.len() })?;
    let mut candidates = Vec::new();
    for options in each {
        let (address, tls) = target(options)?;
        let client = ready(&address, &tls).await?;
        refuse_half_moved(&client, &address).await?;
        candidates.push(Candidate { client, place: address.place() });
    }
    let cluster = charter::agree(&candidates).await?;
    let mut stores = Vec::new();
    for options in each {
        let (address, tls) = target(options)?;
        let address = address.giving_way(options.frozen_max);
        let connect = |connections_max| Pool::new(&address, tls.clone(), connections_max);
        stores.push(Postgres::new(connect, options, placement));
    }
    Ok((stores, cluster))
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

/// A connection to a database that has all its tables.
pub(super) async fn ready(address: &Address, tls: &Tls) -> Result<Client, OpenError> {
    let mut client = connect(address, tls).await?;
    let place = address.place();
    let migration = |why| OpenError::Migration { place: place.clone(), why };
    migrate::up(&mut client, true).await.map_err(migration)?;
    let status = migrate::status(&client).await.map_err(migration)?;
    if !status.pending().is_empty() {
        return Err(OpenError::Older { place, behind: status.pending().len() });
    }
    Ok(client)
}

/// Nobody works on a database that a move has not filled yet.
async fn refuse_half_moved(client: &Client, address: &Address) -> Result<(), OpenError> {
    let unreachable = |error| OpenError::Unreachable { place: address.place(), why: said(&error) };
    let unfinished = client.query_opt(include_str!("sql/moving_unfinished.sql"), &[]).await.map_err(unreachable)?;
    match unfinished {
        Some(row) => Err(OpenError::Moving { place: address.place(), from: row.get(0) }),
        None => Ok(()),
    }
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
