//! The same key and the same words are the same job.

use axum::body::Body;
use http::Request;
use serde_json::json;

use crate::house::{House, Reply};

async fn submit_with(house: &House, path: &str, key: &[u8], body: &str) -> Reply {
    let request = Request::builder().method("POST").uri(path).header("Idempotency-Key", key);
    house.send(request.body(Body::from(body.to_owned())).expect("a request")).await
}

#[tokio::test]
async fn the_same_key_and_body_answers_the_same_job() {
    let house = House::open().await;
    let body = r#"{"type":"a","data":{"x":1},"delay":"90s"}"#;
    let first = submit_with(&house, "/v1/jobs", b"order-7", body).await.expect(202);
    assert_eq!(first.get("duplicate"), None);
    for again in [
        body,
        r#"{ "delay": 90, "type": "a", "data": { "x": 1 } }"#,
        r#"{"type":"a","data":{"x":1},"delay":"90s","idempotency_key":"order-7"}"#,
    ] {
        let answer = submit_with(&house, "/v1/jobs", b"order-7", again).await.expect(202);
        let expected = json!({
            "job_id": first["job_id"], "status": "SCHEDULED", "next_fire_time": "2026-12-01T09:01:30.000Z",
            "retry_count": 0, "duplicate": true,
        });
        assert_eq!(answer, expected);
    }
    assert_eq!(house.get("/v1/jobs").await.expect(200)["jobs"].as_array().expect("a list").len(), 1);
    let view = house.get(&format!("/v1/jobs/{}", first["job_id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(view["idempotency_key"], "order-7");
}

#[tokio::test]
async fn the_same_key_and_another_body_is_refused() {
    let house = House::open().await;
    let first = house.submit(r#"{"type":"a","data":1,"idempotency_key":"k"}"#).await;
    let reply = house.post("/v1/jobs", r#"{"type":"a","data":2,"idempotency_key":"k"}"#).await;
    let problem = reply.refused(422, Some("idempotency_key"), &format!("made job {first} from another body"));
    assert_eq!(problem["type"], "/problems/idempotency-mismatch");
}

#[tokio::test]
async fn a_key_seen_again_shows_the_job_as_it_is_now() {
    let house = House::open().await;
    let body = r#"{"type":"a","idempotency_key":"k"}"#;
    let first = house.submit(body).await;
    house.post(&format!("/v1/jobs/{first}/cancel"), "").await.expect(200);
    assert_eq!(house.post("/v1/jobs", body).await.expect(202)["status"], "CANCELLED");
}

#[tokio::test]
async fn keys_that_contradict_or_cannot_be_are_refused() {
    let house = House::open().await;
    let reply = submit_with(&house, "/v1/jobs", b"one", r#"{"type":"a","idempotency_key":"two"}"#).await;
    reply.refused(422, Some("idempotency_key"), "is not the key in the Idempotency-Key header");
    submit_with(&house, "/v1/jobs", b"", r#"{"type":"a"}"#).await.refused(
        422,
        Some("idempotency_key"),
        "must not be empty",
    );
    let reply = submit_with(&house, "/v1/jobs", b"\xe9", r#"{"type":"a"}"#).await;
    reply.refused(422, Some("Idempotency-Key"), "is not plain text");
    let reply = submit_with(&house, "/v1/jobs/batch", b"one", r#"{"jobs":[{"type":"a"}]}"#).await;
    reply.refused(422, Some("Idempotency-Key"), "give each job its own idempotency_key");
}
