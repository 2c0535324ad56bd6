//! Limits as tables.

use comfy_table::Table;
use mainspring_wire::{BreakerPhase, BreakerState, LimitBreaker, LimitRate, LimitRule, LimitState, LimitView, Limits};

use crate::output::{facts, or_dash, table};

pub fn limits(limits: &Limits) -> Table {
    let mut rows = table(["LIMIT", "RULE OF", "RUNNING", "RATE", "TOKENS", "BREAKER", "CLOSED UNTIL", "WAITING"]);
    for view in &limits.limits {
        let rule = view.rule.clone().unwrap_or_default();
        let state = view.state.as_ref();
        let running = state.map_or_else(|| "-".to_owned(), |state| state.running.to_string());
        rows.add_row([
            view.reach.clone(),
            or_dash(view.pattern.as_ref()),
            rule.concurrency.map_or(running.clone(), |max| format!("{running}/{max}")),
            or_dash(rule.rate.map(rate)),
            or_dash(state.and_then(|state| state.tokens)),
            or_dash(breaker_cell(&rule, state)),
            or_dash(state.and_then(|state| state.closed_until)),
            or_dash(state.map(|state| state.waiting)),
        ]);
    }
    rows
}

pub fn limit(view: &LimitView) -> Table {
    let rule = view.rule.clone().unwrap_or_default();
    let state = view.state.as_ref();
    facts([
        ("limit", Some(view.reach.clone())),
        ("rule of", view.pattern.clone()),
        ("concurrency", rule.concurrency.map(|max| max.to_string())),
        ("rate", rule.rate.map(rate)),
        ("breaker", rule.breaker.map(breaker)),
        ("weight", rule.weight.map(|weight| weight.to_string())),
        ("running", state.map(|state| state.running.to_string())),
        ("tokens", state.and_then(tokens)),
        ("closed until", state.and_then(|state| state.closed_until).map(|until| until.to_string())),
        ("breaker is", state.and_then(|state| state.breaker.as_ref()).map(phase)),
        ("waiting", state.map(|state| state.waiting.to_string())),
    ])
}

/// `100/1m`, and the burst if it is another.
fn rate(rate: LimitRate) -> String {
    let burst = rate.burst.filter(|burst| *burst != rate.permits);
    let burst = burst.map_or_else(String::new, |burst| format!(" burst {burst}"));
    format!("{}/{}{burst}", rate.permits, rate.per)
}

fn tokens(state: &LimitState) -> Option<String> {
    let next = state.next_token_at.map_or_else(String::new, |at| format!(" (one more at {at})"));
    Some(format!("{}{next}", state.tokens?))
}

fn breaker(breaker: LimitBreaker) -> String {
    format!(
        "opens at {} failed of {} or more within {}, probes after {} with {} at a time, closes after {}",
        or_dash(breaker.failure_ratio.map(percent)),
        or_dash(breaker.min_attempts),
        or_dash(breaker.window),
        or_dash(breaker.cooldown),
        or_dash(breaker.probes),
        or_dash(breaker.closes_after),
    )
}

fn percent(ratio: f64) -> String {
    format!("{}%", (ratio * 1000.0).round() / 10.0)
}

/// What it is now; a rule without a state has only its ratio to show.
fn breaker_cell(rule: &LimitRule, state: Option<&LimitState>) -> Option<String> {
    let ratio = rule.breaker?.failure_ratio;
    let now = state.and_then(|state| state.breaker.as_ref()).map(|breaker| breaker.phase.to_string());
    now.or(ratio.map(percent))
}

fn phase(breaker: &BreakerState) -> String {
    match breaker.phase {
        BreakerPhase::Closed => {
            let (attempts, failures) = (breaker.attempts.unwrap_or_default(), breaker.failures.unwrap_or_default());
            format!("closed: {failures} of {attempts} failed")
        }
        BreakerPhase::Open => {
            let probe_at = breaker.probe_at.map_or_else(String::new, |at| format!(": probes at {at}"));
            format!("open{probe_at}")
        }
        BreakerPhase::HalfOpen => {
            let (probing, succeeded) = (breaker.probing.unwrap_or_default(), breaker.succeeded.unwrap_or_default());
            format!("half open: {probing} probing, {succeeded} succeeded")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(json: &str) -> LimitView {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn a_limit_shows_what_is_set_and_how_it_stands() {
        let one = view(
            r#"{"reach":"type:a","rule":{"concurrency":2,"rate":{"permits":100,"per":"1m","burst":20},"breaker":{"failure_ratio":0.5,
            "window":"1m","min_attempts":20,"cooldown":"30s","probes":1,"closes_after":3}},"state":{"running":1,"waiting":7,"tokens":0,
            "next_token_at":"2026-12-01T09:00:00Z","breaker":{"phase":"closed","attempts":20,"failures":3}}}"#,
        );
        let shown = limit(&one).to_string();
        for words in [
            "100/1m burst 20",
            "opens at 50% failed of 20 or more within 1m, probes after 30s with 1 at a time, closes after 3",
            "0 (one more at 2026-12-01T09:00:00.000Z)",
            "closed: 3 of 20 failed",
        ] {
            assert!(shown.contains(words), "{words:?} is not in\n{shown}");
        }
        let listed = limits(&Limits { limits: vec![one] }).to_string();
        let line = listed.lines().last().expect("a row");
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["type:a", "-", "1/2", "100/1m burst 20", "0", "closed", "-", "7"]);
    }

    #[test]
    fn a_pattern_and_a_closed_key_show_only_what_they_have() {
        let pattern = view(r#"{"reach":"key:*","rule":{"concurrency":2}}"#);
        let closed =
            view(r#"{"reach":"key:a","state":{"running":0,"waiting":1,"closed_until":"2026-12-01T09:00:00Z"}}"#);
        let shown = limit(&pattern).to_string();
        assert!(!shown.contains("running"), "{shown}");
        assert!(limit(&closed).to_string().contains("closed until"));
        let listed = limits(&Limits { limits: vec![pattern, closed] }).to_string();
        assert!(listed.contains("-/2"), "{listed}");
    }

    #[test]
    fn a_breaker_shows_the_numbers_of_its_phase() {
        let check =
            |json: &str, expected: &str| assert_eq!(phase(&serde_json::from_str(json).expect("a state")), expected);
        check(r#"{"phase":"open","probe_at":"2026-12-01T09:00:00Z"}"#, "open: probes at 2026-12-01T09:00:00.000Z");
        check(r#"{"phase":"half_open","probing":1,"succeeded":2}"#, "half open: 1 probing, 2 succeeded");
    }
}
