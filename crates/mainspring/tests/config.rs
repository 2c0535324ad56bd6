//! Configuration through the real program: what wins over what, and how errors name their place.

mod harness;

use harness::{Process, Ran, Server, mainspring};

fn serve(flags: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = mainspring();
    command.arg("serve").args(flags).envs(env.iter().copied());
    Ran::from(command.output().expect("the program runs"))
}

#[test]
fn an_unknown_variable_is_named() {
    serve(&[], &[("MAINSPRING_SERVER__PORT", "1")]).failed_with(
        2,
        "unknown key `MAINSPRING_SERVER__PORT` in the environment: expected one of listen, allow_remote",
    );
    serve(&[], &[("MAINSPRING_SEVER__LISTEN", "1")]).failed_with(2, "unknown key `MAINSPRING_SEVER");
}

#[test]
fn a_bad_variable_is_named_with_what_was_expected() {
    serve(&[], &[("MAINSPRING_JOBS__RETENTION", "soon")])
        .failed_with(2, "bad value for `MAINSPRING_JOBS__RETENTION` in the environment")
        .failed_with(2, "is not a duration");
}

#[test]
fn a_bad_file_is_named() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("mainspring.toml");
    std::fs::write(&file, "[log]\ncolour = true\n").expect("the folder takes a file");
    let path = file.display().to_string();
    serve(&["--config", &path], &[]).failed_with(2, "unknown key `log.colour` in ").failed_with(2, "mainspring.toml");
    serve(&[], &[("MAINSPRING_CONFIG", &path)]).failed_with(2, "unknown key `log.colour`");
    let missing = serve(&["--config", "/no/such/file.toml"], &[]).failed_with(2, "/no/such/file.toml");
    assert_eq!(missing.stderr.lines().count(), 1, "{:?}", missing.stderr);
}

#[test]
fn a_server_for_other_machines_is_refused_unless_that_is_meant() {
    serve(&["--store", "memory", "--listen", "0.0.0.0:0"], &[]).failed_with(2, "--allow-remote");
    serve(&["--store", "memory"], &[("MAINSPRING_SERVER__LISTEN", "0.0.0.0:0")]).failed_with(2, "--allow-remote");
}

#[test]
fn a_bad_log_level_is_refused() {
    serve(&["--store", "memory", "--log-level", "mainspring=loud"], &[]).failed_with(2, "log.level");
}

#[test]
fn an_address_in_use_is_refused_with_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it has an address").to_string();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data_dir = dir.path().join("data");
    let ran = serve(&["--data-dir", &data_dir.display().to_string(), "--listen", &address], &[]);
    ran.failed_with(1, "choose another address with --listen");
    assert!(!data_dir.exists(), "nothing is left of a server that did not start");
}

#[test]
fn a_data_directory_that_is_a_file_is_refused_with_one_cause() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = file.path().display().to_string();
    let ran = serve(&["--listen", "127.0.0.1:0", "--data-dir", &path], &[]).failed_with(1, &path);
    assert_eq!(ran.stderr.matches("File exists").count(), 1, "{}", ran.stderr);
}

/// A flag wins over a variable, a variable over the file, the file over the default.
#[test]
fn the_nearer_word_wins() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("mainspring.toml");
    std::fs::write(
        &file,
        "[workers]\nlease = \"7s\"\n[jobs]\nretention = \"1s\"\n[server]\nlisten = \"127.0.0.1:0\"\n",
    )
    .expect("the folder takes a file");
    let lease_of = |flags: &[&str], env: &[(&str, &str)]| {
        let mut command = mainspring();
        command.args(["serve", "--store", "memory", "--config"]).arg(&file).args(flags).envs(env.iter().copied());
        let mut process = Process::start(&mut command);
        let url = process.wait_for_line(|line| Some(line.trim().strip_prefix("address")?.trim().to_owned()));
        registered_lease(&url)
    };
    assert_eq!(lease_of(&[], &[]), "7s");
    assert_eq!(lease_of(&[], &[("MAINSPRING_WORKERS__LEASE", "8s")]), "8s");
    assert_eq!(lease_of(&["--lease", "9s"], &[("MAINSPRING_WORKERS__LEASE", "8s")]), "9s");
}

/// What a worker that asks for nothing is given.
fn registered_lease(url: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = mainspring_worker::Client::new(url).expect("an address");
    let registered = runtime.block_on(client.register(&Default::default())).expect("it registers");
    registered.lease.to_string()
}

#[test]
fn memory_says_loudly_that_nothing_survives() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_with(dir.path(), &["--store", "memory"]);
    assert!(server.process.said().contains("NOTHING SURVIVES"), "{}", server.process.said());
}

#[test]
fn a_json_log_is_one_object_a_line() {
    let mut command = mainspring();
    command.args(["serve", "--store", "memory", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut process = Process::start(&mut command);
    let ready = process.wait_for_line(|line| {
        let object: serde_json::Value = serde_json::from_str(line).expect("every line is an object");
        (object["message"] == "ready").then_some(object)
    });
    assert!(ready["address"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")), "{ready}");
    process.signal(rustix::process::Signal::INT);
    assert!(process.wait().success());
}
