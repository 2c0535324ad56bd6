//! Limits: `GET /v1/limits`, `GET`, `PUT` and `DELETE /v1/limits/{reach}`, `…/reopen`. A reach is a text such as `queue:mail`,
//! `type:resize`, `key:customer:42`, a pattern such as `key:customer:*`, or `tenant`; what it may be is the server's to say.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Span, Timestamp};

/// What holds at every gate in reach. At least one part is given; what is left out is not limited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitRule {
    /// How much weight may run at once; 0 lets nothing start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How much weight may start in a span of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<LimitRate>,
    /// Stops when too much fails, and finds out when it is well again. `{}` has every default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<LimitBreaker>,
    /// On `tenant` only: its share among the tenants of a queue name; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

/// `permits` in every `per`, and at most `burst` in one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitRate {
    pub permits: u32,
    pub per: Span,
    /// As many as `permits` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
}

/// When a breaker opens, and how it closes again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitBreaker {
    /// Opens when at least this part of the attempts that ended in the window failed: 0.001 to 1; 0.5 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_ratio: Option<f64>,
    /// How far back it looks; 1m if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// With fewer than this in the window it never opens; 20 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_attempts: Option<u32>,
    /// How long it stays open before it probes; 30s if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown: Option<Span>,
    /// How many jobs probe at a time; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<u32>,
    /// How many probes must succeed for it to close; 3 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_after: Option<u32>,
}

/// A rule, or a gate that one with a pattern holds at, or one that a worker was told to keep away from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LimitView {
    pub reach: String,
    /// What holds there, with every default; nothing if it is only closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<LimitRule>,
    /// The pattern that the rule was set for, if it was not set for this reach itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// How it stands; absent for a pattern, because each gate under it stands by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<LimitState>,
}

/// How one gate stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct LimitState {
    /// The weight that runs.
    pub running: u64,
    /// How many jobs are known to stand before it.
    pub waiting: u64,
    /// With a rate: how much weight may start at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// When there is one token more, unless there are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token_at: Option<Timestamp>,
    /// A worker was told to come back later: nothing starts before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_until: Option<Timestamp>,
    /// With a breaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerState>,
}

crate::words::words! {
    /// Where a breaker is.
    pub enum BreakerPhase: "a phase of a breaker" {
        /// All is well: whoever comes may start.
        Closed = "closed",
        /// Too much failed: nothing starts before `probe_at`, and what starts then is a probe.
        Open = "open",
        /// Some are finding out whether it is well again.
        HalfOpen = "half_open",
    }
}

/// How a breaker stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BreakerState {
    pub phase: BreakerPhase,
    /// While closed: how many attempts ended in the window …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// … and how many of them failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// While open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_at: Option<Timestamp>,
    /// While half open: how many probe …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probing: Option<u32>,
    /// … and how many probes have succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<u32>,
}

/// The limits of a tenant, by reach.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Limits {
    pub limits: Vec<LimitView>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_rule_says_the_same_again() {
        let rule: LimitRule = round_trip(concat!(
            r#"{"concurrency":10,"rate":{"permits":100,"per":"1m","burst":20},"breaker":{"failure_ratio":0.5,"window":"1m","#,
            r#""min_attempts":20,"cooldown":"30s","probes":1,"closes_after":3},"weight":2}"#,
        ));
        assert_eq!(rule.rate.map(|rate| rate.per), Some(Span::from_secs(60)));
        assert_eq!(round_trip::<LimitRule>(r#"{"breaker":{}}"#).breaker, Some(LimitBreaker::default()));
        assert_eq!(round_trip::<LimitRule>("{}"), LimitRule::default());
    }

    #[test]
    fn a_rule_refuses_what_it_does_not_know() {
        refused::<LimitRule>(r#"{"concurency":1}"#, "unknown field `concurency`");
        refused::<LimitRule>(r#"{"rate":{"permits":1}}"#, "missing field `per`");
        refused::<LimitRule>(r#"{"rate":{"permits":1,"per":"1s","bust":1}}"#, "unknown field `bust`");
        refused::<LimitRule>(r#"{"breaker":{"ratio":1}}"#, "unknown field `ratio`");
        refused::<LimitRule>(r#"{"concurrency":-1}"#, "expected u32");
    }

    #[test]
    fn a_limit_says_the_same_again() {
        round_trip::<Limits>(concat!(
            r#"{"limits":[{"reach":"key:a:*","rule":{"concurrency":2}},"#,
            r#"{"reach":"key:a:1","rule":{"concurrency":2},"pattern":"key:a:*","state":{"running":2,"waiting":7}},"#,
            r#"{"reach":"key:b","state":{"running":0,"waiting":0,"closed_until":"2026-12-01T09:00:00.000Z"}},"#,
            r#"{"reach":"queue:q","rule":{"rate":{"permits":1,"per":"1s"}},"state":{"running":0,"waiting":1,"tokens":0,"#,
            r#""next_token_at":"2026-12-01T09:00:00.000Z","breaker":{"phase":"open","probe_at":"2026-12-01T09:00:00.000Z"}}}]}"#,
        ));
        round_trip::<BreakerState>(r#"{"phase":"closed","attempts":20,"failures":3}"#);
        round_trip::<BreakerState>(r#"{"phase":"half_open","probing":1,"succeeded":2}"#);
    }
}
