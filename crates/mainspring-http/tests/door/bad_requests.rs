//! What is wrong before any field is: paths, methods, media types, bodies, sizes.

use axum::body::Body;
use http::Request;
use mainspring_http::Options;

use crate::house::{House, NOBODY};

#[tokio::test]
async fn an_unknown_path_is_a_problem() {
    let house = House::open().await;
    for path in ["/v1", "/v1/job", "/v2/jobs", "/v1/jobs/", "/favicon.ico"] {
        let problem = house.get(path).await.refused(404, None, &format!("there is no path {path};"));
        assert_eq!(problem["type"], "/problems/not-found");
    }
}

#[tokio::test]
async fn a_wrong_method_is_a_problem_that_lists_the_right_ones() {
    let house = House::open().await;
    let check = async |method: &str, path: &str, allow: &str| {
        let reply = house.call(method, path, "").await;
        let problem = reply.refused(405, None, &format!("does not take {method}"));
        assert_eq!(problem["type"], "/problems/method-not-allowed");
        assert_eq!(reply.header("allow"), Some(allow), "{path}");
    };
    check("PUT", "/v1/jobs", "POST,GET,HEAD").await;
    check("GET", "/v1/claims", "POST").await;
    check("POST", &format!("/v1/jobs/{NOBODY}"), "GET,HEAD,PATCH,DELETE").await;
    check("DELETE", "/v1/queues/q", "GET,HEAD,PATCH").await;
    check("POST", "/metrics", "GET,HEAD").await;
}

