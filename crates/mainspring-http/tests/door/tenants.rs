//! Tenants: whose request it is, and workers that serve all of them.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use crate::house::{House, Reply};

impl House {
    /// A call of a tenant.
    async fn call_as(&self, tenant: &str, method: &str, path: &str, body: &str) -> Reply {
        let request = Request::builder().method(method).uri(path).header("Mainspring-Tenant", tenant);
        self.send(request.body(Body::from(body.to_owned())).expect("a request")).await
    }

    async fn submit_as(&self, tenant: &str, body: &str) -> String {
        let reply = self.call_as(tenant, "POST", "/v1/jobs", body).await.expect(202);
        reply["job_id"].as_str().expect("an id").to_owned()
    }
}

#[tokio::test]
async fn what_one_tenant_has_no_other_sees() {
    let house = House::open().await;
    let job = house.submit_as("acme", r#"{"type":"a"}"#).await;
    let seen = house.call_as("acme", "GET", &format!("/v1/jobs/{job}"), "").await.expect(200);
    assert_eq!(seen["tenant"], "acme");
    house.get(&format!("/v1/jobs/{job}")).await.refused(404, None, "no job");
    house.call_as("acme", "PUT", "/v1/limits/tenant", r#"{"concurrency":1}"#).await.expect(201);
    assert_eq!(house.get("/v1/limits").await.expect(200), json!({"limits": []}));
    assert_eq!(house.call_as("default", "GET", "/v1/limits", "").await.expect(200), json!({"limits": []}));
    let worker = house.register().await;
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"]}}"#);
    assert_eq!(house.post("/v1/claims", &claim).await.expect(200), json!({"jobs": []}));
}

#[tokio::test]
async fn a_tenant_that_is_none_is_refused() {
    let house = House::open().await;
    let check = async |tenant: &str, words: &str| {
        let reply = house.call_as(tenant, "POST", "/v1/jobs", r#"{"type":"a"}"#).await;
        reply.refused(400, Some("Mainspring-Tenant"), words);
    };
    check("", "must not be empty").await;
    check("a b", "must not contain ' '").await;
    check("käse", "is not plain text").await;
    check(&"x".repeat(129), "at most 128 bytes").await;
    let twice = Request::builder().uri("/v1/queues").header("Mainspring-Tenant", "a").header("mainspring-tenant", "b");
    let reply = house.send(twice.body(Body::empty()).expect("a request")).await;
    reply.refused(400, Some("Mainspring-Tenant"), "given twice");
}

#[tokio::test]
async fn a_worker_for_all_tenants_serves_them_in_turn_and_settles_each_as_its_own() {
    let house = House::open().await;
    let worker = house.register().await;
    for _ in 0..5 {
        house.submit_as("loud", r#"{"type":"a","max_attempts":1}"#).await;
    }
    let quiet = house.submit_as("quiet", r#"{"type":"a","max_attempts":1}"#).await;
    let claim = |max: u32, rest: &str| {
        format!(r#"{{"worker_id":"{worker}","queues":["default"],"max":{max},"tenants":"all"{rest}}}"#)
    };
    let taken = house.post("/v1/claims", &claim(2, "")).await.expect(200);
    let jobs = taken["jobs"].as_array().expect("a list");
    let mut tenants: Vec<&str> = jobs.iter().filter_map(|job| job["tenant"].as_str()).collect();
    tenants.sort_unstable();
    assert_eq!(tenants, ["loud", "quiet"], "one job is not behind five");

    let failure = |job: &Value| {
        format!(
            r#"{{"job_id":{},"fence":{},"tenant":{},"outcome":"failure","error":{{"message":"no"}}}}"#,
            job["job_id"], job["fence"], job["tenant"]
        )
    };
    let rest = format!(r#","settlements":[{},{}]"#, failure(&jobs[0]), failure(&jobs[1]));
    let next = house.post("/v1/claims", &claim(1, &rest)).await.expect(200);
    assert_eq!(next["settled"][0]["state"], "failed", "{next}");
    assert_eq!(next["settled"][1]["state"], "failed", "{next}");
    assert_eq!(next["jobs"][0]["tenant"], "loud");
    let dead = house.call_as("quiet", "GET", &format!("/v1/jobs/{quiet}"), "").await.expect(200);
    assert_eq!((&dead["status"], &dead["failures"]), (&json!("FAILED"), &json!(1)));
}

#[tokio::test]
async fn a_claim_names_the_step_that_a_job_is() {
    let house = House::open().await;
    let worker = house.register().await;
    let body = r#"{"jobs":[{"name":"resize","type":"a"}]}"#;
    let workflow = house.post("/v1/workflows", body).await.expect(202);
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"]}}"#);
    let job = house.post("/v1/claims", &claim).await.expect(200)["jobs"][0].clone();
    assert_eq!((&job["workflow_id"], &job["step"]), (&workflow["workflow_id"], &json!("resize")));
    assert_eq!(job["tenant"], "default");
}
