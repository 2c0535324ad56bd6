//! Where several stores as one live under test: memory stores beside each other, or databases of one server.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::placement::Placement;
use mainspring_core::seats::Seats;
use mainspring_core::store::Store;

use super::{Part, Sharded};
use crate::home::Home;
use crate::memory::Memory;
use crate::postgres::Postgres;
use crate::postgres::testing::Database;

/// Memory stores.
pub(super) struct MemorySet {
    placement: Placement,
    stores: Vec<Arc<Memory>>,
    opened: Option<Sharded>,
}

impl MemorySet {
    pub fn of(count: usize) -> MemorySet {
        MemorySet::made(count, Memory::placed)
    }

    /// Stores that hand out the same numbers as one that has all of them.
    pub fn comparable(count: usize) -> MemorySet {
        MemorySet::made(count, Memory::counting_apart)
    }

    fn made(count: usize, store: fn(Placement) -> Memory) -> MemorySet {
        let placement = Placement::new(count).expect("in range");
        let stores = placement.shards().map(|_| Arc::new(store(placement))).collect();
        MemorySet { placement, stores, opened: None }
    }
}

#[async_trait]
impl Home for MemorySet {
    async fn open(&mut self) -> Arc<dyn Store> {
        let part = |(number, store): (usize, &Arc<Memory>)| Part {
            name: format!("memory {number}"),
            store: store.clone(),
            seats: store.clone(),
        };
        let sharded = Sharded::new(self.stores.iter().enumerate().map(part).collect()).expect("in range");
        self.opened = Some(sharded.clone());
        Arc::new(sharded)
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        self.opened.clone().map(|sharded| Arc::new(sharded) as Arc<dyn Seats>)
    }

    fn placement(&self) -> Placement {
        self.placement
    }

    async fn reopen(&mut self, _: Arc<dyn Store>) -> Arc<dyn Store> {
        self.stores.iter().for_each(|store| store.forget_turns());
        self.open().await
    }
}

/// Two databases of one PostgreSQL server.
pub(super) struct PostgresPair {
    databases: [Database; 2],
    opened: Option<Sharded>,
}

impl PostgresPair {
    pub fn new() -> PostgresPair {
        PostgresPair { databases: [Database::new(), Database::new()], opened: None }
    }
}

#[async_trait]
impl Home for PostgresPair {
    async fn open(&mut self) -> Arc<dyn Store> {
        let set = Postgres::open_set(&self.databases.each_ref().map(Database::options)).await.expect("they are there");
        let part = |database: crate::postgres::Opened| Part {
            name: database.store.place().to_owned(),
            store: database.store,
            seats: Arc::new(database.seats),
        };
        let sharded = Sharded::new(set.databases.into_iter().map(part).collect()).expect("in range");
        self.opened = Some(sharded.clone());
        Arc::new(sharded)
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        self.opened.clone().map(|sharded| Arc::new(sharded) as Arc<dyn Seats>)
    }

    fn placement(&self) -> Placement {
        Placement::new(self.databases.len()).expect("in range")
    }

    async fn reopen(&mut self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        drop(store);
        self.opened = None;
        self.open().await
    }
}