#[tokio::test]
async fn an_id_that_is_no_uuid_is_said_to_be_none() {
    let house = House::open().await;
    for path in ["/v1/jobs/7", "/v1/jobs/7/executions", "/v1/jobs/not-an-id/explain"] {
        house.get(path).await.refused(400, Some("id"), "is not the id of a job: ids are UUIDs");
    }
    for verb in ["cancel", "pause", "resume", "retry", "run"] {
        house.post(&format!("/v1/jobs/x/{verb}"), "").await.refused(400, Some("id"), "is not the id of a job");
    }
    house.post("/v1/workers/x/heartbeat", "{}").await.refused(400, Some("id"), "is not the id of a worker");
    house.get("/v1/jobs/%FF").await.refused(400, None, "the path cannot be read");
    house.get("/v1/queues/a%20b").await.refused(400, Some("name"), "must not contain ' '");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let house = House::open().await;
    for path in ["", "/executions", "/explain"] {
        house.get(&format!("/v1/jobs/{NOBODY}{path}")).await.refused(404, None, "there is no job");
    }
    for verb in ["cancel", "pause", "resume", "retry", "run"] {
        house.post(&format!("/v1/jobs/{NOBODY}/{verb}"), "").await.refused(404, None, "there is no job");
    }
    for (verb, body) in [
        ("start", r#"{"fence":1}"#),
        ("checkpoint", r#"{"fence":1,"data":1}"#),
        ("complete", r#"{"fence":1}"#),
        ("fail", r#"{"fence":1,"error":{"message":"m"}}"#),
    ] {
        house.post(&format!("/v1/jobs/{NOBODY}/{verb}"), body).await.refused(404, None, "there is no job");
    }
    house.call("DELETE", &format!("/v1/jobs/{NOBODY}"), "").await.refused(404, None, "there is no job");
    house.call("PATCH", &format!("/v1/jobs/{NOBODY}"), r#"{"priority":1}"#).await.refused(404, None, "there is no job");
    house.get("/v1/queues/nobody").await.refused(404, None, "there is no queue nobody");
    let register_again = "Register again with POST /v1/workers";
    house.post(&format!("/v1/workers/{NOBODY}/heartbeat"), "{}").await.refused(404, Some("id"), register_again);
    house.call("DELETE", &format!("/v1/workers/{NOBODY}"), "").await.refused(404, Some("id"), register_again);
    house.post(&format!("/v1/workers/{NOBODY}/order"), r#"{"order":"quiet"}"#).await.refused(
        404,
        Some("id"),
        register_again,
    );
    let claim = format!(r#"{{"worker_id":"{NOBODY}","queues":["a"],"wait":"30s"}}"#);
    let problem = house.post("/v1/claims", &claim).await.refused(404, Some("worker_id"), register_again);
    assert_eq!(problem["type"], "/problems/unknown-worker");
}

#[tokio::test]
async fn a_body_that_is_no_json_says_where_it_breaks() {
    let house = House::open().await;
    for path in ["/v1/jobs", "/v1/jobs/batch", "/v1/claims", "/v1/settlements", "/v1/workers", "/v1/dead/replay"] {
        house.post(path, "{\n\"type\": nope}").await.refused(400, None, "line 2 column");
        house.call("POST", path, b"{\"type\":\"\xff\"}".to_vec()).await.refused(
            400,
            None,
            "the byte at 9 begins no character",
        );
        house.post(path, "7").await.refused(422, None, "expected an object");
    }
    house.post("/v1/jobs", "").await.refused(400, None, "the body is empty");
}

#[tokio::test]
async fn only_json_is_read_as_json() {
    let house = House::open().await;
    let send = async |content_type: &str| {
        let request = Request::builder().method("POST").uri("/v1/jobs").header("content-type", content_type);
        house.send(request.body(Body::from(r#"{"type":"a"}"#)).expect("a request")).await
    };
    for bad in ["text/plain", "application/x-www-form-urlencoded", "application/xml"] {
        let problem = send(bad).await.refused(415, None, "send the body as application/json");
        assert_eq!(problem["type"], "/problems/unsupported-media-type");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("--json") && detail.contains("-H 'content-type: application/json'"), "{detail}");
    }
    for good in ["application/json", "application/json; charset=utf-8"] {
        send(good).await.expect(202);
    }
    house.post("/v1/jobs", r#"{"type":"no content type"}"#).await.refused(422, Some("type"), "must not contain ' '");
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_whether_announced_or_not() {
    let house = House::open_with(Options { body_bytes_max: 1000, ..Options::default() }).await;
    let body = format!(r#"{{"type":"a","data":"{}"}}"#, "x".repeat(1000));
    let check = |reply: crate::house::Reply| {
        let problem = reply.refused(413, None, "body_bytes_max, 1000 bytes");
        assert_eq!(problem["limit"], serde_json::json!({"name": "body_bytes_max", "max": 1000}));
    };
    check(house.post("/v1/jobs", &body).await);
    let announced = Request::builder().method("POST").uri("/v1/jobs").header("content-length", "1001");
    check(house.send(announced.body(Body::empty()).expect("a request")).await);
    house.post("/v1/jobs", r#"{"type":"a"}"#).await.expect(202);
}

#[tokio::test]
async fn a_batch_past_the_limit_is_refused_with_its_name() {
    let house = House::open().await;
    let jobs = vec![r#"{"type":"a"}"#; 10_001].join(",");
    let reply = house.post("/v1/jobs/batch", &format!(r#"{{"jobs":[{jobs}]}}"#)).await;
    let problem = reply.refused(413, Some("jobs"), "batch_jobs_max is 10000");
    assert_eq!(problem["type"], "/problems/too-many");
    let settlement = format!(r#"{{"job_id":"{NOBODY}","fence":1,"outcome":"success"}}"#);
    let body = format!(r#"{{"settlements":[{}]}}"#, vec![settlement; 10_001].join(","));
    house.post("/v1/settlements", &body).await.refused(413, Some("settlements"), "batch_jobs_max is 10000");
    house.post("/v1/jobs/batch", r#"{"jobs":[]}"#).await.refused(422, Some("jobs"), "send at least one job");
}

#[tokio::test]
async fn a_node_that_shuts_down_says_so() {
    let house = House::open().await;
    house.get("/readyz").await.expect(200);
    house.engine.shutdown().await;
    let reply = house.post("/v1/jobs", r#"{"type":"a"}"#).await;
    reply.refused(503, None, "shutting down");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(house.get("/readyz").await.expect(503)["status"], "stopping");
    assert_eq!(house.get("/livez").await.text, "ok\n");
}
