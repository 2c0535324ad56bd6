//! Many jobs in one write: one answer each, in order.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn a_batch_answers_every_job_in_its_order() {
    let house = House::open().await;
    let body = r#"{"jobs":[{"type":"a"},{"type":"b","delay":"1h"},{"type":"a","queue":"q"}]}"#;
    let answer = house.post("/v1/jobs/batch", body).await.expect(202);
    assert_eq!(answer["accepted"], 3);
    let results = answer["results"].as_array().expect("a list");
    let statuses: Vec<_> = results.iter().map(|result| result["status"].clone()).collect();
    assert_eq!(statuses, ["PENDING", "SCHEDULED", "PENDING"]);
    let job = house.get(&format!("/v1/jobs/{}", results[1]["job_id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!((&job["type"], &job["queue"]), (&json!("b"), &json!("default")));
    let job = house.get(&format!("/v1/jobs/{}", results[2]["job_id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!((&job["type"], &job["queue"]), (&json!("a"), &json!("q")));
}

#[tokio::test]
async fn keys_and_full_queues_are_answered_job_by_job() {
    let house = House::open().await;
    house.call("PATCH", "/v1/queues/small", r#"{"max_depth":1}"#).await.expect(200);
    let first = house.submit(r#"{"type":"a","idempotency_key":"k"}"#).await;
    let body = concat!(
        r#"{"jobs":[{"type":"a","queue":"small"},{"type":"a","queue":"small"},{"type":"a","idempotency_key":"k"},"#,
        r#"{"type":"other","idempotency_key":"k"},{"type":"last"}]}"#,
    );
    let answer = house.post("/v1/jobs/batch", body).await.expect(202);
    let results = &answer["results"];
    assert_eq!(answer["accepted"], 3);
    assert_eq!(results[0]["status"], "PENDING");
    assert_eq!(
        results[1],
        json!({"problem": {
            "type": "/problems/queue-full", "title": "The queue is full", "status": 429,
            "detail": "the queue holds 1 unfinished jobs, which is its bound. Try again later, or raise its max_depth",
            "field": "jobs[1].queue", "limit": {"name": "max_depth", "max": 1}, "retry_after": 1,
        }})
    );
    assert_eq!((&results[2]["job_id"], &results[2]["duplicate"]), (&json!(first), &json!(true)));
    assert_eq!(results[3]["problem"]["type"], "/problems/idempotency-mismatch");
    assert_eq!(results[3]["problem"]["field"], "jobs[3].idempotency_key");
    assert_eq!(results[4]["status"], "PENDING");
}

#[tokio::test]
async fn a_full_queue_turns_a_single_job_away_for_a_while() {
    let house = House::open().await;
    house.call("PATCH", "/v1/queues/small", r#"{"max_depth":1}"#).await.expect(200);
    house.submit(r#"{"type":"a","queue":"small"}"#).await;
    let reply = house.post("/v1/jobs", r#"{"type":"a","queue":"small"}"#).await;
    let problem = reply.refused(429, Some("queue"), "the queue holds 1 unfinished jobs");
    assert_eq!((&problem["type"], &problem["retry_after"]), (&json!("/problems/queue-full"), &json!(1)));
    assert_eq!(reply.header("retry-after"), Some("1"));
}
