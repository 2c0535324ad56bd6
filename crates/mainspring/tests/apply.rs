//! Import and apply through the real program: the difference is shown, made, and gone the second time.

mod harness;

use std::path::Path;

use harness::{Ran, Server};
use serde_json::{Value, json};

fn server(dir: &Path) -> Server {
    Server::start_with(&dir.join("data"), &["--log-level", "warn"])
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).expect("the folder takes a file");
    path.display().to_string()
}

fn has(ran: &Ran, line: &str) -> bool {
    ran.stdout.lines().any(|shown| shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(line))
}

#[track_caller]
fn shows(ran: &Ran, lines: &[&str]) {
    for line in lines {
        assert!(has(ran, line), "{line:?} is not in\n{}", ran.stdout);
    }
}

const TEAM: &str = r#"
[calendars.feasts]
exclude = [2026-12-25, { from = 2026-12-31, through = 2027-01-01 }]

[queues.mail]
max_depth = 100
age_factor = 0.5

[schedules.nightly]
cron = "0 3 * * *"
timezone = "Europe/Berlin"
exclude = [{ calendar = "feasts" }, { weekdays = ["SAT", "sun"] }, { times = { from = "1:00", to = "2:00" } }]
catchup = { mode = "all", window = "2d" }
overlap = "queue_one"
jitter = "PT90S"
start_at = 2026-01-01T00:00:00+01:00
note = "why it exists"
[schedules.nightly.job]
type = "report"
queue = "mail"
data = { of = ["sales", 1, 2.5], deep = { flag = true } }
retry = { strategy = "linear", base = "10s" }
deadline = "1h"
tags = ["finance"]

[schedules.often]
daily = ["17:00", "9:00"]
job = { type = "ping" }
"#;

#[test]
fn a_file_is_applied_once_and_then_changes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let file = write(&dir.path().join("team.toml"), TEAM);

    let planned = server.run(&["apply", &file, "--dry-run"]);
    assert_eq!(planned.code, 2, "{planned:?}");
    shows(&planned, &["+ queue mail", "+ schedule nightly", "cron \"0 3 * * *\"", "team.toml: 3 to create"]);
    assert_eq!(server.json(&["schedule", "list"])["schedules"], json!([]), "a dry run changes nothing");
    server.run(&["apply", &file]).failed_with(2, "--yes");

    server.run(&["apply", &file, "--yes"]).succeeded();
    let nightly = server.json(&["schedule", "get", "nightly"]);
    assert_eq!(nightly["exclude"][0], "2026-12-25");
    assert_eq!(nightly["job"]["tags"], json!(["finance", "applied:team.toml"]));
    assert_eq!(nightly["job"]["data"], json!({"of": ["sales", 1, 2.5], "deep": {"flag": true}}));
    let mail = server.json(&["queue", "get", "mail"]);
    assert_eq!((&mail["max_depth"], &mail["age_factor"]), (&json!(100), &json!(0.5)));

    let again = server.run(&["apply", &file, "--dry-run"]).succeeded();
    shows(&again, &["= schedule nightly", "= schedule often", "= queue mail", "team.toml: 3 unchanged"]);
    server.run(&["apply", &file]).succeeded();
    assert_eq!(server.json(&["schedule", "get", "nightly"])["revision"], nightly["revision"], "nothing was written");

    let changed = write(
        &dir.path().join("team.toml"),
        &TEAM.replace("0 3 * * *", "0 4 * * *").replace("max_depth = 100", "paused = true"),
    );
    let planned = server.run(&["apply", &changed, "--dry-run"]);
    assert_eq!(planned.code, 2, "{planned:?}");
    shows(
        &planned,
        &[
            "~ schedule nightly",
            "cron \"0 3 * * *\" → \"0 4 * * *\"",
            "~ queue mail",
            "paused false → true",
            "2 to update, 1 unchanged",
        ],
    );
    let report = server.json(&["apply", &changed, "--yes"]);
    assert_eq!((&report["applied"], report["items"].as_array().map(Vec::len)), (&json!(true), Some(3)));
    assert_eq!(server.json(&["schedule", "get", "nightly"])["cron"], "0 4 * * *");
    assert_eq!(server.json(&["queue", "get", "mail"])["paused"], true);
}

