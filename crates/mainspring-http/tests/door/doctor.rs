//! The doctor, and what it finds in a house.

use serde_json::{Value, json};

use crate::house::House;

fn finding<'f>(found: &'f Value, name: &str) -> &'f Value {
    let findings = found["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["name"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

#[tokio::test]
async fn a_server_that_is_well_says_what_it_looked_at() {
    let house = House::open().await;
    let found = house.get("/v1/doctor").await.expect(200);
    assert_eq!(found["severity"], "ok", "{found}");
    for name in [
        "store_answers",
        "leader",
        "vacant_segments",
        "clock_skew",
        "versions",
        "overdue_jobs",
        "paused_queues",
        "dead_letters",
        "silent_workers",
    ] {
        let finding = finding(&found, name);
        assert!(
            finding["what"].is_string() && finding["where"].is_string() && finding.get("do").is_none(),
            "{finding}"
        );
    }
    house.get("/v1/doctor?all=1").await.refused(400, Some("all"), "is not known");
}

#[tokio::test]
async fn a_paused_queue_with_ready_jobs_is_a_notice_that_says_what_to_do() {
    let house = House::open().await;
    house.submit(r#"{"type":"a","queue":"mail"}"#).await;
    house.post("/v1/queues/mail/pause", "").await.expect(200);
    let found = house.get("/v1/doctor").await.expect(200);
    assert_eq!((&found["severity"], &found["findings"][0]["name"]), (&json!("notice"), &json!("paused_queues")));
    let finding = finding(&found, "paused_queues");
    assert_eq!(finding["where"], "default/mail");
    assert!(finding["do"].as_str().expect("a remedy").contains("queue resume"), "{finding}");
}
