//! The store and what goes with it: everything that differs between one machine and a cluster.

use std::sync::Arc;

use mainspring_core::time::Time;
use mainspring_engine::{Clock, Parts, SystemClock};
use mainspring_store::embedded::{Embedded, Options};
use mainspring_store::memory::{Alone, Memory, MemorySeats};

use crate::config::{Store, StoreKind};
use crate::virtual_clock::VirtualClock;

pub fn open(config: &Store, clock: VirtualClock) -> anyhow::Result<Parts> {
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
    Ok(Parts { store, seats: Arc::new(MemorySeats::new()), wakeups: Arc::new(Alone), clock: clock_of(clock) })
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
