//! Limits as a client sets them and meets them: what holds, how it stands, and why a job waits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::events::Stream;
use crate::house::House;

impl House {
    async fn put_limit(&self, reach: &str, rule: &str) -> Value {
        let reply = self.call("PUT", &format!("/v1/limits/{reach}"), rule.to_owned()).await;
        assert!(matches!(reply.status, 200 | 201), "{}: {}", reply.asked, reply.text);
        reply.json()
    }

    /// What can be claimed of the default queue at once.
    async fn claim_some(&self, worker: &str, max: u32) -> Vec<Value> {
        let body = format!(r#"{{"worker_id":"{worker}","queues":["default"],"max":{max}}}"#);
        let reply = self.post("/v1/claims", &body).await.expect(200);
        reply["jobs"].as_array().expect("a list").clone()
    }

    /// Settles one job with these members, and answers what it came to.
    async fn settle(&self, job: &Value, members: &str) -> Value {
        let body = format!(r#"{{"settlements":[{{"job_id":{},"fence":{},{members}}}]}}"#, job["job_id"], job["fence"]);
        self.post("/v1/settlements", &body).await.expect(200)["results"][0].clone()
    }

    /// The reason with this code, and the time it can start.
    async fn reason(&self, job: &str, code: &str) -> (Value, Value) {
        let explained = self.get(&format!("/v1/jobs/{job}/explain")).await.expect(200);
        let reasons = explained["reasons"].as_array().expect("a list");
        let found = reasons.iter().find(|reason| reason["code"] == code);
        (found.unwrap_or_else(|| panic!("{code} is not in {explained}")).clone(), explained["eta"].clone())
    }
}

#[tokio::test]
async fn a_limit_is_set_looked_at_replaced_and_removed() {
    let house = House::open().await;
    let rule = r#"{"concurrency":10,"rate":{"permits":100,"per":"1m"},"breaker":{"failure_ratio":0.25}}"#;
    let set = house.call("PUT", "/v1/limits/queue:mail%2Feu", rule.to_owned()).await.expect(201);
    let breaker = json!({
        "failure_ratio": 0.25, "window": "1m", "min_attempts": 20, "cooldown": "30s", "probes": 1, "closes_after": 3
    });
    let shown = json!({
        "reach": "queue:mail/eu",
        "rule": {"concurrency": 10, "rate": {"permits": 100, "per": "1m", "burst": 100}, "breaker": breaker},
        "state": {
            "running": 0, "waiting": 0, "tokens": 100, "breaker": {"phase": "closed", "attempts": 0, "failures": 0}
        },
    });
    assert_eq!(set, shown, "every default is shown");
    assert_eq!(house.get("/v1/limits/queue%3Amail%2Feu").await.expect(200), shown);
    assert_eq!(house.get("/v1/limits").await.expect(200), json!({"limits": [shown]}));

    house.call("PUT", "/v1/limits/queue:mail%2Feu", rule.to_owned()).await.expect(200);
    let replaced = house.call("PUT", "/v1/limits/queue:mail%2Feu", r#"{"concurrency":1}"#).await.expect(200);
    assert_eq!(replaced["rule"], json!({"concurrency": 1}), "all of it is replaced");

    let dry = house.call("PUT", "/v1/limits/queue:mail%2Feu?dry_run=true", rule.to_owned()).await.expect(200);
    assert_eq!(dry, shown, "as it would be kept");
    assert_eq!(house.get("/v1/limits/queue:mail%2Feu").await.expect(200), replaced, "a dry run changes nothing");

    let removed = house.call("DELETE", "/v1/limits/queue:mail%2Feu", "").await;
    assert_eq!((removed.status, removed.text.as_str()), (204, ""));
    for (method, path) in [("DELETE", ""), ("GET", ""), ("POST", "/reopen")] {
        let reply = house.call(method, &format!("/v1/limits/queue:mail%2Feu{path}"), "").await;
        reply.refused(404, None, "nothing is limited by queue:mail/eu");
    }
    assert_eq!(house.get("/v1/limits").await.expect(200), json!({"limits": []}));
}

#[tokio::test]
async fn a_pattern_holds_at_each_gate_by_itself() {
    let house = House::open().await;
    let worker = house.register().await;
    assert_eq!(
        house.put_limit("key:customer:*", r#"{"concurrency":1}"#).await,
        json!({"reach": "key:customer:*", "rule": {"concurrency": 1}}),
        "a pattern has no state of its own"
    );
    house.put_limit("key:*", r#"{"concurrency":5}"#).await;
    for key in ["customer:1", "customer:1", "customer:2"] {
        house.submit(&format!(r#"{{"type":"a","concurrency_key":"{key}"}}"#)).await;
    }
    assert_eq!(house.claim_some(&worker, 10).await.len(), 2, "one of each customer");
    let one = house.get("/v1/limits/key:customer:1").await.expect(200);
    assert_eq!((&one["rule"], &one["pattern"]), (&json!({"concurrency": 1}), &json!("key:customer:*")));
    assert_eq!(one["state"]["running"], 1);
    let at_rest = house.get("/v1/limits/key:customer:3").await.expect(200);
    assert_eq!((&at_rest["pattern"], &at_rest["state"]["running"]), (&json!("key:customer:*"), &json!(0)));
    let listed = house.get("/v1/limits").await.expect(200);
    let reaches: Vec<&Value> = listed["limits"].as_array().expect("a list").iter().map(|one| &one["reach"]).collect();
    assert_eq!(reaches.len(), 4, "two rules and the two gates that are used: {listed}");
}

#[tokio::test]
async fn a_full_key_is_explained_by_its_holders_and_opens_when_one_ends() {
    let house = House::open().await;
    let worker = house.register().await;
    house.put_limit("key:c", r#"{"concurrency":1}"#).await;
    let first = house.submit(r#"{"type":"a","concurrency_key":"c"}"#).await;
    let second = house.submit(r#"{"type":"a","concurrency_key":"c"}"#).await;
    let held = house.claim_some(&worker, 10).await;
    assert_eq!(held.len(), 1);
    let (full, eta) = house.reason(&second, "limit_full").await;
    assert_eq!(
        (&full["limit"], &full["running"], &full["max"], &full["holders"]),
        (&json!("key:c"), &json!(1), &json!(1), &json!([first]))
    );
    assert_eq!(eta, Value::Null, "nobody knows when it ends");
    house.settle(&held[0], r#""outcome":"success""#).await;
    assert_eq!(house.claim_some(&worker, 10).await[0]["job_id"], json!(second));
}

#[tokio::test]
async fn a_limit_that_is_raised_lets_a_waiting_claim_go_on() {
    let house = House::open().await;
    let worker = house.register().await;
    house.put_limit("type:a", r#"{"concurrency":0}"#).await;
    let job = house.submit(r#"{"type":"a"}"#).await;
    let (full, _) = house.reason(&job, "limit_full").await;
    assert!(full["text"].as_str().is_some_and(|text| text.contains("mainspring limit set type:a")), "{full}");
    let (claimed, _) = tokio::join!(house.claim(&worker), house.put_limit("type:a", r#"{"concurrency":1}"#));
    assert_eq!(claimed.0, job);
}

#[tokio::test]
async fn a_rate_lets_start_what_it_may_and_says_when_the_next_can() {
    let house = House::open().await;
    let worker = house.register().await;
    house.put_limit("queue:default", r#"{"rate":{"permits":1,"per":"10s"}}"#).await;
    house.submit(r#"{"type":"a"}"#).await;
    let second = house.submit(r#"{"type":"a"}"#).await;
    assert_eq!(house.claim_some(&worker, 10).await.len(), 1);
    let (spent, eta) = house.reason(&second, "no_token").await;
    assert_eq!((&spent["until"], &spent["limit"]), (&json!("2026-12-01T09:00:10.000Z"), &json!("queue:default")));
    assert_eq!(eta, "2026-12-01T09:00:10.000Z");
    let state = house.get("/v1/limits/queue:default").await.expect(200)["state"].clone();
    assert_eq!((&state["tokens"], &state["next_token_at"]), (&json!(0), &json!("2026-12-01T09:00:10.000Z")));
    house.advance(Duration::from_secs(10));
    assert_eq!(house.claim_some(&worker, 10).await[0]["job_id"], json!(second));
}

#[tokio::test]
async fn a_rate_limited_job_pauses_its_key_and_loses_no_attempt() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = house.submit(r#"{"type":"a","rate_key":"api","max_attempts":1}"#).await;
    let other = house.submit(r#"{"type":"a","rate_key":"api"}"#).await;
    let held = house.claim_some(&worker, 1).await;
    let settled = house.settle(&held[0], r#""outcome":"rate_limited","retry_after":"30s""#).await;
    let expected = json!({"job_id": job, "state": "rate_limited", "next_fire_time": "2026-12-01T09:00:30.000Z"});
    assert_eq!(settled, expected);
    assert_eq!(house.claim_some(&worker, 10).await, Vec::<Value>::new(), "the key is closed for both");
    for waiting in [&job, &other] {
        let (closed, eta) = house.reason(waiting, "limit_closed").await;
        assert_eq!((&closed["until"], &closed["limit"]), (&json!("2026-12-01T09:00:30.000Z"), &json!("key:api")));
        assert_eq!(eta, "2026-12-01T09:00:30.000Z");
    }
    let listed = house.get("/v1/limits").await.expect(200);
    assert_eq!(listed["limits"][0]["state"]["closed_until"], "2026-12-01T09:00:30.000Z", "also without a rule");
    let view = house.get(&format!("/v1/jobs/{job}")).await.expect(200);
    assert_eq!((&view["attempts"], &view["failures"]), (&json!(0), &json!(0)));
    let executions = house.get(&format!("/v1/jobs/{job}/executions")).await.expect(200);
    assert_eq!(executions["executions"][0]["outcome"], "RATE_LIMITED");

    house.advance(Duration::from_secs(30));
    assert_eq!(house.claim_some(&worker, 10).await.len(), 2);
}

#[tokio::test]
async fn a_closed_key_is_reopened_by_a_person() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = house.submit(r#"{"type":"a","concurrency_key":"api"}"#).await;
    let held = house.claim_some(&worker, 1).await;
    house.settle(&held[0], r#""outcome":"rate_limited","retry_after":"8d""#).await;
    let (closed, _) = house.reason(&job, "limit_closed").await;
    assert_eq!(closed["until"], "2026-12-08T09:00:00.000Z", "seven days count, and no more");
    let reopened = house.post("/v1/limits/key:api/reopen", "").await.expect(200);
    assert_eq!(reopened, json!({"reach": "key:api", "state": {"running": 0, "waiting": 0}}));
    assert_eq!(house.claim_some(&worker, 1).await[0]["job_id"], json!(job));
}

#[tokio::test]
async fn a_rate_limited_job_without_a_key_waits_alone() {
    let house = House::open().await;
    let worker = house.register().await;
    let job = house.submit(r#"{"type":"a"}"#).await;
    let held = house.claim_some(&worker, 1).await;
    let settled = house.settle(&held[0], r#""outcome":"rate_limited","retry_after":"30s""#).await;
    let expected = json!({"job_id": job, "state": "rate_limited", "next_fire_time": "2026-12-01T09:00:30.000Z"});
    assert_eq!(settled, expected);
    assert_eq!(house.status(&job).await, "SCHEDULED");
    house.submit(r#"{"type":"a"}"#).await;
    assert_eq!(house.claim_some(&worker, 10).await.len(), 1, "nobody else is kept from it");
}

#[tokio::test]
async fn a_breaker_opens_probes_and_closes_and_says_so() {
    let house = House::open().await;
    let worker = house.register().await;
    let mut stream = Stream::open(&house, "?kind=breaker_opened,breaker_probing,breaker_closed,limit_changed").await;
    let rule = r#"{"breaker":{"failure_ratio":0.5,"min_attempts":2,"cooldown":"30s","closes_after":1}}"#;
    house.put_limit("type:a", rule).await;
    for _ in 0..4 {
        house.submit(r#"{"type":"a","retry":{"strategy":"fixed","base":"1h"}}"#).await;
    }
    let failure = r#""outcome":"failure","error":{"message":"down"}"#;
    for _ in 0..2 {
        let held = house.claim_some(&worker, 1).await;
        house.settle(&held[0], failure).await;
    }
    assert_eq!(house.claim_some(&worker, 10).await, Vec::<Value>::new(), "it is open");
    let waiting = house.submit(r#"{"type":"a"}"#).await;
    let (open, eta) = house.reason(&waiting, "breaker_open").await;
    assert_eq!((&open["limit"], &open["until"]), (&json!("type:a"), &json!("2026-12-01T09:00:30.000Z")));
    assert_eq!(eta, "2026-12-01T09:00:30.000Z");
    let phase = async || house.get("/v1/limits/type:a").await.expect(200)["state"]["breaker"].clone();
    assert_eq!(phase().await, json!({"phase": "open", "probe_at": "2026-12-01T09:00:30.000Z"}));

    house.advance(Duration::from_secs(30));
    let probe = house.claim_some(&worker, 10).await;
    assert_eq!(probe.len(), 1, "one probes");
    assert_eq!(phase().await, json!({"phase": "half_open", "probing": 1, "succeeded": 0}));
    house.reason(&waiting, "breaker_probing").await;
    house.settle(&probe[0], r#""outcome":"success""#).await;
    assert_eq!(phase().await["phase"], "closed");
    assert_eq!(house.claim_some(&worker, 10).await.len(), 2, "the others go");

    let (name, said) = stream.next().await.expect("an event");
    assert_eq!((name.as_str(), &said["limit"]), ("limit_changed", &json!("type:a")));
    let (name, said) = stream.next().await.expect("an event");
    assert_eq!((name.as_str(), &said["limit"]), ("breaker_opened", &json!("type:a")));
    assert_eq!(said["until"], "2026-12-01T09:00:30.000Z");
    let mut last = stream.next().await.expect("an event").0;
    if last == "breaker_probing" {
        last = stream.next().await.expect("an event").0;
    }
    assert_eq!(last, "breaker_closed");
}

#[tokio::test]
async fn a_closed_key_is_told_as_it_happens() {
    let house = House::open().await;
    let worker = house.register().await;
    let mut stream = Stream::open(&house, "?kind=key_closed,rate_limited,limit_reopened,limit_removed").await;
    let job = house.submit(r#"{"type":"a","rate_key":"api"}"#).await;
    let held = house.claim_some(&worker, 1).await;
    house.settle(&held[0], r#""outcome":"rate_limited","retry_after":"30s""#).await;
    house.post("/v1/limits/key:api/reopen", "").await.expect(200);
    house.put_limit("key:api", r#"{"concurrency":1}"#).await;
    house.call("DELETE", "/v1/limits/key:api", "").await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        let (name, said) = stream.next().await.expect("an event");
        match name.as_str() {
            "rate_limited" => assert_eq!(said["job_id"], json!(job)),
            "key_closed" => {
                assert_eq!((&said["limit"], &said["until"]), (&json!("key:api"), &json!("2026-12-01T09:00:30.000Z")));
            }
            _ => assert_eq!(said["limit"], json!("key:api"), "{said}"),
        }
        seen.push(name);
    }
    seen[..2].sort();
    assert_eq!(seen, ["key_closed", "rate_limited", "limit_reopened", "limit_removed"]);
}
