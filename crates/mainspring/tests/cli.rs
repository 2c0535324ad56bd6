//! The real program against a real server: every noun, both forms of output, every exit code.

mod harness;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use harness::{Process, Server, mainspring};
use rustix::process::Signal;
use serde_json::{Value, json};

const NO_JOB: &str = "01980000-0000-7000-8000-000000000001";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn server(dir: &Path) -> Server {
    Server::start_with(dir, &["--log-level", "warn"])
}

fn text<'a>(json: &'a Value, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_else(|| panic!("{key} is not in {json}"))
}

#[test]
fn a_job_is_submitted_looked_at_changed_and_cancelled() {
    let dir = folder();
    let server = server(dir.path());
    let args =
        ["job", "submit", "mail", "--data", r#"{"to":  "you"}"#, "--queue", "post", "--delay", "1h", "--tag", "a b"];
    let submitted =
        server.json(&[&args[..], &["--priority", "-7", "--retry", "fixed:1s", "--max-attempts", "2"]].concat());
    assert_eq!(submitted["status"], "SCHEDULED");
    let id = text(&submitted, "job_id");

    let job = server.json(&["job", "get", id]);
    assert_eq!((text(&job, "type"), text(&job, "queue")), ("mail", "post"));
    assert_eq!((&job["priority"], &job["tags"], &job["max_attempts"]), (&json!(-7), &json!(["a b"]), &json!(2)));
    assert_eq!(job["data"], json!({"to": "you"}));
    server.run(&["job", "get", id]).succeeded().shows(&["status", "SCHEDULED"]).shows(&["data", r#"{"to":  "you"}"#]);
    server.run(&["job", "list", "--status", "scheduled", "--tag", "a b"]).succeeded().shows(&[id, "mail", "post"]);
    assert_eq!(server.json(&["job", "list", "--status", "PENDING,FAILED"])["jobs"], json!([]));
    server.run(&["job", "explain", id]).succeeded().shows(&["waits_until"]);

    assert_eq!(server.json(&["job", "pause", id])["status"], "PAUSED");
    assert_eq!(server.json(&["job", "resume", id])["status"], "SCHEDULED");
    assert_eq!(server.json(&["job", "run", id])["status"], "PENDING");
    let cancelled = server.json(&["job", "cancel", id, "--reason", "not needed"]);
    assert_eq!((text(&cancelled, "status"), text(&cancelled, "cancel_reason")), ("CANCELLED", "not needed"));
    server.run(&["job", "pause", id]).failed_with(1, "error: the server refused");
}

#[test]
fn data_comes_from_the_command_line_a_file_or_stdin() {
    let dir = folder();
    let server = server(&dir.path().join("data"));
    let file = dir.path().join("payload.json");
    std::fs::write(&file, "[1, 2]\n").expect("the folder takes a file");
    let data_of = |ran: harness::Ran| {
        let submitted: Value = serde_json::from_str(&ran.succeeded().stdout).expect("JSON was asked for");
        server.json(&["job", "get", text(&submitted, "job_id")])["data"].clone()
    };
    let at_file = format!("@{}", file.display());
    assert_eq!(data_of(server.run(&["job", "submit", "t", "-o", "json", "--data", &at_file])), json!([1, 2]));
    assert_eq!(
        data_of(server.run_with_stdin(&["job", "submit", "t", "-o", "json", "--data", "-"], "{\"a\":1}")),
        json!({"a": 1})
    );
    assert_eq!(data_of(server.run(&["job", "submit", "t", "-o", "json", "--data", "-5"])), json!(-5));
    server.run(&["job", "submit", "t", "--data", "{oops"]).failed_with(2, "--data is not JSON");
    server.run(&["job", "submit", "t", "--data", "@/no/such/file"]).failed_with(1, "/no/such/file");
}

#[test]
fn a_program_runs_the_jobs_and_its_exit_code_is_the_result() {
    let dir = folder();
    let server = server(dir.path());
    let script = r#"
        echo "type=$MAINSPRING_TYPE attempt=$MAINSPRING_ATTEMPT queue=$MAINSPRING_QUEUE" >&2
        case "$MAINSPRING_TYPE" in
            echo) cat ;;
            flaky) [ "$MAINSPRING_ATTEMPT" -gt 1 ] ;;
            later) if mkdir "$(cat | tr -d '"')" 2>/dev/null; then exit 75; fi ;;
            never) exit 100 ;;
            slow) echo began; sleep 600 ;;
            *) exit 3 ;;
        esac"#;
    let _worker = server.worker("q", script);

    let done = server.json(&["job", "submit", "echo", "--queue", "q", "--data", "{\"n\":1}", "--wait"]);
    assert_eq!(text(&done, "status"), "COMPLETED");
    assert_eq!((&done["result"]["exit_code"], &done["result"]["stdout"]), (&json!(0), &json!("{\"n\":1}")));
    assert_eq!(done["result"]["stderr"], "type=echo attempt=1 queue=q\n");
    assert!(done["result"]["duration_ms"].is_u64());

    let flaky = server.json(&["job", "submit", "flaky", "--queue", "q", "--retry", "fixed:10ms", "--wait"]);
    assert_eq!((&flaky["attempts"], &flaky["failures"]), (&json!(2), &json!(1)));
    let id = text(&flaky, "job_id");
    server.run(&["job", "executions", id]).succeeded().shows(&["1", "FAILED", "code 1"]).shows(&["2", "SUCCEEDED"]);

    let mark = format!("\"{}\"", dir.path().join("mark").display());
    let later = server.json(&["job", "submit", "later", "--queue", "q", "--data", &mark, "--wait"]);
    assert_eq!((&later["status"], &later["failures"]), (&json!("COMPLETED"), &json!(0)), "75 uses up no attempt");

    let never = server.run(&["job", "submit", "never", "--queue", "q", "--wait", "-o", "json"]);
    let never = never.failed_with(5, "ended as FAILED");
    let never: Value = serde_json::from_str(&never.stdout).expect("the job is shown all the same");
    assert_eq!(never["attempts"], 1, "100 is final");

    let slow =
        server.run(&["job", "submit", "slow", "--queue", "q", "--timeout", "300ms", "--max-attempts", "1", "--wait"]);
    slow.failed_with(5, "ended as FAILED");
}

