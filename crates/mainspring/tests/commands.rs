//! The nouns around schedules and workflows, through the real program: flags, tables, exit codes, and a clock that people move.

mod harness;

use harness::Server;
use serde_json::{Value, json};

fn text<'a>(json: &'a Value, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_else(|| panic!("{key} is not in {json}"))
}

fn virtual_server(dir: &std::path::Path) -> Server {
    Server::start_with(dir, &["--virtual-clock=2027-03-27T00:00:00Z"])
}

#[test]
fn a_schedule_is_created_previewed_changed_and_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = virtual_server(dir.path());
    assert!(server.process.said().contains("TIME STANDS STILL"), "{}", server.process.said());
    let create = [
        "schedule",
        "create",
        "nightly",
        "--cron",
        "30 2 * * *",
        "--tz",
        "Europe/Berlin",
        "--type",
        "report",
        "--data",
        "{\"a\":1}",
    ];
    let created = server.json(&create);
    assert_eq!((text(&created, "status"), &created["job"]["data"]), ("ACTIVE", &json!({"a": 1})));
    server.run(&create).failed_with(1, "error: the server refused");

    let preview = server.run(&["schedule", "preview", "nightly", "-n", "3"]).succeeded();
    preview.shows(&["2027-03-27 02:30:00", "+01:00"]).shows(&["2027-03-28 03:30:00", "+02:00"]);
    server
        .run(&["schedule", "preview", "--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "-n", "1"])
        .succeeded()
        .shows(&["09:00:00", "+09:00"]);
    server.run(&["schedule", "preview", "--cron", "0 25 * * *"]).failed_with(1, "cron");
    server.run(&["schedule", "preview"]).failed_with(2, "required");

    let replaced = server.json(&[
        "schedule",
        "replace",
        "nightly",
        "--daily",
        "9:00,17:00",
        "--type",
        "report",
        "--if-revision",
        "1",
    ]);
    assert_eq!((&replaced["daily"], &replaced["revision"]), (&json!(["09:00", "17:00"]), &json!(2)));
    server.run(&["schedule", "patch", "nightly", "{\"note\":\"n\"}", "--if-revision", "1"]).failed_with(1, "revision");
    assert_eq!(server.json(&["schedule", "patch", "nightly", "{\"note\":\"n\"}"])["note"], "n");

    assert_eq!(server.json(&["schedule", "pause", "nightly", "--note", "holiday", "--for", "1d"])["status"], "PAUSED");
    server
        .run(&["schedule", "get", "nightly"])
        .succeeded()
        .shows(&["paused", "holiday"])
        .shows(&["when", "daily 09:00,17:00"]);
    assert_eq!(server.json(&["schedule", "list", "--paused", "false"])["schedules"], json!([]));
    assert_eq!(server.json(&["schedule", "resume", "nightly"])["status"], "ACTIVE");

    let clock = server.json(&["clock"]);
    assert_eq!((text(&clock, "now"), &clock["virtual"]), ("2027-03-27T00:00:00.000Z", &json!(true)));
    server.run(&["clock", "advance", "10h"]).succeeded().shows(&["now", "2027-03-27T10:00:00.000Z"]);
    server.run(&["clock", "advance", "--to", "2027-03-27T09:00:00Z"]).failed_with(1, "past");
    server.run(&["schedule", "ledger", "nightly"]).succeeded().shows(&["2027-03-27T09:00:00.000Z", "FIRED"]);
    server.run(&["job", "list", "--schedule", "nightly"]).succeeded().shows(&["report", "PENDING"]);

    let range = ["schedule", "backfill", "nightly", "--from", "2027-03-25T00:00:00Z", "--to", "2027-03-27T09:00:00Z"];
    let planned = server.json(&[&range[..], &["--dry-run"]].concat());
    let results: Vec<&str> =
        planned["occurrences"].as_array().expect("a list").iter().map(|made| text(made, "result")).collect();
    assert_eq!(results, ["WOULD_FILL", "WOULD_FILL", "WOULD_FILL", "WOULD_FILL", "EXISTS"]);
    server.run(&range).succeeded().shows(&["2027-03-26T17:00:00.000Z", "FILLED"]);
    assert_eq!(server.json(&["job", "list", "--schedule", "nightly"])["jobs"].as_array().map(Vec::len), Some(5));
    server.run(&["schedule", "trigger", "nightly"]).succeeded().shows(&["status", "PENDING"]);

    server.run(&["schedule", "delete", "nightly"]).succeeded();
    server.run(&["schedule", "get", "nightly"]).failed_with(4, "error:");
    server.run(&["schedule", "ledger", "nightly"]).succeeded().shows(&["FIRED"]);
}

#[test]
fn a_clock_that_is_not_virtual_is_not_moved() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_with(dir.path(), &["--log-level", "warn"]);
    assert_eq!(server.json(&["clock"])["virtual"], false);
    server.run(&["clock", "advance", "1h"]).failed_with(1, "--virtual-clock");
}

