//! Where a PostgreSQL store under test lives: a database of its own.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::seats::Seats;
use mainspring_core::store::Store;

use super::Database;
use crate::home::Home;
use crate::postgres::{Postgres, PostgresSeats};

/// The home of a PostgreSQL store.
#[derive(Debug)]
pub struct PostgresHome {
    database: Database,
    seats: Option<Arc<PostgresSeats>>,
}

impl PostgresHome {
    pub fn new() -> PostgresHome {
        PostgresHome { database: Database::new(), seats: None }
    }
}

impl Default for PostgresHome {
    fn default() -> PostgresHome {
        PostgresHome::new()
    }
}

#[async_trait]
impl Home for PostgresHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        let store = Postgres::open(&self.database.options()).await.expect("the database is there");
        self.seats = Some(Arc::new(store.seats()));
        Arc::new(store)
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        self.seats.clone().map(|seats| seats as Arc<dyn Seats>)
    }
}
