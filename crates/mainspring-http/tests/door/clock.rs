//! The virtual clock, and the real one that nobody moves.

use std::sync::Arc;

use mainspring_engine::{Engine, Parts, Settings, SystemClock};
use mainspring_http::{Options, router};
use mainspring_store::memory::{Alone, Memory};
use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn a_virtual_clock_goes_where_it_is_sent() {
    let house = House::open().await;
    assert_eq!(house.get("/v1/clock").await.expect(200), json!({"now": "2026-12-01T09:00:00.000Z", "virtual": true}));
    let job = house.submit(r#"{"type":"a","delay":"1h"}"#).await;
    let moved = house.post("/v1/clock/advance", r#"{"by":"59m"}"#).await.expect(200);
    assert_eq!(moved["now"], "2026-12-01T09:59:00.000Z");
    assert_eq!(house.status(&job).await, "SCHEDULED");
    let moved = house.post("/v1/clock/advance", r#"{"to":"2026-12-01T10:00:00Z"}"#).await.expect(200);
    assert_eq!(moved, json!({"now": "2026-12-01T10:00:00.000Z", "virtual": true}));
    assert_eq!(house.status(&job).await, "PENDING", "what is due is done when the answer comes");
}

#[tokio::test]
async fn a_clock_does_not_go_back_nor_too_far_at_once() {
    let house = House::open().await;
    let advance = async |body: &str| house.post("/v1/clock/advance", body).await;
    advance(r#"{"to":"2026-12-01T08:59:59Z"}"#).await.refused(422, Some("to"), "does not go back");
    let problem = advance(r#"{"by":"401d"}"#).await.refused(422, Some("by"), "400d in one request");
    assert_eq!(problem["limit"], json!({"name": "advance_max_seconds", "max": 400 * 86_400}));
    advance(r#"{"to":"2036-12-01T08:59:59Z"}"#).await.refused(422, Some("to"), "400d in one request");
    advance("{}").await.refused(422, Some("by"), "say how far");
    advance(r#"{"by":"1h","to":"2026-12-01T10:00:00Z"}"#).await.refused(422, Some("to"), "give one of them");
    advance(r#"{"for":"1h"}"#).await.refused(422, Some("for"), "unknown field `for`");
    assert_eq!(house.get("/v1/clock").await.expect(200)["now"], "2026-12-01T09:00:00.000Z");
}

#[tokio::test]
async fn the_real_clock_is_not_moved() {
    let store = Arc::new(Memory::new());
    let parts = Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock: Arc::new(SystemClock) };
    let engine = Engine::start(parts, Settings::default()).await.expect("the memory store starts");
    let house = House { router: router(engine.clone(), Options::default()), engine, clock: House::open().await.clock };
    assert_eq!(house.get("/v1/clock").await.expect(200)["virtual"], false);
    let problem = house.post("/v1/clock/advance", r#"{"by":"1h"}"#).await.refused(409, None, "--virtual-clock");
    assert_eq!(problem["type"], "/problems/clock-not-virtual");
}
