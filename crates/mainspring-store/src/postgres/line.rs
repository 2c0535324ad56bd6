//! A connection that statements share which are transactions of their own: the server finds the next one there when it is done with the
//! last, and one process with its plans at hand does what three would get in each other's way with. Knows no verb.

use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

use super::error::Result;
use super::pool::{Connection, Pool};

/// How many stand in line at a time: a settlement and the claim that comes with it. With more than those, somebody is stuck.
const LENGTH_MAX: usize = 2;

#[derive(Debug)]
pub(super) struct Line {
    /// Of one connection. It goes back there while nobody uses it.
    pool: Pool,
    connection: Mutex<Weak<Connection>>,
}

impl Line {
    pub const CONNECTIONS: usize = 1;

    pub fn new(pool: Pool) -> Line {
        Line { pool, connection: Mutex::new(Weak::new()) }
    }

    /// The shared connection, or one of `others` if the line is full: whoever is stuck keeps nobody else waiting.
    pub async fn get(&self, others: &Pool) -> Result<Arc<Connection>> {
        let mut shared = self.connection.lock().await;
        match shared.upgrade() {
            Some(connection) if Weak::strong_count(&shared) > LENGTH_MAX || connection.is_closed() => {
                drop(shared);
                Ok(Arc::new(others.get().await?))
            }
            Some(connection) => Ok(connection),
            None => {
                let connection = Arc::new(self.pool.get().await?);
                *shared = Arc::downgrade(&connection);
                Ok(connection)
            }
        }
    }
}
