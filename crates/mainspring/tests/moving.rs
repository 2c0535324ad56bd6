//! Real processes: a server on a data directory is stopped, everything is moved into a database, and life goes on there.

mod harness;

use harness::{Ran, Server, mainspring};
use mainspring_store::postgres::testing::Database;
use mainspring_wire::{
    ClaimRequest, NewJob, Outcome, Register, SettleRequest, SettledAs, Settlement, Span, Status, Tenants,
};
use mainspring_worker::Client;
use uuid::Uuid;

fn run(args: &[&str]) -> Ran {
    Ran::from(mainspring().args(args).output().expect("the program runs"))
}

fn migrate(from: &std::path::Path, database: &Database, more: &[&str]) -> Ran {
    let from = from.display().to_string();
    run(&[&["migrate-store", "--from", &from, "--to", &database.url()], more].concat())
}

async fn claim(client: &Client, worker_id: Uuid, max: u32) -> Vec<mainspring_wire::ClaimedJob> {
    let ask = ClaimRequest {
        worker_id,
        queues: vec!["mail".into()],
        max,
        wait: Some(Span::from_secs(60)),
        tenants: Tenants::Own,
        settlements: vec![],
    };
    client.claim(&ask).await.expect("an answer").jobs
}

async fn complete(client: &Client, job: &mainspring_wire::ClaimedJob) -> SettledAs {
    let settlement = Settlement {
        job_id: job.job_id,
        fence: job.fence,
        tenant: None,
        outcome: Outcome::Success,
        result: None,
        error: None,
        retry_after: None,
        never_retry: false,
        snooze_for: None,
    };
    client.settle(&SettleRequest { settlements: vec![settlement] }).await.expect("an answer").results[0].state
}

fn ledger(server: &Server, schedule: &str) -> Vec<(String, String)> {
    let page = server.json(&["schedule", "ledger", schedule]);
    let rows = page["rows"].as_array().unwrap_or_else(|| panic!("rows in {page}"));
    rows.iter().map(|row| (row["occurrence"].to_string(), row["what"].to_string())).collect()
}

#[tokio::test]
async fn a_worker_settles_after_the_move_what_it_held_before_and_schedules_miss_and_double_nothing() {
    let (dir, database) = (tempfile::tempdir().expect("a directory"), Database::bare());
    let data = dir.path().join("data");
    // Time stands still and is moved by hand, so that it is known which occurrences there are.
    let clock = |at: &str| format!("--virtual-clock={at}");
    let mut server = Server::start_with(&data, &[&clock("2026-12-01T09:00:00Z")]);
    let client = Client::new(&server.url).expect("an address");
    let register = Register { lease: Some(Span::from_secs(3600)), ..Register::default() };
    let worker = client.register(&register).await.expect("registered").worker_id;
    for kind in ["one", "two", "three"] {
        let job = NewJob { kind: kind.into(), queue: Some("mail".into()), ..NewJob::default() };
        client.submit(&job).await.expect("accepted");
    }
    let held = claim(&client, worker, 2).await;
    assert_eq!(complete(&client, &held[0]).await, SettledAs::Completed);
    server
        .run(&["schedule", "create", "minutely", "--cron", "* * * * *", "--type", "tick", "--queue", "ticks"])
        .succeeded();
    server.run(&["clock", "advance", "2m"]).succeeded();
    let before = ledger(&server, "minutely");
    assert_eq!(before.len(), 2, "{before:?}");

    migrate(&data, &database, &[]).failed_with(1, "is in use by process");
    assert!(server.terminate().success());
    let moved = migrate(&data, &database, &["-o", "json"]).succeeded();
    let summary: serde_json::Value = serde_json::from_str(&moved.stdout).expect("JSON");
    let kind = |name: &str| {
        let kinds = summary["kinds"].as_array().expect("a list");
        kinds.iter().find(|row| row["kind"] == name).cloned().unwrap_or_else(|| panic!("{name} in {summary}"))
    };
    assert_eq!((kind("jobs")["copied"].as_u64(), kind("jobs")["verified"].as_u64()), (Some(5), Some(5)), "{summary}");
    assert_eq!(kind("leases")["verified"], 1);
    let again = migrate(&data, &database, &[]).succeeded().shows(&["schedules", "1"]);
    assert!(again.stderr.contains("nothing was done"), "{again:?}");

    let url = database.url();
    let mut server = Server::start_with(&dir.path().join("none"), &["--store", &url, &clock("2026-12-01T09:02:30Z")]);
    let client = Client::new(&server.url).expect("an address");
    assert_eq!(complete(&client, &held[1]).await, SettledAs::Completed);
    assert_eq!(complete(&client, &held[0]).await, SettledAs::Stale);
    let next = claim(&client, worker, 1).await;
    assert!(next[0].fence > held[1].fence && next[0].kind == "three", "{next:?}");
    assert_eq!(client.job(held[1].job_id).await.expect("it is there").status, Status::Completed);

    server.run(&["clock", "advance", "2m"]).succeeded();
    let after = ledger(&server, "minutely");
    let occurrences: std::collections::BTreeSet<&String> = after.iter().map(|(occurrence, _)| occurrence).collect();
    assert_eq!((after.len(), occurrences.len()), (4, 4), "{after:?}");
    assert!(before.iter().all(|row| after.contains(row)), "{before:?} {after:?}");
    assert!(after.iter().all(|(_, result)| result == "\"FIRED\""), "{after:?}");
    assert!(server.terminate().success());
}

#[test]
fn what_cannot_be_moved_is_refused_with_what_to_do() {
    let (dir, database) = (tempfile::tempdir().expect("a directory"), Database::bare());
    migrate(dir.path(), &database, &[]).failed_with(1, "there is no store in");
    run(&["migrate-store", "--from", "x", "--to", "embedded"]).failed_with(2, "--to postgres://");
    let mut server = Server::start(dir.path());
    server.run(&["job", "submit", "hello"]).succeeded();
    assert!(server.terminate().success());
    let from = dir.path().display().to_string();
    run(&["migrate-store", "--from", &from, "--to", "postgres://u@127.0.0.1:1/d"]).failed_with(3, "could not connect");
}

#[test]
fn the_doctor_says_by_its_exit_code_whether_something_is_wrong() {
    let (dir, database) = (tempfile::tempdir().expect("a directory"), Database::bare());
    let well = Server::start(&dir.path().join("data"));
    let ran = well.run(&["doctor"]).succeeded();
    assert!(ran.stderr.contains("all are well"), "{ran:?}");
    well.run(&["doctor", "--all"]).succeeded().shows(&["ok", "leader"]).shows(&["disk_space"]);

    // The database of the tests does not sync: that must not be called well.
    let ailing = Server::start_with(&dir.path().join("none"), &["--store", &database.url()]);
    let ran = ailing.run(&["doctor"]).shows(&["critical", "fsync"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.stderr.contains("critical"), "{ran:?}");
}
