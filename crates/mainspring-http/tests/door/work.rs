//! Workers: register, claim, report, settle, leave.

use std::time::Duration;

use serde_json::json;

use crate::house::{House, NOBODY};

#[tokio::test]
async fn a_worker_is_registered_listed_and_gone() {
    let house = House::open().await;
    let body = r#"{"name":"w","host":"h","pid":7,"version":"1","queues":["a","b"],"concurrency":3,"lease":"30s"}"#;
    let registered = house.post("/v1/workers", body).await.expect(201);
    let id = registered["worker_id"].as_str().expect("an id");
    assert_eq!(registered, json!({"worker_id": id, "lease": "30s", "heartbeat_every": "10s"}));
    let workers = house.get("/v1/workers").await.expect(200);
    assert_eq!(
        workers,
        json!({"workers": [{
            "worker_id": id, "name": "w", "host": "h", "pid": 7, "version": "1", "queues": ["a", "b"], "concurrency": 3,
            "registered_at": "2026-12-01T09:00:00.000Z", "last_seen_at": "2026-12-01T09:00:00.000Z",
            "expires_at": "2026-12-01T09:00:30.000Z", "held": 0, "order": "work",
        }]})
    );
    let reply = house.call("DELETE", &format!("/v1/workers/{id}"), "").await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    house.call("DELETE", &format!("/v1/workers/{id}"), "").await.refused(404, Some("id"), "no worker with this id");
    assert_eq!(house.get("/v1/workers").await.expect(200), json!({"workers": []}));
}

#[tokio::test]
async fn a_silent_worker_is_listed_as_long_as_it_may_hold_jobs() {
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let (job, _) = house.claim(&worker).await;
    // A jump of the clock is nobody's silence: the worker is spared, past its lease.
    house.advance(Duration::from_secs(40));
    let workers = house.get("/v1/workers").await.expect(200);
    let silent = &workers["workers"][0];
    assert_eq!((&silent["worker_id"], &silent["held"]), (&json!(worker), &json!(1)), "{workers}");
    assert_eq!(silent["expires_at"], "2026-12-01T09:00:30.000Z");
    assert_eq!(house.status(&job).await, "RUNNING");
}

