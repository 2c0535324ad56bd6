//! Schedules as a person makes, changes and watches them.

use http::Request;
use serde_json::{Value, json};

use crate::house::{House, Reply};

const NIGHTLY: &str =
    r#"{"schedule_id":"nightly","cron":"0 3 * * *","timezone":"Europe/Berlin","job":{"type":"report"}}"#;

async fn make(house: &House, body: &str) -> Value {
    house.post("/v1/schedules", body).await.expect(201)
}

async fn with_header(house: &House, method: &str, path: &str, header: (&str, &str), body: &str) -> Reply {
    let request = Request::builder().method(method).uri(path).header(header.0, header.1);
    house.send(request.body(body.to_owned().into()).expect("a request")).await
}

/// Moves the clock; what is due is done when it answers.
async fn advance(house: &House, by: &str) {
    house.post("/v1/clock/advance", &format!(r#"{{"by":"{by}"}}"#)).await.expect(200);
}

fn occurrences(reply: &Value) -> Vec<String> {
    let all = reply["occurrences"].as_array().expect("a list").iter();
    all.map(|one| one["at"].as_str().expect("a time").to_owned()).collect()
}

#[tokio::test]
async fn a_schedule_is_made_and_shown_whole() {
    let house = House::open().await;
    let reply = house.post("/v1/schedules", NIGHTLY).await;
    let made = reply.expect(201);
    assert_eq!(reply.header("etag"), Some("\"1\""));
    assert_eq!(reply.header("location"), Some("/v1/schedules/nightly"));
    assert_eq!(
        made,
        json!({
            "schedule_id": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "dst_gap": "shift",
            "dst_overlap": "first", "catchup": {"mode": "latest", "window": "1d", "max": 100}, "overlap": "allow",
            "job": {
                "type": "report", "queue": "default", "priority": 5,
                "retry": {"strategy": "exponential", "base": "5s", "cap": "1h", "factor": 2.0, "jitter": 0.1},
                "max_attempts": 3, "max_crashes": 5,
            },
            "revision": 1, "status": "ACTIVE", "next_fire_time": "2026-12-02T02:00:00.000Z", "runs": 0,
            "created_at": "2026-12-01T09:00:00.000Z", "updated_at": "2026-12-01T09:00:00.000Z",
        })
    );
    let reply = house.get("/v1/schedules/nightly").await;
    assert_eq!(reply.expect(200), made);
    assert_eq!(reply.header("etag"), Some("\"1\""));
}

#[tokio::test]
async fn what_is_written_is_shown_and_can_be_written_again() {
    let house = House::open().await;
    for (at, fields) in [
        r#""cron":"H H(2-4) * * MON-FRI""#,
        r#""every":"90s""#,
        r#""every":{"every":"1h","anchor":"2026-01-01T00:10:00.000Z"}"#,
        r#""daily":"09:00""#,
        r#""daily":["09:00","17:30:15"]"#,
        r#""weekly":{"days":["MON","FRI"],"at":"09:00"}"#,
        r#""monthly":{"days":[-1,1],"at":["00:00","12:00"]}"#,
        r#""rrule":"FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0""#,
        r#""when":[{"cron":"0 3 * * *"},{"daily":"12:00"}]"#,
        r#""daily":"09:00","dst_gap":"skip","dst_overlap":"both","timezone":"America/New_York""#,
        r#""daily":"09:00","exclude":["2026-12-25",{"from":"2026-12-27","through":"2027-01-01"},{"weekdays":["SAT","SUN"]},{"times":{"from":"22:00","to":"06:00"}},{"cron":"* * 13 * *"}]"#,
        r#""daily":"09:00","start_at":"2027-01-01T00:00:00.000Z","end_at":"2028-01-01T00:00:00.000Z","max_runs":10,"jitter":"30s""#,
        r#""daily":"09:00","catchup":"none","overlap":"queue_one","pause_on_failure":true,"note":"why""#,
        r#""daily":"09:00","catchup":{"mode":"all","window":"2d","max":7},"overlap":"cancel_previous""#,
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(r#"{{"schedule_id":"s{at}",{fields},"job":{{"type":"a"}}}}"#);
        let mut shown = make(&house, &body).await;
        let written: Value = serde_json::from_str(&body).expect("JSON");
        for (name, value) in written.as_object().expect("an object").iter().filter(|(name, _)| *name != "job") {
            assert_eq!(&shown[name], value, "{name}");
        }
        let view = shown.as_object_mut().expect("an object");
        for added in ["revision", "status", "next_fire_time", "runs", "created_at", "updated_at"] {
            view.remove(added).unwrap_or_else(|| panic!("{added} is shown"));
        }
        let again = house.call("PUT", &format!("/v1/schedules/s{at}"), shown.to_string()).await.expect(200);
        assert_eq!(again["revision"], 1, "the same words change nothing: {fields}");
    }
}

#[tokio::test]
async fn the_data_of_its_jobs_is_kept_as_it_was_written() {
    let house = House::open().await;
    let job = r#"{"type":"a","queue":"q","data":{ "n" : 18446744073709551616 },"priority":9,"deadline":"1h","expires_in":"2h","timeout":"1m","tags":["t"],"max_attempts":4,"max_crashes":2,"concurrency_key":"c","rate_key":"r","weight":3}"#;
    make(&house, &format!(r#"{{"schedule_id":"s","every":"1h","job":{job}}}"#)).await;
    house.call("PATCH", "/v1/schedules/s", r#"{"note":"changed"}"#).await.expect(200);
    let reply = house.get("/v1/schedules/s").await;
    assert!(reply.text.contains(r#""data":{ "n" : 18446744073709551616 }"#), "{}", reply.text);
    let submitted = house.post("/v1/schedules/s/trigger", "").await.expect(202);
    let made = house.get(&format!("/v1/jobs/{}", submitted["job_id"].as_str().expect("an id"))).await;
    assert!(made.text.contains(r#""data":{ "n" : 18446744073709551616 }"#), "{}", made.text);
    let made = made.expect(200);
    assert_eq!((&made["queue"], &made["priority"], &made["tags"]), (&json!("q"), &json!(9), &json!(["t"])));
    assert_eq!((&made["concurrency_key"], &made["rate_key"], &made["weight"]), (&json!("c"), &json!("r"), &json!(3)));
    assert_eq!((&made["timeout"], &made["max_attempts"]), (&json!("1m"), &json!(4)));
    assert_eq!(
        (&made["deadline"], &made["expires_at"]),
        (&json!("2026-12-01T10:00:00.000Z"), &json!("2026-12-01T11:00:00.000Z"))
    );
}

#[tokio::test]
async fn a_schedule_without_a_name_is_given_one() {
    let house = House::open().await;
    let body = r#"{"every":"1h","job":{"type":"a"}}"#;
    let (first, second) = (make(&house, body).await, make(&house, body).await);
    assert_ne!(first["schedule_id"], second["schedule_id"]);
    let name = first["schedule_id"].as_str().expect("a name");
    assert_eq!(name.len(), "01980000-0000-7000-8000-000000000001".len());
    house.get(&format!("/v1/schedules/{name}")).await.expect(200);
}

#[tokio::test]
async fn a_name_with_a_slash_is_one_name() {
    let house = House::open().await;
    let reply = house.post("/v1/schedules", r#"{"schedule_id":"eu/nightly","every":"1h","job":{"type":"a"}}"#).await;
    reply.expect(201);
    let path = reply.header("location").expect("where it is").to_owned();
    assert_eq!(path, "/v1/schedules/eu%2Fnightly");
    assert_eq!(house.get(&path).await.expect(200)["schedule_id"], "eu/nightly");
}

#[tokio::test]
async fn post_makes_and_never_replaces() {
    let house = House::open().await;
    make(&house, NIGHTLY).await;
    let problem =
        house.post("/v1/schedules", NIGHTLY).await.refused(409, Some("schedule_id"), "PUT /v1/schedules/nightly");
    assert_eq!(problem["type"], "/problems/conflict");
}

#[tokio::test]
async fn put_makes_or_replaces_and_minds_what_the_caller_has_seen() {
    let house = House::open().await;
    let every = |span: &str| format!(r#"{{"every":"{span}","job":{{"type":"a"}}}}"#);
    let put = async |header: (&str, &str), span: &str| {
        with_header(&house, "PUT", "/v1/schedules/s", header, &every(span)).await
    };
    let gone = put(("if-match", "\"1\""), "1h").await;
    assert_eq!(gone.refused(412, None, "there is no such schedule")["type"], "/problems/precondition-failed");
    put(("if-match", "*"), "1h").await.refused(412, None, "there is no such schedule");

    let reply = put(("if-none-match", "*"), "1h").await;
    assert_eq!((reply.expect(201)["revision"].clone(), reply.header("location")), (json!(1), Some("/v1/schedules/s")));
    put(("if-none-match", "*"), "1h").await.refused(412, None, "at revision 1");

    let reply = put(("if-match", "\"1\""), "2h").await;
    assert_eq!((&reply.expect(200)["every"], reply.header("etag")), (&json!("2h"), Some("\"2\"")));
    put(("if-match", "\"1\""), "3h").await.refused(412, None, "at revision 2");
    assert_eq!(put(("if-match", "*"), "3h").await.expect(200)["revision"], 3);
    let reply = house.call("PUT", "/v1/schedules/s", every("4h")).await;
    assert_eq!(
        (&reply.expect(200)["revision"], &reply.expect(200)["created_at"]),
        (&json!(4), &json!("2026-12-01T09:00:00.000Z"))
    );
    assert_eq!(house.get("/v1/schedules/s").await.expect(200)["every"], "4h");

    put(("if-match", "3"), "1h").await.refused(400, Some("If-Match"), "If-Match: \"3\"");
    put(("if-none-match", "\"3\""), "1h").await.refused(400, Some("If-None-Match"), "only If-None-Match: *");
}

#[tokio::test]
async fn a_patch_changes_what_it_names_and_nothing_else() {
    let house = House::open().await;
    let body = r#"{"schedule_id":"s","daily":"09:00","note":"old","jitter":"5s","job":{"type":"a","data":{"x":1,"y":[2]},"queue":"q"}}"#;
    make(&house, body).await;
    let patch = async |body: &str| house.call("PATCH", "/v1/schedules/s", body.to_owned()).await;
    let shown = patch(r#"{"note":null,"jitter":"9s","job":{"data":{"x":null,"z":3}}}"#).await.expect(200);
    assert_eq!((shown.get("note"), &shown["jitter"], &shown["revision"]), (None, &json!("9s"), &json!(2)));
    assert_eq!((&shown["job"]["data"], &shown["job"]["queue"]), (&json!({"y": [2], "z": 3}), &json!("q")));
    assert_eq!(shown["daily"], "09:00");

    patch(r#"{"cron":"0 9 * * *"}"#).await.refused(422, Some("daily"), "null takes the other away");
    let shown = patch(r#"{"cron":"0 9 * * *","daily":null}"#).await.expect(200);
    assert_eq!((shown.get("daily"), &shown["cron"]), (None, &json!("0 9 * * *")));
    patch(r#"{"cron":"0 99 * * *"}"#).await.refused(422, Some("cron"), "99");
    patch(r#"{"schedule_id":"t"}"#).await.refused(422, Some("schedule_id"), "keeps its name");
    patch(r#"{"crn":"0 9 * * *"}"#).await.refused(422, Some("crn"), "unknown field `crn`");
    patch(r#"{"job":{"type":null}}"#).await.refused(422, Some("job.type"), "must be given");
    patch("[]").await.refused(422, None, "expected an object");
    let deep = format!("{}1{}", r#"{"a":"#.repeat(65), "}".repeat(65));
    patch(&deep).await.refused(422, None, "patch_depth_max, 64 levels");
    let long = format!(r#"{{"note":"{}"}}"#, "n".repeat(2 * 1024 * 1024));
    patch(&long).await.refused(413, None, "patch_bytes_max");

    let with =
        async |tag: &str| with_header(&house, "PATCH", "/v1/schedules/s", ("if-match", tag), r#"{"note":"new"}"#).await;
    with("\"2\"").await.refused(412, None, "at revision 3");
    assert_eq!(with("\"3\"").await.expect(200)["note"], "new");
}

#[tokio::test]
async fn a_deleted_schedule_is_gone_and_its_ledger_stays() {
    let house = House::open().await;
    make(&house, NIGHTLY).await;
    house.post("/v1/schedules/nightly/trigger", "").await.expect(202);
    let with = async |tag: &str| with_header(&house, "DELETE", "/v1/schedules/nightly", ("if-match", tag), "").await;
    with("\"7\"").await.refused(412, None, "at revision 1");
    let reply = with("\"1\"").await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    house.get("/v1/schedules/nightly").await.refused(404, None, "there is no schedule nightly");
    let ledger = house.get("/v1/schedules/nightly/ledger").await.expect(200);
    assert_eq!(ledger["rows"][0]["what"], "TRIGGERED");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let house = House::open().await;
    let missing = "there is no schedule nobody";
    for path in ["", "/preview", "/ledger"] {
        house.get(&format!("/v1/schedules/nobody{path}")).await.refused(404, None, missing);
    }
    for (verb, body) in [("pause", ""), ("resume", ""), ("trigger", ""), ("backfill", r#"{"from":0,"to":1796115600}"#)]
    {
        house.post(&format!("/v1/schedules/nobody/{verb}"), body).await.refused(404, None, missing);
    }
    house.call("PATCH", "/v1/schedules/nobody", "{}").await.refused(404, None, missing);
    house.call("DELETE", "/v1/schedules/nobody", "").await.refused(404, None, missing);
}

#[tokio::test]
async fn schedules_are_listed_by_name_page_by_page() {
    let house = House::open().await;
    for name in ["d", "a", "c", "b"] {
        make(&house, &format!(r#"{{"schedule_id":"{name}","every":"1h","job":{{"type":"a"}}}}"#)).await;
    }
    house.post("/v1/schedules/b/pause", "").await.expect(200);
    let list = async |query: &str| {
        let page = house.get(&format!("/v1/schedules{query}")).await.expect(200);
        let names = page["schedules"].as_array().expect("a list").iter();
        let names: String = names.map(|one| one["schedule_id"].as_str().expect("a name")).collect();
        (names, page["next_cursor"].as_str().map(str::to_owned))
    };
    assert_eq!(list("").await, ("abcd".to_owned(), None));
    let (first, next) = list("?limit=3").await;
    assert_eq!(first, "abc");
    assert_eq!(list(&format!("?limit=3&cursor={}", next.expect("there is more"))).await, ("d".to_owned(), None));
    assert_eq!(list("?paused=true").await.0, "b");
    assert_eq!(list("?paused=false").await.0, "acd");
}

#[tokio::test]
async fn a_paused_schedule_says_why_and_resumes_by_itself() {
    let house = House::open().await;
    make(&house, r#"{"schedule_id":"s","every":"10m","job":{"type":"a"}}"#).await;
    let paused = house.post("/v1/schedules/s/pause", r#"{"note":"holiday","for":"25m"}"#).await.expect(200);
    assert_eq!(paused["status"], "PAUSED");
    assert_eq!(
        paused["paused"],
        json!({"note": "holiday", "since": "2026-12-01T09:00:00.000Z", "until": "2026-12-01T09:25:00.000Z", "by": "person"})
    );
    advance(&house, "35m").await;
    let shown = house.get("/v1/schedules/s").await.expect(200);
    assert_eq!((&shown["status"], shown.get("paused"), &shown["runs"]), (&json!("ACTIVE"), None, &json!(1)));
    let ledger = house.get("/v1/schedules/s/ledger").await.expect(200);
    assert_eq!(
        (&ledger["rows"][0]["what"], &ledger["rows"][0]["occurrence"]),
        (&json!("FIRED"), &json!("2026-12-01T09:30:00.000Z"))
    );
    let skipped = &ledger["rows"][1];
    assert_eq!(
        (&skipped["what"], &skipped["reason"], &skipped["count"]),
        (&json!("SKIPPED"), &json!("paused"), &json!(2))
    );

    house.post("/v1/schedules/s/pause", "").await.expect(200);
    assert_eq!(house.post("/v1/schedules/s/resume", "").await.expect(200)["status"], "ACTIVE");
}

#[tokio::test]
async fn occurrences_make_jobs_and_leave_rows() {
    let house = House::open().await;
    make(&house, r#"{"schedule_id":"s","every":"10m","max_runs":3,"job":{"type":"a"}}"#).await;
    let promised = occurrences(&house.get("/v1/schedules/s/preview").await.expect(200));
    assert_eq!(promised.len(), 3, "no more than it may run");
    advance(&house, "1h").await;
    let shown = house.get("/v1/schedules/s").await.expect(200);
    assert_eq!((&shown["status"], &shown["runs"], shown.get("next_fire_time")), (&json!("ENDED"), &json!(3), None));
    assert_eq!(shown["last_fire_time"], "2026-12-01T09:30:00.000Z");

    let found = house.get("/v1/jobs?schedule=s").await.expect(200);
    let mut fired: Vec<&str> = found["jobs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|job| job["occurrence"].as_str().expect("a time"))
        .collect();
    fired.sort_unstable();
    assert_eq!(fired, promised, "what was previewed is what fired");
    assert!(found["jobs"].as_array().expect("a list").iter().all(|job| job["schedule_id"] == "s"));
    assert_eq!(house.get("/v1/jobs?schedule=t").await.expect(200)["jobs"], json!([]));

    let page = house.get("/v1/schedules/s/ledger?limit=2").await.expect(200);
    let first = &page["rows"][0];
    assert_eq!((&first["what"], &first["count"], &first["late_ms"]), (&json!("FIRED"), &json!(1), &json!(0)));
    assert_eq!(
        (&first["occurrence"], &first["through"]),
        (&json!("2026-12-01T09:30:00.000Z"), &json!("2026-12-01T09:30:00.000Z"))
    );
    assert_eq!(first["job_id"], shown["last_job_id"]);
    let next = page["next_cursor"].as_str().expect("there is more");
    let rest = house.get(&format!("/v1/schedules/s/ledger?limit=2&cursor={next}")).await.expect(200);
    assert_eq!((rest["rows"].as_array().map(Vec::len), rest.get("next_cursor")), (Some(1), None));
}

#[tokio::test]
async fn a_triggered_job_is_beside_the_occurrences() {
    let house = House::open().await;
    make(&house, NIGHTLY).await;
    let submitted = house.post("/v1/schedules/nightly/trigger", "").await.expect(202);
    assert_eq!(submitted["status"], "PENDING");
    let shown = house.get("/v1/schedules/nightly").await.expect(200);
    assert_eq!((&shown["runs"], &shown["next_fire_time"]), (&json!(0), &json!("2026-12-02T02:00:00.000Z")));
    let row = house.get("/v1/schedules/nightly/ledger").await.expect(200)["rows"][0].clone();
    assert_eq!((&row["what"], &row["job_id"]), (&json!("TRIGGERED"), &submitted["job_id"]));
    let worker = house.register().await;
    assert_eq!(house.claim(&worker).await.0, submitted["job_id"].as_str().expect("an id"));

    house.call("PATCH", "/v1/queues/default", r#"{"max_depth":1}"#).await.expect(200);
    house.post("/v1/schedules/nightly/trigger", "").await.expect(202);
    house.post("/v1/schedules/nightly/trigger", "").await.refused(429, None, "max_depth");
}

#[tokio::test]
async fn a_back_fill_says_first_what_it_would_do() {
    let house = House::open().await;
    make(&house, r#"{"schedule_id":"s","every":"10m","job":{"type":"a"}}"#).await;
    house.post("/v1/schedules/s/pause", r#"{"for":"31m"}"#).await.expect(200);
    advance(&house, "50m").await;
    let fill = async |rest: &str| {
        let body = format!(r#"{{"from":"2026-12-01T09:00:00Z","to":"2026-12-01T12:00:00Z"{rest}}}"#);
        let reply = house.post("/v1/schedules/s/backfill", &body).await.expect(200);
        let results = reply["occurrences"].as_array().expect("a list").iter();
        let results: Vec<String> = results.map(|one| one["result"].as_str().expect("a word").to_owned()).collect();
        (results.join(" "), reply["more"].as_bool().expect("a bool"))
    };
    let jobs = async || house.get("/v1/jobs?schedule=s").await.expect(200)["jobs"].as_array().map(Vec::len);
    let expected = "WOULD_FILL WOULD_FILL WOULD_FILL WOULD_FILL EXISTS EXISTS".to_owned();
    assert_eq!(
        fill(r#","dry_run":true"#).await,
        (expected, false),
        "9:00 was before it was made; 10, 20 and 30 fell into the pause"
    );
    assert_eq!(jobs().await, Some(2), "a dry run makes nothing");
    assert_eq!(fill(r#","max":2"#).await, ("FILLED FILLED".to_owned(), true));
    assert_eq!(jobs().await, Some(4));
    assert_eq!(fill("").await, ("EXISTS EXISTS FILLED FILLED EXISTS EXISTS".to_owned(), false));
    let ledger = house.get("/v1/schedules/s/ledger").await.expect(200);
    let filled = ledger["rows"].as_array().expect("a list").iter().filter(|row| row["what"] == "BACKFILLED").count();
    assert_eq!(filled, 4);
}

#[tokio::test]
async fn a_preview_shows_what_the_clocks_do() {
    let house = House::open().await;
    let check = async |fields: &str, after: &str, expected: Value| {
        let body = format!(r#"{{{fields},"timezone":"Europe/Berlin","job":{{"type":"a"}}}}"#);
        let reply = house.post(&format!("/v1/schedules/preview?count=2&after={after}"), &body).await.expect(200);
        let mut shown = reply["occurrences"].clone();
        for one in shown.as_array_mut().expect("a list") {
            assert_eq!(one.get("note").is_some(), one.get("dst").is_some(), "a change of the clocks is explained");
            one.as_object_mut().expect("an object").remove("note");
        }
        assert_eq!((&reply["timezone"], shown), (&json!("Europe/Berlin"), expected), "{fields}");
    };
    let at = |at: &str, local: &str, utc_offset: &str| json!({"at": at, "local": local, "utc_offset": utc_offset});
    let noted = |mut one: Value, dst: &str| {
        one["dst"] = json!(dst);
        one
    };
    let spring = "2027-03-27T12:00:00Z";
    let plain = at("2027-03-29T00:30:00.000Z", "2027-03-29T02:30:00", "+02:00");
    let shifted = noted(at("2027-03-28T01:30:00.000Z", "2027-03-28T03:30:00", "+02:00"), "shifted");
    check(r#""daily":"02:30""#, spring, json!([shifted, plain])).await;
    let next = at("2027-03-30T00:30:00.000Z", "2027-03-30T02:30:00", "+02:00");
    check(r#""daily":"02:30","dst_gap":"skip""#, spring, json!([plain, next])).await;

    let autumn = "2027-10-30T12:00:00Z";
    let first = noted(at("2027-10-31T00:30:00.000Z", "2027-10-31T02:30:00", "+02:00"), "first");
    let last = noted(at("2027-10-31T01:30:00.000Z", "2027-10-31T02:30:00", "+01:00"), "last");
    let plain = at("2027-11-01T01:30:00.000Z", "2027-11-01T02:30:00", "+01:00");
    check(r#""daily":"02:30""#, autumn, json!([first, plain])).await;
    check(r#""daily":"02:30","dst_overlap":"last""#, autumn, json!([last, plain])).await;
    check(r#""daily":"02:30","dst_overlap":"both""#, autumn, json!([first, last])).await;
}

#[tokio::test]
async fn a_document_can_be_previewed_before_it_is_saved() {
    let house = House::open().await;
    let reply = house.post("/v1/schedules/preview?count=3", NIGHTLY).await.expect(200);
    let made = make(&house, NIGHTLY).await;
    assert_eq!(
        house.get("/v1/schedules/nightly/preview?count=3").await.expect(200)["occurrences"],
        reply["occurrences"]
    );
    assert_eq!(occurrences(&reply).len(), 3);
    assert_eq!(reply["ends"], false);
    for (name, value) in reply["schedule"].as_object().expect("the document as it would be kept") {
        assert_eq!(&made[name], value, "{name}");
    }
    assert_eq!(reply["schedule"]["catchup"]["mode"], "latest", "with everything that was left to the server");

    let ends = r#"{"daily":"09:00","end_at":"2026-12-03T00:00:00Z","job":{"type":"a"}}"#;
    let reply = house.post("/v1/schedules/preview", ends).await.expect(200);
    assert_eq!((occurrences(&reply), &reply["ends"]), (vec!["2026-12-02T09:00:00.000Z".to_owned()], &json!(true)));
    assert_eq!(reply["schedule"].get("schedule_id"), None, "a document without a name stays without one");
    assert_eq!(house.get("/v1/schedules").await.expect(200)["schedules"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn the_job_of_a_schedule_says_where_it_comes_from() {
    let house = House::open().await;
    make(&house, r#"{"schedule_id":"s","every":"1h","job":{"type":"a"}}"#).await;
    advance(&house, "1h").await;
    let job = house.get("/v1/jobs?schedule=s").await.expect(200)["jobs"][0].clone();
    let explained =
        house.get(&format!("/v1/jobs/{}/explain", job["job_id"].as_str().expect("an id"))).await.expect(200);
    let reasons = explained["reasons"].as_array().expect("a list");
    let made_by = reasons.iter().find(|reason| reason["code"] == "made_by").expect("it is said");
    assert_eq!((&made_by["schedule_id"], &made_by["occurrence"]), (&json!("s"), &json!("2026-12-01T10:00:00.000Z")));
}
