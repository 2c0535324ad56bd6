//! Real processes on a real PostgreSQL: nodes that share a database, jobs submitted in SQL, migrations from the command line.

mod harness;

use harness::{Ran, Server, mainspring};
use mainspring_store::postgres::testing::Database;
use mainspring_wire::{ClaimRequest, NewJob, Register, Span, Status, Tenants};
use mainspring_worker::Client;

fn run(args: &[&str]) -> Ran {
    Ran::from(mainspring().args(args).output().expect("the program runs"))
}

/// A node on this database. It needs no folder, and is given one to show that it leaves it alone.
fn node(database: &Database) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start_with(&dir.path().join("data"), &["--store", &database.url()]);
    (dir, server)
}

#[test]
fn nothing_accepted_is_lost_a_job_taken_in_by_one_node_is_done_at_another_after_the_first_is_killed() {
    let database = Database::bare();
    let (dir, mut first) = node(&database);
    let submitted = first.json(&["job", "submit", "hello", "--queue", "q"]);
    let id = submitted["job_id"].as_str().expect("an id");
    first.kill();
    assert!(!dir.path().join("data").exists(), "all it keeps is in the database");

    let (_dir, second) = node(&database);
    let _worker = second.worker("q", "true");
    second.run(&["job", "submit", "bye", "--queue", "q", "--wait"]).succeeded();
    second.run(&["job", "list", "--status", "COMPLETED"]).succeeded().shows(&[id]);
}

#[tokio::test]
async fn a_job_submitted_in_sql_is_claimed_by_a_worker_that_waits_for_it_and_one_rolled_back_is_not() {
    let database = Database::bare();
    let (_dir, server) = node(&database);
    let client = Client::new(&server.url).expect("an address");
    let worker = client.register(&Register::default()).await.expect("registered").worker_id;
    let claim = ClaimRequest {
        worker_id: worker,
        queues: vec!["q".into()],
        max: 10,
        wait: Some(Span::from_secs(60)),
        tenants: Tenants::Own,
        settlements: vec![],
    };
    let waiting = tokio::spawn(async move { client.claim(&claim).await });
    let mut application = database.connect().await;
    for commits in [false, true] {
        let transaction = application.transaction().await.expect("a transaction");
        let sql = "SELECT mainspring.submit('hello', jsonb_build_object('commits', $1::boolean), queue => 'q')";
        transaction.query(sql, &[&commits]).await.expect("it is submitted");
        match commits {
            true => transaction.commit().await.expect("it commits"),
            false => transaction.rollback().await.expect("it is rolled back"),
        }
    }
    let claimed = waiting.await.expect("it does not panic").expect("an answer");
    let data: Vec<&str> = claimed.jobs.iter().map(|job| job.data.get()).collect();
    assert_eq!(data, ["{\"commits\": true}"]);
}

#[tokio::test]
async fn a_worker_of_one_node_is_woken_by_what_is_submitted_at_another() {
    let database = Database::bare();
    let ((_one, one), (_other, other)) = (node(&database), node(&database));
    let (one, other) = (Client::new(&one.url).expect("an address"), Client::new(&other.url).expect("an address"));
    let worker = one.register(&Register::default()).await.expect("registered").worker_id;
    let claim = ClaimRequest {
        worker_id: worker,
        queues: vec!["default".into()],
        max: 1,
        wait: Some(Span::from_secs(60)),
        tenants: Tenants::Own,
        settlements: vec![],
    };
    let waiting = tokio::spawn(async move { one.claim(&claim).await });
    let submitted = other.submit(&NewJob { kind: "hello".into(), ..NewJob::default() }).await.expect("accepted");
    let claimed = waiting.await.expect("it does not panic").expect("an answer");
    assert_eq!(claimed.jobs[0].job_id, submitted.job_id);
    assert_eq!(other.job(submitted.job_id).await.expect("it is there").status, Status::Running);
}

#[tokio::test]
async fn migrations_are_shown_and_applied_and_a_newer_schema_is_refused() {
    let database = Database::bare();
    let store = database.url();
    run(&["migrate", "status", "--store", &store]).succeeded().shows(&["0001_", "pending"]);
    let up = run(&["migrate", "up", "--store", &store]).succeeded().shows(&["0001_", "applied"]);
    assert!(up.stderr.contains("applied 0001_"), "{up:?}");
    let again = run(&["migrate", "up", "--store", &store]).succeeded();
    assert!(again.stderr.contains("up to date"), "{again:?}");

    let newer = "INSERT INTO mainspring.migrations (number, name, checksum) VALUES (900, '0900_later', '')";
    database.connect().await.batch_execute(newer).await.expect("a row");
    run(&["migrate", "up", "--store", &store]).failed_with(1, "upgrade this program");
    run(&["serve", "--listen", "127.0.0.1:0", "--store", &store]).failed_with(1, "upgrade this program");
}

#[test]
fn a_database_that_is_not_there_or_is_none_is_refused_with_what_to_do() {
    run(&["serve", "--listen", "127.0.0.1:0", "--store", "postgres://u:secret@127.0.0.1:1/d"])
        .failed_with(3, "could not connect to d on 127.0.0.1");
    run(&["migrate", "status", "--store", "postgres://h/d?sslmode=maybe"]).failed_with(2, "verify-full");
    run(&["migrate", "status", "--store", "memory"]).failed_with(2, "needs no migrations");
    run(&["migrate", "up"]).failed_with(2, "--store postgres://");
}

#[test]
fn a_password_comes_from_a_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("password");
    std::fs::write(&file, "secret\n").expect("a file");
    let database = Database::bare();
    let with = |file: &str| {
        let mut command = mainspring();
        command.args(["migrate", "status", "--store", &database.url()]).env("MAINSPRING_STORE__PASSWORD_FILE", file);
        Ran::from(command.output().expect("the program runs"))
    };
    with(&file.display().to_string()).succeeded();
    with("/no/such/file").failed_with(1, "store.password_file /no/such/file");
}
