//! Dead letters: found, replayed, purged.

use serde_json::json;

use crate::house::{House, NOBODY};

#[tokio::test]
async fn only_dead_letters_are_listed_and_by_every_filter() {
    let house = House::open().await;
    let first = house.dead_letter(r#"{"type":"a","tags":["t"]}"#).await;
    let second = house.dead_letter(r#"{"type":"b"}"#).await;
    house.submit(r#"{"type":"a"}"#).await;
    let found = async |query: &str| {
        let page = house.get(&format!("/v1/dead{query}")).await.expect(200);
        let jobs = page["jobs"].as_array().expect("a list").clone();
        jobs.iter().map(|job| job["job_id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("").await, [second.clone(), first.clone()]);
    assert_eq!(found("?type=a").await, std::slice::from_ref(&first));
    assert_eq!(found("?tag=t&queue=default").await, [first]);
    assert_eq!(found("?limit=1").await, [second]);
    assert!(found("?queue=other").await.is_empty());
}

#[tokio::test]
async fn dead_letters_are_replayed_by_id_and_what_is_none_is_named() {
    let house = House::open().await;
    let dead = house.dead_letter(r#"{"type":"a"}"#).await;
    let alive = house.submit(r#"{"type":"a"}"#).await;
    let body = format!(r#"{{"ids":["{dead}","{alive}","{NOBODY}","{dead}"]}}"#);
    let mut missing = [NOBODY.to_owned(), alive];
    missing.sort();
    let answer = house.post("/v1/dead/replay", &body).await.expect(200);
    assert_eq!(answer, json!({"replayed": 1, "missing": missing, "more": false}));
    assert_eq!(house.status(&dead).await, "PENDING");
}

#[tokio::test]
async fn dead_letters_are_replayed_by_filter_in_steps() {
    let house = House::open().await;
    for kind in ["a", "a", "b"] {
        house.dead_letter(&format!(r#"{{"type":"{kind}"}}"#)).await;
    }
    let step = house.post("/v1/dead/replay", r#"{"type":"a","max":1}"#).await.expect(200);
    assert_eq!(step, json!({"replayed": 1, "missing": [], "more": true}));
    let step = house.post("/v1/dead/replay", r#"{"type":"a"}"#).await.expect(200);
    assert_eq!(step, json!({"replayed": 1, "missing": [], "more": false}));
    let page = house.get("/v1/dead").await.expect(200);
    assert_eq!((page["jobs"].as_array().expect("a list").len(), &page["jobs"][0]["type"]), (1, &json!("b")));
}

#[tokio::test]
async fn purging_forgets_dead_letters_and_nothing_else() {
    let house = House::open().await;
    let cancelled = house.submit(r#"{"type":"a"}"#).await;
    house.post(&format!("/v1/jobs/{cancelled}/cancel"), "").await.expect(200);
    let first = house.dead_letter(r#"{"type":"a"}"#).await;
    house.dead_letter(r#"{"type":"b"}"#).await;
    let body = format!(r#"{{"ids":["{first}","{cancelled}"]}}"#);
    let answer = house.post("/v1/dead/purge", &body).await.expect(200);
    assert_eq!(answer, json!({"purged": 1, "missing": [cancelled], "more": false}));
    house.get(&format!("/v1/jobs/{first}")).await.refused(404, None, "there is no job");
    assert_eq!(house.status(&cancelled).await, "CANCELLED");
    let answer = house.post("/v1/dead/purge", r#"{"max":10}"#).await.expect(200);
    assert_eq!(answer, json!({"purged": 1, "missing": [], "more": false}));
}