#[test]
fn a_job_that_fails_is_found_dead_and_replayed() {
    let dir = folder();
    let server = server(dir.path());
    let repaired = dir.path().join("repaired");
    let script = format!("test -e {} || {{ echo broken >&2; exit 1; }}", repaired.display());
    let _worker = server.worker("q", &script);
    let args =
        ["job", "submit", "t", "--queue", "q", "--max-attempts", "2", "--retry", "fixed:10ms", "--wait", "-o", "json"];
    let failed = server.run(&args).failed_with(5, "ended as FAILED");
    let failed: Value = serde_json::from_str(&failed.stdout).expect("the job is shown");
    let id = text(&failed, "job_id");
    assert_eq!(failed["failures"], 2);
    assert!(text(&failed["error"], "detail").contains("broken"), "{failed}");
    server.run(&["job", "explain", id]).succeeded().shows(&["attempts_used_up"]);
    server.run(&["dead", "list", "--queue", "q"]).succeeded().shows(&[id, "code 1"]);

    server.run(&["dead", "replay"]).failed_with(2, "which ones?");
    std::fs::write(&repaired, "").expect("the folder takes a file");
    assert_eq!(server.json(&["dead", "replay", "--queue", "q"])["replayed"], 1);
    server.run(&["job", "wait", id]).succeeded().shows(&["status", "COMPLETED"]);
    assert_eq!(server.json(&["dead", "list"])["jobs"], json!([]));
    assert_eq!(server.json(&["dead", "replay", id])["missing"], json!([id]));
}

