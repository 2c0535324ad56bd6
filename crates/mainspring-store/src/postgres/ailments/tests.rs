//! The catalogs of a real server say what the checks are about.

use std::time::Duration;

use mainspring_core::store::{Ailment, Severity, Views};
use mainspring_core::time::Time;

use super::super::Postgres;
use super::super::testing::Database;
use super::ailments;

fn named<'f>(found: &'f [Ailment], name: &str) -> Vec<&'f Ailment> {
    found.iter().filter(|it| it.name == name).collect()
}

#[tokio::test]
async fn a_transaction_that_somebody_holds_open_is_found_with_its_pid() {
    let database = Database::new();
    let store = Postgres::open(&database.options()).await.expect("it is there");
    let somebody = database.connect().await;
    let begin = "SET application_name = 'report'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM mainspring.ready";
    somebody.batch_execute(begin).await.expect("it begins");
    let pid: i32 = somebody.query_one("SELECT pg_backend_pid()", &[]).await.expect("it answers").get(0);

    let found = ailments(&store, Duration::ZERO).await.expect("it looks");
    let ours = format!("pid {pid} ");
    let finding = named(&found, "long_transaction").into_iter().find(|it| it.what.contains(&ours));
    let finding = finding.unwrap_or_else(|| panic!("{pid} is not in {found:?}"));
    assert!(finding.severity >= Severity::Warning, "{finding:?}");
    assert!(finding.what.contains("application report") && finding.what.contains("idle in transaction"), "{finding:?}");
    assert!(finding.remedy.contains(&format!("pg_terminate_backend({pid})")), "{finding:?}");

    // One that has just begun is nobody's trouble.
    let found = store.ailments(Time::ZERO).await.expect("it looks");
    assert!(!found.iter().any(|it| it.what.contains(&ours)), "{found:?}");
}

#[tokio::test]
async fn everything_that_is_looked_at_is_named_whether_it_is_well_or_not() {
    let database = Database::new();
    let store = Postgres::open(&database.options()).await.expect("it is there");
    let found = store.ailments(Time::ZERO).await.expect("it looks");
    for name in [
        "long_transaction",
        "prepared_transaction",
        "replication_slot",
        "fsync",
        "full_page_writes",
        "synchronous_commit",
        "autovacuum",
        "dead_rows",
        "connections",
    ] {
        assert!(!named(&found, name).is_empty(), "{name} is not in {found:?}");
    }
}
