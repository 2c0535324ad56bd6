//! The store and what goes with it: everything that differs between one machine and a cluster.

use std::sync::Arc;

use mainspring_engine::{Parts, SystemClock};
use mainspring_store::embedded::{Embedded, Options};
use mainspring_store::memory::{Alone, Memory, MemorySeats};

use crate::config::{Store, StoreKind};

pub fn open(config: &Store) -> anyhow::Result<Parts> {
    let store: Arc<dyn mainspring_core::store::Store> = match config.kind {
        StoreKind::Embedded => Arc::new(Embedded::open(Options {
            max_bytes: config.max_size.0,
            reserve_bytes: config.reserve.0,
            ..Options::new(&config.data_dir)
        })?),
        StoreKind::Memory => {
            tracing::warn!("the store is memory: NOTHING SURVIVES this process; use --store embedded for real jobs");
            Arc::new(Memory::new())
        }
    };
    // One process owns the directory, so nobody else could take a seat or listen.
    Ok(Parts { store, seats: Arc::new(MemorySeats::new()), wakeups: Arc::new(Alone), clock: Arc::new(SystemClock) })
}
