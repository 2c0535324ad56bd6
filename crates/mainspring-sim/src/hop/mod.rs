//! The way of a call from an engine to the store, hop by hop: a node's line, the witness, perhaps a mutant, the ground.
//! [`Through`] makes a store and seats of any hop, so that each hop is one function.

mod ask;
mod through;

use std::fmt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use mainspring_core::store::Result;
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

pub use ask::{Ask, Reply};
pub use through::Through;

#[async_trait]
pub trait Hop: Send + Sync + fmt::Debug + 'static {
    /// Carries a call on, or does something else in its place.
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply>;

    /// Before somebody reads: a line may be slow or cut.
    async fn look(&self) -> Result<()> {
        Ok(())
    }

    /// The store's own clock, if this hop knows one.
    fn clock(&self) -> Option<Time> {
        None
    }

    /// Where the way ends.
    fn ground(&self) -> &Memory;
}

/// The answer of a store that never waits, as the reference does not.
pub fn at_once<T>(answer: impl Future<Output = T>) -> T {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("the reference store waits for nobody"),
    }
}

/// The end of the way: the reference store, and nothing else.
#[derive(Debug, Default)]
pub struct Ground(pub Memory);

#[async_trait]
impl Hop for Ground {
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply> {
        ask.perform(&self.0, now).await
    }

    fn ground(&self) -> &Memory {
        &self.0
    }
}
