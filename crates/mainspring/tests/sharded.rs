//! Real processes on two real databases: every tenant lives in one of them, and one that is down stops only its own.

mod harness;

use harness::{Process, Ran, Server, mainspring};
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_store::postgres::testing::{self, Database};

/// One tenant for each of two databases, in their order.
const TENANTS: [&str; 2] = ["other", "acme"];

fn run(args: &[&str]) -> Ran {
    Ran::from(mainspring().args(args).output().expect("the program runs"))
}

fn node(urls: [&str; 2]) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start_with(&dir.path().join("data"), &["--store", urls[0], "--store", urls[1]]);
    (dir, server)
}

/// A worker of this tenant that serves all of them.
fn worker(server: &Server, tenant: &str) -> Process {
    let args = ["worker", "--exec", "sh", "--tenant", tenant, "--all-tenants", "--queue", "q", "--later", "100ms"];
    Process::start(server.client(&args).args(["--", "-c", "true"]))
}

fn submit(server: &Server, tenant: &str, more: &[&str]) -> Ran {
    server.run(&[&["job", "submit", "hello", "--queue", "q", "--tenant", tenant], more].concat())
}

/// How many jobs a database has.
async fn jobs_in(database: &Database) -> i64 {
    let row = database.connect().await.query_one("SELECT count(*) FROM mainspring.jobs", &[]).await;
    row.expect("the table is there").get(0)
}

#[test]
fn these_tenants_live_where_the_tests_say() {
    let placement = Placement::new(2).expect("in range");
    let homes = TENANTS.map(|name| placement.home(&TenantName::parse(name).expect("a name")).index());
    assert_eq!(homes, [0, 1]);
}

#[tokio::test]
async fn nothing_accepted_is_lost_tenants_of_two_databases_are_served_by_one_node_and_after_it_was_killed() {
    let databases = [Database::bare(), Database::bare()];
    let urls = databases.each_ref().map(Database::url);
    let (_dir, mut server) = node([&urls[0], &urls[1]]);
    for tenant in TENANTS {
        submit(&server, tenant, &[]).succeeded();
        submit(&server, tenant, &["--delay", "500ms"]).succeeded();
    }
    assert_eq!([jobs_in(&databases[0]).await, jobs_in(&databases[1]).await], [2, 2], "each where its tenant lives");
    server.kill();
    server.restart();

    let _worker = worker(&server, TENANTS[0]);
    for tenant in TENANTS {
        submit(&server, tenant, &["--delay", "600ms", "--wait"]).succeeded();
        let done = server.run(&["job", "list", "--tenant", tenant, "--status", "COMPLETED"]).succeeded();
        assert_eq!(done.stdout.lines().count(), 4, "a header and three jobs: {}", done.stdout);
    }
    let cluster = server.run(&["cluster"]).succeeded();
    assert!(cluster.stderr.contains("over 2 databases") && !cluster.stderr.contains("nobody"), "{cluster:?}");
    assert_eq!([jobs_in(&databases[0]).await, jobs_in(&databases[1]).await], [3, 3]);
}

#[test]
fn a_failure_stays_where_it_is_a_database_that_goes_down_stops_only_its_tenants() {
    for down in [0, 1] {
        let up = 1 - down;
        let (stays, goes) = (Database::bare(), testing::Server::start());
        let mut urls = [stays.url(), goes.url("postgres")];
        urls.rotate_left(up);
        let (_dir, server) = node([&urls[0], &urls[1]]);
        let _worker = worker(&server, TENANTS[up]);
        for tenant in TENANTS {
            submit(&server, tenant, &["--wait"]).succeeded();
        }
        drop(goes);
        while submit(&server, TENANTS[down], &[]).code == 0 {}
        // Now and later, through submit, claim, settle and promote.
        submit(&server, TENANTS[up], &["--wait"]).succeeded();
        submit(&server, TENANTS[up], &["--delay", "500ms", "--wait"]).succeeded();
    }
}

#[test]
fn databases_that_do_not_make_a_set_are_refused_with_what_to_do() {
    let databases = [Database::bare(), Database::bare()];
    let [first, second] = databases.each_ref().map(Database::url);
    let serve = |stores: &[&str]| {
        let stores: Vec<&str> = stores.iter().flat_map(|store| ["--store", store]).collect();
        run(&[&["serve", "--listen", "127.0.0.1:0"], &stores[..]].concat())
    };
    serve(&[&first, &first]).failed_with(1, "stores 1 and 2 lead to the same database");
    serve(&[&first, "memory"]).failed_with(2, "cannot be used together");
    let (_dir, server) = node([&first, &second]);
    submit(&server, TENANTS[1], &[]).succeeded();
    serve(&[&second, &first]).failed_with(1, "is database 2 of 2");
    serve(&[&second]).failed_with(1, "asked to be a database of its own");
}

#[test]
fn every_database_is_migrated_and_a_list_can_come_from_the_file_or_the_environment() {
    let databases = [Database::bare(), Database::bare()];
    let [first, second] = databases.each_ref().map(Database::url);
    let stores = ["--store", &first, "--store", &second];
    let up = run(&[&["migrate", "up"], &stores[..]].concat()).succeeded();
    assert!(
        up.stderr.contains("database 1: applied 0001_") && up.stderr.contains("database 2: applied 0001_"),
        "{up:?}"
    );
    let list = format!("[{first:?}, {second:?}]");
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("mainspring.toml");
    std::fs::write(&file, format!("[store]\nkind = {list}\n")).expect("a file");
    let by_env = mainspring().args(["migrate", "status"]).env("MAINSPRING_STORE__KIND", &list).output();
    for status in [
        run(&["migrate", "status", "--config", &file.display().to_string()]),
        Ran::from(by_env.expect("the program runs")),
    ] {
        let status = status.succeeded();
        assert!(status.stdout.contains("DATABASE") && !status.stdout.contains("pending"), "{status:?}");
    }
}