#[test]
fn dead_letters_are_purged_only_when_that_is_meant() {
    let dir = folder();
    let server = server(dir.path());
    let _worker = server.worker("q", "exit 100");
    for _ in 0..2 {
        server.run(&["job", "submit", "t", "--queue", "q", "--wait"]).failed_with(5, "FAILED");
    }
    server.run(&["dead", "purge", "--queue", "q"]).failed_with(2, "--yes");
    assert_eq!(server.json(&["dead", "purge", "--queue", "q", "--max", "1", "--yes"])["purged"], 1);
    assert_eq!(server.json(&["dead", "purge", "--all", "--yes"])["purged"], 1);
    assert_eq!(server.json(&["job", "list", "--queue", "q"])["jobs"], json!([]));
}

#[test]
fn a_running_program_is_ended_by_a_cancel_and_a_worker_by_an_order() {
    let dir = folder();
    let server = Server::start_with(dir.path(), &["--log-level", "warn", "--lease", "1s"]);
    let pid_file = dir.path().join("pid");
    let mut events = Process::start(&mut server.client(&["events", "--kind", "claimed", "--max", "1"]));
    events.wait_for_line(|line| line.starts_with("following").then_some(()));
    let script = format!("echo $$ > {}; sleep 600", pid_file.display());
    let mut worker = server.worker("q", &script);
    let id = text(&server.json(&["job", "submit", "t", "--queue", "q", "--max-attempts", "1"]), "job_id").to_owned();
    assert!(events.wait().success(), "the claim was seen");

    server.run(&["job", "cancel", &id, "--reason", "enough"]).succeeded();
    server.run(&["job", "wait", &id]).failed_with(5, "ended as CANCELLED");

    let workers = server.json(&["worker", "list"]);
    let worker_id = text(&workers["workers"][0], "worker_id");
    server.run(&["worker", "list"]).succeeded().shows(&[worker_id, "q", "work", "alive"]);
    server.run(&["worker", "order", worker_id, "terminate"]).succeeded();
    assert!(worker.wait().success(), "{}", worker.said());
    server.run(&["worker", "order", NO_JOB, "quiet"]).failed_with(4, "error:");
}

#[test]
fn queues_are_counted_paused_and_set() {
    let dir = folder();
    let server = server(dir.path());
    server.json(&["job", "submit", "t", "--queue", "mail"]);
    server.run(&["queue", "list"]).succeeded().shows(&["QUEUE", "PENDING"]).shows(&["mail", "no", "1"]);
    assert_eq!(server.json(&["queue", "pause", "mail"])["paused"], true);
    assert_eq!(server.json(&["queue", "resume", "mail"])["paused"], false);
    let set = server.json(&["queue", "set", "mail", "--age-factor", "0.5", "--max-depth", "1"]);
    assert_eq!((&set["age_factor"], &set["max_depth"]), (&json!(0.5), &json!(1)));
    server.run(&["job", "submit", "t", "--queue", "mail"]).failed_with(3, "the server cannot do it now");
    assert_eq!(server.json(&["queue", "set", "mail", "--no-max-depth"])["max_depth"], Value::Null);
    server.json(&["job", "submit", "t", "--queue", "mail"]);
    assert_eq!(server.json(&["queue", "get", "mail"])["pending"], 2);
    server.run(&["queue", "set", "mail"]).failed_with(2, "nothing to set");
    server.run(&["queue", "get", "nothing"]).failed_with(4, "error:");
}