#[tokio::test]
async fn a_claim_hands_out_the_best_jobs_with_all_a_worker_needs() {
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"low","priority":-5}"#).await;
    let id = house.submit(r#"{"type":"high","priority":50,"data":{ "a" : 1 },"timeout":"1m","tags":["t"]}"#).await;
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default","default"],"max":10}}"#);
    let reply = house.post("/v1/claims", &claim).await;
    assert!(reply.text.contains(r#""data":{ "a" : 1 }"#), "data is handed on as it was written: {}", reply.text);
    let answer = reply.expect(200);
    assert_eq!(answer["jobs"].as_array().expect("a list").len(), 2);
    let fence = answer["jobs"][0]["fence"].as_u64().expect("a fence");
    assert_eq!(
        answer["jobs"][0],
        json!({
            "job_id": id, "fence": fence, "type": "high", "queue": "default", "tenant": "default", "data": {"a": 1}, "attempt": 1,
            "max_attempts": 3, "priority": 50, "run_at": "2026-12-01T09:00:00.000Z",
            "claimed_at": "2026-12-01T09:00:00.000Z", "timeout_at": "2026-12-01T09:01:00.000Z", "tags": ["t"],
        })
    );
    assert_eq!(house.post("/v1/claims", &claim).await.expect(200), json!({"jobs": []}), "no wait, nothing there");
}

#[tokio::test]
async fn settlements_are_answered_one_by_one_in_order() {
    let house = House::open().await;
    let worker = house.register().await;
    let mut held = Vec::new();
    for _ in 0..5 {
        house.submit(r#"{"type":"a","retry":{"strategy":"fixed","base":"10s","jitter":0}}"#).await;
        held.push(house.claim(&worker).await);
    }
    let words = [
        r#""outcome":"success","result":{"n":1}"#,
        r#""outcome":"failure","error":{"message":"boom"}"#,
        r#""outcome":"failure","error":{"message":"boom"},"never_retry":true"#,
        r#""outcome":"snooze","snooze_for":"1m""#,
        r#""outcome":"release""#,
    ];
    let one =
        |((job, fence), words): (&(String, u64), &str)| format!(r#"{{"job_id":"{job}","fence":{fence},{words}}}"#);
    let mut settlements: Vec<String> = held.iter().zip(words).map(one).collect();
    settlements.push(settlements[0].clone());
    settlements.push(format!(r#"{{"job_id":"{NOBODY}","fence":1,"outcome":"success"}}"#));
    let body = format!(r#"{{"settlements":[{}]}}"#, settlements.join(","));
    let answer = house.post("/v1/settlements", &body).await.expect(200);
    assert_eq!(
        answer["results"],
        json!([
            {"job_id": held[0].0, "state": "completed"},
            {"job_id": held[1].0, "state": "retrying", "next_fire_time": "2026-12-01T09:00:10.000Z"},
            {"job_id": held[2].0, "state": "failed"},
            {"job_id": held[3].0, "state": "snoozed", "next_fire_time": "2026-12-01T09:01:00.000Z"},
            {"job_id": held[4].0, "state": "released", "next_fire_time": "2026-12-01T09:00:00.000Z"},
            {"job_id": held[0].0, "state": "stale"},
            {"job_id": NOBODY, "state": "stale"},
        ])
    );
    let job = house.get(&format!("/v1/jobs/{}", held[0].0)).await.expect(200);
    assert_eq!((&job["status"], &job["result"]), (&json!("COMPLETED"), &json!({"n": 1})));
    assert_eq!(house.post("/v1/settlements", r#"{"settlements":[]}"#).await.expect(200), json!({"results": []}));
}

#[tokio::test]
async fn one_attempt_can_be_worked_by_hand() {
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let (job, fence) = house.claim(&worker).await;
    let call = async |verb: &str, rest: &str| {
        house.post(&format!("/v1/jobs/{job}/{verb}"), &format!(r#"{{"fence":{fence}{rest}}}"#)).await
    };
    let held = json!({"held": true, "cancel_requested": false});
    assert_eq!(call("start", "").await.expect(200), held);
    house.advance(Duration::from_millis(1500));
    assert_eq!(call("checkpoint", r#","data":[3],"progress":{"percent":50,"note":"half"}"#).await.expect(200), held);
    let view = house.get(&format!("/v1/jobs/{job}")).await.expect(200);
    assert_eq!((&view["checkpoint"], &view["progress"]), (&json!([3]), &json!({"percent": 50.0, "note": "half"})));
    assert_eq!(view["lease"]["fence"], fence);
    let executions = house.get(&format!("/v1/jobs/{job}/executions")).await.expect(200);
    assert_eq!(
        (&executions["executions"][0]["attempt"], executions["executions"][0].get("outcome")),
        (&json!(1), None)
    );

    assert_eq!(call("complete", r#","result":"ok""#).await.expect(200), json!({"job_id": job, "state": "completed"}));
    for (verb, rest) in
        [("start", ""), ("checkpoint", r#","data":1"#), ("complete", ""), ("fail", r#","error":{"message":"m"}"#)]
    {
        let problem = call(verb, rest).await.refused(409, Some("fence"), "no longer holds the job");
        assert_eq!(problem["type"], "/problems/stale");
    }
    let executions = house.get(&format!("/v1/jobs/{job}/executions")).await.expect(200);
    assert_eq!(
        executions,
        json!({"executions": [{
            "attempt": 1, "fence": fence, "worker_id": worker, "started_at": "2026-12-01T09:00:00.000Z",
            "ended_at": "2026-12-01T09:00:01.500Z", "outcome": "SUCCEEDED", "duration": "1500ms",
        }]})
    );
}

#[tokio::test]
async fn a_running_job_is_cancelled_through_the_heartbeat() {
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let (job, fence) = house.claim(&worker).await;
    let view = house.call("DELETE", &format!("/v1/jobs/{job}"), "").await.expect(202);
    assert_eq!((&view["status"], &view["lease"]["cancel_requested"]), (&json!("RUNNING"), &json!(true)));
    let pulse = house.post(&format!("/v1/workers/{worker}/heartbeat"), r#"{"held":1}"#).await.expect(200);
    let held = json!([{"job_id": job, "fence": fence}]);
    assert_eq!(pulse, json!({"order": "work", "cancel": held, "lost": [], "recount": false}));
    let started = house.post(&format!("/v1/jobs/{job}/start"), &format!(r#"{{"fence":{fence}}}"#)).await.expect(200);
    assert_eq!(started["cancel_requested"], true);
}

#[tokio::test]
async fn a_worker_that_counts_otherwise_is_asked_to_recount() {
    let house = House::open().await;
    let worker = house.register().await;
    let path = format!("/v1/workers/{worker}/heartbeat");
    assert_eq!(house.post(&path, r#"{"held":2}"#).await.expect(200)["recount"], true);
    assert_eq!(house.post(&path, "").await.expect(200)["recount"], false);
    let holding = format!(r#"{{"held":1,"holding":[{{"job_id":"{NOBODY}","fence":9}}]}}"#);
    let pulse = house.post(&path, &holding).await.expect(200);
    assert_eq!((&pulse["recount"], &pulse["lost"]), (&json!(false), &json!([{"job_id": NOBODY, "fence": 9}])));
}

#[tokio::test]
async fn a_quiet_worker_is_told_so_and_given_nothing() {
    let house = House::open().await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let told = house.post(&format!("/v1/workers/{worker}/order"), r#"{"order":"quiet"}"#).await.expect(200);
    assert_eq!(told, json!({"order": "quiet"}));
    assert_eq!(house.post(&format!("/v1/workers/{worker}/heartbeat"), "{}").await.expect(200)["order"], "quiet");
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"]}}"#);
    assert_eq!(house.post("/v1/claims", &claim).await.expect(200), json!({"jobs": []}));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_worker_waits_as_long_as_it_asked_to() {
    let house = House::open().await;
    let worker = house.register().await;
    house.post(&format!("/v1/workers/{worker}/order"), r#"{"order":"quiet"}"#).await.expect(200);
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"],"wait":"20s"}}"#);
    let early = tokio::time::timeout(Duration::from_secs(19), house.post("/v1/claims", &claim)).await;
    assert!(early.is_err(), "it would ask again at once, without end");
    assert_eq!(house.post("/v1/claims", &claim).await.expect(200), json!({"jobs": []}));
}
