//! Every field of what people ask of jobs, queues and dead letters, and every query parameter.

use crate::house::{House, NOBODY};

#[tokio::test]
async fn every_bad_value_of_a_change_is_named() {
    let house = House::open().await;
    let job = house.submit(r#"{"type":"a","delay":"1h"}"#).await;
    let check = async |method: &str, path: &str, body: &str, field: &str, words: &str| {
        house.call(method, path, body.to_owned()).await.refused(422, Some(field), words);
    };
    let path = format!("/v1/jobs/{job}");
    check("PATCH", &path, "{}", "data", "nothing to change").await;
    check("PATCH", &path, r#"{"priority":1001}"#, "priority", "is not from -1000 to 1000").await;
    check("PATCH", &path, r#"{"priority":"x"}"#, "priority", "expected a whole number").await;
    check("PATCH", &path, r#"{"run_at":"x"}"#, "run_at", "is not a time").await;
    check("PATCH", &path, r#"{"run_at":"9999-01-01T00:00:00Z"}"#, "run_at", "more than 100 years ahead").await;
    check("PATCH", &path, r#"{"delay":"x"}"#, "delay", "is not a duration").await;
    check("PATCH", &path, r#"{"delay":"1s","run_at":"2026-12-02T09:00:00Z"}"#, "delay", "both say when").await;
    check("PATCH", &path, r#"{"queue":"b"}"#, "queue", "allowed here: `data`, `priority`, `run_at`, `delay`").await;
    let data = format!(r#"{{"data":"{}"}}"#, "x".repeat(256 * 1024));
    check("PATCH", &path, &data, "data", "data_bytes_max is 262144").await;
    check("POST", &format!("{path}/retry"), &data, "data", "data_bytes_max is 262144").await;
    check("POST", &format!("{path}/retry"), r#"{"x":1}"#, "x", "unknown field `x`").await;
    for (method, path) in [("DELETE", path.clone()), ("POST", format!("{path}/cancel"))] {
        check(method, &path, r#"{"reason":7}"#, "reason", "expected a string").await;
        check(method, &path, r#"{"why":"x"}"#, "why", "unknown field `why`").await;
        let reason = format!(r#"{{"reason":"{}"}}"#, "x".repeat(1025));
        check(method, &path, &reason, "reason", "note_bytes_max is 1024").await;
    }
    check("PATCH", "/v1/queues/q", "{}", "age_factor", "nothing to change").await;
    check("PATCH", "/v1/queues/q", r#"{"age_factor":-1}"#, "age_factor", "-1 is neither 0").await;
    check("PATCH", "/v1/queues/q", r#"{"age_factor":1001}"#, "age_factor", "1001 is neither 0").await;
    check("PATCH", "/v1/queues/q", r#"{"age_factor":"x"}"#, "age_factor", "expected a number").await;
    check("PATCH", "/v1/queues/q", r#"{"max_depth":0}"#, "max_depth", "Pause it instead").await;
    check("PATCH", "/v1/queues/q", r#"{"max_depth":-1}"#, "max_depth", "not negative").await;
    check("PATCH", "/v1/queues/q", r#"{"paused":true}"#, "paused", "`age_factor` or `max_depth`").await;
    for path in ["/v1/dead/replay", "/v1/dead/purge"] {
        check("POST", path, "{}", "ids", "say which").await;
        check("POST", path, r#"{"ids":"x"}"#, "ids", "expected a list").await;
        check("POST", path, r#"{"ids":["x"]}"#, "ids[0]", "UUID").await;
        check("POST", path, r#"{"ids":[],"queue":"q"}"#, "ids", "name the jobs already").await;
        check("POST", path, r#"{"queue":""}"#, "queue", "must not be empty").await;
        check("POST", path, r#"{"type":"a b"}"#, "type", "must not contain ' '").await;
        check("POST", path, r#"{"tag":""}"#, "tag", "must not be empty").await;
        check("POST", path, r#"{"max":0}"#, "max", "0 is not from 1 to 10000").await;
        check("POST", path, r#"{"max":10001}"#, "max", "10001 is not from 1 to 10000").await;
        check("POST", path, r#"{"status":"FAILED"}"#, "status", "unknown field `status`").await;
    }
    assert_eq!(house.status(&job).await, "SCHEDULED", "nothing was changed");
}

#[tokio::test]
async fn every_bad_query_parameter_is_named() {
    let house = House::open().await;
    let check = async |path: &str, field: &str, words: &str| {
        house.get(path).await.refused(400, Some(field), words);
    };
    for path in ["/v1/jobs", "/v1/dead"] {
        check(&format!("{path}?queue="), "queue", "must not be empty").await;
        check(&format!("{path}?queue=a%20b"), "queue", "must not contain ' '").await;
        check(&format!("{path}?type=%00"), "type", "must not contain").await;
        check(&format!("{path}?tag="), "tag", "must not be empty").await;
        check(&format!("{path}?limit=0"), "limit", "is not a number from 1 to 1000").await;
        check(&format!("{path}?limit=1001"), "limit", "is not a number from 1 to 1000").await;
        check(&format!("{path}?limit=many"), "limit", "\"many\" is not a number").await;
        check(&format!("{path}?cursor=x"), "cursor", "is not a cursor").await;
        check(&format!("{path}?limit=1&limit=2"), "limit", "given twice").await;
        check(&format!("{path}?page=2"), "page", "allowed here:").await;
    }
    check("/v1/jobs?status=DONE", "status", "\"DONE\" is not a status: expected one of BLOCKED").await;
    check("/v1/jobs?status=PENDING,", "status", "\"\" is not a status").await;
    check("/v1/dead?status=FAILED", "status", "is not known").await;
    check("/v1/events?queue=", "queue", "must not be empty").await;
    check("/v1/events?kind=born", "kind", "is not a kind of event").await;
    check("/v1/events?job=1", "job", "allowed here: queue, kind").await;
    check(&format!("/v1/jobs/{NOBODY}?full=1"), "full", "takes none").await;
    check("/v1/workers?x=1", "x", "takes none").await;
    check("/v1/queues?x=1", "x", "takes none").await;
}
