//! What a file may say, and how its errors point at their place.

use serde_json::json;

use super::*;

fn documents(texts: &[&str]) -> Result<Wanted> {
    let named = (1..).zip(texts).map(|(number, text)| (format!("{number}.toml"), (*text).to_owned()));
    read(&named.collect::<Vec<_>>())
}

#[test]
fn schedules_queues_and_calendars_are_read_across_files() {
    let wanted = documents(&[
        "[schedules.nightly]\ncron = \"0 3 * * *\"\ntimezone = \"Europe/Berlin\"\nexclude = [2026-12-24, { calendar = \"feasts\" }]\n\
         start_at = 2026-01-01T00:00:00Z\n[schedules.nightly.job]\ntype = \"report\"\ndata = { of = [1, 2] }\n",
        "[calendars.feasts]\nexclude = [2026-12-25, { weekdays = [\"SAT\"] }]\n\
         [queues.mail]\nmax_depth = 10\npaused = true\n[queues.post]\nmax_depth = \"none\"\nage_factor = 0.5\n\
         [limits.\"key:customer:*\"]\nconcurrency = 2\nrate = { permits = 100, per = \"1m\" }\n",
    ])
    .expect("it is read");
    let nightly = serde_json::to_value(&wanted.schedules["nightly"]).expect("it prints");
    let expected = json!({
        "schedule_id": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "start_at": "2026-01-01T00:00:00.000Z",
        "exclude": ["2026-12-24", "2026-12-25", { "weekdays": ["SAT"] }], "job": { "type": "report", "data": { "of": [1, 2] } }
    });
    assert_eq!(nightly, expected);
    let limit = serde_json::to_value(&wanted.limits["key:customer:*"]).expect("it prints");
    assert_eq!(limit, json!({ "concurrency": 2, "rate": { "permits": 100, "per": "1m" } }));
    let mail = WantedQueue { paused: Some(true), max_depth: Some(Some(10)), age_factor: None };
    let post = WantedQueue { paused: None, max_depth: Some(None), age_factor: Some(0.5) };
    assert_eq!(wanted.queues, BTreeMap::from([("mail".to_owned(), mail), ("post".to_owned(), post)]));
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let refused = |texts: &[&str], words: &[&str]| {
        let error = format!("{:#}", documents(texts).expect_err("is refused"));
        for word in words {
            assert!(error.contains(word), "{error:?} does not say {word:?}");
        }
    };
    refused(&["\n[schedules.a\n"], &["1.toml:2:"]);
    refused(&["[schedule.a]\n"], &["1.toml:1:2: unknown field `schedule`"]);
    refused(&["\n\n[schedules.a]\ncron = \"x\"\n"], &["1.toml:3: schedules.a: job:"]);
    refused(&["[schedules.a]\ncrn = \"x\"\njob = { type = \"t\" }\n"], &["1.toml:1: schedules.a: unknown field `crn`"]);
    refused(&["[schedules.a]\ncron = 7\njob = { type = \"t\" }\n"], &["schedules.a: ", "expected a string"]);
    refused(
        &["[schedules.a]\njob = { type = \"t\" }\nexclude = [{ calendar = \"c\" }]"],
        &["there is no calendar \"c\""],
    );
    refused(&["[schedules.a]\nschedule_id = \"b\"\njob = { type = \"t\" }\n"], &["schedule_id"]);
    refused(&["[queues.q]\nmax_depth = \"lots\"\n"], &["1.toml:2:", "a number of jobs, or \"none\""]);
    refused(&["[queues.q]\ndepth = 1\n"], &["unknown field `depth`"]);
    refused(&["\n[limits.\"queue:q\"]\nconcurency = 1\n"], &["1.toml:2: limits.queue:q: unknown field `concurency`"]);
    refused(&["[limits.tenant]\nrate = { permits = 1 }\n"], &["limits.tenant: missing field `per`"]);
    let one = "[schedules.a]\ncron = \"0 3 * * *\"\njob = { type = \"t\" }\n";
    refused(&[one, &format!("\n{one}")], &["2.toml:2: schedules.a is in 1.toml:1 already"]);
}

#[test]
fn a_directory_is_its_toml_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let schedule = |name: &str| format!("[schedules.{name}]\nevery = \"1h\"\njob = {{ type = \"t\" }}\n");
    std::fs::write(dir.path().join("b.toml"), schedule("b")).expect("a file");
    std::fs::write(dir.path().join("a.toml"), schedule("a")).expect("a file");
    std::fs::write(dir.path().join("notes.md"), "no TOML").expect("a file");
    let wanted = read_all(&[dir.path().to_owned()]).expect("it is read");
    assert_eq!(wanted.schedules.keys().collect::<Vec<_>>(), ["a", "b"]);
    let missing = read_all(&[dir.path().join("c.toml")]).expect_err("is not there");
    assert!(missing.to_string().contains("c.toml"));
    std::fs::remove_file(dir.path().join("a.toml")).and(std::fs::remove_file(dir.path().join("b.toml"))).expect("gone");
    assert!(read_all(&[dir.path().to_owned()]).expect_err("is empty").to_string().contains("no .toml file"));
}

#[test]
fn a_file_past_the_bound_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("big.toml");
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(FILE_BYTES_MAX + 1).expect("it grows");
    assert!(read_all(std::slice::from_ref(&path)).expect_err("is too long").to_string().contains("are allowed"));
    file.set_len(0).expect("it shrinks");
    assert!(read_all(&[path]).is_ok());
}
