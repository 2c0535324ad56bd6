//! What should hold at a gate: the rule with its defaults, or every bound that it breaks. The bounds are the core's.

use std::time::Duration;

use mainspring_core::gate::{BadRule, BreakerRule, GateName, Rate, Reach, Rule};
use mainspring_engine::BadLimit;
use mainspring_wire::{LimitBreaker, LimitRate, LimitRule, Span};

use crate::accept::Findings;
use crate::ask::FieldError;

/// How fine a failure ratio is.
const PER_MILLE: f64 = 1000.0;

/// Each part is checked by itself, so that one wrong part does not hide another.
pub(crate) fn limit(said: &LimitRule, reach: &Reach) -> Result<Rule, Vec<FieldError>> {
    let mut found = Findings::default();
    if *said == LimitRule::default() {
        return Err(vec![wrong_limit(&BadLimit::Empty { reach: reach.text() })]);
    }
    let rule = Rule {
        concurrency: found.keep(concurrency(said.concurrency)),
        rate: found.keep(said.rate.map(rate).transpose()),
        breaker: found.keep(said.breaker.as_ref().map(breaker).transpose()),
        weight: found.keep(weight(said.weight, reach)),
    };
    found.into_result(rule)
}

fn is_tenant(reach: &Reach) -> bool {
    *reach == Reach::One(GateName::Tenant)
}

fn concurrency(said: Option<u32>) -> Result<Option<u32>, FieldError> {
    checked(Rule { concurrency: said, ..Rule::default() }).map(|rule| rule.concurrency)
}

fn rate(said: LimitRate) -> Result<Rate, FieldError> {
    // Nothing could ever start with a burst of nothing.
    let burst = said.burst.unwrap_or(said.permits.max(1));
    let rate = Rate { permits: said.permits, per: said.per.into(), burst };
    checked(Rule { rate: Some(rate), ..Rule::default() }).map(|_| rate)
}

fn breaker(said: &LimitBreaker) -> Result<BreakerRule, FieldError> {
    let or = BreakerRule::default();
    let span = |said: Option<Span>, or: Duration| said.map_or(or, Duration::from);
    let breaker = BreakerRule {
        window: span(said.window, or.window),
        min_attempts: said.min_attempts.unwrap_or(or.min_attempts),
        failures_per_mille: said.failure_ratio.map_or(Ok(or.failures_per_mille), per_mille)?,
        cooldown: span(said.cooldown, or.cooldown),
        probes: said.probes.unwrap_or(or.probes),
        closes_after: said.closes_after.unwrap_or(or.closes_after),
    };
    checked(Rule { breaker: Some(breaker), ..Rule::default() }).map(|_| breaker)
}

fn per_mille(ratio: f64) -> Result<u32, FieldError> {
    let rounded = (ratio * PER_MILLE).round();
    // What is no number is in no range either.
    if !(1.0..=PER_MILLE).contains(&rounded) {
        let message = format!("{ratio} is not from 0.001 to 1: 0.5 opens when half of the attempts failed");
        return Err(FieldError::invalid("breaker.failure_ratio", message));
    }
    Ok(rounded as u32)
}

fn weight(said: Option<u32>, reach: &Reach) -> Result<Option<u32>, FieldError> {
    if said.is_some() && !is_tenant(reach) {
        let message =
            format!("is a tenant's share of its queues: it can only be set on `tenant`, not on `{}`", reach.text());
        return Err(FieldError::invalid("weight", message));
    }
    checked(Rule { weight: said, ..Rule::default() }).map(|rule| rule.weight)
}

/// Of one part. Only a tenant may have all of them.
fn checked(rule: Rule) -> Result<Rule, FieldError> {
    rule.check(&GateName::Tenant).map(|()| rule).map_err(|bad| wrong(&bad))
}

/// The engine checks again; whatever it finds is told as here.
pub(crate) fn wrong_limit(bad: &BadLimit) -> FieldError {
    match bad {
        BadLimit::Rule(bad) => wrong(bad),
        BadLimit::Empty { .. } => FieldError::invalid("concurrency", bad.to_string()),
    }
}

fn wrong(bad: &BadRule) -> FieldError {
    match bad {
        BadRule::Number { field, given, min, max } => {
            let error = FieldError::invalid(*field, format!("{given} is not from {min} to {max}"));
            error.limited(limit_of(field), (*max).into())
        }
        BadRule::Span { field, given, min, max } => {
            let [given, min, max] = [*given, *min, *max].map(Span::from);
            FieldError::invalid(*field, format!("{given} is not from {min} to {max}"))
        }
        BadRule::FillsTooSlowly { .. } => FieldError::invalid("rate.burst", bad.to_string()),
        BadRule::WeightBesideTenant { .. } => FieldError::invalid("weight", bad.to_string()),
    }
}

/// The name that the bound has in the core.
fn limit_of(field: &str) -> &'static str {
    match field {
        "concurrency" => "limit_concurrency_max",
        "rate.permits" => "rate_permits_max",
        "rate.burst" => "rate_burst_max",
        "weight" => "share_weight_max",
        "breaker.min_attempts" => "breaker_attempts_max",
        "breaker.probes" => "breaker_probes_max",
        "breaker.closes_after" => "breaker_closes_after_max",
        _ => "breaker_failures_max",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, reach: &str) -> Result<Rule, Vec<FieldError>> {
        let said: LimitRule = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        limit(&said, &Reach::parse(reach).expect("a reach"))
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let rate = |json: &str| read(json, "key:a").expect("a rule").rate.map(|rate| rate.burst);
        assert_eq!(rate(r#"{"rate":{"permits":7,"per":"1m"}}"#), Some(7));
        assert_eq!(rate(r#"{"rate":{"permits":7,"per":"1m","burst":1}}"#), Some(1));
        let breaker = |json: &str| read(json, "type:*").expect("a rule").breaker;
        assert_eq!(breaker(r#"{"breaker":{}}"#), Some(BreakerRule::default()));
        let fine = BreakerRule { failures_per_mille: 333, probes: 2, ..BreakerRule::default() };
        assert_eq!(breaker(r#"{"breaker":{"failure_ratio":0.3333,"probes":2}}"#), Some(fine));
        assert_eq!(read(r#"{"weight":3}"#, "tenant").expect("a rule").weight, Some(3));
    }

    #[test]
    fn every_wrong_part_is_named() {
        let json =
            r#"{"concurrency":1000001,"rate":{"permits":0,"per":"1s"},"breaker":{"failure_ratio":0},"weight":1}"#;
        let fields: Vec<String> =
            read(json, "queue:q").expect_err("is refused").into_iter().map(|error| error.field.into_owned()).collect();
        assert_eq!(fields, ["concurrency", "rate.permits", "breaker.failure_ratio", "weight"]);
    }
}