#[test]
fn limits_are_set_listed_explained_and_removed() {
    let dir = folder();
    let server = server(dir.path());
    let set = ["limit", "set", "key:customer:*", "--concurrency", "1", "--rate", "100/1m", "--burst", "20"];
    let limit = server.json(&[&set[..], &["--breaker", "50%/1m"]].concat());
    assert_eq!((&limit["rule"]["concurrency"], &limit["rule"]["rate"]["burst"]), (&json!(1), &json!(20)));
    assert_eq!(limit["rule"]["breaker"]["failure_ratio"], json!(0.5));
    server
        .run(&["limit", "list"])
        .succeeded()
        .shows(&["LIMIT", "RUNNING"])
        .shows(&["key:customer:*", "100/1m burst 20"]);
    server.run(&["limit", "get", "key:customer:7"]).succeeded().shows(&["rule of", "key:customer:*"]);

    server.run(&["limit", "set", "type:t", "--concurrency", "0"]).succeeded();
    let job = server.json(&["job", "submit", "t", "--concurrency-key", "customer:7"]);
    let id = text(&job, "job_id");
    server.run(&["job", "explain", id]).succeeded().shows(&["limit_full", "type t lets nothing start"]);
    assert_eq!(server.json(&["limit", "reopen", "type:t"])["rule"], json!({"concurrency": 0}));

    server.run(&["limit", "remove", "type:t"]).succeeded();
    server.run(&["limit", "remove", "type:t"]).failed_with(4, "nothing is limited by type:t");
    server.run(&["limit", "get", "type:t"]).failed_with(4, "nothing is limited by type:t");
    server.run(&["limit", "set", "mail", "--concurrency", "1"]).failed_with(1, "write `queue:NAME`");
    server.run(&["limit", "set", "queue:q", "--concurrency", "2000000"]).failed_with(1, "concurrency: 2000000 is not");
    server.run(&["limit", "set", "queue:q"]).failed_with(2, "nothing to set");
    server.run(&["limit", "set", "queue:q", "--weight", "2"]).failed_with(1, "only be set on `tenant`");
}

#[test]
fn a_tenant_has_its_own_jobs_and_limits_and_one_worker_can_serve_all() {
    let dir = folder();
    let server = server(dir.path());
    let job = server.json(&["--tenant", "acme", "job", "submit", "t", "--queue", "q", "--max-attempts", "1"]);
    let id = text(&job, "job_id");
    server.run(&["job", "get", id]).failed_with(4, "error:");
    assert_eq!(server.json(&["--tenant", "acme", "job", "get", id])["tenant"], "acme");
    server.run(&["--tenant", "acme", "limit", "set", "tenant", "--weight", "3"]).succeeded();
    assert_eq!(server.json(&["limit", "list"])["limits"], json!([]));
    server.run(&["--tenant", "a b", "job", "list"]).failed_with(1, "a tenant must not contain ' '");

    let script = r#"[ "$MAINSPRING_TENANT" = default ] || { echo "for $MAINSPRING_TENANT" >&2; exit 7; }"#;
    let args = ["worker", "--exec", "sh", "--queue", "q", "--all-tenants", "--", "-c", script];
    let _worker = Process::start(&mut server.client(&args));
    let done = server.json(&["job", "submit", "t", "--queue", "q", "--wait"]);
    assert_eq!(done["status"], "COMPLETED");
    let failed = server.run(&["--tenant", "acme", "job", "wait", id, "-o", "json"]).failed_with(5, "ended as FAILED");
    assert!(failed.stdout.contains("for acme"), "its failure is counted as its own: {failed:?}");
}

#[test]
fn every_exit_code_means_what_the_help_says() {
    let dir = folder();
    let server = server(dir.path());
    let help = mainspring().arg("--help").output().expect("the program runs");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for code in ["0  done", "1  refused", "2  usage", "3  unreachable", "4  not found", "5  the job"] {
        assert!(help.contains(code), "{code} is not in {help}");
    }
    server.run(&["job", "submit", "bad type!"]).failed_with(1, "type");
    server
        .run(&["job", "submit", "a", "--priority", "5000"])
        .failed_with(1, "priority: 5000 is not from -1000 to 1000");
    let several = server.run(&["job", "submit", "bad type!", "--priority", "5000"]).failed_with(1, "type: ");
    several.failed_with(1, "; priority: 5000 is not");
    server.run(&["job", "submit"]).failed_with(2, "TYPE");
    server.run(&["job", "list", "--status", "SLEEPING"]).failed_with(2, "is not a status");
    server.run(&["job", "get", NO_JOB]).failed_with(4, "error:");
    server.run(&["--server", "ftp://x", "job", "list"]).failed_with(2, "is not the address of a server");
    server.run(&["--server", "http://127.0.0.1:1", "job", "list"]).failed_with(3, "hint: start a server with");
    server.run(&["worker", "--exec", "/no/such/program"]).failed_with(2, "is not a program that can be run");
}

