//! Jobs from submit to end, as a person sees and moves them.

use std::time::Duration;

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn a_job_is_taken_in_and_shown_whole() {
    let house = House::open().await;
    let reply = house
        .post("/v1/jobs", r#"{"type":"mail","data":{ "to" : [1] },"delay":"2h","tags":["t"],"timeout":"1m"}"#)
        .await;
    let submitted = reply.expect(202);
    let id = submitted["job_id"].as_str().expect("an id");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(
        submitted,
        json!({"job_id": id, "status": "SCHEDULED", "next_fire_time": "2026-12-01T11:00:00.000Z", "retry_count": 0})
    );
    let reply = house.get(&format!("/v1/jobs/{id}")).await;
    assert!(reply.text.contains(r#""data":{ "to" : [1] }"#), "data is kept as it was written: {}", reply.text);
    assert_eq!(
        reply.expect(200),
        json!({
            "job_id": id, "tenant": "default", "type": "mail", "queue": "default", "status": "SCHEDULED",
            "data": {"to": [1]}, "priority": 5, "tags": ["t"],
            "submitted_at": "2026-12-01T09:00:00.000Z", "run_at": "2026-12-01T11:00:00.000Z",
            "next_fire_time": "2026-12-01T11:00:00.000Z", "timeout": "1m",
            "retry": {"strategy": "exponential", "base": "5s", "cap": "1h", "factor": 2.0, "jitter": 0.1},
            "max_attempts": 3, "max_crashes": 5, "attempts": 0, "retry_count": 0, "failures": 0, "crashes": 0,
        })
    );
}

#[tokio::test]
async fn a_job_that_is_due_is_pending_at_once() {
    let house = House::open().await;
    let submitted = house.post("/v1/jobs", r#"{"type":"mail"}"#).await.expect(202);
    assert_eq!((&submitted["status"], submitted.get("next_fire_time")), (&json!("PENDING"), None));
}

#[tokio::test]
async fn every_retry_policy_is_shown_as_it_was_given() {
    let house = House::open().await;
    let check = async |given: &str, shown: serde_json::Value| {
        let job = house.submit(&format!(r#"{{"type":"a","retry":{given}}}"#)).await;
        assert_eq!(house.get(&format!("/v1/jobs/{job}")).await.expect(200)["retry"], shown, "{given}");
    };
    check(r#"{"strategy":"fixed","base":"2h"}"#, json!({"strategy": "fixed", "base": "2h", "jitter": 0.1})).await;
    check(
        r#"{"strategy":"linear","base":"2h","jitter":0}"#,
        json!({"strategy": "linear", "base": "2h", "cap": "2h", "jitter": 0.0}),
    )
    .await;
    check(
        r#"{"strategy":"list","delays":["1s",60],"cap":"30s"}"#,
        json!({"strategy": "list", "cap": "30s", "jitter": 0.1, "delays": ["1s", "1m"]}),
    )
    .await;
}

#[tokio::test]
async fn jobs_are_found_by_every_filter_page_by_page() {
    let house = House::open().await;
    for n in 0..5 {
        house.submit(&format!(r#"{{"type":"t{}","queue":"q{}","tags":["n{n}"]}}"#, n % 2, n % 3)).await;
    }
    house.submit(r#"{"type":"t0","delay":"1h"}"#).await;
    let count = async |query: &str| {
        let page = house.get(&format!("/v1/jobs?{query}")).await.expect(200);
        page["jobs"].as_array().expect("a list").len()
    };
    assert_eq!(count("").await, 6);
    assert_eq!(count("type=t0").await, 4);
    assert_eq!(count("queue=q0").await, 2);
    assert_eq!(count("tag=n3").await, 1);
    assert_eq!(count("status=SCHEDULED").await, 1);
    assert_eq!(count("status=scheduled,PENDING").await, 6);
    assert_eq!(count("status=RUNNING").await, 0);
    assert_eq!(count("type=t0&queue=q0").await, 1);

    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = house.get(&format!("/v1/jobs?limit=2{cursor}")).await.expect(200);
        seen.extend(
            page["jobs"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|job| job["job_id"].as_str().expect("an id").to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.is_sorted_by(|newer, older| newer > older), "newest first, each once: {seen:?}");
}

#[tokio::test]
async fn a_waiting_job_can_be_changed_paused_resumed_and_run() {
    let house = House::open().await;
    let id = house.submit(r#"{"type":"a","delay":"2h"}"#).await;
    let path = format!("/v1/jobs/{id}");

    let patch = r#"{"data":null,"priority":9,"run_at":"2026-12-03T00:00:00Z"}"#;
    let job = house.call("PATCH", &path, patch).await.expect(200);
    assert_eq!((&job["priority"], &job["next_fire_time"]), (&json!(9), &json!("2026-12-03T00:00:00.000Z")));
    let job = house.call("PATCH", &path, r#"{"delay":"1h"}"#).await.expect(200);
    assert_eq!(job["next_fire_time"], "2026-12-01T10:00:00.000Z");

    for _ in 0..2 {
        let job = house.post(&format!("{path}/pause"), "").await.expect(200);
        assert_eq!((&job["status"], &job["paused"]), (&json!("PAUSED"), &json!(true)));
    }
    for _ in 0..2 {
        assert_eq!(house.post(&format!("{path}/resume"), "").await.expect(200)["status"], "SCHEDULED");
    }
    assert_eq!(house.post(&format!("{path}/run"), "").await.expect(200)["status"], "PENDING");
}

#[tokio::test]
async fn a_job_is_cancelled_once_and_cancelling_again_is_no_error() {
    let house = House::open().await;
    let id = house.submit(r#"{"type":"a"}"#).await;
    let job = house.post(&format!("/v1/jobs/{id}/cancel"), r#"{"reason":"changed my mind"}"#).await.expect(200);
    assert_eq!((&job["status"], &job["cancel_reason"]), (&json!("CANCELLED"), &json!("changed my mind")));
    let job = house.call("DELETE", &format!("/v1/jobs/{id}"), "").await.expect(200);
    assert_eq!(job["cancel_reason"], "changed my mind", "the first reason stands");

    let conflict = "the job is CANCELLED: only a job that has not started can be";
    house.call("PATCH", &format!("/v1/jobs/{id}"), r#"{"priority":1}"#).await.refused(409, None, conflict);
    house.post(&format!("/v1/jobs/{id}/pause"), "").await.refused(409, None, conflict);
    house.post(&format!("/v1/jobs/{id}/resume"), "").await.refused(409, None, "the job is CANCELLED");
    house.post(&format!("/v1/jobs/{id}/run"), "").await.refused(409, None, "the job is CANCELLED");
    house.post(&format!("/v1/jobs/{id}/retry"), "").await.refused(409, None, "only a FAILED or RETRYING job");
}

#[tokio::test]
async fn a_retrying_job_runs_at_once_and_a_dead_one_starts_over() {
    let house = House::open().await;
    let worker = house.register().await;
    let id = house.submit(r#"{"type":"a","data":1,"max_attempts":2,"retry":{"strategy":"fixed","base":"1h"}}"#).await;
    let retry = format!("/v1/jobs/{id}/retry");
    let fail = async || {
        let (job, fence) = house.claim(&worker).await;
        let body = format!(r#"{{"fence":{fence},"error":{{"message":"boom","type":"IO"}}}}"#);
        house.post(&format!("/v1/jobs/{job}/fail"), &body).await.expect(200)
    };

    assert_eq!(fail().await["state"], "retrying");
    assert_eq!(house.status(&id).await, "RETRYING");
    let job = house.post(&retry, r#"{"data":2}"#).await.expect(200);
    assert_eq!((&job["status"], &job["data"]), (&json!("PENDING"), &json!(2)));

    assert_eq!(fail().await["state"], "failed");
    let job = house.get(&format!("/v1/jobs/{id}")).await.expect(200);
    assert_eq!(
        (&job["status"], &job["retry_count"], &job["error"]["type"]),
        (&json!("FAILED"), &json!(2), &json!("IO"))
    );
    let job = house.post(&retry, "").await.expect(200);
    assert_eq!((&job["status"], &job["data"], &job["failures"]), (&json!("PENDING"), &json!(2), &json!(0)));
    house.post(&retry, "").await.refused(409, None, "the job is PENDING: only a FAILED or RETRYING job can be retried");
}

#[tokio::test]
async fn a_job_explains_why_it_does_not_run() {
    let house = House::open().await;
    let codes = async |id: &str| {
        let reply = house.get(&format!("/v1/jobs/{id}/explain")).await.expect(200);
        let reasons = reply["reasons"].as_array().expect("a list").clone();
        reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_owned()).collect::<Vec<_>>()
    };
    let first = house.submit(r#"{"type":"a"}"#).await;
    let second = house.submit(r#"{"type":"a"}"#).await;
    let later = house.submit(r#"{"type":"a","delay":"2h"}"#).await;
    assert_eq!(codes(&second).await, ["no_worker", "behind"]);
    assert_eq!(codes(&later).await, ["waits_until"]);
    house.post(&format!("/v1/jobs/{later}/pause"), "").await.expect(200);
    assert_eq!(codes(&later).await, ["job_paused", "waits_until"], "what a person has to do comes first");
    let reply = house.get(&format!("/v1/jobs/{later}/explain")).await.expect(200);
    let text = reply["reasons"][0]["text"].as_str().expect("a sentence");
    let how = text.split("POST ").nth(1).expect("the call is named");
    house.post(how, "").await.expect(200);
    assert_eq!(codes(&later).await, ["waits_until"], "doing what it says helps");
    let worker = house.register().await;
    assert_eq!(codes(&first).await, ["next_up"]);
    house.post("/v1/queues/default/pause", "").await.expect(200);
    assert_eq!(codes(&first).await, ["queue_paused"]);
    house.post("/v1/queues/default/resume", "").await.expect(200);
    assert_eq!(house.claim(&worker).await.0, first);
    let reply = house.get(&format!("/v1/jobs/{first}/explain")).await.expect(200);
    assert_eq!((&reply["status"], &reply["reasons"][0]["code"]), (&json!("RUNNING"), &json!("held_by")));
    assert_eq!(reply["reasons"][0]["worker_id"], json!(worker));
    assert_eq!(reply["reasons"][0]["until"], "2026-12-01T09:00:30.000Z");
}

#[tokio::test]
async fn a_job_that_falls_due_is_delivered_to_a_claim() {
    let house = House::open().await;
    let worker = house.register().await;
    let id = house.submit(r#"{"type":"a","delay":"10s"}"#).await;
    house.advance(Duration::from_secs(10));
    assert_eq!(house.claim(&worker).await.0, id);
}
