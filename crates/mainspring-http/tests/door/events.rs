//! The stream of events, read as a client reads it.

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt;
use http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::house::House;

pub struct Stream {
    body: BodyDataStream,
    read: String,
}

impl Stream {
    pub async fn open(house: &House, query: &str) -> Stream {
        let request = Request::builder().uri(format!("/v1/events{query}")).body(Body::empty()).expect("a request");
        let response = house.router.clone().oneshot(request).await.expect("the router always answers");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { body: response.into_body().into_data_stream(), read: String::new() }
    }

    /// The next event's name and data; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<(String, Value)> {
        while !self.read.contains("\n\n") {
            let piece = self.body.next().await?.expect("the stream does not break");
            self.read.push_str(std::str::from_utf8(&piece).expect("events are text"));
        }
        let (event, rest) = self.read.split_once("\n\n").expect("just seen");
        let line =
            |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).expect("the line").trim().to_owned();
        let said = (line("event:"), serde_json::from_str(&line("data:")).expect("JSON"));
        self.read = rest.to_owned();
        Some(said)
    }
}

#[tokio::test]
async fn what_happens_is_said_as_it_happens() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "").await;
    let id = house.submit(r#"{"type":"a"}"#).await;
    let (name, data) = stream.next().await.expect("an event");
    assert_eq!(name, "submitted");
    assert_eq!((&data["kind"], &data["job_id"], &data["queue"]), (&json!("submitted"), &json!(id), &json!("default")));
    assert_eq!((&data["at"], &data["type"]), (&json!("2026-12-01T09:00:00.000Z"), &json!("a")));

    let worker = house.register().await;
    house.claim(&worker).await;
    let (name, data) = stream.next().await.expect("an event");
    assert_eq!((name.as_str(), &data["job_id"], &data["type"]), ("claimed", &json!(id), &json!("a")));
}

#[tokio::test]
async fn a_reader_gets_only_the_queue_and_the_kinds_it_asked_for() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "?queue=wanted&kind=cancelled,paused").await;
    for queue in ["other", "wanted"] {
        let id = house.submit(&format!(r#"{{"type":"a","queue":"{queue}"}}"#)).await;
        house.post(&format!("/v1/jobs/{id}/cancel"), "").await.expect(200);
    }
    house.post("/v1/queues/wanted/pause", "").await.expect(200);
    let (name, data) = stream.next().await.expect("an event");
    assert_eq!((name.as_str(), &data["queue"]), ("cancelled", &json!("wanted")));
    let (name, data) = stream.next().await.expect("an event");
    assert_eq!((name.as_str(), data.get("job_id")), ("paused", None));
}

#[tokio::test]
async fn what_schedules_do_is_said_too() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "?kind=schedule_changed,schedule_fired,schedule_paused").await;
    house.post("/v1/schedules", r#"{"schedule_id":"s","every":"1h","job":{"type":"a"}}"#).await.expect(201);
    house.post("/v1/clock/advance", r#"{"by":"1h"}"#).await.expect(200);
    house.post("/v1/schedules/s/pause", r#"{"note":"enough"}"#).await.expect(200);
    for expected in ["schedule_changed", "schedule_fired", "schedule_paused"] {
        let (name, data) = stream.next().await.expect("an event");
        assert_eq!((name.as_str(), &data["schedule_id"]), (expected, &json!("s")), "{data}");
    }
}

#[tokio::test]
async fn the_stream_ends_when_the_node_shuts_down() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "?kind=failed").await;
    house.engine.shutdown().await;
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "").await;
    let piece = stream.body.next().await.expect("not the end").expect("the stream does not break");
    assert!(piece.starts_with(b":"), "a comment: {piece:?}");
}