#[test]
fn the_same_idempotency_key_answers_the_same_job() {
    let dir = folder();
    let server = server(dir.path());
    let submit =
        |data: &str| server.run(&["job", "submit", "t", "--data", data, "--idempotency-key", "k", "-o", "json"]);
    let first: Value = serde_json::from_str(&submit("1").succeeded().stdout).expect("JSON");
    let second: Value = serde_json::from_str(&submit("1").succeeded().stdout).expect("JSON");
    assert_eq!(first["job_id"], second["job_id"]);
    assert_eq!(second["duplicate"], true);
    submit("2").failed_with(1, "idempotency");
}

#[test]
fn a_second_server_on_the_same_folder_gets_a_clear_error() {
    let dir = folder();
    let mut first = server(dir.path());
    let dir_text = dir.path().display().to_string();
    let second = mainspring()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir", &dir_text])
        .output()
        .expect("the program runs");
    let second = harness::Ran::from(second).failed_with(1, "is in use by process");
    assert!(second.stderr.contains(&dir_text) && second.stderr.contains(&first.process.id().to_string()), "{second:?}");
    first.json(&["job", "submit", "t"]);
    assert!(first.terminate().success());
}

#[test]
fn a_server_that_was_told_to_end_or_was_killed_has_every_job_when_it_is_back() {
    let dir = folder();
    let mut server = server(dir.path());
    let id = text(&server.json(&["job", "submit", "t", "--data", "1"]), "job_id").to_owned();
    assert!(server.terminate().success(), "{}", server.process.said());
    server.restart();
    assert_eq!(server.json(&["job", "get", &id])["data"], 1);
    let other = text(&server.json(&["job", "submit", "t", "--data", "2"]), "job_id").to_owned();
    server.kill();
    server.restart();
    assert_eq!(server.json(&["job", "get", &id])["status"], "PENDING");
    assert_eq!(server.json(&["job", "get", &other])["data"], 2);
}

#[test]
fn a_server_ends_in_order_while_a_worker_waits_for_jobs() {
    let dir = folder();
    let mut server = server(dir.path());
    let mut events = Process::start(&mut server.client(&["events"]));
    events.wait_for_line(|line| line.starts_with("following").then_some(()));
    let _worker = server.worker("q", "true");
    server.json(&["job", "submit", "t", "--queue", "q", "--wait"]);
    assert!(server.terminate().success(), "{}", server.process.said());
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let dir = folder();
    let mut server = Server::start(dir.path());
    let address = server.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    // The second request never gets its body, so an orderly end would wait for it.
    let requests = "GET /livez HTTP/1.1\r\nhost: x\r\n\r\nPOST /v1/jobs HTTP/1.1\r\nhost: x\r\n\
        content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(requests.as_bytes()).expect("the server reads");
    assert_eq!(stream.read(&mut [0; 12]).expect("the first is answered"), 12);
    server.process.signal(Signal::TERM);
    server.process.wait_for_line(|line| line.contains("a second signal ends it at once").then_some(()));
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.wait().code(), Some(1), "{}", server.process.said());
    assert!(server.process.said().contains("SIGTERM again"));
}

#[test]
fn a_full_store_refuses_jobs_counts_them_and_stays_ready() {
    let dir = folder();
    let server = Server::start_with(&dir.path().join("data"), &["--log-level", "warn", "--max-size", "1MiB"]);
    let file = dir.path().join("payload.json");
    std::fs::write(&file, format!("\"{}\"", "x".repeat(200_000))).expect("the folder takes a file");
    let at_file = format!("@{}", file.display());
    let submit = || server.run(&["job", "submit", "t", "--data", &at_file]);
    let refused = (0..50).map(|_| submit()).find(|ran| ran.code != 0).expect("a store of 1 MiB is full soon");
    refused.failed_with(3, "store.max_size");
    let metrics = get(&server, "/metrics");
    let counted =
        metrics.lines().find_map(|line| line.strip_prefix("mainspring_rejected_total{reason=\"store_full\"} "));
    assert!(counted.and_then(|count| count.parse::<u64>().ok()) > Some(0), "{metrics}");
    assert!(get(&server, "/readyz").starts_with("HTTP/1.0 200"), "what is there can be worked off");
}

