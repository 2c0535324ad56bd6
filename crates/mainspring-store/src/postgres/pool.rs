//! The connections of one node, and transactions on them. Knows no verb.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{GenericClient, Manager, ManagerConfig, Object, RecyclingMethod, Runtime, Timeouts};
use mainspring_core::store::Error;
use tokio_postgres::types::ToSql;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{Fault, Result, said};
use super::options::Address;

pub(super) type Connection = Object;
pub(super) use deadpool_postgres::Transaction;

/// How long a call waits for a free connection.
const CONNECTION_WAIT_MAX: Duration = Duration::from_secs(10);
/// How often a transaction that lost against another one is tried again.
const TRIES_MAX: u32 = 10;

#[derive(Clone, Debug)]
pub(super) struct Pool {
    connections: deadpool_postgres::Pool,
    /// Which database on which host, for people.
    pub place: Arc<str>,
}

impl Pool {
    /// Connects to nothing yet.
    pub fn new(address: &Address, tls: MakeRustlsConnect, connections_max: usize) -> Pool {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let timeouts = Timeouts {
            wait: Some(CONNECTION_WAIT_MAX),
            create: Some(CONNECTION_WAIT_MAX),
            recycle: Some(CONNECTION_WAIT_MAX),
        };
        let connections =
            deadpool_postgres::Pool::builder(Manager::from_config(address.config.clone(), tls, recycling))
                .max_size(connections_max)
                .timeouts(timeouts)
                .runtime(Runtime::Tokio1)
                .build()
                .expect("a runtime is named, so timeouts can be kept");
        Pool { connections, place: address.place().into() }
    }

    pub async fn get(&self) -> Result<Connection> {
        self.connections.get().await.map_err(|error| {
            let why = match &error {
                deadpool_postgres::PoolError::Backend(cause) => said(cause),
                deadpool_postgres::PoolError::Timeout(_) => {
                    format!("no connection came free within {} s", CONNECTION_WAIT_MAX.as_secs())
                }
                other => other.to_string(),
            };
            Error::Unavailable(format!("could not reach {}: {why}", self.place))
        })
    }
}

/// How often a transaction has been tried on one connection.
#[derive(Debug, Default)]
pub(super) struct Tries(u32);

impl Tries {
    /// Whether it may be tried again; if not, what the caller is told.
    pub fn again(&mut self, connection: &Connection, fault: Fault) -> Result<()> {
        self.0 += 1;
        if fault.is_outdated_plan() {
            connection.statement_cache.clear();
        } else if !fault.is_passing() {
            return Err(fault.into());
        }
        if self.0 == TRIES_MAX {
            return Err(fault.into());
        }
        tracing::debug!(tries = self.0, ?fault, "a transaction is tried again");
        Ok(())
    }
}

/// `transact!(pool, |transaction| { … })`: all of it in one transaction, or nothing. `?` inside takes what becomes a
/// [`Fault`]; the block ends in its answer, not in a `Result`. It is done again from the start if another transaction was
/// in the way, so it must leave no traces outside of the transaction. Needs a function that returns the store's `Result`.
///
/// A macro, because the compiler cannot yet see that the future of an async closure that borrows a transaction can be sent
/// to another thread.
macro_rules! transact {
    ($pool:expr, |$transaction:ident| $work:expr) => {{
        let mut connection = $pool.get().await?;
        let mut tries = $crate::postgres::pool::Tries::default();
        loop {
            let attempt = async {
                // Dropped on an error, it is rolled back before the connection does anything else.
                let $transaction = connection.transaction().await?;
                let answer = $work;
                $transaction.commit().await?;
                Ok::<_, $crate::postgres::error::Fault>(answer)
            };
            match attempt.await {
                Ok(answer) => break answer,
                Err(fault) => tries.again(&connection, fault)?,
            }
        }
    }};
}
pub(super) use transact;

/// Does a prepared statement; how many rows it changed.
pub(super) async fn execute(
    client: &impl GenericClient,
    sql: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<u64, Fault> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, parameters).await?)
}
