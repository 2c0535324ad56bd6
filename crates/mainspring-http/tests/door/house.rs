//! What the tests share: a running node behind its door, and replies that are checked as they come.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Request, header};
use http_body_util::BodyExt;
use mainspring_core::time::Time;
use mainspring_engine::{Engine, ManualClock, Parts, Settings};
use mainspring_http::{Options, router};
use mainspring_store::memory::{Alone, Memory};
use mainspring_wire::problem;
use serde_json::Value;
use tower::ServiceExt;

/// 2026-12-01T09:00:00Z
pub const NOW: Time = Time::from_millis(1_796_115_600_000);

/// An id that no job and no worker has.
pub const NOBODY: &str = "01980000-0000-7000-8000-000000000001";

pub struct House {
    pub router: Router,
    pub engine: Engine,
    pub clock: Arc<ManualClock>,
}

impl House {
    pub async fn open() -> House {
        House::open_with(Options::default()).await
    }

    pub async fn open_with(options: Options) -> House {
        let clock = Arc::new(ManualClock::new(NOW));
        let store = Arc::new(Memory::new());
        let parts = Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock: clock.clone() };
        let engine = Engine::start(parts, Settings::default()).await.expect("the memory store starts");
        House { router: router(engine.clone(), options), engine, clock }
    }

    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, "").await
    }

    pub async fn post(&self, path: &str, body: &str) -> Reply {
        self.call("POST", path, body.to_owned()).await
    }

    pub async fn call(&self, method: &str, path: &str, body: impl Into<Body>) -> Reply {
        self.send(Request::builder().method(method).uri(path).body(body.into()).expect("a request")).await
    }

    pub async fn send(&self, request: Request<Body>) -> Reply {
        let asked = format!("{} {}", request.method(), request.uri());
        let response = self.router.clone().oneshot(request).await.expect("the router always answers");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("the body is in memory").to_bytes();
        let text = String::from_utf8(body.to_vec()).expect("answers are text");
        let reply = Reply { asked, status: parts.status.as_u16(), headers: parts.headers, text };
        reply.check_problem();
        reply
    }

    /// Submits a job and answers its id.
    pub async fn submit(&self, body: &str) -> String {
        let reply = self.post("/v1/jobs", body).await.expect(202);
        reply["job_id"].as_str().expect("an id").to_owned()
    }

    /// Registers a worker and answers its id.
    pub async fn register(&self) -> String {
        let reply = self.post("/v1/workers", r#"{"name":"w","queues":["default"],"lease":"30s"}"#).await.expect(201);
        reply["worker_id"].as_str().expect("an id").to_owned()
    }

    /// Claims one job of the default queue, waiting until there is one; answers its id and fence.
    pub async fn claim(&self, worker: &str) -> (String, u64) {
        let body = format!(r#"{{"worker_id":"{worker}","queues":["default"],"wait":"60s"}}"#);
        let reply = self.post("/v1/claims", &body).await.expect(200);
        let job = &reply["jobs"][0];
        (job["job_id"].as_str().expect("a job").to_owned(), job["fence"].as_u64().expect("a fence"))
    }

    /// A job that has failed for good; answers its id.
    pub async fn dead_letter(&self, body: &str) -> String {
        let worker = self.register().await;
        let submitted = self.submit(body).await;
        let (job, fence) = self.claim(&worker).await;
        assert_eq!(job, submitted);
        let fail = format!(r#"{{"fence":{fence},"error":{{"message":"boom"}},"never_retry":true}}"#);
        let reply = self.post(&format!("/v1/jobs/{job}/fail"), &fail).await.expect(200);
        assert_eq!(reply["state"], "failed");
        job
    }

    pub async fn status(&self, job: &str) -> String {
        let reply = self.get(&format!("/v1/jobs/{job}")).await.expect(200);
        reply["status"].as_str().expect("a status").to_owned()
    }
}

#[derive(Debug)]
pub struct Reply {
    pub asked: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    /// The body, if the status is the expected one.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text);
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{}: {error}: {}", self.asked, self.text))
    }

    /// The body, whatever the status.
    pub fn json(&self) -> Value {
        self.expect(self.status)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a plain header"))
    }

    /// A refusal with this status, at this field, that holds these words.
    pub fn refused(&self, status: u16, field: Option<&str>, words: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["field"].as_str(), field, "{}: {}", self.asked, self.text);
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains(words), "{}: {detail:?} does not say {words:?}", self.asked);
        problem
    }

    /// Whatever is refused is a whole problem, wherever it comes from.
    fn check_problem(&self) {
        if self.status < 400 || self.asked == "GET /readyz" {
            return;
        }
        assert_eq!(self.header(header::CONTENT_TYPE.as_str()), Some("application/problem+json"), "{}", self.asked);
        let problem = self.expect(self.status);
        assert_eq!(problem["status"], self.status, "{}", self.text);
        let kind = problem["type"].as_str().expect("a type");
        assert!(problem::ALL.contains(&kind), "{kind} is not a known problem");
        assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()));
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
    }
}
