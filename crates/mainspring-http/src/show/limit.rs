//! A limit and how it stands.

use mainspring_core::gate::{Breaker, Phase, Rate, Reach, Rule};
use mainspring_core::store::GateView;
use mainspring_core::time::Time;
use mainspring_wire::{self as wire, BreakerPhase, BreakerState, LimitBreaker, LimitRate, LimitRule, LimitState};

use crate::convert::stamp;

pub(crate) fn limit(view: &GateView, now: Time) -> wire::LimitView {
    let pattern = view.rule.as_ref().filter(|(reach, _)| *reach != view.reach).map(|(reach, _)| reach.text());
    wire::LimitView {
        reach: view.reach.text(),
        rule: view.rule.as_ref().map(|(_, rule)| rule_of(rule)),
        pattern,
        state: matches!(view.reach, Reach::One(_)).then(|| state(view, now)),
    }
}

fn rule_of(rule: &Rule) -> LimitRule {
    let breaker = rule.breaker.map(|breaker| LimitBreaker {
        failure_ratio: Some(f64::from(breaker.failures_per_mille) / 1000.0),
        window: Some(breaker.window.into()),
        min_attempts: Some(breaker.min_attempts),
        cooldown: Some(breaker.cooldown.into()),
        probes: Some(breaker.probes),
        closes_after: Some(breaker.closes_after),
    });
    let rate = |rate: Rate| LimitRate { permits: rate.permits, per: rate.per.into(), burst: Some(rate.burst) };
    LimitRule { concurrency: rule.concurrency, rate: rule.rate.map(rate), breaker, weight: rule.weight }
}

fn state(view: &GateView, now: Time) -> LimitState {
    let rule = view.rule.as_ref().map(|(_, rule)| *rule).unwrap_or_default();
    let state = &view.state;
    let tokens = rule.rate.map(|rate| state.bucket.free(&rate, now));
    let next_token_at = rule.rate.zip(tokens).and_then(|(rate, free)| {
        let more = u16::try_from(free + 1).ok().filter(|_| free < u64::from(rate.burst))?;
        Some(stamp(state.bucket.next_at(&rate, now, more)))
    });
    LimitState {
        running: state.running,
        waiting: view.waiting,
        tokens,
        next_token_at,
        closed_until: state.closed_until.filter(|&until| now < until).map(stamp),
        breaker: rule.breaker.map(|_| breaker(&state.breaker)),
    }
}

fn breaker(breaker: &Breaker) -> BreakerState {
    let bare =
        |phase| BreakerState { phase, attempts: None, failures: None, probe_at: None, probing: None, succeeded: None };
    match breaker.phase {
        Phase::Closed => {
            let (attempts, failures) = breaker.window.sum();
            BreakerState { attempts: Some(attempts), failures: Some(failures), ..bare(BreakerPhase::Closed) }
        }
        Phase::Open { until } => BreakerState { probe_at: Some(stamp(until)), ..bare(BreakerPhase::Open) },
        Phase::HalfOpen { probing, succeeded, .. } => {
            BreakerState { probing: Some(probing), succeeded: Some(succeeded), ..bare(BreakerPhase::HalfOpen) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mainspring_core::gate::{BreakerRule, GateState};

    use super::*;

    const NOW: Time = Time::from_millis(1_796_115_600_000);

    fn view(rule: Rule, state: GateState) -> GateView {
        let reach = Reach::parse("key:a").expect("a reach");
        GateView { reach: reach.clone(), rule: Some((reach, rule)), state, waiting: 0 }
    }

    #[test]
    fn a_rate_shows_what_is_left_and_when_there_is_more() {
        let rate = Rate { permits: 2, per: Duration::from_secs(1), burst: 3 };
        let rule = Rule { rate: Some(rate), ..Rule::default() };
        let mut state = GateState::default();
        let mut shown = |taken: u16| {
            state.bucket.take(&rate, NOW, taken);
            let shown = limit(&view(rule, state), NOW).state.expect("one gate has a state");
            (shown.tokens, shown.next_token_at.map(|at| at.as_millis() - NOW.as_millis()))
        };
        assert_eq!(shown(0), (Some(3), None));
        assert_eq!(shown(1), (Some(2), Some(500)));
        assert_eq!(shown(2), (Some(0), Some(500)));
    }

    #[test]
    fn a_breaker_shows_the_numbers_of_its_phase() {
        let rule = Rule { breaker: Some(BreakerRule::default()), ..Rule::default() };
        let shown = |phase| {
            let breaker = Breaker { phase, ..Breaker::default() };
            let view = view(rule, GateState { breaker, ..GateState::default() });
            serde_json::to_value(limit(&view, NOW).state.and_then(|state| state.breaker)).expect("it prints")
        };
        assert_eq!(shown(Phase::Closed), serde_json::json!({"phase": "closed", "attempts": 0, "failures": 0}));
        assert_eq!(
            shown(Phase::Open { until: NOW }),
            serde_json::json!({"phase": "open", "probe_at": "2026-12-01T09:00:00.000Z"})
        );
        assert_eq!(
            shown(Phase::HalfOpen { since: NOW, probing: 1, succeeded: 2 }),
            serde_json::json!({"phase": "half_open", "probing": 1, "succeeded": 2})
        );
    }
}