#[test]
fn a_forecast_is_a_picture_with_its_herds() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = virtual_server(dir.path());
    for index in 0..30 {
        let name = format!("herd{index}");
        server.run(&["schedule", "create", &name, "--cron", "0 0 * * *", "--type", "t"]).succeeded();
    }
    server.run(&["schedule", "create", "often", "--every", "1h", "--type", "t"]).succeeded();
    let shown = server.run(&["forecast", "--days", "2", "--jitter", "10m"]).succeeded();
    let shown = shown.shows(&["27-03-28 00h", "█", "31"]).shows(&["herds"]).shows(&["2027-03-28 00:00", "31", "herd"]);
    assert!(shown.stdout.contains("with 10m of jitter"), "{}", shown.stdout);
    let forecast = server.json(&["forecast", "--days", "2", "--jitter", "10m"]);
    let peak = |key: &str| forecast[key]["schedules"].as_u64().unwrap_or_else(|| panic!("{key} in {forecast}"));
    assert!(peak("peak_with_jitter") < peak("peak"), "{forecast}");
}

#[test]
fn a_workflow_runs_in_its_order_and_a_child_reads_its_parents() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_with(&dir.path().join("data"), &["--log-level", "warn"]);
    let file = dir.path().join("workflow.json");
    let step = |name: &str, after: Value| json!({"name": name, "type": name, "queue": "q", "after": after});
    let workflow = json!({
        "jobs": [step("sum", json!(["left", {"job": "right", "on_failure": "run"}])), step("left", json!([])), step("right", json!([]))],
        "callback": {"type": "tell", "queue": "q"}
    });
    std::fs::write(&file, workflow.to_string()).expect("the folder takes a file");
    let submitted = server.json(&["workflow", "submit", &file.display().to_string()]);
    let id = text(&submitted, "workflow_id");
    let sum = text(&submitted["jobs"], "sum");
    server
        .run(&["workflow", "get", id])
        .succeeded()
        .shows(&["status", "RUNNING"])
        .shows(&["sum", "BLOCKED", "2"])
        .shows(&["(callback)", "all"]);
    server.run(&["job", "get", sum]).succeeded().shows(&["step", "sum"]).shows(&["(if it fails: run)"]);

    let script = r#"[ "$MAINSPRING_TYPE" != right ] || exit 100"#;
    let _worker = server.worker("q", script);
    server.run(&["job", "wait", text(&submitted, "callback_id")]).succeeded();
    assert_eq!(server.json(&["job", "get", sum])["status"], "COMPLETED");
    let ended = server.json(&["workflow", "get", id]);
    assert_eq!(
        (text(&ended, "status"), &ended["counts"]["completed"], &ended["counts"]["failed"]),
        ("FAILED", &json!(2), &json!(1))
    );
    assert_eq!(server.json(&["job", "list", "--workflow", id])["jobs"].as_array().map(Vec::len), Some(4));

    let cyclic =
        json!({"jobs": [{"name": "a", "type": "t", "after": ["b"]}, {"name": "b", "type": "t", "after": ["a"]}]});
    server
        .run_with_stdin(&["workflow", "submit", "-"], &cyclic.to_string())
        .failed_with(1, "error: the server refused");
    server.run_with_stdin(&["workflow", "submit", "-"], "{\"job\":[]}").failed_with(2, "unknown field `job`");
}

#[test]
fn a_workflow_is_cancelled_as_a_whole_and_a_job_waits_for_another() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_with(dir.path(), &["--log-level", "warn"]);
    let parent = server.json(&["job", "submit", "a", "--delay", "1h"]);
    let parent = text(&parent, "job_id");
    let child =
        server.json(&["job", "submit", "b", "--depends-on", &format!("{parent}:hold"), "--concurrency-key", "k"]);
    assert_eq!(text(&child, "status"), "BLOCKED");
    server
        .run(&["job", "submit", "b", "--depends-on", "01980000-0000-7000-8000-000000000001"])
        .failed_with(1, "error:");

    let workflow =
        json!({"jobs": [{"name": "a", "type": "t", "delay": "1h"}, {"name": "b", "type": "t", "after": ["a"]}]});
    let ran = server.run_with_stdin(&["workflow", "submit", "-", "-o", "json"], &workflow.to_string()).succeeded();
    let submitted: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let id = text(&submitted, "workflow_id");
    assert!(
        server.json(&["workflow", "cancel", id, "--reason", "not needed"])["cancelled"]
            .as_u64()
            .is_some_and(|count| count >= 1)
    );
    server.run(&["job", "wait", text(&submitted["jobs"], "b")]).failed_with(5, "ended as CANCELLED");
    assert_eq!(server.json(&["workflow", "get", id])["status"], "CANCELLED");
}