#[test]
fn limits_are_applied_from_a_file_and_only_what_it_says_is_changed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let text = "[limits.\"key:customer:*\"]\nconcurrency = 2\nrate = { permits = 100, per = \"1m\" }\n\
        [limits.\"type:resize\"]\nbreaker = { failure_ratio = 0.25 }\n";
    let file = write(&dir.path().join("limits.toml"), text);
    server.run(&["limit", "set", "queue:by-hand", "--concurrency", "9"]).succeeded();

    let planned = server.run(&["apply", &file, "--dry-run"]);
    assert_eq!(planned.code, 2, "{planned:?}");
    shows(&planned, &["+ limit key:customer:*", "concurrency 2", "+ limit type:resize", "limits.toml: 2 to create"]);
    server.run(&["apply", &file, "--yes"]).succeeded();
    let again = server.run(&["apply", &file, "--dry-run"]).succeeded();
    shows(&again, &["= limit key:customer:*", "= limit type:resize", "limits.toml: 2 unchanged"]);

    let changed = write(&dir.path().join("limits.toml"), "[limits.\"key:customer:*\"]\nconcurrency = 3\n");
    let planned = server.run(&["apply", &changed, "--dry-run", "--prune"]);
    assert_eq!(planned.code, 2, "{planned:?}");
    shows(&planned, &["~ limit key:customer:*", "concurrency 2 → 3", "limits.toml: 1 to update"]);
    server.run(&["apply", &changed, "--prune", "--yes"]).succeeded();
    assert_eq!(server.json(&["limit", "get", "key:customer:*"])["rule"], json!({"concurrency": 3}));
    let listed = server.json(&["limit", "list"]);
    assert_eq!(listed["limits"].as_array().map(Vec::len), Some(3), "what is not in the file stays: {listed}");

    let check = |bad: &str, words: &str| {
        let file = write(&dir.path().join("bad.toml"), &format!("[limits.tenant]\nconcurrency = 5\n{bad}"));
        let ran = server.run(&["apply", &file, "--yes"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(words), "{words:?} is not in {:?}", ran.stderr);
    };
    check("[limits.mail]\nconcurrency = 1\n", "limit mail is not one");
    check("[limits.\"queue:q\"]\nrate = { permits = 0, per = \"1m\" }\n", "rate.permits: 0 is not from 1 to");
    server.run(&["limit", "get", "tenant"]).failed_with(4, "nothing is limited");
}

#[test]
fn pruning_removes_what_this_source_made_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let schedule = |name: &str| format!("[schedules.{name}]\nevery = \"1h\"\njob = {{ type = \"t\" }}\n");
    let ours = write(&dir.path().join("ours.toml"), &(schedule("a") + &schedule("b")));
    let theirs = write(&dir.path().join("theirs.toml"), &schedule("c"));
    server.run(&["apply", &ours, "--yes"]).succeeded();
    server.run(&["apply", &theirs, "--yes"]).succeeded();
    server.run(&["schedule", "create", "by-hand", "--every", "1h", "--type", "t"]).succeeded();

    let fewer = write(&dir.path().join("ours.toml"), &schedule("a"));
    server.run(&["apply", &fewer, "--dry-run"]).succeeded();
    let planned = server.run(&["apply", &fewer, "--dry-run", "--prune"]);
    assert_eq!(planned.code, 2);
    shows(&planned, &["- schedule b", "1 to remove, 1 unchanged"]);
    server.run(&["apply", &fewer, "--prune", "--yes"]).succeeded();
    let listed = server.json(&["schedule", "list"]);
    let names: Vec<&str> = listed["schedules"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|view| view["schedule_id"].as_str())
        .collect();
    assert_eq!(names, ["a", "by-hand", "c"]);
}

#[test]
fn what_is_wrong_in_a_file_changes_nothing_and_is_pointed_at() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let good = "[schedules.good]\nevery = \"1h\"\njob = { type = \"t\" }\n";
    let check = |bad: &str, words: &str| {
        let file = write(&dir.path().join("bad.toml"), &format!("{good}{bad}"));
        let ran = server.run(&["apply", &file, "--yes"]);
        assert_eq!(ran.code, 1, "a broken file is no difference: {ran:?}");
        assert!(ran.stderr.contains(words), "{words:?} is not in {:?}", ran.stderr);
    };
    check("[schedules.x]\ncron = \"0 25 * * *\"\njob = { type = \"t\" }\n", "schedule x");
    check("[schedules.x]\ncron = \"0 2 * * *\"\ntimezone = \"Europe/Nowhere\"\njob = { type = \"t\" }\n", "timezone");
    check(
        "[schedules.x]\ncrn = \"0 2 * * *\"\njob = { type = \"t\" }\n",
        "bad.toml:4: schedules.x: unknown field `crn`",
    );
    assert_eq!(server.json(&["schedule", "list"])["schedules"], json!([]), "all are looked at before one is made");
    server.run(&["apply", "/no/such.toml", "--yes"]).failed_with(1, "/no/such.toml");
}

