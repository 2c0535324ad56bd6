//! Graphs that are none, and jobs of a workflow that are wrong: what each is answered. Nothing of it is stored.

use serde_json::json;

use crate::house::{House, NOBODY};

/// A field, the body with something that is not allowed, and words of the answer. The status is 422.
const BAD: &[(&str, &str, &str)] = &[
    ("jobs", r#"{}"#, "must be given"),
    ("jobs", r#"{"jobs":[]}"#, "send at least one job"),
    ("jobs", r#"{"jobs":{}}"#, "expected a list"),
    ("jobs[0]", r#"{"jobs":[7]}"#, "expected an object"),
    ("jobs[0].name", r#"{"jobs":[{"type":"t"}]}"#, "must be given"),
    ("jobs[0].name", r#"{"jobs":[{"name":"a b","type":"t"}]}"#, "must not contain ' ' (position 1)"),
    ("jobs[0].name", r#"{"jobs":[{"name":"","type":"t"}]}"#, "a step must not be empty"),
    ("jobs[0].type", r#"{"jobs":[{"name":"a"}]}"#, "must be given"),
    (
        "jobs[1].prority",
        r#"{"jobs":[{"name":"a","type":"t"},{"name":"b","type":"t","prority":1}]}"#,
        "unknown field `prority`",
    ),
    ("jobs[0].priority", r#"{"jobs":[{"name":"a","type":"t","priority":5000}]}"#, "is not from -1000 to 1000"),
    ("jobs[0].weight", r#"{"jobs":[{"name":"a","type":"t","weight":0}]}"#, "is not from 1 to 65535"),
    ("jobs[0].after", r#"{"jobs":[{"name":"a","type":"t","after":"b"}]}"#, "expected a list"),
    ("jobs[0].after[0]", r#"{"jobs":[{"name":"a","type":"t","after":[7]}]}"#, "expected the name of a step"),
    ("jobs[0].after[0]", r#"{"jobs":[{"name":"a","type":"t","after":["x y"]}]}"#, "must not contain ' '"),
    (
        "jobs[0].after[0].on_failure",
        r#"{"jobs":[{"name":"a","type":"t","after":[{"job":"b","on_failure":"retry"}]}]}"#,
        "unknown variant `retry`",
    ),
    ("jobs[0].depends_on[0]", r#"{"jobs":[{"name":"a","type":"t","depends_on":["b"]}]}"#, "is not the id of a job"),
    (
        "jobs[0].depends_on[1]",
        r#"{"jobs":[{"name":"a","type":"t","depends_on":["NOBODY","NOBODY"]}]}"#,
        "is named twice",
    ),
    ("jobs[0].depends_on[0]", r#"{"jobs":[{"name":"a","type":"t","depends_on":["NOBODY"]}]}"#, "there is no job"),
    ("jobs[0].idempotency_key", r#"{"jobs":[{"name":"a","type":"t","idempotency_key":"k"}]}"#, "taken in as a whole"),
    (
        "jobs[1].name",
        r#"{"jobs":[{"name":"a","type":"t"},{"name":"a","type":"t"}]}"#,
        "two steps are called `a`, at positions 0 and 1",
    ),
    (
        "jobs[1].after[0]",
        r#"{"jobs":[{"name":"fetch","type":"t"},{"name":"b","type":"t","after":["fecth"]}]}"#,
        "did you mean `fetch`?",
    ),
    (
        "jobs[0].after[1]",
        r#"{"jobs":[{"name":"a","type":"t","after":["b","a"]},{"name":"b","type":"t"}]}"#,
        "step `a` waits for itself",
    ),
    (
        "jobs[1].after[1]",
        r#"{"jobs":[{"name":"a","type":"t"},{"name":"b","type":"t","after":["a","a"]}]}"#,
        "names `a` twice",
    ),
    ("callback.type", r#"{"jobs":[{"name":"a","type":"t"}],"callback":{}}"#, "must be given"),
    (
        "callback.priority",
        r#"{"jobs":[{"name":"a","type":"t"}],"callback":{"type":"t","priority":5000}}"#,
        "is not from",
    ),
    (
        "callback.depends_on",
        r#"{"jobs":[{"name":"a","type":"t"}],"callback":{"type":"t","depends_on":["NOBODY"]}}"#,
        "waits for every job",
    ),
    (
        "callback.name",
        r#"{"jobs":[{"name":"a","type":"t"}],"callback":{"type":"t","name":"x"}}"#,
        "unknown field `name`",
    ),
    ("idempotency_key", r#"{"jobs":[{"name":"a","type":"t"}],"idempotency_key":""}"#, "must not be empty"),
    (
        "idempotency_retention",
        r#"{"jobs":[{"name":"a","type":"t"}],"idempotency_retention":"1d"}"#,
        "without an idempotency_key",
    ),
    (
        "idempotency_retention",
        r#"{"jobs":[{"name":"a","type":"t"}],"idempotency_key":"k","idempotency_retention":0}"#,
        "is zero",
    ),
    ("edges", r#"{"jobs":[{"name":"a","type":"t"}],"edges":[]}"#, "unknown field `edges`"),
];

#[tokio::test]
async fn every_bad_workflow_is_refused_at_its_place() {
    let house = House::open().await;
    for (field, body, words) in BAD {
        house.post("/v1/workflows", &body.replace("NOBODY", NOBODY)).await.refused(422, Some(field), words);
    }
    assert_eq!(house.get("/v1/jobs").await.expect(200)["jobs"], json!([]), "nothing was stored");
}

#[tokio::test]
async fn a_cycle_is_shown_by_its_names() {
    let house = House::open().await;
    let body = r#"{"jobs":[{"name":"x","type":"t"},{"name":"a","type":"t","after":["x","b"]},{"name":"b","type":"t","after":["c"]},{"name":"c","type":"t","after":["a"]}]}"#;
    let reply = house.post("/v1/workflows", body).await;
    let problem = reply.expect(422);
    let detail = problem["detail"].as_str().expect("a detail");
    let circles = ["a → b → c → a", "b → c → a → b", "c → a → b → c"];
    assert!(circles.iter().any(|circle| detail.contains(circle)), "{detail}");
    let field = problem["field"].as_str().expect("a place");
    assert!(["jobs[1].after[1]", "jobs[2].after[0]", "jobs[3].after[0]"].contains(&field), "{field}");
}

#[tokio::test]
async fn too_much_is_refused_with_the_name_of_its_bound() {
    let house = House::open().await;
    let step = |at: usize, after: &str| format!(r#"{{"name":"n{at}","type":"t","after":[{after}]}}"#);
    let post =
        async |steps: Vec<String>| house.post("/v1/workflows", &format!(r#"{{"jobs":[{}]}}"#, steps.join(","))).await;
    let many = post((0..10_001).map(|at| step(at, "")).collect()).await;
    let problem = many.refused(413, Some("jobs"), "workflow_jobs_max is 10000");
    assert_eq!(problem["limit"], json!({"name": "workflow_jobs_max", "max": 10_000}));

    let names: Vec<String> = (0..1_001).map(|at| format!(r#""n{at}""#)).collect();
    let mut steps: Vec<String> = (0..1_001).map(|at| step(at, "")).collect();
    steps.push(step(1_001, &names.join(",")));
    let problem = post(steps.clone()).await.refused(422, Some("jobs[1001].after"), "dependencies_max is 1000");
    assert_eq!(problem["limit"], json!({"name": "dependencies_max", "max": 1_000}));

    steps.truncate(1_001);
    steps.extend((0..101).map(|at| step(2_000 + at, &names[..1_000].join(","))));
    let problem = post(steps).await.refused(422, Some("jobs"), "workflow_edges_max is 100000");
    assert_eq!(problem["limit"], json!({"name": "workflow_edges_max", "max": 100_000}));

    let parents = vec![format!("\"{NOBODY}\""); 1_001].join(",");
    let reply = house.post("/v1/jobs", &format!(r#"{{"type":"a","depends_on":[{parents}]}}"#)).await;
    reply.refused(422, Some("depends_on"), "dependencies_max is 1000");
}

#[tokio::test]
async fn a_workflow_is_taken_in_as_a_whole_or_not_at_all() {
    let house = House::open().await;
    house.call("PATCH", "/v1/queues/q", r#"{"max_depth":2}"#).await.expect(200);
    let steps = (0..3).map(|at| format!(r#"{{"name":"n{at}","type":"t","queue":"q"}}"#)).collect::<Vec<_>>().join(",");
    let reply = house.post("/v1/workflows", &format!(r#"{{"jobs":[{{"name":"a","type":"t"}},{steps}]}}"#)).await;
    let problem = reply.refused(429, Some("jobs[1].queue"), "max_depth");
    assert_eq!(problem["type"], "/problems/queue-full");
    let dead = house.dead_letter(r#"{"type":"a"}"#).await;
    let body = format!(
        r#"{{"jobs":[{{"name":"a","type":"t"}},{{"name":"b","type":"t","after":["a"],"depends_on":["{dead}"]}}]}}"#
    );
    let problem =
        house.post("/v1/workflows", &body).await.refused(409, Some("jobs[1].depends_on[0]"), "has failed already");
    assert_eq!(problem["type"], "/problems/failed-parent");
    assert_eq!(
        house.get("/v1/jobs").await.expect(200)["jobs"].as_array().map(Vec::len),
        Some(1),
        "only the dead letter"
    );
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let house = House::open().await;
    house.get("/v1/workflows/x").await.refused(400, Some("id"), "is not the id of a workflow");
    house.get(&format!("/v1/workflows/{NOBODY}?limit=0")).await.refused(400, Some("limit"), "from 1 to 1000");
    house.get(&format!("/v1/workflows/{NOBODY}?step=a")).await.refused(
        400,
        Some("step"),
        "allowed here: limit, cursor",
    );
    house.get("/v1/jobs?workflow=x").await.refused(400, Some("workflow"), "is not the id of a workflow");
    house.get("/v1/jobs?schedule=a%20b").await.refused(400, Some("schedule"), "must not contain ' '");
    let job = house.submit(r#"{"type":"a"}"#).await;
    house.get(&format!("/v1/jobs/{job}/parents?limit=1001")).await.refused(400, Some("limit"), "from 1 to 1000");
    house.get(&format!("/v1/jobs/{job}/parents?cursor=x")).await.refused(400, Some("cursor"), "is not a cursor");
}
