//! Holds the store to the promises of all stores.

use proptest::test_runner::{Config, FileFailurePersistence};

use crate::postgres::testing::PostgresHome;

crate::conformance!(PostgresHome::new);

/// Each script has a database of its own, which takes longer to make than to play: fewer than of the other stores fit a test run.
const CASES_DEFAULT: u32 = 100;

#[test]
fn lockstep() {
    let cases = match std::env::var("MAINSPRING_LOCKSTEP_CASES") {
        Ok(text) => text.parse().expect("MAINSPRING_LOCKSTEP_CASES must be a number"),
        Err(_) => CASES_DEFAULT,
    };
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/lockstep-postgres.txt");
    let persistence = FileFailurePersistence::Direct(failures);
    let config = Config { cases, failure_persistence: Some(Box::new(persistence)), ..Config::default() };
    if let Err(found) = crate::lockstep::check(config, PostgresHome::new) {
        panic!("{}\nthe script:{:?}\n", found.difference, found.script);
    }
}
