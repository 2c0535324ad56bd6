//! Every field of a job: the bad values, and what each is answered.

use crate::house::House;

/// A field, a value that is not allowed, and words of the answer. The status is 422.
const BAD_VALUES: &[(&str, &str, &str)] = &[
    ("type", r#""type":"""#, "a type must not be empty"),
    ("type", r#""type":"a b""#, "must not contain ' ' (position 1)"),
    ("type", r#""type":"é""#, "letters, digits and"),
    ("type", r#""type":null"#, "expected a string"),
    ("type", r#""type":7"#, "expected a string"),
    ("type", r#""type":["a"]"#, "expected a string"),
    ("queue", r#""type":"a","queue":"""#, "a queue must not be empty"),
    ("queue", r#""type":"a","queue":"a\nb""#, "must not contain '\\n'"),
    ("queue", r#""type":"a","queue":{}"#, "expected a string"),
    ("priority", r#""type":"a","priority":1001"#, "1001 is not from -1000 to 1000"),
    ("priority", r#""type":"a","priority":-1001"#, "-1001 is not from -1000 to 1000"),
    ("priority", r#""type":"a","priority":1.5"#, "expected a whole number"),
    ("priority", r#""type":"a","priority":"high""#, "expected a whole number"),
    ("priority", r#""type":"a","priority":99999999999"#, "expected a whole number"),
    ("run_at", r#""type":"a","run_at":"tomorrow""#, "\"tomorrow\" is not a time"),
    ("run_at", r#""type":"a","run_at":"2026-12-01""#, "RFC 3339"),
    ("run_at", r#""type":"a","run_at":-1"#, "before 1970"),
    ("run_at", r#""type":"a","run_at":1796115600000"#, "past the year 9999"),
    ("run_at", r#""type":"a","run_at":"9999-01-01T00:00:00Z""#, "more than 100 years ahead"),
    ("run_at", r#""type":"a","run_at":true"#, "RFC 3339"),
    ("delay", r#""type":"a","delay":"soon""#, "\"soon\" is not a duration"),
    ("delay", r#""type":"a","delay":-5"#, "is negative"),
    ("delay", r#""type":"a","delay":"36501d""#, "longer than 100 years"),
    ("delay", r#""type":"a","delay":[1]"#, "a duration such as 90s"),
    ("delay", r#""type":"a","delay":"1s","run_at":"2026-12-02T09:00:00Z""#, "run_at and delay both say when"),
    ("jitter", r#""type":"a","jitter":"x""#, "is not a duration"),
    ("jitter", r#""type":"a","jitter":-1"#, "is negative"),
    ("deadline", r#""type":"a","deadline":"never""#, "is not a time"),
    ("deadline", r#""type":"a","deadline":"9999-01-01T00:00:00Z""#, "more than 100 years ahead"),
    ("deadline", r#""type":"a","delay":"2h","deadline":"2026-12-01T10:00:00Z""#, "is before the job's run time"),
    ("expires_at", r#""type":"a","expires_at":0.5"#, "is not after the job's run time"),
    ("expires_at", r#""type":"a","delay":"2h","expires_at":"2026-12-01T10:00:00Z""#, "is not after the job's run time"),
    ("expires_at", r#""type":"a","expires_at":{}"#, "RFC 3339"),
    ("expires_in", r#""type":"a","expires_in":"0s""#, "is zero"),
    ("expires_in", r#""type":"a","expires_in":"x""#, "is not a duration"),
    ("expires_in", r#""type":"a","expires_in":"1h","expires_at":"2026-12-02T09:00:00Z""#, "both say when"),
    ("retry", r#""type":"a","retry":"often""#, "expected an object"),
    ("retry.strategy", r#""type":"a","retry":{"strategy":"random"}"#, "unknown variant `random`"),
    ("retry.base", r#""type":"a","retry":{"base":-1}"#, "is negative"),
    ("retry.base", r#""type":"a","retry":{"base":"2h","cap":"1h"}"#, "2h is longer than the cap, 1h"),
    (
        "retry.base",
        r#""type":"a","retry":{"strategy":"list","delays":["1s"],"base":"1s"}"#,
        "its waits are in `delays`",
    ),
    ("retry.cap", r#""type":"a","retry":{"cap":"x"}"#, "is not a duration"),
    ("retry.factor", r#""type":"a","retry":{"factor":0.5}"#, "0.5 is not from 1 to 100"),
    ("retry.factor", r#""type":"a","retry":{"factor":101}"#, "101 is not from 1 to 100"),
    ("retry.factor", r#""type":"a","retry":{"strategy":"fixed","factor":2}"#, "only with `exponential`"),
    ("retry.jitter", r#""type":"a","retry":{"jitter":1.1}"#, "1.1 is not from 0 to 1"),
    ("retry.jitter", r#""type":"a","retry":{"jitter":-0.1}"#, "-0.1 is not from 0 to 1"),
    ("retry.delays", r#""type":"a","retry":{"strategy":"list"}"#, "needs at least one delay"),
    ("retry.delays", r#""type":"a","retry":{"strategy":"list","delays":[]}"#, "needs at least one delay"),
    ("retry.delays", r#""type":"a","retry":{"delays":["1s"]}"#, "only with `list`"),
    ("retry.delays[1]", r#""type":"a","retry":{"strategy":"list","delays":["1s","x"]}"#, "is not a duration"),
    ("retry.tries", r#""type":"a","retry":{"tries":3}"#, "allowed here: `strategy`, `base`"),
    ("max_attempts", r#""type":"a","max_attempts":0"#, "0 is not from 1 to 1000"),
    ("max_attempts", r#""type":"a","max_attempts":1001"#, "1001 is not from 1 to 1000"),
    ("max_attempts", r#""type":"a","max_attempts":-1"#, "not negative"),
    ("max_crashes", r#""type":"a","max_crashes":1001"#, "1001 is not from 0 to 1000"),
    ("max_crashes", r#""type":"a","max_crashes":"5""#, "expected a whole number"),
    ("timeout", r#""type":"a","timeout":"99ms""#, "99ms is not from 100ms to 30d"),
    ("timeout", r#""type":"a","timeout":"31d""#, "31d is not from 100ms to 30d"),
    ("timeout", r#""type":"a","timeout":"""#, "is not a duration"),
    ("tags", r#""type":"a","tags":"x""#, "expected a list"),
    ("tags[1]", r#""type":"a","tags":["x",""]"#, "a tag must not be empty"),
    ("tags[0]", r#""type":"a","tags":["a\tb"]"#, "must not contain '\\t'"),
    ("tags[0]", r#""type":"a","tags":[1]"#, "expected a string"),
    ("idempotency_key", r#""type":"a","idempotency_key":"""#, "idempotency key must not be empty"),
    ("idempotency_key", r#""type":"a","idempotency_key":"a\u0000""#, "must not contain"),
    ("idempotency_key", r#""type":"a","idempotency_key":7"#, "expected a string"),
    ("idempotency_retention", r#""type":"a","idempotency_retention":"1d""#, "without an idempotency_key"),
    ("idempotency_retention", r#""type":"a","idempotency_key":"k","idempotency_retention":0"#, "is zero"),
    ("idempotency_retention", r#""type":"a","idempotency_key":"k","idempotency_retention":"x""#, "is not a duration"),
    ("depends_on", r#""type":"a","depends_on":"x""#, "expected a list"),
    ("depends_on[0]", r#""type":"a","depends_on":["x"]"#, "\"x\" is not the id of a job"),
    ("depends_on[0]", r#""type":"a","depends_on":[7]"#, "expected the id of a job, or an object"),
    ("depends_on[0].job_id", r#""type":"a","depends_on":[{"on_failure":"run"}]"#, "must be given"),
    ("concurrency_key", r#""type":"a","concurrency_key":"""#, "a limit key must not be empty"),
    ("rate_key", r#""type":"a","rate_key":"a\u0000""#, "must not contain"),
    ("weight", r#""type":"a","weight":0"#, "0 is not from 1 to 65535"),
    ("weight", r#""type":"a","weight":65536"#, "65536 is not from 1 to 65535"),
    ("weight", r#""type":"a","weight":1.5"#, "expected a whole number"),
    ("prority", r#""type":"a","prority":1"#, "unknown field `prority`; allowed here: `type`, `queue`"),
    ("type", r#""queue":"a""#, "must be given"),
    ("type", r#""type":"a","type":"b""#, "given twice"),
];

#[tokio::test]
async fn every_bad_value_of_a_job_is_named_with_what_is_wrong() {
    let house = House::open().await;
    for (field, members, words) in BAD_VALUES {
        house.post("/v1/jobs", &format!("{{{members}}}")).await.refused(422, Some(field), words);
    }
    assert_eq!(house.get("/v1/jobs").await.expect(200)["jobs"], serde_json::json!([]), "nothing was stored");
}

#[tokio::test]
async fn in_a_batch_the_wrong_job_is_named_and_nothing_is_stored() {
    let house = House::open().await;
    for (field, members, words) in BAD_VALUES {
        let body = format!(r#"{{"jobs":[{{"type":"good"}},{{{members}}}]}}"#);
        let field = format!("jobs[1].{field}");
        house.post("/v1/jobs/batch", &body).await.refused(422, Some(&field), words);
    }
    assert_eq!(house.get("/v1/jobs").await.expect(200)["jobs"], serde_json::json!([]), "nothing was stored");
}

#[tokio::test]
async fn what_is_too_long_is_refused_with_the_name_of_its_limit() {
    let house = House::open().await;
    let check = async |body: String, field: &str, limit: &str, max: u64| {
        let problem = house.post("/v1/jobs", &body).await.refused(422, Some(field), limit);
        assert_eq!(problem["limit"], serde_json::json!({"name": limit, "max": max}));
    };
    let (long, tags) = ("x".repeat(256 * 1024), vec!["\"t\""; 21].join(","));
    check(format!(r#"{{"type":"a","data":"{long}"}}"#), "data", "data_bytes_max", 256 * 1024).await;
    check(format!(r#"{{"type":"a","tags":[{tags}]}}"#), "tags", "tags_max", 20).await;
    let delays = vec!["1"; 101].join(",");
    let body = format!(r#"{{"type":"a","retry":{{"strategy":"list","delays":[{delays}]}}}}"#);
    check(body, "retry.delays", "retry_delays_max", 100).await;

    let name = "x".repeat(129);
    for field in ["type", "queue"] {
        let body = format!(r#"{{"type":"a","{field}":"{name}"}}"#).replace(r#""type":"a","type""#, r#""type""#);
        house.post("/v1/jobs", &body).await.refused(422, Some(field), "at most 128 bytes, this one has 129");
    }
    let body = format!(r#"{{"type":"a","tags":["{name}"]}}"#);
    house.post("/v1/jobs", &body).await.refused(422, Some("tags[0]"), "at most 128 bytes");
    let body = format!(r#"{{"type":"a","idempotency_key":"{}"}}"#, "k".repeat(256));
    house.post("/v1/jobs", &body).await.refused(422, Some("idempotency_key"), "at most 255 bytes");
}

#[tokio::test]
async fn the_values_at_the_bounds_are_taken() {
    let house = House::open().await;
    let data = "x".repeat(256 * 1024 - 2);
    for members in [
        r#""type":"a""#.to_owned(),
        format!(r#""type":"{0}","queue":"{0}""#, "x".repeat(128)),
        format!(r#""type":"a","data":"{data}""#),
        r#""type":"a","data":null"#.to_owned(),
        r#""type":"a","priority":1000"#.to_owned(),
        r#""type":"a","priority":-1000"#.to_owned(),
        r#""type":"a","max_attempts":1000,"max_crashes":0"#.to_owned(),
        r#""type":"a","max_attempts":1,"max_crashes":1000"#.to_owned(),
        r#""type":"a","timeout":"100ms""#.to_owned(),
        r#""type":"a","timeout":"30d""#.to_owned(),
        r#""type":"a","run_at":0"#.to_owned(),
        r#""type":"a","delay":0,"jitter":0"#.to_owned(),
        r#""type":"a","delay":"36500d","jitter":"36500d""#.to_owned(),
        r#""type":"a","deadline":"2020-01-01T00:00:00Z""#.to_owned(),
        r#""type":"a","retry":{"strategy":"list","delays":[0]}"#.to_owned(),
        r#""type":"a","retry":{"factor":100,"jitter":1}"#.to_owned(),
        r#""type":"a","retry":{}"#.to_owned(),
        r#""type":"a","tags":[]"#.to_owned(),
        r#""type":"a","depends_on":[],"weight":65535"#.to_owned(),
        format!(r#""type":"a","concurrency_key":"{0}","rate_key":"{0}""#, "k".repeat(255)),
    ] {
        house.post("/v1/jobs", &format!("{{{members}}}")).await.expect(202);
    }
}

#[tokio::test]
async fn several_wrong_fields_are_all_named_at_once() {
    let house = House::open().await;
    let body = r#"{"type":"","priority":5000,"max_attempts":0,"timeout":"1ms","tags":[""]}"#;
    let problem = house.post("/v1/jobs", body).await.refused(422, Some("type"), "must not be empty");
    let fields: Vec<&str> = problem["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|error| error["field"].as_str().expect("a name"))
        .collect();
    assert_eq!(fields, ["type", "priority", "max_attempts", "timeout", "tags[0]"]);
}