/// The whole answer, with its head.
fn get(server: &Server, path: &str) -> String {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).expect("the server listens");
    write!(stream, "GET {path} HTTP/1.0\r\nhost: x\r\n\r\n").expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers and closes");
    answer
}

#[test]
fn completions_are_printed_for_a_shell() {
    let output = mainspring().args(["completions", "bash"]).output().expect("the program runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("_mainspring"));
}

#[test]
fn a_small_bench_prints_figures_and_leaves_nothing_behind() {
    let dir = folder();
    let dir_text = dir.path().display().to_string();
    let common = ["--runs", "1", "--json", "--data-dir", &dir_text];
    let bench = |args: &[&str]| {
        let output = mainspring().arg("bench").args(args).args(common).output().expect("the program runs");
        let ran = harness::Ran::from(output).succeeded();
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
    };
    let lifecycle = bench(&["lifecycle", "--jobs", "1000", "--batch", "50", "--connections", "2"]);
    assert_eq!((&lifecycle["scenario"], &lifecycle["payload_bytes"]), (&json!("lifecycle"), &json!(400)));
    assert!(text(&lifecycle, "store").contains("embedded"), "{lifecycle}");
    let median = &lifecycle["median"];
    for figure in ["jobs_per_second", "submit_to_settled_p99_ms", "server_cpu_seconds", "server_rss_anon_mib"] {
        assert!(median[figure].as_f64().is_some_and(|value| value > 0.0), "{figure} in {lifecycle}");
    }
    let single = bench(&["lifecycle", "--jobs", "100", "--batch", "1", "--connections", "8"]);
    assert!(single["median"]["claim_p50_ms"].is_f64());
    let burst = bench(&["burst", "--jobs", "2000", "--batch", "100", "--lead", "3s"]);
    assert!(burst["median"]["promoted_within_seconds"].is_f64() && burst["median"]["drain_jobs_per_second"].is_f64());
    let lateness = bench(&["lateness", "--rate", "100", "--seconds", "1", "--connections", "4"]);
    for figure in ["due_to_ready_p99_at_most_ms", "due_to_delivered_p99_ms", "submit_to_delivered_p50_ms"] {
        assert!(lateness["median"][figure].is_f64(), "{figure} in {lateness}");
    }
    let backlog = bench(&["backlog", "--pending", "2000", "--jobs", "500", "--load-batch", "100"]);
    for figure in ["lifecycle_ratio", "restart_seconds", "restart_after_kill_seconds", "load_jobs_per_second"] {
        assert!(backlog["median"][figure].is_f64(), "{figure} in {backlog}");
    }
    let args = ["--pending", "1000", "--load-batch", "100", "--drain", "--window", "100ms", "--lead", "3s"];
    let drained = bench(&[&["backlog"], &args[..]].concat());
    assert!(drained["median"]["drain_jobs_per_second"].is_f64());
    let claims = bench(&["claim-cost", "--few", "100", "--many", "500", "--claims", "20"]);
    assert!(claims["median"]["ratio_p50"].is_f64());
    let args =
        ["--jobs", "500", "--turns", "1", "--batch", "50", "--connections", "2", "--parked", "500", "--claims", "20"];
    let limits = bench(&[&["limits"], &args[..]].concat());
    for figure in
        ["two_rules_ratio", "no_rule_jobs_per_second", "parked_to_empty_ratio_p50", "claim_with_all_parked_p99_ms"]
    {
        assert!(limits["median"][figure].as_f64().is_some_and(|value| value > 0.0), "{figure} in {limits}");
    }
    let args =
        ["--schedules", "200", "--due", "50", "--lead", "3s", "--rate", "20", "--seconds", "1", "--connections", "4"];
    let schedules = bench(&[&["schedules"], &args[..]].concat());
    for figure in ["all_fired_seconds", "fire_late_p99_ms", "due_to_delivered_p99_ms", "rss_anon_stored_mib"] {
        assert!(schedules["median"][figure].is_f64(), "{figure} in {schedules}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0, "every folder was removed");
}
