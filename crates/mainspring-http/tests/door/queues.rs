//! Queues: counts, settings, pause and resume.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn a_queue_shows_its_counts_and_settings() {
    let house = House::open().await;
    house.submit(r#"{"type":"a","queue":"mail/eu"}"#).await;
    house.submit(r#"{"type":"a","queue":"mail/eu","delay":"1h"}"#).await;
    let paused = house.submit(r#"{"type":"a","queue":"mail/eu"}"#).await;
    house.post(&format!("/v1/jobs/{paused}/pause"), "").await.expect(200);
    let shown = json!({
        "name": "mail/eu", "tenant": "default", "paused": false, "age_factor": 0.1, "blocked": 0, "scheduled": 1,
        "pending": 1, "paused_jobs": 1, "running": 0, "completed": 0, "failed": 0, "cancelled": 0,
        "oldest_pending_at": "2026-12-01T09:00:00.000Z",
    });
    assert_eq!(house.get("/v1/queues").await.expect(200), json!({"queues": [shown]}));
    assert_eq!(house.get("/v1/queues/mail%2Feu").await.expect(200), shown, "a slash is part of the name");
}

#[tokio::test]
async fn the_settings_of_a_queue_can_be_changed_and_taken_back() {
    let house = House::open().await;
    let patch = async |body: &str| house.call("PATCH", "/v1/queues/q", body.to_owned()).await.expect(200);
    let queue = patch(r#"{"age_factor":0,"max_depth":5}"#).await;
    assert_eq!((&queue["age_factor"], &queue["max_depth"]), (&json!(0.0), &json!(5)));
    let queue = patch(r#"{"max_depth":null}"#).await;
    assert_eq!((&queue["age_factor"], queue.get("max_depth")), (&json!(0.0), None));
    assert_eq!(patch(r#"{"age_factor":2.5}"#).await["age_factor"], 2.5);
}

#[tokio::test]
async fn nothing_is_claimed_from_a_paused_queue() {
    let house = House::open().await;
    let worker = house.register().await;
    let id = house.submit(r#"{"type":"a"}"#).await;
    assert_eq!(house.post("/v1/queues/default/pause", "").await.expect(200)["paused"], true);
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"]}}"#);
    assert_eq!(house.post("/v1/claims", &claim).await.expect(200), json!({"jobs": []}));
    assert_eq!(house.post("/v1/queues/default/resume", "").await.expect(200)["paused"], false);
    assert_eq!(house.claim(&worker).await.0, id);
}