#[test]
fn a_crontab_is_imported_and_its_commands_run() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let text = "# m h dom mon dow command\nMAILTO=ops\nGREETING=hello\nCRON_TZ=Europe/Berlin\n\
        30 2 * * 1-5 echo \"$GREETING $(cat)\"%you%there\n@reboot start-it\n@daily /usr/bin/backup --all\n";
    let file = write(&dir.path().join("crontab"), text);
    let planned = server.run(&["import", "crontab", &file, "--dry-run"]);
    assert_eq!(planned.code, 2, "{planned:?}");
    assert!(
        planned.stderr.contains(":2: MAILTO is not taken over")
            && planned.stderr.contains(":6: @reboot is not supported"),
        "{planned:?}"
    );
    shows(&planned, &["+ schedule cron.usr-bin-backup-all-", "cron \"30 2 * * 1-5\"", "crontab: 2 to create"]);

    server.run(&["import", "crontab", &file]).failed_with(2, "--yes");
    server.run(&["import", "crontab", &file, "--yes"]).succeeded();
    let again = server.run(&["import", "crontab", &file, "--dry-run"]).succeeded();
    shows(&again, &["crontab: 2 unchanged"]);

    let listed = server.json(&["schedule", "list"]);
    let views = listed["schedules"].as_array().expect("a list");
    let echo = views.iter().find(|view| view["cron"] == "30 2 * * 1-5").expect("it is there");
    assert_eq!(
        (&echo["timezone"], &echo["catchup"], &echo["job"]["max_attempts"]),
        (&json!("Europe/Berlin"), &json!("none"), &json!(1))
    );
    let name = echo["schedule_id"].as_str().expect("a name");
    let mut worker = harness::Process::start(&mut server.client(&["worker", "--shell", "--queue", "cron"]));
    worker.wait_for_line(|line| line.contains("working for").then_some(()));
    let job = server.json(&["schedule", "trigger", name]);
    let done = server.json(&["job", "wait", job["job_id"].as_str().expect("an id")]);
    assert_eq!(
        (&done["status"], &done["result"]["stdout"]),
        (&json!("COMPLETED"), &json!("hello you\nthere\n")),
        "{done}"
    );

    // Another time is the same schedule; another command is another one.
    let moved = write(&dir.path().join("crontab"), "CRON_TZ=Europe/Berlin\n0 5 * * * /usr/bin/backup --all\n");
    let planned = server.run(&["import", "crontab", &moved, "--dry-run", "--prune"]);
    shows(&planned, &["cron \"@daily\" → \"0 5 * * *\"", "1 to update, 1 to remove"]);
    server.run(&["import", "crontab", &moved, "--yes", "--prune"]).succeeded();
    assert_eq!(server.json(&["schedule", "list"])["schedules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_system_crontab_has_a_queue_for_each_user_and_a_bad_one_is_pointed_at() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = server(dir.path());
    let good = write(&dir.path().join("good"), "17 * * * * root cd / && true\n25 6 * * * www-data true\n");
    server.run(&["import", "crontab", &good, "--system", "--tz", "UTC", "--yes"]).succeeded();
    let listed = server.json(&["schedule", "list"]);
    let queues: Vec<&Value> =
        listed["schedules"].as_array().expect("a list").iter().map(|view| &view["job"]["queue"]).collect();
    assert_eq!(queues, [&json!("cron.root"), &json!("cron.www-data")]);
    let bad = write(&dir.path().join("bad"), "17 * * * * true\n\n0 25 * * * false\n61 * * * * x\n");
    let ran = server.run(&["import", "crontab", &bad, "--dry-run"]).failed_with(1, "bad:3:3: ");
    assert!(ran.stderr.contains("bad:4:1: "), "{ran:?}");
    server.run_with_stdin(&["import", "crontab", "-", "--tz", "UTC", "--yes"], "0 1 * * * x\n").succeeded();
}
