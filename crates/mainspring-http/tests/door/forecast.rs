//! What will fire.

use serde_json::{Value, json};

use crate::house::House;

#[tokio::test]
async fn a_forecast_counts_schedules_and_jobs_by_the_minute() {
    let house = House::open().await;
    for at in 0..12 {
        let body = format!(r#"{{"schedule_id":"s{at}","daily":"00:00","job":{{"type":"a"}}}}"#);
        house.post("/v1/schedules", &body).await.expect(201);
    }
    house.post("/v1/schedules", r#"{"schedule_id":"hourly","cron":"30 * * * *","job":{"type":"a"}}"#).await.expect(201);
    house.submit(r#"{"type":"a","run_at":"2026-12-01T09:30:20Z"}"#).await;
    let shown = house.get("/v1/forecast?days=1").await.expect(200);
    assert_eq!(
        (&shown["from"], &shown["until"]),
        (&json!("2026-12-01T09:00:00.000Z"), &json!("2026-12-02T09:00:00.000Z"))
    );
    assert_eq!((&shown["schedules"], &shown["jobs"]), (&json!(12 + 24), &json!(1)));
    assert_eq!(shown["minutes"][0], json!({"at": "2026-12-01T09:30:00.000Z", "schedules": 1, "jobs": 1}));
    assert_eq!(shown["peak"], json!({"at": "2026-12-02T00:00:00.000Z", "schedules": 12, "jobs": 0}));
    assert_eq!(shown["minutes"].as_array().map(Vec::len), Some(25));
    let herd = &shown["herds"][0];
    assert_eq!((&herd["at"], &herd["count"]), (&json!("2026-12-02T00:00:00.000Z"), &json!(12)));
    assert!(herd["schedules"].as_array().is_some_and(|names| !names.is_empty() && names.len() <= 12));
    assert_eq!((shown.get("with_jitter"), shown.get("partial")), (None, None));

    let jittered = house.get("/v1/forecast?days=1&jitter=2h").await.expect(200);
    let peak = |shown: &Value, name: &str| shown[name]["schedules"].as_u64().expect("a number");
    assert!(peak(&jittered, "peak_with_jitter") < peak(&jittered, "peak"), "the herd is spread: {jittered}");
    let count = |minutes: &Value| -> u64 {
        minutes.as_array().expect("a list").iter().map(|minute| minute["schedules"].as_u64().expect("a number")).sum()
    };
    assert!(count(&jittered["with_jitter"]) >= 12, "nothing is lost but what is put off past the end");
}

#[tokio::test]
async fn an_empty_forecast_is_empty() {
    let house = House::open().await;
    let shown = house.get("/v1/forecast").await.expect(200);
    assert_eq!(shown["until"], "2026-12-08T09:00:00.000Z", "seven days if nothing is said");
    assert_eq!((&shown["minutes"], &shown["herds"], shown.get("peak")), (&json!([]), &json!([]), None));
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let house = House::open().await;
    for (query, field, words) in [
        ("days=0", "days", "from 1 to 7"),
        ("days=8", "days", "from 1 to 7"),
        ("days=x", "days", "from 1 to 7"),
        ("jitter=soon", "jitter", "is not a duration"),
        ("jitter=2d", "jitter", "longer than the longest jitter, 1d"),
        ("hours=3", "hours", "allowed here: days, jitter"),
    ] {
        house.get(&format!("/v1/forecast?{query}")).await.refused(400, Some(field), words);
    }
}
