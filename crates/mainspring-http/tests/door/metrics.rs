//! `/metrics`: what the engine counts and how deep the queues are.

use crate::house::House;

#[tokio::test]
async fn every_named_series_is_there_after_one_life() {
    assert!(mainspring_http::metrics::install(), "no other recorder is in this process");
    assert!(mainspring_http::metrics::install(), "again changes nothing");
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let (job, fence) = house.claim(&worker).await;
    let waits = house.submit(r#"{"type":"a"}"#).await;
    house.post(&format!("/v1/jobs/{job}/complete"), &format!(r#"{{"fence":{fence}}}"#)).await.expect(200);
    house.post(&format!("/v1/jobs/{job}/complete"), &format!(r#"{{"fence":{fence}}}"#)).await.refused(
        409,
        Some("fence"),
        "",
    );
    house.advance(std::time::Duration::from_millis(2500));

    let reply = house.get("/metrics").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        r#"mainspring_queue_depth{tenant="default",queue="default",status="PENDING"} 1"#,
        r#"mainspring_queue_depth{tenant="default",queue="default",status="COMPLETED"} 1"#,
        r#"mainspring_queue_oldest_pending_seconds{tenant="default",queue="default"} 2.5"#,
    ] {
        assert!(reply.text.lines().any(|shown| shown == line), "{line} is not in\n{}", reply.text);
    }
    for series in [
        "mainspring_submitted_total{queue=\"default\"}",
        "mainspring_claimed_total{queue=\"default\"}",
        "mainspring_settled_total{",
        "mainspring_stale_total",
        "mainspring_claim_latency_seconds_bucket{",
        "mainspring_store_call_seconds_bucket{",
        "mainspring_gather_jobs_bucket{",
        "mainspring_seats_held",
        "mainspring_leader 1",
        "mainspring_failovers_total 0",
        "mainspring_deposed_total 0",
    ] {
        assert!(reply.text.lines().any(|line| line.starts_with(series)), "{series} is not in\n{}", reply.text);
    }
    assert_eq!(house.status(&waits).await, "PENDING");
}
