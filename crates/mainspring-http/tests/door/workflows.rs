//! Jobs that wait for each other: by id, and as whole workflows.

use serde_json::{Value, json};

use crate::house::{House, NOBODY};

async fn complete(house: &House, worker: &str, result: &str) -> String {
    let (job, fence) = house.claim(worker).await;
    let body = format!(r#"{{"fence":{fence},"result":{result}}}"#);
    house.post(&format!("/v1/jobs/{job}/complete"), &body).await.expect(200);
    job
}

async fn fail(house: &House, worker: &str) -> String {
    let (job, fence) = house.claim(worker).await;
    let body = format!(r#"{{"fence":{fence},"error":{{"message":"boom"}},"never_retry":true}}"#);
    house.post(&format!("/v1/jobs/{job}/fail"), &body).await.expect(200);
    job
}

fn id<'a>(submitted: &'a Value, step: &str) -> &'a str {
    submitted["jobs"][step].as_str().unwrap_or_else(|| panic!("{step} has an id: {submitted}"))
}

#[tokio::test]
async fn a_child_waits_for_its_parent_and_reads_its_result() {
    let house = House::open().await;
    let worker = house.register().await;
    let parent = house.submit(r#"{"type":"a"}"#).await;
    let body = format!(r#"{{"type":"b","depends_on":["{parent}"]}}"#);
    let submitted = house.post("/v1/jobs", &body).await.expect(202);
    assert_eq!(submitted["status"], "BLOCKED");
    let child = submitted["job_id"].as_str().expect("an id").to_owned();
    assert_eq!(house.get(&format!("/v1/jobs/{child}")).await.expect(200)["depends_on"], json!([parent]));
    let explained = house.get(&format!("/v1/jobs/{child}/explain")).await.expect(200);
    assert_eq!(explained["reasons"][0]["code"], "waits_for");
    assert_eq!(explained["reasons"][0]["parents"], json!([{"job_id": parent, "status": "PENDING"}]));

    assert_eq!(complete(&house, &worker, r#"{"sum": 7}"#).await, parent);
    assert_eq!(house.claim(&worker).await.0, child, "the child follows");
    let parents = house.get(&format!("/v1/jobs/{child}/parents")).await.expect(200);
    assert_eq!(
        parents,
        json!({"parents": [{"job_id": parent, "status": "COMPLETED", "on_failure": "cancel", "result": {"sum": 7}}]})
    );
    assert_eq!(house.get(&format!("/v1/jobs/{parent}/parents")).await.expect(200), json!({"parents": []}));
    house.get(&format!("/v1/jobs/{NOBODY}/parents")).await.refused(404, None, "there is no job");
}

#[tokio::test]
async fn what_a_failure_means_is_said_per_parent() {
    let house = House::open().await;
    let worker = house.register().await;
    let parent = house.submit(r#"{"type":"a"}"#).await;
    let mut children = Vec::new();
    for on_failure in ["cancel", "run", "hold"] {
        let body =
            format!(r#"{{"type":"b","queue":"q","depends_on":[{{"job_id":"{parent}","on_failure":"{on_failure}"}}]}}"#);
        children.push(house.submit(&body).await);
    }
    assert_eq!(fail(&house, &worker).await, parent);
    // The clock stands still: moving it by nothing answers when all that is due is done.
    house.post("/v1/clock/advance", r#"{"by":0}"#).await.expect(200);
    assert_eq!(house.status(&children[0]).await, "CANCELLED");
    assert_eq!(house.status(&children[1]).await, "PENDING");
    assert_eq!(house.status(&children[2]).await, "BLOCKED");
    let cancelled = house.get(&format!("/v1/jobs/{}", children[0])).await.expect(200);
    assert_eq!(cancelled["cancel_reason"], json!(format!("its parent {parent} failed")));
    let held = house.get(&format!("/v1/jobs/{}/explain", children[2])).await.expect(200);
    assert_eq!(held["reasons"][0]["code"], "held_for");
    let text = held["reasons"][0]["text"].as_str().expect("a sentence");
    let how = text.split("POST ").nth(1).and_then(|rest| rest.split(')').next()).expect("the call is named");
    house.post(how, "").await.expect(200);
    assert_eq!(house.status(&children[2]).await, "PENDING", "doing what it says helps");
    let parents = house.get(&format!("/v1/jobs/{}/parents", children[1])).await.expect(200);
    assert_eq!(
        (&parents["parents"][0]["status"], &parents["parents"][0]["error"]["message"]),
        (&json!("FAILED"), &json!("boom"))
    );
}

#[tokio::test]
async fn a_parent_that_cannot_be_waited_for_is_named() {
    let house = House::open().await;
    let dead = house.dead_letter(r#"{"type":"a"}"#).await;
    let good = house.submit(r#"{"type":"a","delay":"1h"}"#).await;
    let body = format!(r#"{{"type":"b","depends_on":["{good}","{NOBODY}"]}}"#);
    let problem = house.post("/v1/jobs", &body).await.refused(422, Some("depends_on[1]"), NOBODY);
    assert_eq!(problem["type"], "/problems/unknown-parent");
    let body = format!(r#"{{"type":"b","depends_on":["{dead}"]}}"#);
    let problem = house.post("/v1/jobs", &body).await.refused(409, Some("depends_on[0]"), "has failed already");
    assert_eq!(problem["type"], "/problems/failed-parent");
    for on_failure in ["run", "hold"] {
        let body = format!(r#"{{"type":"b","depends_on":[{{"job_id":"{dead}","on_failure":"{on_failure}"}}]}}"#);
        house.post("/v1/jobs", &body).await.expect(202);
    }
    let batch = format!(
        r#"{{"jobs":[{{"type":"b","depends_on":["{good}"]}},{{"type":"b","depends_on":["{good}","{NOBODY}"]}}]}}"#
    );
    let answer = house.post("/v1/jobs/batch", &batch).await.expect(202);
    assert_eq!(answer["accepted"], 1);
    let problem = &answer["results"][1]["problem"];
    assert_eq!(
        (&problem["type"], &problem["field"]),
        (&json!("/problems/unknown-parent"), &json!("jobs[1].depends_on[1]"))
    );
}

#[tokio::test]
async fn a_workflow_runs_in_its_order_and_then_its_callback() {
    let house = House::open().await;
    let worker = house.register().await;
    let body = r#"{"jobs":[
        {"name":"join","type":"j","after":["left","right"]},
        {"name":"left","type":"l","after":["start"]},
        {"name":"right","type":"r","after":[{"job":"start","on_failure":"run"}]},
        {"name":"start","type":"s","data":{ "n": 1 }}],
        "callback":{"type":"tell"}}"#;
    let submitted = house.post("/v1/workflows", body).await.expect(202);
    let workflow = submitted["workflow_id"].as_str().expect("an id").to_owned();
    let callback = submitted["callback_id"].as_str().expect("an id").to_owned();
    assert_eq!(submitted["jobs"].as_object().map(serde_json::Map::len), Some(4));
    assert_eq!(submitted.get("duplicate"), None);

    let shown = house.get(&format!("/v1/workflows/{workflow}")).await.expect(200);
    assert_eq!((&shown["status"], &shown["callback_id"]), (&json!("RUNNING"), &json!(callback)));
    assert_eq!(
        shown["counts"],
        json!({"blocked": 3, "scheduled": 0, "pending": 1, "paused": 0, "running": 0, "completed": 0, "failed": 0, "cancelled": 0})
    );
    assert_eq!(shown["jobs"].as_array().map(Vec::len), Some(5), "the callback is among them");
    assert_eq!(shown["submitted_at"], "2026-12-01T09:00:00.000Z");
    let step = house.get(&format!("/v1/jobs/{}", id(&submitted, "join"))).await.expect(200);
    assert_eq!((&step["workflow_id"], &step["step"]), (&json!(workflow), &json!("join")));

    assert_eq!(complete(&house, &worker, "1").await, id(&submitted, "start"));
    let mut both = [complete(&house, &worker, "2").await, complete(&house, &worker, "3").await];
    both.sort_unstable();
    let mut expected = [id(&submitted, "left").to_owned(), id(&submitted, "right").to_owned()];
    expected.sort_unstable();
    assert_eq!(both, expected);
    let join = id(&submitted, "join");
    let parents = house.get(&format!("/v1/jobs/{join}/parents")).await.expect(200);
    let named: Vec<(&Value, &Value)> =
        parents["parents"].as_array().expect("a list").iter().map(|one| (&one["step"], &one["status"])).collect();
    assert_eq!(named, [(&json!("left"), &json!("COMPLETED")), (&json!("right"), &json!("COMPLETED"))]);
    assert_eq!(complete(&house, &worker, "4").await, join);
    assert_eq!(complete(&house, &worker, "null").await, callback, "the callback comes last");
    let shown = house.get(&format!("/v1/workflows/{workflow}?limit=2")).await.expect(200);
    assert_eq!((&shown["status"], &shown["counts"]["completed"]), (&json!("COMPLETED"), &json!(4)));
    let next = shown["next_cursor"].as_str().expect("there is more");
    let rest = house.get(&format!("/v1/workflows/{workflow}?cursor={next}")).await.expect(200);
    assert_eq!((rest["jobs"].as_array().map(Vec::len), rest.get("next_cursor")), (Some(3), None));
    assert_eq!(
        house.get(&format!("/v1/jobs?workflow={workflow}&type=l")).await.expect(200)["jobs"].as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test]
async fn a_cancelled_workflow_says_so_and_still_calls_back() {
    let house = House::open().await;
    let worker = house.register().await;
    let body = r#"{"jobs":[{"name":"a","type":"t","queue":"q"},{"name":"b","type":"t","queue":"q","after":["a"]}],"callback":{"type":"tell"}}"#;
    let submitted = house.post("/v1/workflows", body).await.expect(202);
    let path = format!("/v1/workflows/{}", submitted["workflow_id"].as_str().expect("an id"));
    let answer = house.post(&format!("{path}/cancel"), r#"{"reason":"not wanted"}"#).await.expect(200);
    assert_eq!(answer, json!({"cancelled": 2, "more": false}));
    let shown = house.get(&path).await.expect(200);
    assert_eq!((&shown["status"], &shown["counts"]["cancelled"]), (&json!("CANCELLED"), &json!(2)));
    let step = house.get(&format!("/v1/jobs/{}", id(&submitted, "a"))).await.expect(200);
    assert_eq!(step["cancel_reason"], "not wanted");
    assert_eq!(house.claim(&worker).await.0, submitted["callback_id"].as_str().expect("an id"));
    assert_eq!(house.post(&format!("{path}/cancel"), "").await.expect(200)["cancelled"], 0);
    house.get(&format!("/v1/workflows/{NOBODY}")).await.refused(404, None, "there is no workflow");
    house.post(&format!("/v1/workflows/{NOBODY}/cancel"), "").await.refused(404, None, "there is no workflow");
}

#[tokio::test]
async fn a_workflow_that_failed_says_so() {
    let house = House::open().await;
    let worker = house.register().await;
    let body = r#"{"jobs":[{"name":"a","type":"t"},{"name":"b","type":"t","after":["a"]}]}"#;
    let submitted = house.post("/v1/workflows", body).await.expect(202);
    assert_eq!(fail(&house, &worker).await, id(&submitted, "a"));
    house.post("/v1/clock/advance", r#"{"by":0}"#).await.expect(200);
    let shown =
        house.get(&format!("/v1/workflows/{}", submitted["workflow_id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(shown["status"], "FAILED", "a failure outweighs the cancellation that follows from it");
    assert_eq!((&shown["counts"]["failed"], &shown["counts"]["cancelled"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn the_same_key_makes_a_workflow_once() {
    let house = House::open().await;
    let body = |kind: &str| {
        format!(
            r#"{{"jobs":[{{"name":"a","type":"{kind}"}},{{"name":"b","type":"t","after":["a"]}}],"callback":{{"type":"tell"}},"idempotency_key":"k"}}"#
        )
    };
    let first = house.post("/v1/workflows", &body("t")).await.expect(202);
    let mut second = house.post("/v1/workflows", &body("t")).await.expect(202);
    assert_eq!(second["duplicate"], true);
    second.as_object_mut().expect("an object").remove("duplicate");
    assert_eq!(first, second);
    let problem =
        house.post("/v1/workflows", &body("u")).await.refused(422, Some("idempotency_key"), "from another body");
    assert_eq!(problem["type"], "/problems/idempotency-mismatch");
    assert_eq!(house.get("/v1/jobs").await.expect(200)["jobs"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_workflow_may_wait_for_jobs_outside_of_it() {
    let house = House::open().await;
    let worker = house.register().await;
    let outside = house.submit(r#"{"type":"a"}"#).await;
    let body = format!(r#"{{"jobs":[{{"name":"a","type":"t","depends_on":["{outside}"]}}]}}"#);
    let submitted = house.post("/v1/workflows", &body).await.expect(202);
    assert_eq!(house.status(id(&submitted, "a")).await, "BLOCKED");
    assert_eq!(complete(&house, &worker, "1").await, outside);
    assert_eq!(house.claim(&worker).await.0, id(&submitted, "a"));
}

#[tokio::test]
async fn ten_thousand_jobs_are_taken_in_with_one_request() {
    let house = House::open().await;
    let steps = (0..10_000).map(|at| match at {
        0 => r#"{"name":"n0","type":"t"}"#.to_owned(),
        at => format!(r#"{{"name":"n{at}","type":"t","after":["n{}"]}}"#, (at - 1) / 2),
    });
    let body = format!(r#"{{"jobs":[{}]}}"#, steps.collect::<Vec<_>>().join(","));
    let submitted = house.post("/v1/workflows", &body).await.expect(202);
    assert_eq!(submitted["jobs"].as_object().map(serde_json::Map::len), Some(10_000));
    let shown = house
        .get(&format!("/v1/workflows/{}?limit=1", submitted["workflow_id"].as_str().expect("an id")))
        .await
        .expect(200);
    assert_eq!((&shown["counts"]["blocked"], &shown["counts"]["pending"]), (&json!(9_999), &json!(1)));
}
