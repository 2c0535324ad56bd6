//! Settling with the claim of what comes next, in one request.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use crate::house::{House, NOBODY, Reply};

/// Claims up to ten jobs of the default queue with these settlements.
async fn turn(house: &House, worker: &str, settlements: &[String], rest: &str) -> Reply {
    let settlements = settlements.join(",");
    let body =
        format!(r#"{{"worker_id":"{worker}","queues":["default"],"max":10,"settlements":[{settlements}]{rest}}}"#);
    house.post("/v1/claims", &body).await
}

fn settlement((job, fence): &(String, u64), words: &str) -> String {
    format!(r#"{{"job_id":"{job}","fence":{fence},{words}}}"#)
}

fn success(held: &(String, u64)) -> String {
    settlement(held, r#""outcome":"success""#)
}

/// A job that the worker holds.
async fn held(house: &House, worker: &str) -> (String, u64) {
    house.submit(r#"{"type":"a"}"#).await;
    house.claim(worker).await
}

fn ids(jobs: &Value) -> Vec<&str> {
    jobs.as_array().expect("a list").iter().map(|job| job["job_id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn what_is_finished_is_settled_in_order_and_the_next_job_comes_with_it() {
    let house = House::open().await;
    let worker = house.register().await;
    let (first, second) = (held(&house, &worker).await, held(&house, &worker).await);
    let next = house.submit(r#"{"type":"next"}"#).await;
    let nobody = (NOBODY.to_owned(), 1);
    let snooze = settlement(&second, r#""outcome":"snooze","snooze_for":"1m""#);
    let answer = turn(&house, &worker, &[snooze, success(&nobody), success(&first), success(&first)], "").await;
    let answer = answer.expect(200);
    assert_eq!(
        answer["settled"],
        json!([
            {"job_id": second.0, "state": "snoozed", "next_fire_time": "2026-12-01T09:01:00.000Z"},
            {"job_id": NOBODY, "state": "stale"},
            {"job_id": first.0, "state": "completed"},
            {"job_id": first.0, "state": "stale"},
        ])
    );
    assert_eq!((ids(&answer["jobs"]), answer.get("problem")), (vec![next.as_str()], None));
    assert_eq!(house.status(&first.0).await, "COMPLETED");
}

#[tokio::test]
async fn a_job_that_is_ready_again_at_once_can_come_back_in_the_same_answer() {
    let house = House::open().await;
    let worker = house.register().await;
    let (released, failed) = (held(&house, &worker).await, held(&house, &worker).await);
    let failure = settlement(&failed, r#""outcome":"failure","error":{"message":"boom"},"retry_after":"0s""#);
    let release = settlement(&released, r#""outcome":"release""#);
    let answer = turn(&house, &worker, &[failure, release], "").await.expect(200);
    let mut back = ids(&answer["jobs"]);
    back.sort_unstable();
    assert_eq!(back, [released.0.as_str(), failed.0.as_str()], "{answer}");
    let fences = answer["jobs"].as_array().expect("a list").iter().map(|job| job["fence"].as_u64().expect("a fence"));
    assert!(fences.min() > Some(failed.1), "each is a new hold: {answer}");
}

#[tokio::test(start_paused = true)]
async fn a_claim_with_settlements_does_not_wait() {
    let house = House::open().await;
    let worker = house.register().await;
    let turn = async |rest: &str| {
        let job = held(&house, &worker).await;
        if !rest.is_empty() {
            house.post(&format!("/v1/workers/{worker}/order"), rest).await.expect(200);
        }
        let settlements = [success(&job)];
        let turn = turn(&house, &worker, &settlements, r#","wait":"60s""#);
        let answer = tokio::time::timeout(Duration::from_secs(1), turn).await.expect("answers at once").expect(200);
        assert_eq!(answer, json!({"jobs": [], "settled": [{"job_id": job.0, "state": "completed"}]}));
    };
    turn("").await;
    turn(r#"{"order":"quiet"}"#).await;
}

#[tokio::test]
async fn a_claim_without_settlements_is_answered_as_ever() {
    let house = House::open().await;
    let worker = house.register().await;
    assert_eq!(turn(&house, &worker, &[], "").await.text, r#"{"jobs":[]}"#);
    house.submit(r#"{"type":"a"}"#).await;
    let answer = turn(&house, &worker, &[], "").await.expect(200);
    assert_eq!((ids(&answer["jobs"]).len(), answer.get("settled")), (1, None));
    turn(&house, NOBODY, &[], "").await.refused(404, Some("worker_id"), "Register again");
}

#[tokio::test]
async fn a_worker_that_is_not_known_any_more_has_its_settlements_taken_and_is_told_to_register() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = held(&house, &worker).await;
    let answer = turn(&house, NOBODY, &[success(&job)], "").await.expect(200);
    assert_eq!((&answer["jobs"], &answer["settled"][0]["state"]), (&json!([]), &json!("completed")));
    let problem = &answer["problem"];
    assert_eq!(
        (&problem["type"], &problem["status"], &problem["field"]),
        (&json!("/problems/unknown-worker"), &json!(404), &json!("worker_id"))
    );
    assert_eq!(house.status(&job.0).await, "COMPLETED");
}

#[tokio::test]
async fn every_bad_value_is_named_and_nothing_is_done() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = held(&house, &worker).await;
    house.submit(r#"{"type":"next"}"#).await;
    let check = async |words: &str, rest: &str, field: &str, says: &str| {
        let settlements = [success(&job), format!(r#"{{"job_id":"{NOBODY}",{words}}}"#)];
        turn(&house, &worker, &settlements, rest).await.refused(422, Some(field), says)
    };
    check(r#""outcome":"success""#, "", "settlements[1].fence", "must be given").await;
    check(r#""fence":-1,"outcome":"success""#, "", "settlements[1].fence", "not negative").await;
    check(r#""fence":1,"outcome":"failure""#, "", "settlements[1].error", "must be given with outcome").await;
    check(r#""fence":1,"outcome":"snooze""#, "", "settlements[1].snooze_for", "must be given with outcome").await;
    check(r#""fence":1,"outcome":"success""#, r#","wait":"long""#, "wait", "is not a duration").await;

    let bad = format!(r#"{{"job_id":"{NOBODY}","fence":1,"outcome":"failure"}}"#);
    let body = format!(r#"{{"worker_id":"{worker}","queues":["a",""],"settlements":[{},{bad}]}}"#, success(&job));
    let problem = house.post("/v1/claims", &body).await.refused(422, Some("queues[1]"), "must not be empty");
    let named: Vec<&Value> = problem["errors"].as_array().expect("both").iter().map(|error| &error["field"]).collect();
    assert_eq!(named, ["queues[1]", "settlements[1].error"]);

    let many = vec![success(&job); 10_001];
    turn(&house, &worker, &many, "").await.refused(413, Some("settlements"), "batch_jobs_max is 10000");
    assert_eq!(house.status(&job.0).await, "RUNNING");
    assert_eq!(house.get("/v1/queues/default").await.expect(200)["pending"], 1);
}

#[tokio::test]
async fn a_server_that_cannot_settle_refuses_the_whole_request() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = held(&house, &worker).await;
    house.engine.shutdown().await;
    let problem = turn(&house, &worker, &[success(&job)], "").await.refused(503, None, "shutting down");
    assert_eq!(problem["type"], "/problems/unavailable");
}

#[tokio::test]
async fn a_worker_that_hangs_up_has_settled_and_leaves_the_next_job_to_others() {
    let house = House::open().await;
    let (worker, other) = (house.register().await, house.register().await);
    let job = held(&house, &worker).await;
    let next = house.submit(r#"{"type":"next"}"#).await;
    // Looked at once, so that both are handed in, and then dropped.
    let settlements = [success(&job)];
    let answer = turn(&house, &worker, &settlements, "").now_or_never();
    assert!(answer.is_none(), "it was answered already: {answer:?}");
    assert_eq!(house.claim(&other).await.0, next);
    assert_eq!(house.status(&job.0).await, "COMPLETED");
}
