//! Brings a database to the schema that this program knows, step by step. Never goes back, and touches no job.
//!
//! Each step is one transaction, all of them under one advisory lock, so that nodes that start together take turns. What was
//! done is written down with a checksum: a step that was changed after it was released is found, not repeated.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tokio_postgres::{Client, GenericClient};

use super::error::said;

/// One step, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    pub number: i32,
    pub name: &'static str,
    pub sql: &'static str,
}

macro_rules! migrations {
    ($(($number:literal, $name:literal)),* $(,)?) => {
        &[$(Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("migrations/", $name, ".sql")),
        }),*]
    };
}

/// All there are. One is added at the end; none is ever changed after a release.
pub const MIGRATIONS: &[Migration] =
    migrations![(1, "0001_jobs"), (2, "0002_submit"), (3, "0003_moving"), (4, "0004_renew"), (5, "0005_at_once")];

/// Only one who migrates at a time, in one database. The number is ours: "mainspring" in ASCII, folded.
const LOCK: i64 = 0x6d61_696e_7370_7267;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrateError {
    #[error("{0}")]
    Unavailable(String),
    #[error(
        "the database has schema {found}, this program knows up to {known}: a newer version of it has been here; \
         upgrade this program"
    )]
    Newer { found: i32, known: i32 },
    #[error(
        "migration {name} was applied to this database in another form than this program has; \
         use the version that applied it, or restore the database from a backup"
    )]
    Changed { name: String },
    #[error("migration {name} failed and left nothing behind: {why}")]
    Failed { name: &'static str, why: String },
}

/// What has been done to a database and what has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// How many of [`MIGRATIONS`] are in it.
    pub applied: usize,
}

impl Status {
    pub fn is_fresh(&self) -> bool {
        self.applied == 0
    }

    pub fn pending(&self) -> &'static [Migration] {
        &MIGRATIONS[self.applied..]
    }
}

/// Reads what has been done. An error if it is not what this program would have done.
pub async fn status(client: &impl GenericClient) -> Result<Status, MigrateError> {
    let unavailable = |error: tokio_postgres::Error| MigrateError::Unavailable(said(&error));
    let table = client.query_one(include_str!("sql/migrations_table.sql"), &[]).await.map_err(unavailable)?;
    if !table.get::<_, bool>(0) {
        return Ok(Status { applied: 0 });
    }
    let rows = client.query(include_str!("sql/migrations.sql"), &[]).await.map_err(unavailable)?;
    let known = MIGRATIONS.last().map_or(0, |last| last.number);
    if let Some(newer) = rows.iter().map(|row| row.get::<_, i32>(0)).find(|number| *number > known) {
        return Err(MigrateError::Newer { found: newer, known });
    }
    for (at, row) in rows.iter().enumerate() {
        let (number, name, sum): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        if MIGRATIONS.get(at).is_none_or(|step| step.number != number || checksum(step) != sum) {
            return Err(MigrateError::Changed { name });
        }
    }
    Ok(Status { applied: rows.len() })
}

/// Does everything that has not been done; which steps those were. With `only_fresh`, a database that has some of them is
/// left as it is.
pub async fn up(client: &mut Client, only_fresh: bool) -> Result<Vec<&'static str>, MigrateError> {
    let unavailable = |error: tokio_postgres::Error| MigrateError::Unavailable(said(&error));
    // A long migration is no hung statement, and waiting for another node's is no held row.
    client.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(unavailable)?;
    client.query("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(unavailable)?;
    let done = steps(client, only_fresh).await;
    // Whatever came of it; a connection that is lost has given it back already.
    client.query("SELECT pg_advisory_unlock($1)", &[&LOCK]).await.ok();
    client.batch_execute("RESET statement_timeout; RESET lock_timeout").await.ok();
    done
}

async fn steps(client: &mut Client, only_fresh: bool) -> Result<Vec<&'static str>, MigrateError> {
    let mut done = Vec::new();
    while let Some(name) = step(client, only_fresh && done.is_empty()).await? {
        done.push(name);
    }
    Ok(done)
}

async fn step(client: &mut Client, only_fresh: bool) -> Result<Option<&'static str>, MigrateError> {
    let unavailable = |error: tokio_postgres::Error| MigrateError::Unavailable(said(&error));
    let transaction = client.transaction().await.map_err(unavailable)?;
    let status = status(&transaction).await?;
    let Some(next) = status.pending().first().filter(|_| status.is_fresh() || !only_fresh) else { return Ok(None) };

    let failed = |error: tokio_postgres::Error| MigrateError::Failed { name: next.name, why: said(&error) };
    if status.is_fresh() {
        transaction.batch_execute(include_str!("sql/migrations_begin.sql")).await.map_err(failed)?;
    }
    transaction.batch_execute(next.sql).await.map_err(failed)?;
    let note = include_str!("sql/migrations_note.sql");
    transaction.execute(note, &[&next.number, &next.name, &checksum(next)]).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    tracing::info!("migrated the database: {}", next.name);
    Ok(Some(next.name))
}

fn checksum(step: &Migration) -> String {
    Sha256::digest(step.sql.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}
