//! The store and what goes with it: everything that differs between one machine and a cluster.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use mainspring_core::placement::Placement;
use mainspring_core::seats::Seats;
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeups;
use mainspring_engine::{Clock, Parts, SystemClock};
use mainspring_store::embedded::{Embedded, Options};
use mainspring_store::memory::{Alone, Memory};
use mainspring_store::postgres::{self, Postgres};
use mainspring_store::sharded::{self, Sharded, ShardedWakeups};

use crate::config::Store;
use crate::store_kind::StoreKind;
use crate::virtual_clock::VirtualClock;

/// A store that is open, and how it spreads tenants.
#[derive(Debug)]
pub struct Opened {
    pub parts: Parts,
    pub placement: Placement,
    /// Differs where the databases are others: see [`mainspring_engine::Settings::shards`].
    pub shards: u64,
}

pub async fn open(config: &Store, clock: VirtualClock, term: Duration) -> anyhow::Result<Opened> {
    let clock = clock_of(clock);
    // One process owns the directory, so nobody else could take a seat or listen.
    fn alone<S: mainspring_core::store::Store + Seats + 'static>(store: Arc<S>, clock: Arc<dyn Clock>) -> Opened {
        let parts = Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock };
        Opened { parts, placement: Placement::ONE, shards: 0 }
    }
    match &config.kind {
        StoreKind::Embedded => {
            let store = Embedded::open(Options {
                max_bytes: config.max_size.0,
                reserve_bytes: config.reserve.0,
                ..Options::new(&config.data_dir)
            })?;
            Ok(alone(Arc::new(store), clock))
        }
        StoreKind::Memory => {
            tracing::warn!("the store is memory: NOTHING SURVIVES this process; use --store embedded for real jobs");
            Ok(alone(Arc::new(Memory::new()), clock))
        }
        StoreKind::Postgres(addresses) => {
            let mut options = Vec::with_capacity(addresses.len());
            for address in addresses {
                options.push(postgres::Options { frozen_max: term, ..postgres_options(config, address)? });
            }
            let set = Postgres::open_set(&options).await?;
            Ok(Opened { placement: set.placement, shards: set.digest, parts: parts_of(set.databases, clock) })
        }
    }
}

/// One database as it is, several as one.
fn parts_of(mut databases: Vec<postgres::Opened>, clock: Arc<dyn Clock>) -> Parts {
    if databases.len() == 1 {
        let postgres::Opened { store, seats, wakeups } = databases.remove(0);
        return Parts { store, seats: Arc::new(seats), wakeups: Arc::new(wakeups), clock };
    }
    let mut parts = Vec::new();
    let mut heard: Vec<Arc<dyn Wakeups>> = Vec::new();
    for postgres::Opened { store, seats, wakeups } in databases {
        parts.push(sharded::Part { name: store.place().to_owned(), store, seats: Arc::new(seats) });
        heard.push(Arc::new(wakeups));
    }
    let sharded = Arc::new(Sharded::new(parts).expect("no more were opened than there may be"));
    let wakeups = ShardedWakeups::new(heard).expect("no more were opened than there may be");
    Parts { store: sharded.clone(), seats: sharded, wakeups: Arc::new(wakeups), clock }
}

/// The address with what the configuration says beside it.
pub fn postgres_options(config: &Store, address: &str) -> anyhow::Result<postgres::Options> {
    let mut options = postgres::Options::new(address);
    options.connections_max = config.connections;
    if config.password_file != Path::new("") {
        let file = &config.password_file;
        let password = std::fs::read_to_string(file)
            .with_context(|| format!("could not read store.password_file {}", file.display()))?;
        options.password = Some(password.trim_end_matches(['\r', '\n']).to_owned());
    }
    Ok(options)
}

fn clock_of(clock: VirtualClock) -> Arc<dyn Clock> {
    let start = match clock {
        VirtualClock::Off => return Arc::new(SystemClock),
        VirtualClock::Now => SystemClock.now(),
        VirtualClock::At(at) => Time::from_millis(at.as_millis()),
    };
    tracing::warn!("the clock is virtual: TIME STANDS STILL until `mainspring clock advance` moves it; for tests only");
    Arc::new(mainspring_engine::VirtualClock::new(start))
}
