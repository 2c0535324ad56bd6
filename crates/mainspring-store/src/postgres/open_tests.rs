//! What a database must be before anything is done in it, and how it is reached.

use std::sync::Arc;

use mainspring_core::store::{Error, Store, Views};
use tokio_postgres::Client;

use super::migrate::{self, MIGRATIONS, MigrateError};
use super::testing::{Database, Server};
use super::{OpenError, Options, Postgres, migrate_up, migration_status};
use crate::conformance::stage::{at, job};

#[tokio::test]
async fn a_fresh_database_is_migrated_by_whoever_opens_it_first() {
    let database = Database::bare();
    assert!(migration_status(&database.options()).await.unwrap().is_fresh());
    let store = Postgres::open(&database.options()).await.unwrap();
    store.submit(at(0), vec![job(1)]).await.unwrap();
    assert_eq!(migration_status(&database.options()).await.unwrap().pending(), []);
    assert_eq!(migrate_up(&database.options()).await.unwrap(), Vec::<&str>::new(), "nothing is left to do");
}

#[tokio::test]
async fn nodes_that_open_a_fresh_database_at_once_take_turns() {
    let database = Database::bare();
    let options = database.options();
    let opened = futures_util::future::join_all((0..8).map(|_| Postgres::open(&options))).await;
    for store in opened {
        store.unwrap().queues(None).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_that_is_behind_is_refused_with_what_to_do() {
    let database = Database::new();
    forget_last(&database.connect().await).await;
    let refused = Postgres::open(&database.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::Older { behind: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("mainspring migrate up"), "{refused}");
}

/// As if the last migration had never been.
async fn forget_last(client: &Client) {
    let last = MIGRATIONS.last().unwrap();
    assert!(last.number > 1, "a database without the first one is fresh");
    client.execute("DELETE FROM mainspring.migrations WHERE number = $1", &[&last.number]).await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let database = Database::new();
    let client = database.connect().await;
    let newer = "INSERT INTO mainspring.migrations (number, name, checksum) VALUES (900, '0900_later', 'x')";
    client.batch_execute(newer).await.unwrap();
    for refused in [
        Postgres::open(&database.options()).await.map(drop).unwrap_err(),
        migrate_up(&database.options()).await.map(drop).unwrap_err(),
    ] {
        let OpenError::Migration { why: MigrateError::Newer { found: 900, .. }, .. } = &refused else {
            panic!("{refused}")
        };
        assert!(refused.to_string().contains("upgrade this program"), "{refused}");
    }
}

#[tokio::test]
async fn a_migration_that_was_changed_after_it_was_applied_is_found() {
    let database = Database::new();
    let change = "UPDATE mainspring.migrations SET checksum = 'other' WHERE number = 1";
    database.connect().await.batch_execute(change).await.unwrap();
    let refused = Postgres::open(&database.options()).await.unwrap_err();
    assert!(refused.to_string().contains(MIGRATIONS[0].name), "{refused}");
}

#[tokio::test]
async fn nothing_happens_by_halves_a_migration_that_fails_leaves_nothing() {
    let database = Database::bare();
    let mut client = database.connect().await;
    client.batch_execute("CREATE SCHEMA mainspring; CREATE TABLE mainspring.jobs ()").await.unwrap();
    client.batch_execute("SET search_path = mainspring").await.unwrap();
    let failed = migrate::up(&mut client, false).await.unwrap_err();
    assert!(matches!(&failed, MigrateError::Failed { name, .. } if *name == MIGRATIONS[0].name), "{failed}");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'mainspring'";
    assert_eq!(client.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 1);
}

#[tokio::test]
async fn a_database_with_another_count_of_segments_is_refused() {
    let database = Database::new();
    database.connect().await.batch_execute("UPDATE mainspring.charter SET segments = 64").await.unwrap();
    let refused = Postgres::open(&database.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::Segments { found: 64, .. }), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_clear_error_without_the_password() {
    let refused = Postgres::open(&Options::new("postgres://u:secret@localhost:1/d")).await.unwrap_err().to_string();
    assert!(refused.contains("could not connect to d on localhost"), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
}

#[tokio::test]
async fn a_store_whose_connections_are_cut_is_unavailable_and_comes_back() {
    let database = Database::new();
    let store = Arc::new(Postgres::open(&database.options()).await.unwrap());
    store.queues(None).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.connect().await.batch_execute(cut).await.unwrap();
    let first = store.queues(None).await;
    assert!(matches!(&first, Err(Error::Unavailable(_)) | Ok(_)), "{first:?}");
    let mut tries = 0;
    while let Err(error) = store.queues(None).await {
        assert!(matches!(error, Error::Unavailable(_)) && tries < 20, "{error}");
        tries += 1;
    }
}

#[tokio::test]
async fn a_connection_is_encrypted_and_the_server_is_who_it_says_as_far_as_the_address_asks() {
    let database = Database::new();
    let root = Server::get().root_certificate();
    let open = async |query: String| {
        let store = Postgres::open(&Options::new(format!("{}?{query}", database.tcp_url()))).await?;
        let connection = store.pool.get().await.unwrap();
        let ssl = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        Ok::<bool, OpenError>(connection.query_one(ssl, &[]).await.unwrap().get(0))
    };
    let root = root.display();
    for (query, encrypted) in [
        ("sslmode=disable".to_owned(), false),
        ("sslmode=prefer".to_owned(), true),
        ("sslmode=require".to_owned(), true),
        (format!("sslmode=verify-ca&sslrootcert={root}"), true),
        (format!("sslmode=verify-full&sslrootcert={root}"), true),
    ] {
        assert_eq!(open(query.clone()).await.unwrap(), encrypted, "{query}");
    }
    // Nobody we trust has signed it.
    let refused = open("sslmode=verify-full".into()).await.unwrap_err();
    assert!(matches!(refused, OpenError::Unreachable { .. } | OpenError::BadRoots(_)), "{refused}");
    let refused = open("sslmode=verify-full&sslrootcert=/nowhere".into()).await.unwrap_err().to_string();
    assert!(refused.contains("could not read the root certificate /nowhere"), "{refused}");
}

#[tokio::test]
async fn a_certificate_of_another_host_is_refused_where_the_host_is_looked_at() {
    let database = Database::new();
    let root = Server::get().root_certificate();
    let by_number = database.tcp_url().replace("localhost", "127.0.0.1");
    let open = async |mode: &str| {
        let url = format!("{by_number}?sslmode={mode}&sslrootcert={}", root.display());
        Postgres::open(&Options::new(url)).await.map(drop)
    };
    open("verify-ca").await.expect("whoever it is, it is signed");
    let refused = open("verify-full").await.expect_err("it is signed for localhost");
    assert!(refused.to_string().contains("certificate"), "{refused}");
}
