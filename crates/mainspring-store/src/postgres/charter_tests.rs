//! Which databases make a set, and which are refused.

use mainspring_core::id::JobId;
use mainspring_core::name::TenantName;
use mainspring_core::store::Store;

use super::testing::Database;
use super::{OpenError, Options, Postgres};
use crate::conformance::stage::{at, job};

fn all(databases: &[&Database]) -> Vec<Options> {
    databases.iter().map(|database| database.options()).collect()
}

async fn refused(databases: &[&Database]) -> OpenError {
    Postgres::open_set(&all(databases)).await.map(drop).expect_err("they do not fit")
}

/// A queue: from now on something hangs on what this database is.
async fn put_to_use(database: &Database) {
    let client = database.connect().await;
    client.batch_execute("INSERT INTO mainspring.queues (tenant, name) VALUES ('default', 'mail')").await.unwrap();
}

#[tokio::test]
async fn fresh_databases_become_a_set_and_are_one_ever_after() {
    let [first, second] = [Database::bare(), Database::bare()];
    let made = Postgres::open_set(&all(&[&first, &second])).await.unwrap();
    assert_eq!((made.databases.len(), made.placement.count()), (2, 2));
    assert_ne!(made.digest, 0);
    put_to_use(&first).await;
    put_to_use(&second).await;
    let again = Postgres::open_set(&all(&[&first, &second])).await.unwrap();
    assert_eq!(again.digest, made.digest, "nodes of one set fit");
}

#[tokio::test]
async fn nodes_that_open_fresh_databases_at_once_agree() {
    let [first, second] = [Database::bare(), Database::bare()];
    let options = all(&[&first, &second]);
    let opened = futures_util::future::join_all((0..6).map(|_| Postgres::open_set(&options))).await;
    let digests: Vec<u64> = opened.into_iter().map(|set| set.unwrap().digest).collect();
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[tokio::test]
async fn databases_in_another_order_are_refused_with_what_each_is() {
    let [first, second] = [Database::new(), Database::new()];
    Postgres::open_set(&all(&[&first, &second])).await.unwrap();
    put_to_use(&second).await;
    let why = refused(&[&second, &first]).await.to_string();
    assert!(why.contains("is database 2 of 2") && why.contains("asked to be database 1 of 2"), "{why}");
    assert!(why.contains("the same --store list in the same order"), "{why}");
}

#[tokio::test]
async fn a_database_with_jobs_of_its_own_cannot_become_one_of_two() {
    let [old, fresh] = [Database::new(), Database::new()];
    let store = Postgres::open(&old.options()).await.unwrap();
    store.submit(at(0), vec![job(1)]).await.unwrap();
    let why = refused(&[&old, &fresh]).await.to_string();
    assert!(why.contains("is a database of its own") && why.contains("begin with fresh databases"), "{why}");
    Postgres::open(&fresh.options()).await.expect("nothing was written there");
}

#[tokio::test]
async fn one_database_of_a_set_is_not_opened_alone() {
    let [first, second] = [Database::new(), Database::new()];
    Postgres::open_set(&all(&[&first, &second])).await.unwrap();
    put_to_use(&second).await;
    let why = Postgres::open(&second.options()).await.map(drop).unwrap_err().to_string();
    assert!(why.contains("is database 2 of 2") && why.contains("asked to be a database of its own"), "{why}");
    Postgres::open(&first.options()).await.expect("nothing hangs on this one yet");
    Postgres::open_set(&all(&[&first, &second])).await.expect("and it can join its set again");
}

#[tokio::test]
async fn the_second_database_of_another_cluster_is_refused() {
    let [ours, our_second, theirs, their_second] = [(); 4].map(|()| Database::new());
    for (first, second) in [(&ours, &our_second), (&theirs, &their_second)] {
        Postgres::open_set(&all(&[first, second])).await.unwrap();
        put_to_use(first).await;
        put_to_use(second).await;
    }
    let why = refused(&[&ours, &their_second]).await;
    assert!(matches!(why, OpenError::OtherSet { number: 2, .. }), "{why}");
}

#[tokio::test]
async fn one_database_given_twice_is_found_out_by_whichever_address() {
    let [first, second] = [Database::new(), Database::new()];
    let by_tcp = Options { url: second.tcp_url(), ..second.options() };
    let asked = [first.options(), second.options(), by_tcp];
    let why = Postgres::open_set(&asked).await.map(drop).unwrap_err();
    assert!(matches!(why, OpenError::Twice { first: 2, second: 3, .. }), "{why}");
}

#[tokio::test]
async fn limits_are_named_one_database_too_many_is_refused() {
    let database = Database::new();
    let many = vec![database.options(); 17];
    let why = Postgres::open_set(&many).await.map(drop).unwrap_err().to_string();
    assert!(why.contains("17 databases were given") && why.contains("SHARDS_MAX"), "{why}");
}

#[tokio::test]
async fn jobs_that_came_by_sql_before_any_node_stay_where_they_are() {
    let [database, other] = [Database::new(), Database::new()];
    database.connect().await.batch_execute("SELECT mainspring.submit('send')").await.unwrap();
    let why = refused(&[&database, &other]).await.to_string();
    assert!(why.contains("is a database of its own"), "{why}");
    Postgres::open(&database.options()).await.expect("alone it can be opened");
}

#[tokio::test]
async fn sql_submits_only_to_the_database_that_a_tenant_lives_in_and_to_its_segments() {
    let databases = [Database::new(), Database::new(), Database::new()];
    let set = Postgres::open_set(&all(&databases.each_ref())).await.unwrap();
    for name in ["default", "acme", "other", "a-first", "Z/9"] {
        let home = set.placement.home(&TenantName::parse(name).unwrap());
        for (shard, database) in set.placement.shards().zip(&databases) {
            let client = database.connect().await;
            let sql = format!("SELECT mainspring.submit('send', tenant => '{name}') FROM generate_series(1, 20)");
            match client.query(&sql, &[]).await {
                Ok(rows) => {
                    assert_eq!(shard, home, "{name}");
                    let made = rows.iter().map(|row| JobId::from(row.get::<_, uuid::Uuid>(0)));
                    assert!(made.into_iter().all(|id| set.placement.shard_of(id.segment()) == home));
                }
                Err(error) => {
                    let said = error.as_db_error().expect("the function refuses").message().to_owned();
                    assert_ne!(shard, home, "{name}: {said}");
                    let (home, here) = (home.index() + 1, shard.index() + 1);
                    let expected = format!("lives in database {home} of 3, this is database {here}");
                    assert!(said.starts_with("tenant: ") && said.ends_with(&expected), "{said}");
                }
            }
        }
    }
}
