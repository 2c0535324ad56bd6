//! A retry policy in one word of the command line: `STRATEGY[:BASE][,cap=…][,factor=…][,jitter=…]` or `list:DELAY,DELAY,…`.

use mainspring_wire::{RetryPolicy, RetryStrategy, Span};

pub fn parse(text: &str) -> Result<RetryPolicy, String> {
    let (head, rest) = text.split_once([':', ',']).map_or((text, ""), |(head, rest)| (head, rest));
    let strategy: RetryStrategy = head.parse().map_err(|error| format!("{error}"))?;
    let mut policy = RetryPolicy { strategy, ..RetryPolicy::default() };
    let parts = rest.split(',').filter(|part| !part.is_empty());
    for part in parts {
        match part.split_once('=') {
            Some(("cap", value)) => policy.cap = Some(span(value)?),
            Some(("base", value)) => policy.base = Some(span(value)?),
            Some(("factor", value)) => policy.factor = Some(number(value)?),
            Some(("jitter", value)) => policy.jitter = Some(number(value)?),
            Some((name, _)) => return Err(format!("{name:?} is not known: expected base, cap, factor or jitter")),
            None if strategy == RetryStrategy::List => policy.delays.get_or_insert_default().push(span(part)?),
            None if policy.base.is_none() => policy.base = Some(span(part)?),
            None => return Err(format!("{part:?} is a second base: only list takes several")),
        }
    }
    Ok(policy)
}

fn span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, json: &str) {
        let policy = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(serde_json::to_string(&policy).expect("a policy prints"), json, "{text}");
    }

    #[test]
    fn policies_are_read() {
        check("fixed", r#"{"strategy":"fixed"}"#);
        check("fixed:30s", r#"{"strategy":"fixed","base":"30s"}"#);
        check("linear:10s,cap=5m", r#"{"strategy":"linear","base":"10s","cap":"5m"}"#);
        check(
            "exponential:1s,factor=3,jitter=0.2",
            r#"{"strategy":"exponential","base":"1s","factor":3.0,"jitter":0.2}"#,
        );
        check("exponential,cap=1h", r#"{"strategy":"exponential","cap":"1h"}"#);
        check("list:1s,10s,1m", r#"{"strategy":"list","delays":["1s","10s","1m"]}"#);
    }

    #[test]
    fn a_bad_policy_says_what_is_wrong() {
        let refused = |text: &str, words: &str| {
            let error = parse(text).expect_err("is refused");
            assert!(error.contains(words), "{text}: {error:?} does not say {words:?}");
        };
        refused("often", "is not a retry strategy");
        refused("fixed:soon", "is not a duration");
        refused("fixed:1s,2s", "only list takes several");
        refused("fixed:1s,speed=2", "expected base, cap, factor or jitter");
        refused("exponential:1s,factor=x", "is not a number");
    }
}
