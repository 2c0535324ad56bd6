//! The embedded store against the reference, and what only a store with a disk can break.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::store::Store;
use tempfile::TempDir;

use super::{Embedded, Options};
use crate::home::Home;

/// A directory of its own.
pub struct EmbeddedHome(TempDir);

impl EmbeddedHome {
    pub fn new() -> EmbeddedHome {
        EmbeddedHome(tempfile::tempdir().expect("a directory for the test"))
    }
}

#[async_trait]
impl Home for EmbeddedHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        let options = Options { reserve_bytes: 0, ..Options::new(self.0.path()) };
        Arc::new(Embedded::open(options).expect("the directory is ours alone"))
    }
}

crate::lockstep!(embedded, EmbeddedHome::new);
