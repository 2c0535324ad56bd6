//! Random bodies, on every call that takes one: never a 5xx, never a panic, always a whole problem.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::house::{House, NOBODY};

/// Every call that takes a body, with one that is good.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "POST",
        "/v1/jobs",
        r#"{"type":"a","queue":"q","data":{"x":[1,"é"]},"priority":5,"run_at":"2026-12-01T09:00:00Z","jitter":"5s","deadline":1796115600,"expires_in":"1d","retry":{"strategy":"exponential","base":"5s","cap":"1h","factor":2.0,"jitter":0.1},"max_attempts":3,"max_crashes":5,"timeout":"1m","idempotency_key":"k","idempotency_retention":"1d","tags":["a"]}"#,
    ),
    (
        "POST",
        "/v1/jobs/batch",
        r#"{"jobs":[{"type":"a"},{"type":"b","delay":"90s","retry":{"strategy":"list","delays":["1s",2]}}]}"#,
    ),
    ("POST", "/v1/claims", r#"{"worker_id":"NOBODY","queues":["a","b"],"max":10,"tenants":"all"}"#),
    (
        "POST",
        "/v1/settlements",
        r#"{"settlements":[{"job_id":"NOBODY","fence":1,"outcome":"failure","error":{"message":"m","type":"t","detail":"d"},"retry_after":"1s"}]}"#,
    ),
    (
        "POST",
        "/v1/workers",
        r#"{"name":"w","queues":["a"],"concurrency":10,"host":"h","pid":7,"lease":"30s","version":"1"}"#,
    ),
    ("POST", "/v1/workers/NOBODY/heartbeat", r#"{"held":1,"holding":[{"job_id":"NOBODY","fence":1}]}"#),
    ("POST", "/v1/workers/NOBODY/order", r#"{"order":"quiet"}"#),
    ("PATCH", "/v1/jobs/JOB", r#"{"data":{"x":1},"priority":1,"delay":"5m"}"#),
    ("DELETE", "/v1/jobs/NOBODY", r#"{"reason":"x"}"#),
    ("POST", "/v1/jobs/NOBODY/cancel", r#"{"reason":"x"}"#),
    ("POST", "/v1/jobs/JOB/pause", "{}"),
    ("POST", "/v1/jobs/JOB/resume", "{}"),
    ("POST", "/v1/jobs/JOB/run", "{}"),
    ("POST", "/v1/jobs/JOB/retry", r#"{"data":[1]}"#),
    ("POST", "/v1/jobs/JOB/start", r#"{"fence":1}"#),
    ("POST", "/v1/jobs/JOB/checkpoint", r#"{"fence":1,"data":{"row":9},"progress":{"percent":50,"note":"n"}}"#),
    ("POST", "/v1/jobs/JOB/complete", r#"{"fence":1,"result":{"n":1}}"#),
    ("POST", "/v1/jobs/JOB/fail", r#"{"fence":1,"error":{"message":"m"},"retry_after":"2s","never_retry":false}"#),
    ("PATCH", "/v1/queues/q", r#"{"age_factor":0.5,"max_depth":100000}"#),
    (
        "PUT",
        "/v1/limits/tenant",
        r#"{"concurrency":1000000,"rate":{"permits":100,"per":"1m","burst":1000000},"breaker":{"failure_ratio":0.5,"window":"1m","min_attempts":20,"cooldown":"30s","probes":1,"closes_after":3},"weight":2}"#,
    ),
    ("POST", "/v1/limits/tenant/reopen", "{}"),
    ("POST", "/v1/queues/q/pause", "{}"),
    ("POST", "/v1/queues/q/resume", "{}"),
    (
        "POST",
        "/v1/schedules",
        r#"{"when":[{"cron":"H/5 3 * * MON#1"},{"every":{"every":"90s","anchor":0}},{"daily":["09:00","17:30"]},{"weekly":{"days":["MON-FRI"],"at":"09:00"}},{"monthly":{"days":[1,-1],"at":"00:00"}},{"rrule":"FREQ=WEEKLY;BYDAY=MO"}],"timezone":"Europe/Berlin","dst_gap":"skip","dst_overlap":"both","exclude":["2026-12-25",{"from":"2026-12-24","through":"2027-01-01"},{"weekdays":["SAT"]},{"times":{"from":"22:00","to":"06:00"}},{"cron":"* * 1 * *"},{"rrule":"FREQ=YEARLY"}],"start_at":"2026-12-01T09:00:00Z","end_at":1900000000,"max_runs":10,"jitter":"30s","catchup":{"mode":"all","window":"1d","max":100},"overlap":"skip","pause_on_failure":true,"note":"n","job":{"type":"a","data":{"x":1},"deadline":"1h","expires_in":"2h","weight":2}}"#,
    ),
    (
        "PUT",
        "/v1/schedules/random",
        r#"{"schedule_id":"random","cron":"0 3 L * *","timezone":"Asia/Tokyo","job":{"type":"a"}}"#,
    ),
    ("PATCH", "/v1/schedules/random", r#"{"cron":"*/5 3 * * *","note":null,"job":{"data":{"x":[1]}}}"#),
    (
        "POST",
        "/v1/schedules/preview?count=20",
        r#"{"rrule":"FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17","timezone":"America/New_York","job":{"type":"a"}}"#,
    ),
    ("POST", "/v1/schedules/random/pause", r#"{"note":"n","for":"1h"}"#),
    ("POST", "/v1/schedules/random/resume", "{}"),
    ("POST", "/v1/schedules/random/trigger", "{}"),
    (
        "POST",
        "/v1/schedules/random/backfill",
        r#"{"from":"2026-11-30T09:00:00Z","to":1796115600,"max":5,"dry_run":true}"#,
    ),
    (
        "POST",
        "/v1/workflows",
        r#"{"jobs":[{"name":"a","type":"t","data":{"x":1},"depends_on":[{"job_id":"JOB","on_failure":"hold"}]},{"name":"b","type":"t","after":["a",{"job":"c","on_failure":"run"}]},{"name":"c","type":"t","delay":"1h"}],"callback":{"type":"u"},"idempotency_key":"w"}"#,
    ),
    ("POST", "/v1/workflows/NOBODY/cancel", r#"{"reason":"x"}"#),
    ("POST", "/v1/clock/advance", r#"{"by":"10ms"}"#),
    ("POST", "/v1/dead/replay", r#"{"queue":"q","type":"a","tag":"t","max":5}"#),
    ("POST", "/v1/dead/purge", r#"{"ids":["NOBODY"]}"#),
];

/// Values that are often forgotten, put in place of a good one.
const ODD: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1e308",
    "-0.0",
    "18446744073709551616",
    "0.1e-9",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "[]",
    "{}",
    "[[[[]]]]",
    "{\"a\":{\"b\":null}}",
    "\"2026-12-01T09:00:00Z\"",
    "\"PT99999999999999H\"",
    "253402207201",
    "\"é\"",
];

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(ODD).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        ".{0,12}".prop_map(|text| serde_json::to_string(&text).expect("a text prints")),
    ];
    let name = prop_oneof![
        Just("type"),
        Just("queue"),
        Just("data"),
        Just("jobs"),
        Just("fence"),
        Just("retry"),
        Just("worker_id"),
        Just("settlements"),
        Just("ids"),
        Just("error"),
        Just("holding"),
        Just("cron"),
        Just("when"),
        Just("exclude"),
        Just("job"),
        Just("after"),
        Just("x"),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// A good body with one value replaced, or some bytes changed, cut or doubled.
fn mutated(good: String) -> impl Strategy<Value = Vec<u8>> {
    let values = good.match_indices([':', '[']).map(|(at, _)| at + 1).collect::<Vec<_>>();
    let values = if values.is_empty() { vec![0] } else { values };
    let (bytes, length) = (good.clone().into_bytes(), good.len());
    let replaced = (prop::sample::select(values), prop::sample::select(ODD)).prop_map(move |(at, odd)| {
        let end = good[at..].find([',', '}', ']']).map_or(good.len(), |end| at + end);
        [&good.as_bytes()[..at], odd.as_bytes(), &good.as_bytes()[end..]].concat()
    });
    let scrambled = (prop::collection::vec((0..length, any::<u8>()), 1..4), 0..length, 0..4u8).prop_map(
        move |(changes, at, how)| {
            let mut bytes = bytes.clone();
            changes.into_iter().for_each(|(place, byte)| bytes[place] = byte);
            match how {
                0 => bytes.truncate(at),
                1 => bytes.extend_from_within(at..),
                _ => {}
            }
            bytes
        },
    );
    prop_oneof![3 => replaced, 1 => scrambled]
}

fn bodies(good: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..64),
        2 => json().prop_map(String::into_bytes),
        5 => mutated(good.to_owned()),
    ]
}

#[test]
fn no_body_makes_the_server_fail() {
    const BODIES_PER_CALL: u32 = 1_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let house = runtime.block_on(House::open());
    let job = runtime.block_on(house.submit(r#"{"type":"a","delay":"1h"}"#));
    let named = |text: &str| text.replace("NOBODY", NOBODY).replace("JOB", &job);
    for (method, path, good) in CALLS {
        let (path, good) = (named(path), named(good));
        let reply = runtime.block_on(house.call(method, &path, good.clone()));
        assert!(reply.status != 400 && reply.status != 422, "the good body is good: {}", reply.text);
        let config = Config { cases: BODIES_PER_CALL, failure_persistence: None, ..Config::default() };
        let checked = TestRunner::new(config).run(&bodies(&good), |body| {
            let reply = runtime.block_on(house.call(method, &path, body));
            prop_assert!(reply.status < 500, "{}: {}", reply.status, reply.text);
            Ok(())
        });
        checked.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    }
}

#[test]
fn no_path_or_query_makes_the_server_fail() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let house = runtime.block_on(House::open());
    let paths = [
        "/v1/jobs/",
        "/v1/workers/",
        "/v1/queues/",
        "/v1/limits/",
        "/v1/limits/key:",
        "/v1/jobs?",
        "/v1/jobs?status=",
        "/v1/dead?limit=",
        "/v1/jobs?cursor=",
        "/v1/schedules/",
        "/v1/schedules?cursor=",
        "/v1/schedules/random/ledger?cursor=",
        "/v1/schedules/random/preview?after=",
        "/v1/workflows/",
        "/v1/forecast?jitter=",
        "/",
    ];
    let asked = (prop::sample::select(paths.to_vec()), "[a-zA-Z0-9%&=+_,./-]{0,40}");
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(&asked, |(path, rest)| {
        let uri = format!("{path}{rest}");
        prop_assume!(uri.parse::<http::Uri>().is_ok());
        let reply = runtime.block_on(house.get(&uri));
        prop_assert!(reply.status < 500, "{}: {}", reply.status, reply.text);
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}
