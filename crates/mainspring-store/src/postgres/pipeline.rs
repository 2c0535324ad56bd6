//! Statements: several in one round trip, or one alone. Decides nothing.

use deadpool_postgres::GenericClient;
use futures_util::future::try_join_all;
use mainspring_core::store::Error;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::Fault;
use super::pool::{Connection, Transaction};

pub(super) type Params<'a> = Vec<&'a (dyn ToSql + Sync)>;

/// A statement and its parameters.
pub(super) struct Step<'a> {
    pub sql: &'static str,
    pub params: Params<'a>,
}

impl<'a> Step<'a> {
    pub fn new(sql: &'static str, params: Params<'a>) -> Step<'a> {
        Step { sql, params }
    }
}

/// Sends all of them before it waits for the first answer. They run one after the other, in this order, each with a
/// snapshot of its own; after one that fails, none does anything.
pub(super) async fn pipeline(txn: &Transaction<'_>, steps: &[Step<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
    // Prepared before, or one that is new to this connection would fall behind those that are not.
    let mut statements = Vec::with_capacity(steps.len());
    for step in steps {
        statements.push(txn.prepare_cached(step.sql).await?);
    }
    let sent = statements.iter().zip(steps).map(|(statement, step)| txn.query(statement, &step.params));
    // Up to 30 are polled in order, the first time too; more would still be, by an ordered set.
    Ok(try_join_all(sent).await?)
}

/// One statement alone. It is prepared once a connection.
pub(super) async fn ask(
    client: &impl GenericClient,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Fault> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, params).await?)
}

/// One statement that is a transaction of its own: nobody waits for a beginning and an end. Nothing if somebody else was in the way,
/// and nothing happened then: the long way will do.
pub(super) async fn ask_at_once(
    connection: &Connection,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Option<Vec<Row>>, Error> {
    match ask(connection, sql, params).await {
        Ok(rows) => Ok(Some(rows)),
        Err(fault) if fault.is_outdated_plan() => {
            connection.statement_cache.clear();
            Ok(None)
        }
        Err(fault) if fault.is_passing() => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}
