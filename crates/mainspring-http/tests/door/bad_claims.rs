//! Every field of what workers say: the bad values, and what each is answered.

use crate::house::{House, NOBODY};

async fn check(house: &House, path: &str, body: &str, status: u16, field: &str, words: &str) {
    let body = body.replace("NOBODY", NOBODY);
    house.post(&path.replace("NOBODY", NOBODY), &body).await.refused(status, Some(field), words);
}

#[tokio::test]
async fn every_bad_value_of_a_claim_is_named() {
    let house = House::open().await;
    let check = async |body: &str, field: &str, words: &str| check(&house, "/v1/claims", body, 422, field, words).await;
    check(r#"{"queues":["a"]}"#, "worker_id", "must be given").await;
    check(r#"{"worker_id":"me","queues":["a"]}"#, "worker_id", "UUID").await;
    check(r#"{"worker_id":7,"queues":["a"]}"#, "worker_id", "expected").await;
    check(r#"{"worker_id":"NOBODY"}"#, "queues", "must be given").await;
    check(r#"{"worker_id":"NOBODY","queues":[]}"#, "queues", "name at least one queue").await;
    check(r#"{"worker_id":"NOBODY","queues":"a"}"#, "queues", "expected a list").await;
    check(r#"{"worker_id":"NOBODY","queues":["a",""]}"#, "queues[1]", "must not be empty").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"max":0}"#, "max", "0 is not from 1 to 1000").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"max":1001}"#, "max", "1001 is not from 1 to 1000").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"max":-1}"#, "max", "not negative").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"wait":"long"}"#, "wait", "is not a duration").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"timeout":1}"#, "timeout", "unknown field `timeout`").await;
    check(r#"{"worker_id":"NOBODY","queues":["a"],"tenants":"acme"}"#, "tenants", "`own` or `all`").await;
    let queues = vec!["\"q\""; 65].join(",");
    let body = format!(r#"{{"worker_id":"{NOBODY}","queues":[{queues}]}}"#);
    let problem = house.post("/v1/claims", &body).await.refused(413, Some("queues"), "claim_queues_max is 64");
    assert_eq!(problem["type"], "/problems/too-many");
}

#[tokio::test]
async fn every_bad_value_of_a_settlement_is_named() {
    let house = House::open().await;
    let check = async |members: &str, field: &str, words: &str| {
        let good = format!(r#"{{"job_id":"{NOBODY}","fence":1,"outcome":"success"}}"#);
        let body = format!(r#"{{"settlements":[{good},{{{members}}}]}}"#);
        check(&house, "/v1/settlements", &body, 422, &format!("settlements[1].{field}"), words).await;
    };
    check(r#""fence":1,"outcome":"success""#, "job_id", "must be given").await;
    check(r#""job_id":"x","fence":1,"outcome":"success""#, "job_id", "UUID").await;
    check(r#""job_id":"NOBODY","outcome":"success""#, "fence", "must be given").await;
    check(r#""job_id":"NOBODY","fence":-1,"outcome":"success""#, "fence", "not negative").await;
    check(r#""job_id":"NOBODY","fence":1"#, "outcome", "must be given").await;
    check(
        r#""job_id":"NOBODY","fence":1,"outcome":"done""#,
        "outcome",
        "`success`, `failure`, `snooze`, `rate_limited`, `release`",
    )
    .await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"failure""#, "error", "must be given with outcome `failure`").await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"failure","error":"boom""#, "error", "expected an object").await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"failure","error":{}"#, "error.message", "must be given").await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"snooze""#, "snooze_for", "must be given with outcome `snooze`")
        .await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"snooze","snooze_for":-1"#, "snooze_for", "is negative").await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"success","snooze_for":"1s""#, "snooze_for", "only with `snooze`")
        .await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"release","result":1"#, "result", "only with `success`").await;
    check(r#""job_id":"NOBODY","fence":1,"outcome":"success","error":{"message":"m"}"#, "error", "only with `failure`")
        .await;
    check(
        r#""job_id":"NOBODY","fence":1,"outcome":"success","never_retry":true"#,
        "never_retry",
        "only with `failure`",
    )
    .await;
    check(
        r#""job_id":"NOBODY","fence":1,"outcome":"snooze","snooze_for":1,"retry_after":1"#,
        "retry_after",
        "only with",
    )
    .await;
    check(
        r#""job_id":"NOBODY","fence":1,"outcome":"failure","error":{"message":"m"},"retry_after":1,"never_retry":true"#,
        "retry_after",
        "contradict each other",
    )
    .await;
    let result = format!(r#""job_id":"NOBODY","fence":1,"outcome":"success","result":"{}""#, "x".repeat(64 * 1024));
    check(&result, "result", "result_bytes_max is 65536").await;
    house.post("/v1/settlements", r#"{"settlements":[],"x":1}"#).await.refused(422, Some("x"), "unknown field `x`");
    house.post("/v1/settlements", "{}").await.refused(422, Some("settlements"), "must be given");
}

#[tokio::test]
async fn every_bad_value_of_a_registration_and_a_heartbeat_is_named() {
    let house = House::open().await;
    let check =
        async |path: &str, body: &str, field: &str, words: &str| check(&house, path, body, 422, field, words).await;
    let long = "x".repeat(256);
    for field in ["name", "host", "version"] {
        check("/v1/workers", &format!(r#"{{"{field}":"{long}"}}"#), field, "worker_text_bytes_max is 255").await;
        check("/v1/workers", &format!(r#"{{"{field}":1}}"#), field, "expected a string").await;
    }
    check("/v1/workers", r#"{"queues":["a b"]}"#, "queues[0]", "must not contain ' '").await;
    check("/v1/workers", r#"{"queues":7}"#, "queues", "expected a list").await;
    check("/v1/workers", r#"{"concurrency":0}"#, "concurrency", "0 is not from 1 to").await;
    check("/v1/workers", r#"{"concurrency":100001}"#, "concurrency", "is not from 1 to 100000").await;
    check("/v1/workers", r#"{"pid":-1}"#, "pid", "not negative").await;
    check("/v1/workers", r#"{"lease":"999ms"}"#, "lease", "999ms is not from 1s to 1h").await;
    check("/v1/workers", r#"{"lease":"61m"}"#, "lease", "1h1m is not from 1s to 1h").await;
    check("/v1/workers", r#"{"hostname":"h"}"#, "hostname", "allowed here: `name`, `queues`").await;
    let heartbeat = "/v1/workers/NOBODY/heartbeat";
    check(heartbeat, r#"{"held":-1}"#, "held", "not negative").await;
    check(heartbeat, r#"{"holding":{}}"#, "holding", "expected a list").await;
    check(heartbeat, r#"{"holding":[{"fence":1}]}"#, "holding[0].job_id", "must be given").await;
    check(heartbeat, r#"{"holding":[{"job_id":"NOBODY","fence":"x"}]}"#, "holding[0].fence", "not negative").await;
    check(heartbeat, r#"{"jobs":[]}"#, "jobs", "unknown field `jobs`").await;
    check("/v1/workers/NOBODY/order", r#"{"order":"halt"}"#, "order", "`work`, `quiet`, `terminate`").await;
    check("/v1/workers/NOBODY/order", "{}", "order", "must be given").await;
    let holding = vec![format!(r#"{{"job_id":"{NOBODY}","fence":1}}"#); 10_001].join(",");
    let body = format!(r#"{{"holding":[{holding}]}}"#);
    let path = heartbeat.replace("NOBODY", NOBODY);
    house.post(&path, &body).await.refused(413, Some("holding"), "batch_jobs_max is 10000");
}

#[tokio::test]
async fn every_bad_value_of_the_single_job_calls_is_named() {
    let house = House::open().await;
    let check = async |verb: &str, body: &str, field: &str, words: &str| {
        check(&house, &format!("/v1/jobs/NOBODY/{verb}"), body, 422, field, words).await;
    };
    check("start", "{}", "fence", "must be given").await;
    check("start", r#"{"fence":"1"}"#, "fence", "not negative").await;
    check("start", r#"{"fence":1,"x":1}"#, "x", "unknown field `x`").await;
    check("checkpoint", r#"{"fence":1}"#, "data", "nothing to save").await;
    check("checkpoint", r#"{"fence":1,"progress":{"percent":101}}"#, "progress.percent", "101 is not from 0 to 100")
        .await;
    check("checkpoint", r#"{"fence":1,"progress":{"percent":-1}}"#, "progress.percent", "-1 is not from 0 to 100")
        .await;
    check("checkpoint", r#"{"fence":1,"progress":{"pct":1}}"#, "progress.pct", "`percent` or `note`").await;
    let note = format!(r#"{{"fence":1,"progress":{{"note":"{}"}}}}"#, "x".repeat(1025));
    check("checkpoint", &note, "progress.note", "note_bytes_max is 1024").await;
    let data = format!(r#"{{"fence":1,"data":"{}"}}"#, "x".repeat(64 * 1024));
    check("checkpoint", &data, "data", "checkpoint_bytes_max is 65536").await;
    check("complete", r#"{"result":1}"#, "fence", "must be given").await;
    let result = format!(r#"{{"fence":1,"result":"{}"}}"#, "x".repeat(64 * 1024));
    check("complete", &result, "result", "result_bytes_max is 65536").await;
    check("fail", r#"{"fence":1}"#, "error", "must be given").await;
    check("fail", r#"{"fence":1,"error":{"message":7}}"#, "error.message", "expected a string").await;
    check("fail", r#"{"fence":1,"error":{"message":"m","code":1}}"#, "error.code", "`message`, `type`, `detail`").await;
    check("fail", r#"{"fence":1,"error":{"message":"m"},"retry_after":"x"}"#, "retry_after", "is not a duration").await;
    check("fail", r#"{"fence":1,"error":{"message":"m"},"never_retry":1}"#, "never_retry", "true or false").await;
    let both = r#"{"fence":1,"error":{"message":"m"},"retry_after":"1s","never_retry":true}"#;
    check("fail", both, "retry_after", "contradict each other").await;
}
