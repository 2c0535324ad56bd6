//! The cluster, and what a node of it refuses that has other roles.

use std::sync::Arc;

use mainspring_engine::{Engine, ManualClock, Parts, Settings};
use mainspring_http::{Options, router};
use mainspring_store::memory::{Alone, Memory};
use serde_json::json;

use crate::house::{House, NOW};

#[tokio::test]
async fn a_server_that_is_alone_leads_and_has_every_segment() {
    let house = House::open().await;
    let cluster = house.get("/v1/cluster").await.expect(200);
    let id = &cluster["node_id"];
    assert_eq!((&cluster["leader"], &cluster["leader_epoch"], &cluster["vacant"]), (id, &json!(1), &json!(0)));
    let node = &cluster["nodes"][0];
    assert_eq!((&node["node_id"], &node["live"], &node["leader"]), (id, &json!(true), &json!(true)));
    assert_eq!(node["roles"], json!(["api", "scheduler", "dispatcher"]));
    assert_eq!(node["segments"].as_array().map(Vec::len), Some(100));
    assert_eq!(cluster["segments"][99]["node_id"], *id);
    assert_eq!(cluster["segments"][99]["until"], "2026-12-01T09:00:10.000Z");
    assert!(node.get("skew_ms").is_none(), "this store has no clock");
    house.get("/v1/cluster?all=1").await.refused(400, Some("all"), "is not known");
}

async fn with_roles(roles: &str) -> House {
    let clock = Arc::new(ManualClock::new(NOW));
    let store = Arc::new(Memory::new());
    let parts = Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock: clock.clone() };
    let settings = Settings { roles: roles.parse().expect("roles"), ..Settings::default() };
    let engine = Engine::start(parts, settings).await.expect("the memory store starts");
    House { router: router(engine.clone(), Options::default()), engine, clock }
}

#[tokio::test]
async fn a_node_without_the_role_for_it_sends_callers_elsewhere() {
    let house = with_roles("api,scheduler").await;
    let worker = house.register().await;
    house.submit(r#"{"type":"a"}"#).await;
    let claim = format!(r#"{{"worker_id":"{worker}","queues":["default"]}}"#);
    house.post("/v1/claims", &claim).await.refused(503, None, "has not the role of dispatcher");

    let house = with_roles("scheduler").await;
    house.post("/v1/jobs", r#"{"type":"a"}"#).await.refused(503, None, "has not the role of api");
    for path in ["/livez", "/readyz", "/v1/cluster", "/v1/doctor", "/metrics", "/openapi.json"] {
        assert_eq!(house.get(path).await.status, 200, "{path}");
    }
}
