//! Where a store under test lives, so that the suites can close it and open it again. Not part of any shipped program.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::placement::Placement;
use mainspring_core::seats::Seats;
use mainspring_core::store::Store;

use crate::memory::Memory;

/// The place of one store. A new home is empty; it goes with everything in it when it is dropped.
#[async_trait]
pub trait Home: Send {
    /// Opens what is here. Nobody else has it open.
    async fn open(&mut self) -> Arc<dyn Store>;

    /// The seats that the store which is open keeps beside its jobs; `None` for a decorator, which has none.
    fn seats(&self) -> Option<Arc<dyn Seats>> {
        None
    }

    /// How the store spreads tenants and segments.
    fn placement(&self) -> Placement {
        Placement::ONE
    }

    /// Closes the store and opens it again, as a new process would. What it answered before must still be there.
    async fn reopen(&mut self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        drop(store);
        self.open().await
    }
}

/// The home of a memory store, which stays open: a closed one has nothing left to show.
#[derive(Debug, Default)]
pub struct MemoryHome(Arc<Memory>);

#[async_trait]
impl Home for MemoryHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        self.0.clone()
    }

    async fn reopen(&mut self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        self.0.forget_turns();
        store
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        Some(self.0.clone())
    }
}
