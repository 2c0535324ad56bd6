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
    /// Statements over more rows go beside each other: they take longer than it takes to be in each other's way.
    pub const ROWS_MAX: usize = 64;

    pub fn new(pool: Pool) -> Line {
        Line { pool, connection: Mutex::new(Weak::new()) }
    }

    /// The shared connection for a statement over so many rows, or one of `others` if those are too many or the line is full: whoever is
    /// stuck keeps nobody else waiting.
    pub async fn get(&self, others: &Pool, rows: usize) -> Result<Arc<Connection>> {
        match self.place_in_line(rows).await? {
            Some(connection) => Ok(connection),
            None => Ok(Arc::new(others.get().await?)),
        }
    }

    async fn place_in_line(&self, rows: usize) -> Result<Option<Arc<Connection>>> {
        if rows > Line::ROWS_MAX {
            return Ok(None);
        }
        // Whoever holds it connects just now, and a server that does not answer is not waited for by one after the other.
        let Ok(mut shared) = self.connection.try_lock() else { return Ok(None) };
        match shared.upgrade() {
            Some(connection) => {
                let is_free = Weak::strong_count(&shared) <= LENGTH_MAX && !connection.is_closed();
                Ok(is_free.then_some(connection))
            }
            None => {
                let connection = Arc::new(self.pool.get().await?);
                *shared = Arc::downgrade(&connection);
                Ok(Some(connection))
            }
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
