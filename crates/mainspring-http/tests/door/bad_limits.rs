//! Every field of a limit: the bad values, and what each is answered.

use crate::house::House;

#[tokio::test]
async fn every_bad_value_of_a_limit_is_named() {
    let house = House::open().await;
    let check = async |rule: &str, field: &str, words: &str| {
        let reply = house.call("PUT", "/v1/limits/key:a", rule.to_owned()).await;
        reply.refused(422, Some(field), words);
    };
    check("{}", "concurrency", "delete the limit").await;
    check(r#"{"concurrency":1000001}"#, "concurrency", "1000001 is not from 0 to 1000000").await;
    check(r#"{"concurrency":-1}"#, "concurrency", "not negative").await;
    check(r#"{"concurrency":1.5}"#, "concurrency", "whole number").await;
    check(r#"{"rate":"100/1m"}"#, "rate", "expected an object").await;
    check(r#"{"rate":{"per":"1m"}}"#, "rate.permits", "must be given").await;
    check(r#"{"rate":{"permits":1}}"#, "rate.per", "must be given").await;
    check(r#"{"rate":{"permits":0,"per":"1m"}}"#, "rate.permits", "0 is not from 1 to 1000000").await;
    check(r#"{"rate":{"permits":1000001,"per":"1m"}}"#, "rate.permits", "1000001 is not from 1 to 1000000").await;
    check(r#"{"rate":{"permits":1,"per":"999ms"}}"#, "rate.per", "999ms is not from 1s to 366d").await;
    check(r#"{"rate":{"permits":1,"per":"367d"}}"#, "rate.per", "367d is not from 1s to 366d").await;
    check(r#"{"rate":{"permits":1,"per":"soon"}}"#, "rate.per", "is not a duration").await;
    check(r#"{"rate":{"permits":1,"per":"1m","burst":0}}"#, "rate.burst", "0 is not from 1 to 1000000").await;
    check(r#"{"rate":{"permits":1,"per":"1m","burst":1000001}}"#, "rate.burst", "is not from 1 to 1000000").await;
    check(r#"{"rate":{"permits":1,"per":"366d","burst":101}}"#, "rate.burst", "days to fill").await;
    check(r#"{"rate":{"permits":1,"per":"1m","bust":1}}"#, "rate.bust", "allowed here: `permits`, `per`, `burst`")
        .await;
    check(r#"{"breaker":true}"#, "breaker", "expected an object").await;
    check(r#"{"breaker":{"failure_ratio":0}}"#, "breaker.failure_ratio", "0 is not from 0.001 to 1").await;
    check(r#"{"breaker":{"failure_ratio":1.001}}"#, "breaker.failure_ratio", "1.001 is not from 0.001 to 1").await;
    check(r#"{"breaker":{"failure_ratio":50}}"#, "breaker.failure_ratio", "0.5 opens when half").await;
    check(r#"{"breaker":{"window":"999ms"}}"#, "breaker.window", "999ms is not from 1s to 1d").await;
    check(r#"{"breaker":{"window":"25h"}}"#, "breaker.window", "is not from 1s to 1d").await;
    check(r#"{"breaker":{"min_attempts":0}}"#, "breaker.min_attempts", "0 is not from 1 to 1000000").await;
    check(r#"{"breaker":{"min_attempts":1000001}}"#, "breaker.min_attempts", "is not from 1 to 1000000").await;
    check(r#"{"breaker":{"cooldown":"99ms"}}"#, "breaker.cooldown", "99ms is not from 100ms to 1d").await;
    check(r#"{"breaker":{"cooldown":"25h"}}"#, "breaker.cooldown", "is not from 100ms to 1d").await;
    check(r#"{"breaker":{"probes":0}}"#, "breaker.probes", "0 is not from 1 to 1000").await;
    check(r#"{"breaker":{"probes":1001}}"#, "breaker.probes", "1001 is not from 1 to 1000").await;
    check(r#"{"breaker":{"closes_after":0}}"#, "breaker.closes_after", "0 is not from 1 to 1000").await;
    check(r#"{"breaker":{"closes_after":1001}}"#, "breaker.closes_after", "1001 is not from 1 to 1000").await;
    check(r#"{"breaker":{"ratio":1}}"#, "breaker.ratio", "unknown field `ratio`").await;
    check(r#"{"weight":2}"#, "weight", "only be set on `tenant`, not on `key:a`").await;
    check(r#"{"max":2}"#, "max", "allowed here: `concurrency`, `rate`, `breaker`, `weight`").await;
    let problem = house.call("PUT", "/v1/limits/tenant", r#"{"weight":1001,"concurrency":1000001}"#).await;
    let problem = problem.refused(422, Some("concurrency"), "is not from 0 to");
    assert_eq!(problem["limit"], serde_json::json!({"name": "limit_concurrency_max", "max": 1_000_000}));
    assert_eq!(problem["errors"][1]["field"], "weight", "every wrong field is named");
    house.call("PUT", "/v1/limits/tenant", r#"{"weight":0}"#).await.refused(422, Some("weight"), "0 is not from 1 to");
    house.call("PUT", "/v1/limits/key:a*", r#"{"weight":1}"#).await.refused(422, Some("weight"), "`key:a*`");
    assert_eq!(house.get("/v1/limits").await.expect(200)["limits"], serde_json::json!([]), "nothing was set");
}

#[tokio::test]
async fn a_reach_that_is_none_says_what_to_write() {
    let house = House::open().await;
    let check = async |reach: &str, words: &str| {
        for (method, path, body) in
            [("GET", "", ""), ("PUT", "", r#"{"concurrency":1}"#), ("DELETE", "", ""), ("POST", "/reopen", "")]
        {
            let reply = house.call(method, &format!("/v1/limits/{reach}{path}"), body).await;
            reply.refused(400, Some("reach"), words);
        }
    };
    check("mail", "write `queue:NAME`, `type:NAME`, `key:TEXT` or `tenant`").await;
    check("tenant:acme", "is nothing that can be limited").await;
    check("queue:", "a queue must not be empty").await;
    check("queue:a%20b", "must not contain ' '").await;
    check("*", "such as `key:customer:*`").await;
    check(&format!("key:{}", "x".repeat(256)), "at most 255 bytes").await;
    let rule = r#"{"concurrency":1}"#;
    house.call("PUT", "/v1/limits/tenant?dry_run=x", rule).await.refused(
        400,
        Some("dry_run"),
        "neither true nor false",
    );
    house.call("PUT", "/v1/limits/tenant?dry=1", rule).await.refused(400, Some("dry"), "allowed here: dry_run");
    let dry = house.call("PUT", "/v1/limits/tenant?dry_run=true", r#"{"weight":0}"#).await;
    dry.refused(422, Some("weight"), "0 is not from 1 to");
    house.get("/v1/limits?queue=q").await.refused(400, Some("queue"), "this call takes none");
    house.get("/v1/limits/tenant?x=1").await.refused(400, Some("x"), "this call takes none");
}

#[tokio::test]
async fn a_rate_limited_settlement_says_for_how_long_and_nothing_else() {
    let house = House::open().await;
    let check = async |members: &str, field: &str, words: &str| {
        let body = format!(r#"{{"settlements":[{{"job_id":"{}","fence":1,{members}}}]}}"#, crate::house::NOBODY);
        house.post("/v1/settlements", &body).await.refused(422, Some(&format!("settlements[0].{field}")), words);
    };
    check(r#""outcome":"rate_limited""#, "retry_after", "must be given with outcome `rate_limited`").await;
    check(r#""outcome":"rate_limited","retry_after":-1"#, "retry_after", "is negative").await;
    check(r#""outcome":"rate_limited","retry_after":1,"error":{"message":"m"}"#, "error", "only with `failure`").await;
    check(r#""outcome":"rate_limited","retry_after":1,"snooze_for":1"#, "snooze_for", "only with `snooze`").await;
    check(r#""outcome":"success","retry_after":1"#, "retry_after", "only with `failure` or `rate_limited`").await;
    check(r#""outcome":"success","tenant":"a b""#, "tenant", "a tenant must not contain ' '").await;
}
